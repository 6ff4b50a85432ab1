import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';

import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { socketOfSystemd } from '../../src/cli/systemd.ts';
import { freePort } from '../free-port.ts';
import { releaseLater } from '../service/small-data.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { startBin } from './bin-process.ts';
import { ROOT } from './command-line.ts';

const timeout = 300_000;
const UNITS = join(ROOT, 'docs/operator/systemd');

const lacks = (command: string) =>
  spawnSync(command, ['--version']).error !== undefined && `the command ${command} is not installed`;

test('systemd-analyze finds nothing wrong with the unit files', { timeout, skip: lacks('systemd-analyze') }, () => {
  const units = readdirSync(UNITS);
  assert.equal(units.length, 6);
  const words = ['verify', '--man=no', ...units.map((unit) => join(UNITS, unit))];
  const { status, stdout, stderr } = spawnSync('systemd-analyze', words, { encoding: 'utf8' });
  const about = (text: string) => text.split('\n').filter((line) => line.includes('perilbook'));
  assert.deepEqual([status, about(stdout + stderr)], [0, []]);
});

test('socket activation: systemd listens, the service answers on its socket', {
  timeout,
  skip: lacks('systemd-socket-activate'),
}, async (t: TestContext) => {
  const folder = temporaryFolder(t);
  const port = await freePort();
  const main = [process.execPath, join(ROOT, 'src/main.ts'), 'service', 'start'];
  const child = spawn('systemd-socket-activate', ['-E', `HOME=${folder}`, '-l', `127.0.0.1:${port}`, ...main], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = new Promise((done) => child.on('close', done));
  releaseLater(t, async () => {
    child.kill('SIGKILL');
    await ended;
  });
  let said = '';
  child.stderr.on('data', (chunk) => (said += chunk));
  while (!said.includes('Listening')) await delay(20, undefined, { signal: t.signal });
  const answer = await fetch(`http://127.0.0.1:${port}/healthz`);
  assert.equal(((await answer.json()) as { status: string }).status, 'ok');
  // The child has become the service.
  assert.match(said, new RegExp(`perilbook service: http://127\\.0\\.0\\.1:${port},`));
  child.kill('SIGTERM');
  assert.equal(await ended, 0, said);
});

test('Type=notify: systemd is told when the service answers, and when it stops', { timeout }, async (t) => {
  const folder = temporaryFolder(t);
  const told = join(folder, 'told');
  // systemd-notify writes to a Unix datagram socket, which Node has not: this one writes to a file.
  writeFileSync(join(folder, 'systemd-notify'), `#!/bin/sh\necho "$1 $NOTIFY_SOCKET" >> ${told}\n`);
  chmodSync(join(folder, 'systemd-notify'), 0o755);
  const env = { PATH: `${folder}:${process.env.PATH}`, NOTIFY_SOCKET: '/run/notify' };
  const bin = startBin(t, ['service', 'start', '--port', '0'], folder, env);
  const lines = () => (existsSync(told) ? readFileSync(told, 'utf8').trim().split('\n') : []);
  while (lines().length === 0) await delay(20, undefined, { signal: t.signal });
  const [, url] = /(http:\S+),/.exec(bin.text())!;
  assert.equal((await fetch(`${url}/healthz`)).status, 200);
  bin.kill('SIGTERM');
  assert.equal((await bin.ended).code, 0);
  assert.deepEqual(lines(), ['READY=1 /run/notify', 'STOPPING=1 /run/notify']);
});

test('variables of socket activation that are for another process are ignored; several sockets are refused', () => {
  assert.equal(socketOfSystemd({ env: {} }, 7), null);
  assert.equal(socketOfSystemd({ env: { LISTEN_FDS: '1', LISTEN_PID: '8' } }, 7), null);
  assert.equal(socketOfSystemd({ env: { LISTEN_FDS: '1', LISTEN_PID: '7' } }, 7), 3);
  assert.throws(() => socketOfSystemd({ env: { LISTEN_FDS: '2', LISTEN_PID: '7' } }, 7), { code: 'USAGE' });
});
