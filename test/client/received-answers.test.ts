import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import type { Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { gzipSync, constants as zlib, zstdCompressSync } from 'node:zlib';
import type { Dispatcher } from 'undici';
import type { ClientOptions } from '../../src/client/client.ts';
import { MAX_TEXT_BYTES } from '../../src/client/content.ts';
import type { Exchange } from '../../src/client/exchange.ts';
import { Receiver } from '../../src/client/receiver.ts';
import { makeRedactor } from '../../src/client/redact.ts';
import { ENTERPRISE, envelopeOf, findVerdict, NOW, PLACE, WILDFIRE } from './answers.ts';
import { clientOf, serveRaw } from './servers.ts';

const KEY = 'key-7f3a9c';
const ask = { call: WILDFIRE, location: PLACE, key: KEY };
const BODY = JSON.stringify(envelopeOf(WILDFIRE));
const LENGTH = `content-length: ${BODY.length}\r\n`;

/** The first answer's bytes as they are; every further one is a plain answer. */
async function served(
  t: TestContext,
  first: Buffer | string,
  options: Partial<ClientOptions> = {},
) {
  let requests = 0;
  const url = await serveRaw(t, (socket) => {
    socket.write(requests++ === 0 ? first : `HTTP/1.1 200 OK\r\n${LENGTH}\r\n${BODY}`);
  });
  return clientOf(t, url, { sockets: 1, ...options });
}

const answer = (body: Buffer, headers = '', status = '200 OK') =>
  Buffer.concat([
    Buffer.from(`HTTP/1.1 ${status}\r\ncontent-length: ${body.length}\r\n${headers}\r\n`),
    body,
  ]);

const plain = (head: string) => Buffer.from(head + BODY);
const coded = (body: Buffer, coding: string) =>
  answer(body, `x-credit-cost: 1\r\ncontent-encoding: ${coding}\r\n`);
const OK = `HTTP/1.1 200 OK\r\n${LENGTH}\r\n`;

for (const [what, bytes] of [
  ['behind 102 Processing', plain(`HTTP/1.1 102 Processing\r\n\r\n${OK}`)],
  ['behind 103 Early Hints', plain(`HTTP/1.1 103 Early Hints\r\nlink: </>\r\n\r\n${OK}`)],
  ['in gzip', coded(gzipSync(BODY), 'gzip')],
  ['in gzip by its old name', coded(gzipSync(BODY), 'x-gzip')],
  ['in gzip that does not say so', answer(gzipSync(BODY))],
  ['in zstd', coded(zstdCompressSync(BODY), 'ZSTD')],
  ['in plain JSON that is called gzip', coded(Buffer.from(BODY), 'gzip')],
  ['in plain JSON that is called something unknown', coded(Buffer.from(BODY), 'snappy')],
] as const) {
  test(`an answer ${what} is read, whole and byte by byte`, async (t) => {
    const url = await serveRaw(t, (socket) => void drip(socket, bytes.toString('latin1')));
    for (const client of [await served(t, bytes), clientOf(t, url)]) {
      const exchange = await client.send(ask);
      assert.ok(exchange.kind === 'response', JSON.stringify(exchange));
      assert.equal(findVerdict(exchange, WILDFIRE, PLACE, NOW).kind, 'answered');
      assert.deepEqual(exchange.content, { kind: 'json', value: JSON.parse(BODY) });
    }
  });
}

async function drip(socket: Socket, text: string): Promise<void> {
  socket.setNoDelay(true);
  for (const character of text) {
    socket.write(character, 'latin1');
    await new Promise(setImmediate);
  }
}

test('a large answer is decompressed whole', async (t) => {
  // Hard to compress, so that it arrives in many parts.
  const noise = Array.from({ length: 60_000 }, (_, index) => Math.sin(index) * 1e9);
  const body = JSON.stringify({ ...envelopeOf(ENTERPRISE), noise, zeros: '0'.repeat(5e6) });
  const client = await served(t, answer(gzipSync(body), 'content-encoding: gzip\r\n'));
  const exchange = await client.send({ ...ask, call: ENTERPRISE });
  assert.ok(exchange.kind === 'response');
  assert.deepEqual(exchange.content, { kind: 'json', value: JSON.parse(body) });
});

/** Another check sum, or another last block. */
function damaged(bytes: Buffer): Buffer {
  bytes[bytes.length - 6]! ^= 0x55;
  return bytes;
}

const withSum = zstdCompressSync(BODY, { params: { [zlib.ZSTD_c_checksumFlag]: 1 } });
const SPACES = Buffer.alloc(8_000_000, ' ');

for (const [what, bytes, code] of [
  ['behind 100 Continue', plain(`HTTP/1.1 100 Continue\r\n\r\n${OK}`), 'NOT_HTTP'],
  ['of 101', plain('HTTP/1.1 101 No\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'), 'BROKEN'],
  ['whose length is given twice', plain(`HTTP/1.1 200 OK\r\n${LENGTH}${LENGTH}\r\n`), 'NOT_HTTP'],
  ['of two lengths', plain(`HTTP/1.1 200 OK\r\n${LENGTH}content-length: 5\r\n\r\n`), 'NOT_HTTP'],
  ['in gzip that is cut', coded(gzipSync(BODY).subarray(0, -12), 'gzip'), 'DAMAGED'],
  ['in gzip with another sum', coded(damaged(gzipSync(BODY)), 'gzip'), 'DAMAGED'],
  ['in zstd that is cut', coded(zstdCompressSync(BODY).subarray(0, -12), 'zstd'), 'DAMAGED'],
  ['in zstd with another sum', coded(damaged(withSum), 'zstd'), 'DAMAGED'],
  // Few bytes that become more than the limit.
  ['in gzip without end', coded(gzipSync(SPACES), 'gzip'), 'BODY_TOO_LARGE'],
  ['in zstd without end', coded(zstdCompressSync(SPACES), 'zstd'), 'BODY_TOO_LARGE'],
] as const) {
  test(`an answer ${what}: perhaps charged, nothing is taken from it, and the next call is not harmed`, async (t) => {
    const client = await served(t, bytes, { maxBodyBytes: 1_000_000 });
    const exchange = await client.send(ask);
    assert.ok(exchange.kind === 'failure', JSON.stringify(exchange));
    assert.deepEqual([exchange.reached, exchange.code], ['maybe', code]);
    assert.equal(findVerdict(exchange, WILDFIRE, PLACE, NOW).charged, 'unknown');
    assert.equal((await client.send(ask)).kind, 'response');
  });
}

test('a compressed answer whose connection ends is broken, not damaged: it may be asked for once more', async (t) => {
  const bytes = answer(gzipSync(BODY), 'content-encoding: gzip\r\n');
  const url = await serveRaw(t, (socket) => socket.end(bytes.subarray(0, -12)));
  const exchange = await clientOf(t, url).send(ask);
  assert.ok(exchange.kind === 'failure');
  assert.equal(exchange.code, 'BROKEN');
});

test('compressed bytes without end that yield nothing are ended at the limit', async (t) => {
  const nothing = gzipSync('');
  const url = await serveRaw(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n');
    const pour = () => {
      while (!socket.destroyed && socket.write(Buffer.concat(Array(1_000).fill(nothing))));
    };
    socket.on('drain', pour);
    pour();
  });
  const exchange = await clientOf(t, url, { maxBodyBytes: 200_000 }).send(ask);
  assert.ok(exchange.kind === 'failure');
  assert.equal(exchange.code, 'BODY_TOO_LARGE');
});

test('a refusal in gzip is understood: quota is quota', async (t) => {
  const body = gzipSync(JSON.stringify({ error: { code: 'QUOTA_EXCEEDED', message: 'Used up' } }));
  const client = await served(t, answer(body, 'content-encoding: gzip\r\n', '429 No'));
  const exchange = await client.send(ask);
  const { kind, message } = findVerdict(exchange, WILDFIRE, PLACE, NOW);
  assert.deepEqual(
    [kind, message],
    ['quota', 'The quota of this period is used up (429 QUOTA_EXCEEDED): Used up'],
  );
});

test('a refusal that is damaged, or a bomb, is still a refusal', async (t) => {
  for (const body of [gzipSync('{}').subarray(0, -12), gzipSync(Buffer.alloc(8_000_000, ' '))]) {
    const client = await served(t, answer(body, 'content-encoding: gzip\r\n', '502 No'));
    const exchange = await client.send(ask);
    assert.ok(exchange.kind === 'response');
    assert.ok(exchange.bytes <= MAX_TEXT_BYTES);
    assert.equal(findVerdict(exchange, WILDFIRE, PLACE, NOW).kind, 'upstream');
  }
});

/** What undici tells, or the deadline, in its order. */
type Event =
  | 'start'
  | 'end'
  | 'stop'
  | number
  | { readonly status: number; readonly length: number }
  | Error
  | { readonly data: string };

const MOST = 100;
const HEADERS = { 'x-a': ['1', '2'], 'x-b': undefined };

/** What the events settle with, in words, and how often the request was ended. */
async function received(events: readonly Event[]): Promise<string> {
  const settled: Exchange[] = [];
  let ends = 0;
  const controller = { abort: () => (ends += 1) } as unknown as Dispatcher.DispatchController;
  const receiver = new Receiver({
    ...{ maxBodyBytes: MOST, redactor: makeRedactor([]), elapsed: () => 7 },
    settle: (exchange) => settled.push(exchange),
  });
  for (const event of events) {
    if (event === 'start') receiver.onRequestStart(controller);
    else if (event === 'end') receiver.onResponseEnd();
    else if (event === 'stop') receiver.stop('TOTAL_TIMEOUT', 'late');
    else if (typeof event === 'number') receiver.onResponseStart(controller, event, HEADERS);
    else if ('status' in event) {
      receiver.onResponseStart(controller, event.status, {
        ...HEADERS,
        'Content-Length': String(event.length),
      });
    } else if (event instanceof Error) receiver.onResponseError(controller, event);
    else receiver.onResponseData(controller, Buffer.from(event.data));
  }
  await new Promise(setImmediate);
  const words = settled.map((exchange) => {
    if (exchange.kind === 'failure') return `${exchange.reached} ${exchange.code}`;
    const { 'content-length': _, ...headers } = exchange.headers;
    assert.deepEqual(headers, { 'x-a': '1, 2' });
    const text = exchange.content.kind === 'text' ? exchange.content.text : '';
    assert.deepEqual(exchange.digest(), hash('sha1', text));
    return `${exchange.status} ${text.length}`;
  });
  return `${words.join(' and ')}, ended ${ends}`;
}

const broken = new Error('reset');
const unparsed = Object.assign(new Error('Expected HTTP/'), { name: 'HTTPParserError' });
const data = (length: number) => ({ data: 'x'.repeat(length) });

test('one result of a request: the first that is certain, and whether it may have been charged', async () => {
  for (const [what, events, result] of [
    ['an answer', ['start', 200, data(9), 'end'], '200 9, ended 0'],
    ['the largest one', ['start', 200, data(MOST), 'end'], '200 100, ended 0'],
    [
      'a larger one',
      ['start', 200, data(MOST), data(1), 'end', 'stop'],
      'maybe BODY_TOO_LARGE, ended 2',
    ],
    [
      'one that states so',
      ['start', { status: 200, length: MOST + 1 }, data(9)],
      'maybe BODY_TOO_LARGE, ended 1',
    ],
    [
      'the largest stated',
      ['start', { status: 200, length: MOST }, data(9), 'end'],
      '200 9, ended 0',
    ],
    [
      'a refusal that states more',
      ['start', { status: 502, length: MOST + 1 }, data(9), 'end'],
      '502 9, ended 0',
    ],
    [
      'the deadline while a whole answer is decompressed',
      ['start', 200, data(9), 'end', 'stop'],
      '200 9, ended 0',
    ],
    [
      'what comes after its end',
      ['start', 200, data(9), 'end', data(1), 'end', broken],
      '200 9, ended 0',
    ],
    ['a deadline before there is a connection', ['stop', 'start'], 'never TOTAL_TIMEOUT, ended 1'],
    ['sent again by undici', ['start', 'start', 200, data(9), 'end'], 'maybe BROKEN, ended 1'],
    ['no connection', [broken], 'never CONNECT, ended 0'],
    ['a connection that ends twice', ['start', broken, 'stop'], 'maybe BROKEN, ended 1'],
    ['no HTTP after a hint', ['start', 103, unparsed], 'maybe NOT_HTTP, ended 0'],
    ['an answer that is cut', ['start', 200, data(9), unparsed], 'maybe BROKEN, ended 0'],
    ['a refusal that is cut', ['start', 401, data(9), broken], '401 9, ended 0'],
    ['a refusal', ['start', 502, data(MOST + 1), data(1), 'end'], '502 102, ended 0'],
    [
      'a long refusal',
      ['start', 502, data(MAX_TEXT_BYTES), data(1), 'end'],
      `502 ${MAX_TEXT_BYTES}, ended 1`,
    ],
  ] as const) {
    assert.equal(await received(events), result, what);
  }
});

test('why there was no connection is said, whatever the error has', () => {
  const refused = new Error('connect ECONNREFUSED 127.0.0.1:1');
  for (const [error, why] of [
    [refused, 'connect ECONNREFUSED 127.0.0.1:1'],
    [new AggregateError([refused, broken]), 'connect ECONNREFUSED 127.0.0.1:1'],
    [new AggregateError([refused], 'all of them'), 'all of them'],
    [Object.assign(new AggregateError([]), { code: 'ETIMEDOUT' }), 'ETIMEDOUT'],
    [Object.assign(new RangeError(), { code: 5 }), 'RangeError'],
    [new TypeError(), 'TypeError'],
  ] as const) {
    let message = '';
    const settle = (exchange: Exchange) =>
      (message = exchange.kind === 'failure' ? exchange.message : '');
    const options = { maxBodyBytes: MOST, redactor: makeRedactor([]), elapsed: () => 7, settle };
    new Receiver(options).onResponseError(null, error);
    assert.equal(message, `Cannot connect to the service: ${why}`);
  }
});
