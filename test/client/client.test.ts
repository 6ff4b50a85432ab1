import assert from 'node:assert/strict';
import { test } from 'node:test';
import { envelopeOf, findVerdict, NOW, PLACE, WILDFIRE } from './answers.ts';
import { clientOf, serveHttp, serveRaw } from './servers.ts';
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
  const common = { accept: 'application/json', 'accept-encoding': 'zstd, gzip', 'user-agent': 'perilbook-test' };
  assert.deepEqual(own, { 'x-api-key': KEY, ...common });
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
      .end(JSON.stringify({ error: { code: KEY, message: `No such key: ${KEY}!` }, details: [KEY] }));
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
  const head = ['set-cookie: s=1', 'location: /a?secret=1', 'x-credit-cost: 1', 'content-length: 2'];
  const answer = ['HTTP/1.1 302 No', ...head];
  const url = await serveRaw(t, (socket, asked) => {
    if (asked.startsWith('POST')) socket.destroy();
    else socket.write(`${answer.join('\r\n')}\r\n\r\n{}`);
  });
  const options = { trace: (line: string) => lines.push(line), clock: new MovedClock() };
  const client = clientOf(t, url, options);
  await client.send(ask);
  await client.sendPlain({ method: 'POST', path: '/v1/x', key: null });
  await clientOf(t, 'http://127.0.0.1:1', options).sendPlain({ method: 'GET', path: '/v1/y', key: null });
  const common = 'accept: application/json; accept-encoding: zstd, gzip; user-agent: perilbook-test';
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
