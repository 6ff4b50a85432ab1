import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import type { Dispatcher } from 'undici';
import { MAX_TEXT_BYTES } from '../../src/client/content.ts';
import type { Exchange } from '../../src/client/exchange.ts';
import { Receiver } from '../../src/client/receiver.ts';
import { makeRedactor } from '../../src/client/redact.ts';

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
      receiver.onResponseStart(controller, event.status, { ...HEADERS, 'Content-Length': String(event.length) });
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
    ['a larger one', ['start', 200, data(MOST), data(1), 'end', 'stop'], 'maybe BODY_TOO_LARGE, ended 2'],
    ['one that states so', ['start', { status: 200, length: MOST + 1 }, data(9)], 'maybe BODY_TOO_LARGE, ended 1'],
    ['the largest stated', ['start', { status: 200, length: MOST }, data(9), 'end'], '200 9, ended 0'],
    ['a refusal that states more', ['start', { status: 502, length: MOST + 1 }, data(9), 'end'], '502 9, ended 0'],
    ['the deadline while a whole answer is decompressed', ['start', 200, data(9), 'end', 'stop'], '200 9, ended 0'],
    ['what comes after its end', ['start', 200, data(9), 'end', data(1), 'end', broken], '200 9, ended 0'],
    ['a deadline before there is a connection', ['stop', 'start'], 'never TOTAL_TIMEOUT, ended 1'],
    ['sent again by undici', ['start', 'start', 200, data(9), 'end'], 'maybe BROKEN, ended 1'],
    ['no connection', [broken], 'never CONNECT, ended 0'],
    ['a connection that ends twice', ['start', broken, 'stop'], 'maybe BROKEN, ended 1'],
    ['no HTTP after a hint', ['start', 103, unparsed], 'maybe NOT_HTTP, ended 0'],
    ['an answer that is cut', ['start', 200, data(9), unparsed], 'maybe BROKEN, ended 0'],
    ['a refusal that is cut', ['start', 401, data(9), broken], '401 9, ended 0'],
    ['a refusal', ['start', 502, data(MOST + 1), data(1), 'end'], '502 102, ended 0'],
    ['a long refusal', ['start', 502, data(MAX_TEXT_BYTES), data(1), 'end'], `502 ${MAX_TEXT_BYTES}, ended 1`],
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
    const settle = (exchange: Exchange) => (message = exchange.kind === 'failure' ? exchange.message : '');
    const options = { maxBodyBytes: MOST, redactor: makeRedactor([]), elapsed: () => 7, settle };
    new Receiver(options).onResponseError(null, error);
    assert.equal(message, `Cannot connect to the service: ${why}`);
  }
});
