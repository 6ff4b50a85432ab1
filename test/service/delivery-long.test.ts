import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { connect, type Socket, type TcpNetConnectOpts } from 'node:net';
import { dirname } from 'node:path';
import test, { type TestContext } from 'node:test';
import { until } from '../until.ts';
import {
  deliveries,
  FORKED_SERVICE,
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

const PATH = pathTo('/v1/drought/risk');
const CUT = 'GET /v1/drought/risk HTTP/1.1\r\nHo';
const ask = (key: string, path = PATH) =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\n\r\n`;

async function connected(
  t: TestContext,
  port: number,
  options: Partial<TcpNetConnectOpts> = {},
): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', ...options });
  releaseLater(t, () => socket.destroy());
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

/** Sends a request, and reads the beginning of its answer. */
async function answered(socket: Socket, request: string): Promise<void> {
  socket.write(request);
  const closed = once(socket, 'close').then(() => ['closed unanswered']);
  const [chunk] = await Promise.race([once(socket, 'data'), closed]);
  assert.match(String(chunk), /^HTTP\/1\.1 200 /);
}

/** A connection that has sent a request and read the head of its response, and no more. */
async function halfRead(t: TestContext, port: number, key: string, path: string): Promise<Socket> {
  const socket = await connected(t, port);
  await answered(socket, ask(key, path));
  return socket.pause();
}

test('a client that leaves in the middle of the body is not charged', async (t) => {
  const { service, key, accounts, charged } = await setUp(t, LARGE);
  for (const leave of [
    (socket: Socket) => socket.destroy(),
    (socket: Socket) => socket.resetAndDestroy(),
  ]) {
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
  const { service, single, key, accounts, charged } = await setUp(t);
  const count = () => accounts.prepare<[], number>('SELECT count(*) FROM charges').pluck().get();
  // Requests and the end of the connection arrive in one turn; some are read before the end is noticed, and wait.
  const requests = ask(key, pathTo('/v1/bundle/enterprise')).repeat(3);
  for (let round = 0; round < 20; round++) {
    const socket = await connected(t, service.port);
    await new Promise((done) => socket.write(requests, done));
    socket.resetAndDestroy();
  }
  // A call that is answered afterwards, so that all before it have been read.
  assert.equal((await single()).status, 200);
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
  assert.equal((await request(service.url + PATH, key)).status, 502);
  assert.equal(pending(accounts), 1);
  other.exec('ROLLBACK');
  await until(() => pending(accounts) === 0);
  assert.equal(accounts.prepare('SELECT count(*) FROM charges').pluck().get(), 1);
});

test('pipelined requests are each charged once', async (t) => {
  const { service, key, accounts, charged } = await setUp(t);
  const socket = await connected(t, service.port);
  socket.write(ask(key).repeat(20));
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
  const child = fork(FORKED_SERVICE, [file]);
  releaseLater(t, () => child.kill('SIGKILL'));
  const [port] = (await once(child, 'message')) as [number];
  await halfRead(t, port, key, TOWERS);
  const single = () => request(service.url + PATH, key);
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

test('one connection more than the limit is closed unanswered, and there is room again when one ends', {
  timeout: 300_000,
}, async (t) => {
  const { service, key } = await setUp(t, {
    service: { limits: { connections: 4, ofAddress: 4 } },
  });
  const held: Socket[] = [];
  for (let i = 0; i < 4; i++) {
    const socket = await connected(t, service.port);
    await answered(socket, ask(key));
    held.push(socket);
  }
  const tooMany = await connected(t, service.port);
  let answer = '';
  tooMany.on('data', (chunk) => (answer += chunk)).write(ask(key));
  await until(() => tooMany.closed);
  assert.equal(answer, '');
  await answered(held[0]!, ask(key));
  held[1]!.end();
  await once(held[1]!, 'close');
  await answered(await connected(t, service.port), ask(key));
});

test('silent connections of one address shut out neither another address nor its own calls', {
  timeout: 300_000,
  skip: process.platform !== 'linux' && 'other systems have one address of this machine',
}, async (t) => {
  const { service, single, key } = await setUp(t, { service: { limits: { connections: 8 } } });
  await answered(await connected(t, service.port), ask(key));
  for (const sent of ['', CUT, 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n']) {
    const silent: Socket[] = [];
    for (let i = 0; i < 20; i++) {
      const socket = await connected(t, service.port);
      socket.write(sent);
      silent.push(socket);
    }
    const other = await connected(t, service.port, { localAddress: '127.0.0.2' });
    await answered(other, ask(key));
    assert.equal((await single()).status, 200, `the same address, after ${JSON.stringify(sent)}`);
    other.destroy();
    for (const socket of silent) socket.destroy();
  }
});

test('clients that never close their side lose their connections at the time-out, and others get in', {
  timeout: 300_000,
}, async (t) => {
  const { service, single } = await setUp(t, {
    service: { limits: { connections: 4, receiveTimeout: 200 } },
  });
  for (const sent of ['', CUT, '\0\0\0\0\r\n', 'GET / HTTP/1.1\r\nHost: x\r\nExpect: x\r\n\r\n']) {
    for (let i = 0; i < 4; i++) {
      const socket = await connected(t, service.port, { allowHalfOpen: true });
      socket.write(sent);
      socket.resume();
    }
    // An idle connection is kept for 120 s.
    await until(async () => (await single().catch(() => null))?.status === 200);
  }
});

/** A setup in which hail is answered with so many bytes, by a service that cuts who has not moved for a second. */
function withHailOf(size: number): SetupOptions {
  const large = point(-99.751, 40.251, { text: 'x'.repeat(size) });
  return {
    subscription: subscriptionOf(1_000, 1_000),
    deliveries: [
      ...deliveries().filter(
        (delivery) => delivery.kind !== 'records' || delivery.event !== 'hail',
      ),
      { kind: 'records', event: 'hail', info: info('records:hail'), records: [large] },
    ],
    // At 1 s a busy machine cut readers before their answer had begun.
    service: { limits: { idleTimeout: 3_000 } },
  };
}

test('who sends requests without waiting and does not read is held one answer, and charged none', {
  timeout: 300_000,
}, async (t) => {
  const SIZE = 16_000_000;
  const { service, key, single, charged } = await setUp(t, withHailOf(SIZE));
  assert.equal((await single()).status, 200);
  const before = process.memoryUsage().rss;
  const socket = await connected(t, service.port);
  socket.pause();
  socket.write(ask(key, pathTo('/v1/hail/risk')).repeat(200));
  await until(() => charged() > 1);
  for (let i = 0; i < 50; i++) assert.equal((await single()).status, 200);
  // Where the machine was busy, it has been cut already.
  assert.ok(charged() <= 52, 'one answer is held, not more');
  const grown = process.memoryUsage().rss - before;
  t.diagnostic(`200 requests for ${SIZE} bytes each, ${Math.round(grown / 1e6)} MB more`);
  assert.ok(grown < SIZE * 4 + 100e6, `${grown} bytes more`);
  await until(() => charged() === 51);
});

function pending(accounts: ReturnType<typeof openAccountsOf>): number {
  return accounts
    .prepare<[], number>('SELECT count(*) FROM charges WHERE pending_by IS NOT NULL')
    .pluck()
    .get()!;
}

function lockFiles(file: string): string[] {
  return readdirSync(dirname(file)).filter((name) => name.includes('-instance-'));
}
