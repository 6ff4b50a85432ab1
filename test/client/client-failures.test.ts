import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import type { Client } from '../../src/client/client.ts';
import { envelopeOf, PLACE, WILDFIRE } from './answers.ts';
import { clientOf, serveRaw, serveSockets } from './servers.ts';

const ask = { call: WILDFIRE, location: PLACE, key: 'key-7f3a9c' };
const BODY = JSON.stringify(envelopeOf(WILDFIRE));

async function outcome(client: Client): Promise<string> {
  const exchange = await client.send(ask);
  assert.ok(exchange.kind === 'failure', `expected a failure, got ${JSON.stringify(exchange)}`);
  assert.doesNotMatch(exchange.message, /key-7f3a9c/);
  return `${exchange.reached} ${exchange.code}`;
}

for (const [what, address] of [
  ['refused', 'http://127.0.0.1:1'],
  ['no such host', 'http://no-such-host.invalid'],
] as const) {
  test(`${what}: never reached`, async (t) => assert.equal(await outcome(clientOf(t, address)), 'never CONNECT'));
}

test('no TLS on the other side: never reached', async (t) => {
  const url = await serveSockets(t, (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  const exchange = await clientOf(t, url.replace('http:', 'https:')).send(ask);
  assert.ok(exchange.kind === 'failure' && `${exchange.reached} ${exchange.code}` === 'never CONNECT');
  assert.match(exchange.message, /does not speak TLS.* http:\/\//);
});

test('a TLS handshake that never ends: never reached', async (t) => {
  const url = await serveSockets(t, () => {});
  const client = clientOf(t, url.replace('http:', 'https:'), { timeouts: { connect: 300 } });
  assert.equal(await outcome(client), 'never CONNECT_TIMEOUT');
});

test('a kept connection that the service ends during the second request: maybe, and sent only once', async (t) => {
  let requests = 0;
  const url = await serveRaw(t, (socket) => {
    requests++;
    if (requests === 1) socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY}`);
    else socket.destroy();
  });
  const client = clientOf(t, url, { sockets: 1 });
  assert.equal((await client.send(ask)).kind, 'response');
  assert.equal(await outcome(client), 'maybe BROKEN');
  assert.equal(requests, 2);
});

for (const [when, head] of [
  ['before a byte of the answer', ''],
  ['within the head', 'HTTP/1.1 200 OK\r\nX-Credit-'],
  ['within the body', `HTTP/1.1 200 OK\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY.slice(0, 40)}`],
  ['before the last chunk', `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\n${BODY.slice(0, 4)}\r\n`],
] as const) {
  test(`closed ${when}: maybe, and sent only once`, async (t) => {
    let requests = 0;
    const url = await serveRaw(t, (socket) => {
      requests++;
      socket.end(head);
    });
    assert.match(await outcome(clientOf(t, url)), /^maybe (BROKEN|NOT_HTTP)$/);
    assert.equal(requests, 1, 'sent once');
  });
  test(`reset ${when}: maybe`, async (t) => {
    const url = await serveRaw(t, (socket) => socket.write(head, () => setTimeout(() => socket.resetAndDestroy(), 20)));
    assert.equal(await outcome(clientOf(t, url)), 'maybe BROKEN');
  });
}

test('reset after the whole body: answered', async (t) => {
  const head = `HTTP/1.1 200 OK\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY}`;
  const url = await serveRaw(t, (socket) => socket.write(head, () => setTimeout(() => socket.resetAndDestroy(), 20)));
  const exchange = await clientOf(t, url).send(ask);
  assert.ok(exchange.kind === 'response');
  assert.deepEqual(exchange.content, { kind: 'json', value: JSON.parse(BODY) });
});

test('headers without end: maybe, and not kept', async (t) => {
  const url = await serveRaw(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    const pour = () => {
      while (!socket.destroyed && socket.write(`x-a: ${'y'.repeat(1_000)}\r\n`));
    };
    socket.on('drain', pour);
    pour();
  });
  assert.equal(await outcome(clientOf(t, url)), 'maybe NOT_HTTP');
});

for (const [what, answer, code] of [
  ['not HTTP', (socket) => socket.end('220 mail.example.com ESMTP\r\n'), 'NOT_HTTP'],
  ['no answer in time', () => {}, 'HEADERS_TIMEOUT'],
  ['silence in the body', (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{'), 'BODY_TIMEOUT'],
] as const satisfies readonly (readonly [string, (socket: Socket) => unknown, string])[]) {
  test(`${what}: maybe`, async (t) => {
    assert.equal(await outcome(clientOf(t, await serveRaw(t, answer))), `maybe ${code}`);
  });
}

test('a byte at a time: ended by the total', async (t) => {
  const url = await serveRaw(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n');
    const drip = setInterval(() => socket.write(' '), 20);
    socket.on('close', () => clearInterval(drip));
  });
  assert.equal(await outcome(clientOf(t, url, { timeouts: { total: 600 } })), 'maybe TOTAL_TIMEOUT');
});

test('the endless body of a status that is no answer is read for a moment only', { timeout: 20_000 }, async (t) => {
  const url = await serveRaw(t, (socket) => {
    socket.write('HTTP/1.1 500 X\r\ntransfer-encoding: chunked\r\n\r\n1\r\n{\r\n');
    const drip = setInterval(() => socket.write('1\r\n \r\n'), 20);
    socket.on('close', () => clearInterval(drip));
  });
  const exchange = await clientOf(t, url, { timeouts: { failure: 100, total: 600_000 } }).send(ask);
  assert.ok(exchange.kind === 'response', JSON.stringify(exchange));
  assert.deepEqual([exchange.status, exchange.content.kind], [500, 'text']);
});

test('a status has been heard although its body is broken, silent or dripping', async (t) => {
  const endings: ((socket: Socket) => void)[] = [
    (socket) => socket.resetAndDestroy(),
    (socket) => socket.destroy(),
    () => {},
    (socket) => {
      const drip = setInterval(() => socket.write('x'), 20);
      socket.on('close', () => clearInterval(drip));
    },
  ];
  for (const end of endings) {
    const url = await serveRaw(t, (socket) =>
      socket.write('HTTP/1.1 401 No\r\ncontent-length: 1000\r\n\r\n{"error"', () => afterReading(() => end(socket))),
    );
    const exchange = await clientOf(t, url, { timeouts: { total: 2_000 } }).send(ask);
    assert.ok(exchange.kind === 'response');
    assert.equal(exchange.status, 401);
    assert.ok(exchange.content.kind === 'text' && exchange.content.text.startsWith('{"error"'));
  }
});

/** Calls back once the client has read what was written: after the next poll of the loop that both share. A reset before it would take the
 * bytes away. */
function afterReading(callback: () => void): void {
  setTimeout(() => setImmediate(callback), 20);
}

test('a deadline that ends before there is a connection: never sent, not even later', async (t) => {
  let bytes = 0;
  const connected = Promise.withResolvers<void>();
  const url = await serveSockets(t, (socket) => {
    socket.on('data', (chunk) => (bytes += chunk.length));
    connected.resolve();
  });
  const clock = { ...systemClock, sleep: async () => {} };
  assert.equal(await outcome(clientOf(t, url, { clock })), 'never TOTAL_TIMEOUT');
  await connected.promise;
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.equal(bytes, 0);
});
