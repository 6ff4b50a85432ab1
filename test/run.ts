/**
 * Runs the tests of a tier, or the files that are named: `node test/run.ts [--check] [short | long | soak | browser | archives] [files…]`. With
 * `--check` types, lint and format are checked beside them, and what is wrong there is printed at the end.
 *
 * The short tier is `npm test`: the program in one process, on SQLite, in at most 90 seconds on two cores. The long tier has the
 * files of test/faults and those called `-long`: they start processes or a PostgreSQL server, run the documents' commands, or take
 * more than a second of processor time. A file that imports tier.ts runs in both, with more cases in the long one. The soak has the
 * files of test/faults and those that import tier.ts, with the most cases and with seeds of the day (printed; SOAK_SEED repeats them).
 * That of the archives builds them, and makes a Debian without Node: it needs root, debootstrap and the npm registry.
 *
 * Four things make them faster. Files of the short tier share processes (see `grouped`); files of another tier, and files that are
 * named, have a process each. Two processes more run than there are cores, since tests wait: for answers, for the minute, for a process that
 * was stopped. With one more, two cores were busy for 439 of 612 seconds; with twice as many it was no faster. Compiled modules are kept from one process to
 * the next: loading the program costs 0.8 s of processor time without, 0.4 with. And temporary files are in memory where the machine
 * has room for them, since a test that buys waits for two syncs of the disk a call. That syncs are asked for is tested apart
 * (test/faults/power-loss.test.ts).
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  globSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism, freemem, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const ROOT = join(import.meta.dirname, '..');
const FILES = globSync('test/**/*.test.ts', { cwd: ROOT }).sort();
const isOfBrowser = (file: string) => file.endsWith('-browser.test.ts');
const isOfArchives = (file: string) => file.startsWith('test/archives/');
const isOfFaults = (file: string) => file.startsWith('test/faults/');
const isLong = (file: string) => file.endsWith('-long.test.ts') || isOfFaults(file);
const hasLongCases = (file: string) =>
  readFileSync(join(ROOT, file), 'utf8').includes("/tier.ts';");
const TIERS: Readonly<Record<string, readonly string[]>> = {
  short: FILES.filter((file) => !isOfBrowser(file) && !isOfArchives(file) && !isLong(file)),
  long: FILES.filter(
    (file) => !isOfBrowser(file) && !isOfArchives(file) && (isLong(file) || hasLongCases(file)),
  ),
  soak: FILES.filter((file) => isOfFaults(file) || hasLongCases(file)),
  browser: FILES.filter(isOfBrowser),
  archives: FILES.filter(isOfArchives),
};
/** Names that a test file uses that needs a process of its own: it changes or measures the process, a clock or a function of it. */
const NEEDS_PROCESS =
  /\bprocess\.(memoryUsage|on|once|chdir|umask|kill|set\w+)\b|\bprocess\.env\S+ = |\b(mock|globalThis)\b|\bsetDefault|^(before|after)Each\(/m;
/** Before each test of a file, not before its subtests. */
const WITHOUT_LAYERS = `
import { beforeEach } from 'node:test';
import { declareLayers } from ${JSON.stringify(pathToFileURL(join(ROOT, 'src/contract/topics.ts')).href)};
beforeEach(({ name, fullName }) => {
  if (name === fullName) declareLayers([]);
});
`;
/** Each loads and compiles the program once. With fewer, the cores wait at the end for the last one. */
const GROUPS = 4;
/** They start first, in processes of their own: in a group one of them ran for 20 s after all others had ended. */
const LONGEST = ['test/run/cases.test.ts', 'test/cli/cases.test.ts'];
const MEMORY_DISK = '/dev/shm';
/** What the temporary files of all tests that run at one time may come to. */
const ROOM_BYTES = 4 * 2 ** 30;

function hasRoomInMemory(): boolean {
  if (!existsSync(MEMORY_DISK)) return false;
  const { bavail, bsize } = statfsSync(MEMORY_DISK);
  return Math.min(bavail * bsize, freemem()) > ROOM_BYTES;
}

const isChecked = process.argv[2] === '--check';
const [first = 'short', ...rest] = process.argv.slice(isChecked ? 3 : 2);
const tier = first in TIERS ? first : 'short';
const named = first in TIERS ? rest : [first, ...rest];
const temporary = mkdtempSync(join(hasRoomInMemory() ? MEMORY_DISK : tmpdir(), 'perilbook-tests-'));
// Tests that run as another user must get to their own folder in it.
chmodSync(temporary, 0o755);
const isGrouped = named.length === 0 && tier === 'short';
const files = named.length > 0 ? named : isGrouped ? grouped(TIERS.short!) : TIERS[tier]!;
const processes = availableParallelism() + 2;
const { SOAK_SEED = String(Date.now() % 1_000_000) } = process.env;
if (tier === 'soak') process.stderr.write(`seed ${SOAK_SEED}\n`);
const child = spawn(process.execPath, ['--test', `--test-concurrency=${processes}`, ...files], {
  cwd: ROOT,
  env: {
    ...process.env,
    TZ: 'UTC',
    TMPDIR: temporary,
    TEST_TIER: tier,
    SOAK_SEED,
    // What many tests need is made once, and copied.
    TEST_SHARED_FOLDER: temporary,
    NODE_COMPILE_CACHE: join(ROOT, 'node_modules/.cache/compiled'),
  },
  stdio: 'inherit',
});
// Ctrl-C reaches the tests too: they end first.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
const [tests, check] = await Promise.all([
  once(child, 'close') as Promise<[code: number | null]>,
  isChecked ? checkSource() : { isGood: true, output: '' },
]);
rmSync(temporary, { recursive: true, force: true });
if (!check.isGood) process.stderr.write(`\nnpm run check:\n${check.output}`);
process.exitCode = check.isGood ? (tests[0] ?? 1) : 1;

/** The files, of which those that share a process are replaced by one that imports them. Most files are short, and most of their time
 * goes into loading and compiling the program: 20 files took 39 s of processor time in a process each, and 21 s in one. `src/` keeps
 * no state in its modules but data that is loaded once, and the layers that a command declares: without those of the test before, a
 * file behaves in a group as it does alone. */
function grouped(files: readonly string[]): string[] {
  const needsProcess = (file: string) => NEEDS_PROCESS.test(readFileSync(join(ROOT, file), 'utf8'));
  const shared = files.filter((file) => !needsProcess(file) && !LONGEST.includes(file));
  // Every fourth file: each group gets as many long ones of a folder.
  const quarters = Array.from({ length: GROUPS }, (_, index) =>
    shared.filter((_, nth) => nth % GROUPS === index),
  );
  // Node starts them in the order of their names.
  const groups = [...LONGEST.map((file) => [file]), ...quarters].map((own, index) => {
    const group = join(temporary, `group-${String(index + 1).padStart(2, '0')}.test.mjs`);
    const addresses = own.map((file) => pathToFileURL(join(ROOT, file)).href);
    const imports = addresses.map((address) => `import ${JSON.stringify(address)};\n`);
    writeFileSync(group, [WITHOUT_LAYERS, ...imports].join(''));
    return group;
  });
  return [...groups, ...files.filter(needsProcess)];
}

async function checkSource(): Promise<{ isGood: boolean; output: string }> {
  const checking = spawn('npm', ['run', '--silent', 'check'], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [checking.stdout, checking.stderr])
    stream.on('data', (text) => (output += text));
  const [code] = await once(checking, 'close');
  return { isGood: code === 0, output };
}
