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
