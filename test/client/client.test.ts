import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import type { Client } from '../../src/client/client.ts';
import { envelopeOf, findVerdict, NOW, PLACE, WILDFIRE } from './answers.ts';
import { clientOf, serveHttp, serveRaw, serveSockets } from './servers.ts';
import { MovedClock } from './throttles.ts';

const KEY = 'key-7f3a9c';
const ask = { call: WILDFIRE, location: PLACE, key: KEY };

test('sends one GET below the base address, with the key in its header only', async (t) => {
  const seen: { method?: string | undefined; url?: string | undefined; headers?: object }[] = [];
  const url = await serveHttp(t, (request, response) => {
    seen.push({ method: request.method, url: request.url, headers: request.headers });
    response.setHeader('X-Credit-Cost', '1').end(JSON.stringify(envelopeOf(WILDFIRE)));
  });
  const clock = new MovedClock();
  const exchange = await clientOf(t, `${url}/hazards//`, { clock }).send(ask);
  assert.equal(clock.sleeping, 0, 'a timer would keep the process alive');
  assert.ok(exchange.kind === 'response');
  assert.equal(exchange.status, 200);
  assert.equal(exchange.headers['x-credit-cost'], '1');
  assert.ok(exchange.elapsedMs >= 0);
  assert.equal(findVerdict(exchange, WILDFIRE, PLACE, NOW).kind, 'answered');
  assert.equal(seen.length, 1);
  const [{ method, url: path, headers } = {}] = seen;
  assert.equal(method, 'GET');
  assert.equal(path, '/hazards/v1/wildfire/risk?lat=34.0522&lng=-118.2437');
  const { host: _, connection: __, ...own } = headers as Record<string, string>;
  const common = {
    accept: 'application/json',
    'accept-encoding': 'zstd, gzip',
    'user-agent': 'perilbook-test',
  };
  assert.deepEqual(own, { 'x-api-key': KEY, ...common });
});

test('a request that may no longer begin when its connection is there is not sent, on a new connection or a used one', async (t) => {
  let requests = 0;
  const url = await serveHttp(t, (_request, response) => {
    requests++;
    response.end(JSON.stringify(envelopeOf(WILDFIRE)));
  });
  const client = clientOf(t, url);
  for (const isBefore of [false, true]) {
    const held = await client.send({ ...ask, mayBegin: () => false });
    assert.ok(held.kind === 'failure');
    assert.deepEqual([held.reached, held.code], ['never', 'CONNECT_TIMEOUT']);
    assert.equal(
      (await client.sendPlain({ method: 'GET', path: '/', key: KEY }, () => false)).kind,
      'failure',
    );
    assert.equal(requests, isBefore ? 1 : 0);
    assert.equal((await client.send({ ...ask, mayBegin: () => true })).kind, 'response');
  }
});

for (const status of [301, 302, 307, 308]) {
  test(`does not follow a ${status}, so the key goes nowhere else`, async (t) => {
    let elsewhere = 0;
    const other = await serveHttp(t, (_request, response) => {
      elsewhere++;
      response.end('{}');
    });
    const url = await serveHttp(t, (_request, response) => {
      response.writeHead(status, { location: `${other}/v1?secret=${KEY}` }).end();
    });
    const exchange = await clientOf(t, url).send(ask);
    assert.ok(exchange.kind === 'response');
    assert.equal(exchange.status, status);
    const verdict = findVerdict(exchange, WILDFIRE, PLACE, NOW);
    assert.equal(verdict.kind, 'redirected');
    assert.match(verdict.message, new RegExp(other));
    assert.doesNotMatch(verdict.message, /secret/);
    assert.equal(elsewhere, 0);
  });
}

test('a service that repeats the key does not get it into a message', async (t) => {
  const url = await serveHttp(t, (_request, response) => {
    response
      .writeHead(401, { 'x-echo': KEY })
      .end(
        JSON.stringify({ error: { code: KEY, message: `No such key: ${KEY}!` }, details: [KEY] }),
      );
  });
  const exchange = await clientOf(t, url).send(ask);
  const verdict = findVerdict(exchange, WILDFIRE, PLACE, NOW);
  assert.equal(verdict.message, 'The service refused the key (401): No such key: [key]!');
  assert.ok(exchange.kind === 'response');
  assert.ok(!JSON.stringify(exchange).includes(KEY));
  assert.equal(exchange.headers['x-echo'], '[key]');
});

test('each request and each answer can be a line of a trace, which shows nothing secret', async (t) => {
  const lines: string[] = [];
  const head = [
    'set-cookie: s=1',
    'location: /a?secret=1',
    'x-credit-cost: 1',
    'content-length: 2',
  ];
  const answer = ['HTTP/1.1 302 No', ...head];
  const url = await serveRaw(t, (socket, asked) => {
    if (asked.startsWith('POST')) socket.destroy();
    else socket.write(`${answer.join('\r\n')}\r\n\r\n{}`);
  });
  const options = { trace: (line: string) => lines.push(line), clock: new MovedClock() };
  const client = clientOf(t, url, options);
  await client.send(ask);
  await client.sendPlain({ method: 'POST', path: '/v1/x', key: null });
  await clientOf(t, 'http://127.0.0.1:1', options).sendPlain({
    method: 'GET',
    path: '/v1/y',
    key: null,
  });
  const common =
    'accept: application/json; accept-encoding: zstd, gzip; user-agent: perilbook-test';
  assert.deepEqual(lines, [
    `debug 1 > GET /v1/wildfire/risk?lat=34.0522&lng=-118.2437  x-api-key: [hidden]; ${common}`,
    'debug 1 < 302 after 0 ms, credits: 1, 2 bytes  set-cookie: [hidden]; location: /a?…; x-credit-cost: 1; content-length: 2',
    `debug 2 > POST /v1/x  ${common}`,
    'debug 2 < BROKEN after 0 ms, maybe charged: The connection ended before the answer was complete: other side closed',
    `debug 1 > GET /v1/y  ${common}`,
    'debug 1 < CONNECT after 0 ms, never sent: Cannot connect to the service: connect ECONNREFUSED 127.0.0.1:1',
  ]);
});

test('never opens more connections than it may', async (t) => {
  let open = 0;
  let most = 0;
  const url = await serveHttp(t, (_request, response) => {
    most = Math.max(most, ++open);
    setTimeout(() => {
      open--;
      response.end(JSON.stringify(envelopeOf(WILDFIRE)));
    }, 20);
  });
  const client = clientOf(t, url, { sockets: 3 });
  const exchanges = await Promise.all(Array.from({ length: 12 }, () => client.send(ask)));
  assert.ok(exchanges.every(({ kind }) => kind === 'response'));
  assert.equal(most, 3);
});

test('close waits for what is in flight, and nothing is sent afterwards', async (t) => {
  const url = await serveHttp(t, (_request, response) => {
    setTimeout(() => response.end(JSON.stringify(envelopeOf(WILDFIRE))), 50);
  });
  const client = clientOf(t, url);
  const sent = client.send(ask);
  await client.close();
  assert.equal((await sent).kind, 'response');
  const late = await client.send(ask);
  assert.ok(late.kind === 'failure');
  assert.deepEqual([late.reached, late.code], ['never', 'CLOSED']);
});

test('refuses a key that cannot travel in a header, without repeating it', async (t) => {
  const client = clientOf(t, 'http://127.0.0.1:9');
  for (const key of ['', 'abc def', 'abc\r\nX-Evil: 1', '“abc”']) {
    await assert.rejects(client.send({ ...ask, key }), (error: Error & { code?: string }) => {
      assert.equal(error.code, 'KEY_REFUSED');
      assert.ok(key === '' || !JSON.stringify([error.message, error]).includes('abc'));
      return true;
    });
  }
});

const BODY = JSON.stringify(envelopeOf(WILDFIRE));

async function outcome(client: Client): Promise<string> {
  const exchange = await client.send(ask);
  assert.ok(exchange.kind === 'failure', `expected a failure, got ${JSON.stringify(exchange)}`);
  assert.ok(!exchange.message.includes(KEY));
  return `${exchange.reached} ${exchange.code}`;
}

for (const [what, address, expected] of [
  ['refused', 'http://127.0.0.1:1', /^never CONNECT$/],
  // Where DNS itself does not answer, the name may still exist.
  ['no such host', 'http://no-such-host.invalid', /^never (NO_HOST|CONNECT)$/],
] as const) {
  test(`${what}: never reached`, async (t) =>
    assert.match(await outcome(clientOf(t, address)), expected));
}

test('no TLS on the other side: never reached', async (t) => {
  const url = await serveSockets(t, (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  const exchange = await clientOf(t, url.replace('http:', 'https:')).send(ask);
  assert.ok(
    exchange.kind === 'failure' && `${exchange.reached} ${exchange.code}` === 'never CONNECT',
  );
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
    if (requests === 1)
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY}`);
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
  [
    'within the body',
    `HTTP/1.1 200 OK\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY.slice(0, 40)}`,
  ],
  [
    'before the last chunk',
    `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\n${BODY.slice(0, 4)}\r\n`,
  ],
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
    const url = await serveRaw(t, (socket) =>
      socket.write(head, () => setTimeout(() => socket.resetAndDestroy(), 20)),
    );
    assert.equal(await outcome(clientOf(t, url)), 'maybe BROKEN');
  });
}

test('reset after the whole body: answered', async (t) => {
  const head = `HTTP/1.1 200 OK\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY}`;
  const url = await serveRaw(t, (socket) =>
    socket.write(head, () => setTimeout(() => socket.resetAndDestroy(), 20)),
  );
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
  [
    'silence in the body',
    (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{'),
    'BODY_TIMEOUT',
  ],
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
  assert.equal(
    await outcome(clientOf(t, url, { timeouts: { total: 600 } })),
    'maybe TOTAL_TIMEOUT',
  );
});

test('the endless body of a status that is no answer is read for a moment only', {
  timeout: 20_000,
}, async (t) => {
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
      socket.write('HTTP/1.1 401 No\r\ncontent-length: 1000\r\n\r\n{"error"', () =>
        afterReading(() => end(socket)),
      ),
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
