import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import manifest from '../../package.json' with { type: 'json' };
import { ROOT } from '../cli/command-line.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const LAUNCHER = join(ROOT, 'bin/perilbook.cjs');

/** A folder with the launcher, and Node options that make the machine's Node an old one. */
function oldNode(t: TestContext) {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'bin'));
  const launcher = join(folder, 'bin/perilbook.cjs');
  copyFileSync(LAUNCHER, launcher);
  const old = join(folder, 'old.cjs');
  const lie = "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.20.4' } });";
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

test('npx perilbook works in a checkout without a build, and --version names the commit', () => {
  const args = ['describe', '--always', '--dirty', '--abbrev=10', '--exclude=*'];
  const described = spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' });
  // A copy without its history may lie in another checkout.
  const isCheckout = existsSync(join(ROOT, '.git')) && described.status === 0;
  const commit = isCheckout ? ` (${described.stdout.trim()})` : '';
  const printed = execFileSync(process.execPath, [LAUNCHER, '--version'], { encoding: 'utf8' });
  assert.equal(printed, `${manifest.version}${commit}\n`);
});

test('npx finds the program of a checkout, without a network', (t) => {
  const env = { ...process.env, npm_config_cache: temporaryFolder(t) };
  const { stdout } = spawnSync('npx', ['--offline', 'perilbook', '--version'], { cwd: ROOT, env, encoding: 'utf8' });
  assert.match(stdout, new RegExp(`^${manifest.version.replaceAll('.', '\\.')}\\b`));
});

test('on an old Node one sentence says what to do', (t) => {
  const { args } = oldNode(t);
  const { status, stdout, stderr } = spawnSync(process.execPath, [...args, 'run', 'x.csv'], { encoding: 'utf8' });
  assert.deepEqual([status, stdout], [2, '']);
  assert.equal(stderr, 'perilbook: Node.js 18.20.4 is too old: install Node.js 24 or newer [NODE_TOO_OLD]\n');
});

test('on an old Node a checkout starts its own, with the same arguments and exit code', (t) => {
  const { folder, args } = oldNode(t);
  bringNode(folder, 'printf "%s\\n" "$@"; exit 4');
  const ended = spawnSync(process.execPath, [...args, 'run', 'my file.csv'], { encoding: 'utf8' });
  const passed = ['--max-semi-space-size=16', args.at(-1), 'run', 'my file.csv'];
  assert.deepEqual([ended.status, ended.stdout, ended.stderr], [4, `${passed.join('\n')}\n`, '']);
});

test('kill reaches the Node that was started, and its exit code is the end', { timeout: 300_000 }, async (t) => {
  const { folder, args } = oldNode(t);
  bringNode(folder, "trap 'exit 130' TERM; echo ready; for i in $(seq 500); do sleep 0.02; done");
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  const ended = once(child, 'close');
  child.kill('SIGTERM');
  child.stdout.resume();
  assert.equal((await ended)[0], 130);
});
