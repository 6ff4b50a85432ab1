import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { before, test } from 'node:test';
import { extract, list } from 'tar';
import manifest from '../../package.json' with { type: 'json' };
import { ROOT } from '../cli/command-line.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const FOLDER = join(ROOT, 'dist-archives');
const CACHE = join(ROOT, 'node_modules/.cache');
const MOST_PACKED = 60_000_000;
const MOST_UNPACKED = 180_000_000;
const TITLE = `perilbook-${manifest.version}`;
const ARCHIVES = [
  `${TITLE}-linux-arm64.tar.gz`,
  `${TITLE}-linux-x64.tar.gz`,
  `${TITLE}-win-x64.zip`,
];

const digest = (name: string) =>
  createHash('sha256')
    .update(readFileSync(join(FOLDER, name)))
    .digest('hex');
const make = (...args: string[]) =>
  execFileSync('npm', ['run', '--silent', 'archives', ...args], {
    cwd: ROOT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });

before(() => make());

test('the archives are within their sizes, and have the files of one platform each', () => {
  assert.deepEqual(readdirSync(FOLDER).sort(), ARCHIVES);
  for (const name of ARCHIVES) {
    const { size } = statSync(join(FOLDER, name));
    assert.ok(size < MOST_PACKED, `${name}: ${size} bytes`);
  }
  for (const name of ARCHIVES.slice(0, 2)) {
    const paths: string[] = [];
    let bytes = 0;
    const onReadEntry = (entry: { path: string; size: number }) => {
      paths.push(entry.path);
      bytes += entry.size;
    };
    list({ file: join(FOLDER, name), sync: true, onReadEntry });
    assert.ok(bytes < MOST_UNPACKED, `${name}: ${bytes} bytes`);
    const platform = /linux-\w+/.exec(name)![0];
    const native = paths
      .filter((path) => path.endsWith('.node'))
      .map((path) => path.split('/').at(-1));
    assert.deepEqual(native, [`${platform}.node`]);
    for (const needed of [
      'perilbook',
      'node',
      'LICENSE-node.txt',
      'README.md',
      'docs/README.md',
      'CHANGELOG.md',
    ])
      assert.ok(paths.includes(`${TITLE}-${platform}/${needed}`), `${name} lacks ${needed}`);
  }
});

test('two builds are equal byte for byte', () => {
  const first = ARCHIVES.map(digest);
  make();
  assert.deepEqual(ARCHIVES.map(digest), first);
});

const NEEDS = {
  skip:
    (process.platform !== 'linux' || process.arch !== 'x64' || process.getuid?.() !== 0) &&
    'needs Linux on x64, root and debootstrap',
};

/** The lines of the README that a reader types up to the end of its first session, and what the program answers. */
function firstSession() {
  const text = readFileSync(join(ROOT, 'README.md'), 'utf8');
  const rows = /```sh\n(cat > houses\.csv[\s\S]*?)```/.exec(text)![1]!;
  const [, command, said] = /## A session[\s\S]*?```console\n\$ (.*)\n([\s\S]*?)```/.exec(text)!;
  return { rows, command: command!, said: said! };
}

test(
  'the archive of Linux runs the first session in a bare Debian, as another user',
  NEEDS,
  (t) => {
    const bare = bareDebian();
    const root = temporaryFolder(t);
    cpSync(bare, root, { recursive: true, verbatimSymlinks: true });
    // A path with a space and letters beyond ASCII, and a link to the program elsewhere.
    const home = '/home/zoë/my files';
    const name = `${TITLE}-linux-x64`;
    const inRoot = (as: string[], script: string) => {
      const environment = [
        'env',
        '-i',
        'PATH=/opt/bin:/usr/bin:/bin',
        'LANG=C.UTF-8',
        'HOME=/home/zoë',
      ];
      const args = [...as, root, ...environment, 'sh', '-euc', script];
      return spawnSync('chroot', args, { encoding: 'utf8' });
    };
    // Its user must get into it.
    chmodSync(root, 0o755);
    mkdirSync(join(root, home), { recursive: true });
    cpSync(join(FOLDER, `${name}.tar.gz`), join(root, home, `${name}.tar.gz`));
    mkdirSync(join(root, 'opt/bin'), { recursive: true });
    symlinkSync(`../..${home}/${name}/perilbook`, join(root, 'opt/bin/perilbook'));
    const own = inRoot([], 'chown -R 4711:4711 /home/zoë; ! command -v node');
    assert.equal(own.status, 0, own.stderr);

    const { rows, command, said } = firstSession();
    // A user who is not in the system's list, as in a container.
    const user = ['--userspec=4711:4711'];
    const unpacked = inRoot(user, `cd "${home}"; tar -xzf ${name}.tar.gz; ${rows}`);
    assert.equal(unpacked.status, 0, unpacked.stderr);
    const first = inRoot(user, `cd "${home}"; ${command}`);
    assert.equal(first.status, 0, first.stderr);
    assert.equal(`${first.stderr}${first.stdout}`, said);
    const second = inRoot(
      user,
      `cd "${home}"; "${home}/${name}/perilbook" ${command.replace('perilbook ', '')}`,
    );
    assert.equal(second.status, 0, second.stderr);
    assert.match(second.stderr, /Spent: nothing|A paid service would charge/);
    assert.match(inRoot(user, 'perilbook --version').stdout, /^\d+\.\d+\.\d+/);
  },
);

test(
  'it runs as in a container: a user without an entry, a read-only root, signals and exit codes',
  NEEDS,
  async (t) => {
    let root = '';
    // Before the folder is removed.
    t.after(() => spawnSync('umount', ['-R', root]));
    root = join(temporaryFolder(t), 'root');
    cpSync(bareDebian(), root, { recursive: true, verbatimSymlinks: true });
    chmodSync(dirname(root), 0o755);
    for (const name of ['opt/perilbook', 'data', 'books'])
      mkdirSync(join(root, name), { recursive: true });
    extract({
      file: join(FOLDER, `${TITLE}-linux-x64.tar.gz`),
      cwd: join(root, 'opt/perilbook'),
      strip: 1,
      sync: true,
    });
    const { rows, command } = firstSession();
    const mount = (...args: string[]) => execFileSync('mount', args);
    mount('--bind', root, root);
    mount('-o', 'remount,ro,bind', root);
    for (const name of ['data', 'books', 'tmp'])
      mount('-t', 'tmpfs', '-o', 'mode=1777', 'none', join(root, name));
    const environment = [
      'env',
      '-i',
      'PATH=/opt/perilbook:/usr/bin:/bin',
      'XDG_DATA_HOME=/data',
      'XDG_CACHE_HOME=/data/cache',
    ];
    const args = (script: string) => [
      '--userspec=10001:10001',
      root,
      ...environment,
      'sh',
      '-euc',
      `cd /books; ${script}`,
    ];
    const first = spawnSync('chroot', args(`! touch /x; ${rows}${command}`), { encoding: 'utf8' });
    assert.equal(first.status, 0, first.stderr);
    assert.match(first.stderr, /^Complete: /m);
    assert.ok(existsSync(join(root, 'data/perilbook/store.db')));
    assert.equal(spawnSync('chroot', args('exec perilbook run none.csv')).status, 2);

    // The starter gives its process to the program, so that a signal reaches it.
    const serving = spawn('chroot', args('exec perilbook ui --service sample'), {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    for await (const text of serving.stderr.setEncoding('utf8')) {
      said += text;
      if (/Press Ctrl-C/.test(said) && !serving.killed) serving.kill('SIGTERM');
    }
    assert.match(said, /stopping/);
    assert.equal(serving.exitCode ?? (await once(serving, 'exit'))[0], 0, said);
  },
);

test('a double click on the desktop entry starts the page', NEEDS, (t) => {
  const folder = temporaryFolder(t);
  const entry = readFileSync(join(ROOT, 'archives/starters/posix/perilbook-page.desktop'), 'utf8');
  // As the Desktop Entry Specification reads it: the string's escapes, then those in quotes.
  const words = /^Exec=(.*)$/m
    .exec(entry)![1]!
    .replaceAll('\\\\', '\\')
    .match(/"(?:\\.|[^"\\])*"|\S+/g)!;
  const args = words.map((word) =>
    word.startsWith('"') ? word.slice(1, -1).replace(/\\(.)/g, '$1') : word,
  );
  const place = join(folder, "it's a folder");
  mkdirSync(place);
  writeFileSync(join(place, 'perilbook'), '#!/bin/sh\necho "started with $*"\n', { mode: 0o755 });
  const [program, ...rest] = args.map((word) =>
    word === '%k' ? join(place, 'perilbook-page.desktop') : word,
  );
  assert.equal(spawnSync(program!, rest, { encoding: 'utf8' }).stdout, 'started with ui\n');
});

/** A Debian without Node, made once. */
function bareDebian(): string {
  const folder = join(CACHE, 'bare-debian');
  if (existsSync(join(folder, 'made'))) return folder;
  mkdirSync(folder, { recursive: true });
  const output = join(CACHE, 'bare-debian.log');
  const made = spawnSync('sh', [
    '-c',
    'debootstrap --variant=minbase bookworm "$0" > "$1" 2>&1',
    folder,
    output,
  ]);
  assert.equal(made.status, 0, `debootstrap failed: ${output}`);
  writeFileSync(join(folder, 'made'), '');
  return folder;
}
