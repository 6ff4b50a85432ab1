import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { provideSampleData } from '../sample-database.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { ROOT, wordsIn } from './command-line.ts';

const OED = join(ROOT, 'sample-data/portfolio-oed.csv');

/** Runs the bin, whose standard error loses its reader at its first bytes. @returns its exit code */
function readerGoes(t: TestContext, folder: string, args: readonly string[]) {
  const child = spawn(process.execPath, [join(ROOT, 'src/main.ts'), ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, XDG_DATA_HOME: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.after(() => child.kill('SIGKILL'));
  child.stdout.resume();
  child.stderr.once('data', () => child.stderr.destroy());
  return new Promise<number | null>((resolve) => child.on('exit', resolve));
}

test('a run goes on when the reader of its words goes', async (t) => {
  const folder = temporaryFolder(t);
  provideSampleData(join(folder, 'store.db'));
  const words = wordsIn(
    `run ${OED} -t natural --service sample --subscription professional --store store.db -o out.csv`,
  );
  const code = await readerGoes(t, folder, [...words, '--yes']);
  assert.deepEqual([code, existsSync(join(folder, 'out.csv'))], [0, true]);
});
