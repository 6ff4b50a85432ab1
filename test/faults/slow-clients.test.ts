import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import test, { type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { deliveries, info, pathTo, point, type SetupOptions, setUp, subscriptionOf } from '../service/small-data.ts';

const PATH = pathTo('/v1/drought/risk');
const CUT = 'GET /v1/drought/risk HTTP/1.1\r\nHo';

async function connected(t: TestContext, port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  t.after(() => socket.destroy());
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

/** All that arrives until the connection is closed. */
async function untilClosed(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
  });
  if (!socket.destroyed) await once(socket, 'close');
  return text;
}

test('one connection more than the limit is closed unanswered, and there is room again when one ends', {
  timeout: 300_000,
}, async (t) => {
  const { service, key } = await setUp(t, { service: { limits: { connections: 4, ofAddress: 4 } } });
  const ask = `GET ${PATH} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\n\r\n`;
  const held: Socket[] = [];
  for (let i = 0; i < 4; i++) {
    const socket = await connected(t, service.port);
    socket.write(ask);
    const [answer] = await once(socket, 'data');
    assert.match(answer.toString(), /^HTTP\/1\.1 200 /);
    held.push(socket);
  }
  const tooMany = await connected(t, service.port);
  tooMany.write(ask);
  assert.equal(await untilClosed(tooMany), '');
  held[0]!.write(ask);
  assert.match(String(await once(held[0]!, 'data')), /^HTTP\/1\.1 200 /);
  held[1]!.end();
  await once(held[1]!, 'close');
  const next = await connected(t, service.port);
  next.write(ask);
  assert.match(String(await once(next, 'data')), /^HTTP\/1\.1 200 /);
});

test('silent connections of one address shut out neither another address nor its own calls', {
  timeout: 300_000,
  skip: process.platform !== 'linux' && 'other systems have one address of this machine',
}, async (t) => {
  const { service, single, key } = await setUp(t, { service: { limits: { connections: 8 } } });
  const ask = `GET ${PATH} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\n\r\n`;
  const answered = await connected(t, service.port);
  answered.write(ask);
  assert.match(String(await once(answered, 'data')), /^HTTP\/1\.1 200 /);
  for (const sent of ['', CUT, 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n']) {
    const silent: Socket[] = [];
    for (let i = 0; i < 20; i++) {
      const socket = await connected(t, service.port);
      socket.write(sent);
      silent.push(socket);
    }
    const other = connect({ port: service.port, host: '127.0.0.1', localAddress: '127.0.0.2' });
    t.after(() => other.destroy());
    other.on('error', () => {});
    other.write(ask);
    const [answer] = await Promise.race([once(other, 'data'), once(other, 'close').then(() => ['closed unanswered'])]);
    assert.match(String(answer), /^HTTP\/1\.1 200 /, `another address, after ${JSON.stringify(sent)}`);
    assert.equal((await single()).status, 200, `the same address, after ${JSON.stringify(sent)}`);
    other.destroy();
    for (const socket of silent) socket.destroy();
  }
});

test('clients that never close their side lose their connections at the time-out, and others get in', {
  timeout: 300_000,
}, async (t) => {
  const { service, single } = await setUp(t, { service: { limits: { connections: 4, receiveTimeout: 200 } } });
  for (const sent of ['', CUT, '\0\0\0\0\r\n', 'GET / HTTP/1.1\r\nHost: x\r\nExpect: x\r\n\r\n']) {
    for (let i = 0; i < 4; i++) {
      const socket = connect({ port: service.port, host: '127.0.0.1', allowHalfOpen: true });
      t.after(() => socket.destroy());
      socket.on('error', () => {});
      await once(socket, 'connect');
      socket.write(sent);
      socket.resume();
    }
    let status = 0;
    // Bounded: some 20 s, where an idle connection is kept for 120.
    for (let tries = 0; status !== 200 && tries < 400; tries++) {
      status = (await single().catch(() => null))?.status ?? 0;
      if (status !== 200) await sleep(50);
    }
    assert.equal(status, 200, JSON.stringify(sent));
  }
});

/** A setup in which hail is answered with so many bytes, by a service that cuts who has not moved for a second. */
function withHailOf(size: number): SetupOptions {
  const large = point(-99.751, 40.251, { text: 'x'.repeat(size) });
  return {
    subscription: subscriptionOf(1_000, 1_000),
    deliveries: [
      ...deliveries().filter((delivery) => delivery.kind !== 'records' || delivery.event !== 'hail'),
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
  socket.write(`GET ${pathTo('/v1/hail/risk')} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\n\r\n`.repeat(200));
  for (let tries = 0; charged() === 1 && tries < 2_000; tries++) await sleep(10);
  for (let i = 0; i < 50; i++) assert.equal((await single()).status, 200);
  // Where the machine was busy, it has been cut already.
  assert.ok(charged() <= 52, 'one answer is held, not more');
  const grown = process.memoryUsage().rss - before;
  t.diagnostic(`200 requests for ${SIZE} bytes each, ${Math.round(grown / 1e6)} MB more`);
  assert.ok(grown < SIZE * 4 + 100e6, `${grown} bytes more`);
  for (let tries = 0; charged() > 51 && tries < 300; tries++) await sleep(100);
  assert.equal(charged(), 51);
});
