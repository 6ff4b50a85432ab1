import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

/** A folder that is gone when the test ends. */
export function temporaryFolder(t: TestContext | { after(fn: () => void): void }): string {
  const folder = mkdtempSync(join(tmpdir(), 'perilbook-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

let ofRun: string | undefined;

/** A folder for what many tests need and is made once: in a run of the tests (`test/run.ts` gives the folder), or in a process. */
export function sharedFolder(): string {
  ofRun ??= process.env.TEST_SHARED_FOLDER ?? folderOfProcess();
  return ofRun;
}

function folderOfProcess(): string {
  const folder = mkdtempSync(join(tmpdir(), 'perilbook-shared-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
