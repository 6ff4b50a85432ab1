/**
 * Makes the archives of a release: `npm run archives [PLATFORM…]`, into `dist-archives/`. Each holds Node, the compiled package, its
 * production dependencies for that platform alone, and what starts it, so that it is unpacked and run.
 *
 * Two builds of one state are equal byte for byte: files in the order of their names, with one time, two modes and no owner.
 * Digests are npm's own: of Node by the lock in `archives/node`, of the dependencies by that of the checkout.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  globSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, matchesGlob } from 'node:path';
import { parseArgs } from 'node:util';
import { zipSync } from 'fflate';
import * as tar from 'tar';
import manifest from '../package.json' with { type: 'json' };

const ROOT = join(import.meta.dirname, '..');
const TARGET = join(ROOT, 'dist-archives');
/** Zip files know no earlier time. */
const TIME = new Date('1980-01-01T12:00:00Z');

/** @property os as npm names it; @property node the program in its package */
interface Platform {
  readonly os: string;
  readonly cpu: string;
  readonly node: string;
  readonly starters: string;
}

/** The platforms whose Node is in the npm registry at this version; macOS's is not. */
const PLATFORMS: Readonly<Record<string, Platform>> = {
  'linux-arm64': { os: 'linux', cpu: 'arm64', node: 'node', starters: 'posix' },
  'linux-x64': { os: 'linux', cpu: 'x64', node: 'node', starters: 'posix' },
  'win-x64': { os: 'win32', cpu: 'x64', node: 'node.exe', starters: 'win' },
};

/** What only a compiler reads. */
const UNUSED = [
  'node_modules/.package-lock.json',
  'node_modules/@types/**',
  'node_modules/node-addon-api/**',
  'node_modules/better-sqlite3/{deps,src}/**',
  '**/*.{map,d.ts,d.cts,d.mts}',
];

const chosen = parseArgs({ allowPositionals: true }).positionals;
const unknown = chosen.find((name) => !(name in PLATFORMS));
if (unknown !== undefined)
  throw new Error(`There is no archive for ${unknown}: ${Object.keys(PLATFORMS).join(', ')}`);
mkdirSync(TARGET, { recursive: true });
const work = mkdtempSync(join(tmpdir(), 'perilbook-archives-'));
try {
  // Its output says what was packed, and goes where progress goes.
  const output = npm(ROOT, 'pack', '--json', '--pack-destination', work);
  const tarball = /"filename": "([^"]+)"/.exec(output)![1]!;
  for (const name of chosen.length > 0 ? chosen : Object.keys(PLATFORMS))
    await makeArchive(name, join(work, tarball));
} finally {
  rmSync(work, { recursive: true, force: true });
}

async function makeArchive(name: string, tarball: string): Promise<void> {
  const platform = PLATFORMS[name]!;
  const title = `perilbook-${manifest.version}-${name}`;
  const folder = join(work, title);
  mkdirSync(folder);
  await tar.extract({ file: tarball, cwd: folder, strip: 1 });
  copyFileSync(join(ROOT, 'package-lock.json'), join(folder, 'package-lock.json'));
  install(folder, platform);
  rmSync(join(folder, 'package-lock.json'));
  addNode(folder, name, platform);
  cpSync(join(import.meta.dirname, 'starters', platform.starters), folder, { recursive: true });
  const files = globSync('**', { cwd: folder })
    .filter((file) => lstatSync(join(folder, file)).isFile() && isUsed(file, platform))
    .sort();
  const bytes = files.reduce((sum, file) => sum + statSync(join(folder, file)).size, 0);
  const packed = platform.os === 'win32' ? zip(title, files) : await tarGz(title, files, platform);
  const digest = createHash('sha256').update(readFileSync(packed)).digest('hex');
  const megabytes = (size: number) => `${(size / 1e6).toFixed(1)} MB`;
  process.stdout.write(
    `${digest}  ${basename(packed)}  ${megabytes(statSync(packed).size)}, unpacked ${megabytes(bytes)}\n`,
  );
}

/** The production dependencies of a platform, by the lock. */
function install(folder: string, { os, cpu }: Platform): void {
  npm(
    folder,
    'ci',
    '--omit=dev',
    '--ignore-scripts',
    '--no-bin-links',
    `--os=${os}`,
    `--cpu=${cpu}`,
    '--libc=glibc',
  );
}

function addNode(folder: string, name: string, { node }: Platform): void {
  copyFileSync(join(nodePackage(name), 'bin', node), join(folder, node));
  // The package of Windows lacks the licence; it is the same text.
  copyFileSync(join(nodePackage('linux-x64'), 'LICENSE'), join(folder, 'LICENSE-node.txt'));
}

/** The folder of a platform's Node, installed by the lock. */
function nodePackage(name: string): string {
  const source = join(work, `node-${name}`);
  if (!existsSync(source)) {
    cpSync(join(import.meta.dirname, 'node'), source, { recursive: true });
    install(source, PLATFORMS[name]!);
  }
  return join(source, 'node_modules', `node-${name}`);
}

/** Whether a file belongs into the archive of a platform. */
function isUsed(file: string, { os, cpu }: Platform): boolean {
  const path = file.replaceAll('\\', '/');
  if (path.startsWith('node_modules/better-sqlite3/prebuilds/'))
    return basename(path) === `${os}-${cpu}.node`;
  return !UNUSED.some((pattern) => matchesGlob(path, pattern));
}

function isProgram(file: string, { node }: Platform): boolean {
  return [node, 'perilbook', 'perilbook-page.desktop'].includes(file);
}

async function tarGz(title: string, files: readonly string[], platform: Platform): Promise<string> {
  const file = join(TARGET, `${title}.tar.gz`);
  for (const name of files)
    chmodSync(join(work, title, name), isProgram(name, platform) ? 0o755 : 0o644);
  const names = files.map((name) => `${title}/${name}`);
  await tar.create({ file, cwd: work, gzip: { level: 9 }, portable: true, mtime: TIME }, names);
  return file;
}

function zip(title: string, files: readonly string[]): string {
  const file = join(TARGET, `${title}.zip`);
  const entries = files.map(
    (name) => [`${title}/${name}`, readFileSync(join(work, title, name))] as const,
  );
  writeFileSync(file, zipSync(Object.fromEntries(entries), { level: 9, mtime: TIME }));
  return file;
}

function npm(cwd: string, ...args: string[]): string {
  const quiet = ['--loglevel=error', '--no-audit', '--no-fund'];
  return execFileSync('npm', [...args, ...quiet], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}
