import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import manifest from '../../package.json' with { type: 'json' };
import { ROOT } from '../cli/command-line.ts';
import { folderWith } from '../sample-database.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const LAUNCHER = join(ROOT, 'bin/perilbook.cjs');

/** A folder with the launcher, and Node options that make the machine's Node an old one. */
function oldNode(t: TestContext) {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'bin'));
  const launcher = join(folder, 'bin/perilbook.cjs');
  copyFileSync(LAUNCHER, launcher);
  const old = join(folder, 'old.cjs');
  const lie =
    "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.20.4' } });";
  writeFileSync(old, lie);
  return { folder, args: ['--require', old, launcher] };
}

/** Puts a shell script where a checkout has its Node. */
function bringNode(folder: string, script: string): void {
  mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true });
  const node = join(folder, 'node_modules/.bin/node');
  writeFileSync(node, `#!/bin/sh\n${script}\n`);
  chmodSync(node, 0o755);
}

test('npx perilbook works in a checkout without a build or a network, and --version names the commit', (t) => {
  const args = ['describe', '--always', '--dirty', '--abbrev=10', '--exclude=*'];
  const described = spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' });
  // A copy without its history may lie in another checkout.
  const isCheckout = existsSync(join(ROOT, '.git')) && described.status === 0;
  const commit = isCheckout ? ` (${described.stdout.trim()})` : '';
  const env = { ...process.env, npm_config_cache: temporaryFolder(t) };
  const { stdout } = spawnSync('npx', ['--offline', 'perilbook', '--version'], {
    cwd: ROOT,
    env,
    encoding: 'utf8',
  });
  assert.equal(stdout, `${manifest.version}${commit}\n`);
});

test('on an old Node one sentence says what to do', (t) => {
  const { args } = oldNode(t);
  const { status, stdout, stderr } = spawnSync(process.execPath, [...args, 'run', 'x.csv'], {
    encoding: 'utf8',
  });
  assert.deepEqual([status, stdout], [2, '']);
  assert.equal(
    stderr,
    'error: Node.js 18.20.4 is too old: install Node.js 24 or newer [NODE_TOO_OLD]\n',
  );
});

test('on an old Node, importing the library says so, with a code', (t) => {
  const { folder, args } = oldNode(t);
  const entry = join(folder, 'bin/library.js');
  copyFileSync(join(ROOT, 'bin/library.js'), entry);
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
  writeFileSync(
    join(folder, 'user.js'),
    "await import('./bin/library.js').catch((e) => console.log(e.code, e.message));",
  );
  const { stdout } = spawnSync(process.execPath, [...args.slice(0, 2), join(folder, 'user.js')], {
    encoding: 'utf8',
  });
  assert.equal(stdout, 'NODE_TOO_OLD Node.js 18.20.4 is too old: install Node.js 24 or newer\n');
});

test('on an old Node a checkout starts its own, with the same arguments and exit code', (t) => {
  const { folder, args } = oldNode(t);
  bringNode(folder, 'printf "%s\\n" "$@"; exit 4');
  const ended = spawnSync(process.execPath, [...args, 'run', 'my file.csv'], { encoding: 'utf8' });
  const passed = ['--max-semi-space-size=4', args.at(-1), 'run', 'my file.csv'];
  assert.deepEqual([ended.status, ended.stdout, ended.stderr], [4, `${passed.join('\n')}\n`, '']);
});

test('kill reaches the Node that was started, and its exit code is the end', {
  timeout: 300_000,
}, async (t) => {
  const { folder, args } = oldNode(t);
  bringNode(folder, "trap 'exit 130' TERM; echo ready; for i in $(seq 500); do sleep 0.02; done");
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  const ended = once(child, 'close');
  child.kill('SIGTERM');
  child.stdout.resume();
  assert.equal((await ended)[0], 130);
});

/** Writes the addresses of all modules to the file MODULES when the process ends. */
const LISTING = `
import { writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
const loaded = [];
registerHooks({ load: (url, context, next) => { loaded.push(url); return next(url, context); } });
process.on('exit', () => writeFileSync(process.env.MODULES, loaded.join('\\n')));`;

/** The libraries that a command line loads. */
function librariesOf(t: TestContext, words: readonly string[]): string[] {
  const folder = folderWith(t, { 'book.csv': 'lat,lng\n34.0522,-118.2437\n' });
  const listing = `data:text/javascript,${encodeURIComponent(LISTING)}`;
  const env = {
    ...process.env,
    MODULES: join(folder, 'modules'),
    XDG_DATA_HOME: folder,
    XDG_CACHE_HOME: folder,
  };
  execFileSync(process.execPath, ['--import', listing, LAUNCHER, ...words], {
    cwd: folder,
    env,
    stdio: 'pipe',
  });
  const urls = readFileSync(env.MODULES, 'utf8').split('\n');
  assert.match(urls.join(), /\/src\/main\.ts/, 'the modules are listed');
  return [
    ...new Set(
      urls.flatMap((url) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? []),
    ),
  ];
}

test('the version loads no library, help yargs alone, and a plan no server, client or driver of PostgreSQL', (t) => {
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  assert.deepEqual(librariesOf(t, ['--version']), []);
  const ofHelp = librariesOf(t, ['help']).filter((name) => name in dependencies);
  assert.deepEqual(ofHelp, ['yargs', 'string-width']);
  const ofPlan = librariesOf(t, ['plan', 'book.csv', '--service', 'sample']);
  assert.ok(ofPlan.includes('better-sqlite3'));
  const others = ['fastify', 'pg', 'undici', 'd3-geo', 'shapefile', 'saxes', 'yauzl'];
  assert.deepEqual(
    others.filter((name) => ofPlan.includes(name)),
    [],
  );
});

test("compiled code is kept in the user's cache folder, where that can be written", (t) => {
  const folder = temporaryFolder(t);
  const start = (XDG_CACHE_HOME: string) => {
    const env = { PATH: process.env.PATH, XDG_CACHE_HOME };
    return execFileSync(process.execPath, [LAUNCHER, 'help'], {
      cwd: folder,
      env,
      encoding: 'utf8',
      stdio: 'pipe',
    });
  };
  const said = start(join(folder, 'cache'));
  assert.ok(readdirSync(join(folder, 'cache/perilbook')).length > 0);
  // A file stands where the folder should be.
  writeFileSync(join(folder, 'file'), '');
  assert.equal(start(join(folder, 'file')), said);
  assert.ok(!existsSync(join(folder, '.cache')));
});
