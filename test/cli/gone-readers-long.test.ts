import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { provideSampleData } from '../sample-database.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { ROOT, wordsIn } from './command-line.ts';

const OED = join(ROOT, 'sample-data/portfolio-oed.csv');

/** Runs the bin; one of its streams loses its reader at its first bytes. */
function readerGoes(t: TestContext, folder: string, args: readonly string[], stream: 'stdout' | 'stderr') {
  const child = spawn(process.execPath, [join(ROOT, 'src/main.ts'), ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, XDG_DATA_HOME: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.after(() => child.kill('SIGKILL'));
  let stderr = '';
  child.stderr.on('data', (chunk) => (stderr += chunk));
  child.stdout.resume();
  child[stream].once('data', () => child[stream].destroy());
  return new Promise<{ code: number | null; stderr: string }>((resolve) =>
    child.on('exit', (code) => setTimeout(() => resolve({ code, stderr }), 50)),
  );
}

test('a run goes on when the reader of its words goes', async (t) => {
  const folder = temporaryFolder(t);
  provideSampleData(join(folder, 'store.db'));
  const words = wordsIn(
    `run ${OED} -t natural --service sample --subscription professional --store store.db -o out.csv`,
  );
  const { code } = await readerGoes(t, folder, [...words, '--yes'], 'stderr');
  assert.deepEqual([code, existsSync(join(folder, 'out.csv'))], [0, true]);
});
