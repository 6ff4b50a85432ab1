/**
 * Runs the tests of a tier, or the files that are named: `node test/run.ts [short | faults | browser] [files…]`.
 *
 * Two things make them faster: compiled modules are kept from one process to the next (loading the program costs 0.8 s of
 * processor time without, 0.4 with), and temporary files are in memory where the machine has room for them, since a test
 * that buys waits for two syncs of the disk a call. That the syncs are made is tested apart (test/faults/power-loss.test.ts).
 */
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { availableParallelism, freemem, tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const FILES = globSync('test/**/*.test.ts', { cwd: ROOT }).sort();
const isOfBrowser = (file: string) => file.endsWith('-browser.test.ts');
/** Whether it makes longer trials than those of `npm test`. */
const isLong = (file: string) => readFileSync(join(ROOT, file), 'utf8').includes("/tier.ts';");
const TIERS: Readonly<Record<string, readonly string[]>> = {
  short: FILES.filter((file) => !isOfBrowser(file)),
  faults: FILES.filter(isLong),
  browser: FILES.filter(isOfBrowser),
};
const MEMORY_DISK = '/dev/shm';
/** What the temporary files of all tests that run at one time may come to. */
const ROOM_BYTES = 4 * 2 ** 30;

function hasRoomInMemory(): boolean {
  if (!existsSync(MEMORY_DISK)) return false;
  const { bavail, bsize } = statfsSync(MEMORY_DISK);
  return Math.min(bavail * bsize, freemem()) > ROOM_BYTES;
}

const [first = 'short', ...rest] = process.argv.slice(2);
const tier = first in TIERS ? first : 'short';
const named = first in TIERS ? rest : [first, ...rest];
const temporary = mkdtempSync(join(hasRoomInMemory() ? MEMORY_DISK : tmpdir(), 'perilbook-tests-'));
// Tests that run as another user must get to their own folder in it.
chmodSync(temporary, 0o755);
const child = spawn(
  process.execPath,
  ['--test', `--test-concurrency=${availableParallelism()}`, ...(named.length > 0 ? named : TIERS[tier]!)],
  {
    cwd: ROOT,
    env: {
      ...process.env,
      TZ: 'UTC',
      TMPDIR: temporary,
      TEST_TIER: tier,
      // What many tests need is made once, and copied.
      TEST_SHARED_FOLDER: temporary,
      NODE_COMPILE_CACHE: join(ROOT, 'node_modules/.cache/compiled'),
    },
    stdio: 'inherit',
  },
);
// Ctrl-C reaches the tests too: they end first.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
child.on('close', (code) => {
  rmSync(temporary, { recursive: true, force: true });
  process.exitCode = code ?? 1;
});
