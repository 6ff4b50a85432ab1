import assert from 'node:assert/strict';
import { connect } from 'node:net';
import test from 'node:test';
import { errorEnvelope } from '../../src/contract/envelopes.ts';
import { pathTo, request, setUp } from '../service/small-data.ts';

/** What the service answers to these bytes until it closes the connection, or has been silent for a while. */
function raw(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(text, 'latin1'));
    socket.setTimeout(300, () => socket.destroy());
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1');
    });
    socket.on('close', () => resolve(answer));
    socket.on('error', (error: Error & { code?: string }) =>
      error.code === 'ECONNRESET' ? resolve(answer) : reject(error),
    );
  });
}

/** A request as bytes, whose headers are these. */
const written = (line: string, ...headers: string[]) =>
  [line, 'Connection: close', ...headers, '', ''].join('\r\n');

test('odd requests: never a 5xx, never an answer that is not asked for, never a charge', {
  timeout: 300_000,
}, async (t) => {
  const errors: unknown[] = [];
  const { service, key, charged } = await setUp(t, {
    service: { onError: (error) => errors.push(error) },
  });
  const query = '?lat=40.25&lng=-99.75';
  const good = `/v1/drought/risk${query}`;
  const head = (path: string, ...more: string[]) =>
    written(`GET ${path} HTTP/1.1`, 'Host: x', `X-API-Key: ${key}`, ...more);
  const keyless = (...more: string[]) => written(`GET ${good} HTTP/1.1`, 'Host: x', ...more);
  const risk = ['..%2fdrought', '/drought', 'drought%00', 'DROUGHT', '../v1/drought'].map(
    (path) => `${path}/risk`,
  );
  const topics = ['__proto__', 'constructor', '%ff', '%', '\xe9'];
  const long = `lat=40.${'2'.repeat(9_000)}&lng=1`;
  const queries = ['lat[0]=40.25&lng=-99.75', long, '__proto__=1', '&&&&', 'lat=%ff&lng=%'];
  const names = ['X_API_Key: ', 'Authorization: Bearer ', 'X-API-Key : ', 'Cookie: x-api-key='];
  const keys = [
    `${key}, ${key}`,
    `${key}\x01`,
    `${key}\xe9`,
    'k'.repeat(15_000),
    'k'.repeat(40_000),
  ];
  const cases = [
    ...[...risk, 'drought/risk/'].map((path) => head(`/v1/${path}${query}`)),
    ...topics.map((topic) => head(`/v1/${topic}/risk${query}`)),
    ...queries.map((said) => head(`/v1/drought/risk?${said}`)),
    keyless(),
    keyless(`X-API-Key: ${key}`, `X-API-Key: ${key}`),
    ...keys.map((text) => keyless(`X-API-Key: ${text}`)),
    ...names.map((name) => keyless(name + key)),
    written(`GET ${good}&x-api-key=${key} HTTP/1.1`, 'Host: x'),
    `${head(good, 'Transfer-Encoding: chunked')}zz\r\n`,
    `GET ${good} HTTP/1.1\r\nX-API-Key: ${key}\r\n\r\n`,
    `GET ${good}\r\n\r\n`,
    '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
    '\0'.repeat(500),
  ];
  let answered = 0;
  for (const [index, text] of cases.entries()) {
    const answer = await raw(service.port, text);
    assert.doesNotMatch(
      answer,
      /^HTTP\/1\.1 (2|3|5)\d\d /,
      `case ${index}: ${JSON.stringify(text.slice(0, 120))}`,
    );
    assert.doesNotMatch(answer, /HTTP\/1\.1 200 /, `case ${index}`);
    assert.ok(!answer.includes(key), `case ${index} tells the key`);
    if (answer !== '') answered += 1;
  }
  t.diagnostic(`${cases.length} requests, ${answered} answered`);
  assert.deepEqual(errors, []);
  assert.equal(charged(), 0);
  assert.equal((await request(service.url + good, key)).status, 200);
});

test('other methods are 405 with Allow, HEAD is never charged, and what is no request is refused', async (t) => {
  const { service, key, charged } = await setUp(t);
  const head = (method: string, path: string, ...more: string[]) =>
    written(`${method} ${path} HTTP/1.1`, `X-API-Key: ${key}`, ...more);
  const paid = ['drought/risk', 'noSuchTopic/risk', 'bundle/standard'].map((path) =>
    pathTo(`/v1/${path}`),
  );
  const cases: [text: string, status: number, allow: string | null][] = [];
  for (const method of ['HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND']) {
    for (const path of paid) cases.push([head(method, path, 'Host: x'), 405, 'GET']);
    const free = method === 'HEAD' ? ([200, null] as const) : ([405, 'GET, HEAD'] as const);
    for (const path of ['/healthz', '/openapi.json'])
      cases.push([head(method, path, 'Host: x'), ...free]);
    cases.push([head(method, '/elsewhere', 'Host: x'), 404, null]);
  }
  cases.push([
    `${head('POST', paid[0]!, 'Host: x', 'Content-Type: text/xml', 'Content-Length: 4')}<a/>`,
    405,
    'GET',
  ]);
  cases.push([head('GET', '/%', 'Host: x'), 400, null]);
  cases.push([head('GET', '/v1/%zz/risk', 'Host: x'), 400, null]);
  for (const [text, status, allow] of cases) {
    const [start, body] = (await raw(service.port, text)).split('\r\n\r\n') as [string, string];
    const line = text.slice(0, text.indexOf('\r'));
    assert.equal(start.split(' ')[1], String(status), line);
    assert.equal(/^allow: (.*)$/im.exec(start)?.[1] ?? null, allow, line);
    if (text.startsWith('HEAD ')) assert.equal(body, '', line);
    else assert.equal(errorEnvelope.parse(JSON.parse(body)).meta.credit_cost, 0, line);
  }
  for (const [text, status] of [
    [head('GET', `/?${'x'.repeat(20_000)}`, 'Host: x'), 431],
    [head('GET', paid[0]!), 400],
    [head('GET', paid[0]!, 'Host: x', 'Expect: a miracle'), 417],
  ] as const) {
    assert.match(await raw(service.port, text), new RegExp(`^HTTP/1.1 ${status} `));
  }
  assert.equal(charged(), 0);
});

test('a body on GET, HTTP/1.0 and absolute-form targets: the exact status of each', async (t) => {
  const { service, key, charged } = await setUp(t);
  const path = pathTo('/v1/drought/risk');
  const get = (target: string, version: string, ...more: string[]) =>
    written(`GET ${target} HTTP/${version}`, `X-API-Key: ${key}`, ...more);
  const cases: [name: string, text: string, status: number][] = [
    ['body', `${get(path, '1.1', 'Host: x', 'Content-Length: 5')}hello`, 200],
    [
      'body, chunked',
      `${get(path, '1.1', 'Host: x', 'Transfer-Encoding: chunked')}5\r\nhello\r\n0\r\n\r\n`,
      200,
    ],
    ['HTTP/1.0', get(path, '1.0'), 200],
    ['HTTP/1.0, Host', get(path, '1.0', 'Host: x'), 200],
    ['absolute', get(`http://x${path}`, '1.1', 'Host: x'), 200],
    ['absolute, elsewhere', get(`http://example.org${path}`, '1.1', 'Host: x'), 200],
    ['absolute, no path', get('http://x', '1.1', 'Host: x'), 404],
    ['asterisk', get('*', '1.1', 'Host: x'), 404],
  ];
  for (const [name, text, status] of cases) {
    assert.match(await raw(service.port, text), new RegExp(`^HTTP/1\\.1 ${status} `), name);
  }
  const paid = cases.filter(([, , status]) => status === 200).length;
  assert.equal(charged(), paid);
});
