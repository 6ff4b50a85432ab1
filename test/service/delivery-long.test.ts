import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { dirname } from 'node:path';
import test, { type TestContext } from 'node:test';
import {
  deliveries,
  HERE,
  info,
  openAccountsOf,
  pathTo,
  point,
  releaseLater,
  request,
  type SetupOptions,
  setUp,
  start,
  subscriptionOf,
} from './small-data.ts';

const TOWER_ROWS = Array.from({ length: 300 }, (_, index) =>
  point(HERE.lng + index * 1e-5, HERE.lat, { note: 'x'.repeat(80_000) }),
);

/** All data, and so many towers around HERE that a body of 24 MB does not fit the buffers of a connection. */
const LARGE: SetupOptions = {
  subscription: subscriptionOf(1_000_000, 1_000_000),
  deliveries: [
    ...deliveries(),
    { kind: 'sites', topic: 'cellTower', info: info('sites:cellTower'), records: TOWER_ROWS },
  ],
};
const TOWERS = pathTo('/v1/cellTower/risk');

/** A connection that has sent a request and read the head of its response, and no more. */
async function halfRead(t: TestContext, port: number, key: string, path: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  releaseLater(t, () => socket.destroy());
  socket.on('error', () => {});
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\n\r\n`);
  const [chunk] = (await once(socket, 'data')) as [Buffer];
  socket.pause();
  assert.match(chunk.toString('latin1'), /^HTTP\/1\.1 200 /);
  return socket;
}

async function until(condition: () => boolean): Promise<void> {
  const end = Date.now() + 30_000;
  while (!condition()) {
    if (Date.now() > end) throw new Error('It did not come about within 30 s');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test('a client that leaves in the middle of the body is not charged', async (t) => {
  const { service, key, accounts, charged } = await setUp(t, LARGE);
  for (const leave of [(socket: Socket) => socket.destroy(), (socket: Socket) => socket.resetAndDestroy()]) {
    const socket = await halfRead(t, service.port, key, TOWERS);
    assert.equal(charged(), 1);
    leave(socket);
    await until(() => charged() === 0);
  }
  assert.equal(accounts.prepare('SELECT count(*) FROM charges').pluck().get(), 0);
  const whole = await request(service.url + TOWERS, key);
  assert.equal(whole.body.data.result.value, 300);
  assert.equal(whole.headers.get('x-ratelimit-remaining'), '999999');
  await until(() => pending(accounts) === 0);
  assert.equal(charged(), 1);
});

test('a client that leaves while its call waits for its batch is not charged', async (t) => {
  const { service, key, accounts, charged } = await setUp(t);
  const count = () => accounts.prepare<[], number>('SELECT count(*) FROM charges').pluck().get();
  // Requests and the end of the connection arrive in one turn; some are read before the end is noticed, and wait.
  const head = (path: string) => `GET ${pathTo(path)} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\n\r\n`;
  for (let round = 0; round < 20; round++) {
    const socket = connect(service.port, '127.0.0.1');
    socket.on('error', () => {});
    await new Promise((done) => socket.write(head('/v1/bundle/enterprise').repeat(3), done));
    socket.resetAndDestroy();
  }
  // A call that is answered afterwards, so that all before it have been read.
  assert.equal((await fetch(service.url + pathTo('/v1/drought/risk'), { headers: { 'x-api-key': key } })).status, 200);
  await until(() => count() === 1);
  assert.equal(charged(), 1);
});

test('a charge that cannot be made final, because another process writes, is made final later', async (t) => {
  const errors: unknown[] = [];
  const { service, key, accounts, file } = await setUp(t, {
    ...LARGE,
    service: { onError: (error) => errors.push(error) },
  });
  accounts.pragma('busy_timeout = 10');
  const socket = await halfRead(t, service.port, key, TOWERS);
  const other = openAccountsOf(t, file);
  other.exec('BEGIN IMMEDIATE');
  socket.resume();
  await until(() => errors.length > 0);
  assert.equal(pending(accounts), 1);
  // The transaction that would charge a call settles it too, and fails as well.
  assert.equal((await request(service.url + pathTo('/v1/drought/risk'), key)).status, 502);
  assert.equal(pending(accounts), 1);
  other.exec('ROLLBACK');
  await until(() => pending(accounts) === 0);
  assert.equal(accounts.prepare('SELECT count(*) FROM charges').pluck().get(), 1);
});

test('pipelined requests are each charged once', async (t) => {
  const { service, key, accounts, charged } = await setUp(t);
  const socket = connect(service.port, '127.0.0.1');
  releaseLater(t, () => socket.destroy());
  const head = `GET ${pathTo('/v1/drought/risk')} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\n\r\n`;
  socket.write(head.repeat(20));
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  await until(() => text.split('HTTP/1.1 200 ').length === 21 && pending(accounts) === 0);
  assert.equal(charged(), 20);
});

test('closing lets a body in flight arrive completely, and then charges it', async (t) => {
  const { service, key, accounts, charged, file } = await setUp(t, LARGE);
  const response = await fetch(service.url + TOWERS, { headers: { 'x-api-key': key } });
  const closed = service.close();
  const body = (await response.json()) as { data: { result: { value: number } } };
  assert.equal(body.data.result.value, 300);
  await closed;
  await assert.rejects(fetch(service.url));
  assert.equal(charged(), 1);
  assert.equal(pending(accounts), 0);
  assert.deepEqual(lockFiles(file), []);
});

test('closing disconnects a client that does not read in time, and does not charge it', async (t) => {
  const { service, key, charged } = await setUp(t, { ...LARGE, service: { closeTimeout: 100 } });
  await halfRead(t, service.port, key, TOWERS);
  await service.close();
  assert.equal(charged(), 0);
});

test('what a killed service left pending does not block the last credits, and its lock file goes', async (t) => {
  const { service, key, database, accounts, charged, clock, file } = await setUp(t, {
    ...LARGE,
    subscription: subscriptionOf(2, 100),
  });
  const { child, port } = await forkService(t, file);
  await halfRead(t, port, key, TOWERS);
  const single = () => request(service.url + pathTo('/v1/drought/risk'), key);
  assert.equal((await single()).status, 200);
  assert.equal((await single()).status, 429);
  child.kill('SIGKILL');
  await once(child, 'exit');
  assert.equal((await single()).status, 200);
  assert.equal((await single()).status, 429);
  assert.equal(charged(), 2);
  assert.equal(lockFiles(file).length, 2);
  await service.close();
  await start(t, { data: database, accounts, clock });
  assert.equal(lockFiles(file).length, 1);
});

function pending(accounts: ReturnType<typeof openAccountsOf>): number {
  return accounts.prepare<[], number>('SELECT count(*) FROM charges WHERE pending_by IS NOT NULL').pluck().get()!;
}

function lockFiles(file: string): string[] {
  return readdirSync(dirname(file)).filter((name) => name.includes('-instance-'));
}

/** A service in a process of its own, on the same file and the same still time. */
async function forkService(t: TestContext, file: string): Promise<{ child: ChildProcess; port: number }> {
  const child = fork(new URL('./forked-service.ts', import.meta.url), [file], { execPath: process.execPath });
  releaseLater(t, () => child.kill('SIGKILL'));
  const [port] = (await once(child, 'message')) as [number];
  return { child, port };
}
