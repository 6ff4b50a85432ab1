import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { body, both, type Edit, envelope, headers, PAGE, results } from './edits.ts';
import { edited, type FaultCase } from './fault-case.ts';
import type { Answer } from './fault-proxy.ts';

const BODIES = edited('malformed', 'exact', [
  ['an empty body', body(() => '')],
  ['JSON that is cut', body((text) => text.slice(0, text.length / 2))],
  ['JSON with a brace too many', body((text) => `${text}}`)],
  ['JSON with single quotes', body((text) => text.replaceAll('"', "'"))],
  [
    'a page',
    both(
      body(() => PAGE),
      headers({ 'content-type': 'text/html' }),
    ),
  ],
  ['null', body(() => 'null')],
  ['a number', body(() => '35')],
  ['a list', body((text) => `[${text}]`)],
  ['nothing in the envelope', body(() => ({}))],
  ['an envelope by other names', envelope(({ data, meta }) => ({ result: data, info: meta }))],
  ['an envelope within an envelope', envelope((whole) => ({ data: whole, meta: whole.meta }))],
  ['data that is a text', envelope((whole) => ({ ...whole, data: JSON.stringify(whole.data) }))],
  [
    'no topic',
    envelope(({ data }) => {
      delete data.topic;
      data.topics = {};
    }),
  ],
  [
    'another topic',
    envelope(({ data }) => {
      data.topic = 'tsunamis';
      if (data.topics) data.topics = { tsunamis: {} };
    }),
  ],
  [
    'no location',
    envelope(({ data }) => {
      delete data.location;
    }),
  ],
  [
    'a location in words',
    envelope(({ data }) => {
      data.location = { lat: String(data.location.lat), lng: '-99' };
    }),
  ],
  [
    'a location elsewhere',
    envelope(({ data }) => {
      data.location.lat += 1;
    }),
  ],
  [
    'a location off the earth',
    envelope(({ data }) => {
      data.location.lat = 4_000;
    }),
  ],
  [
    'latitude and longitude changed about',
    envelope(({ data: { location } }) => {
      [location.lat, location.lng] = [location.lng, location.lat];
    }),
  ],
  [
    'a page, and no cost',
    both(
      body(() => PAGE),
      headers({ 'x-credit-cost': undefined }),
    ),
  ],
  ['UTF-16', body((text) => Buffer.from(text, 'utf16le'))],
  ['status 201', (answer: Answer) => ({ ...answer, status: 201 })],
  ['status 206', (answer: Answer) => ({ ...answer, status: 206 })],
]);

/** Compressed in any manner, with and without saying so. */
const COMPRESSED = edited(
  'fine',
  'exact',
  [
    ['a body in gzip', compressed(gzipSync, 'gzip')],
    ['a body in gzip that does not say so', compressed(gzipSync, undefined)],
    ['a body in zstd', compressed(zstdCompressSync, 'zstd')],
    ['a body in brotli', compressed(brotliCompressSync, 'br')],
    ['a body in deflate', compressed(deflateSync, 'deflate')],
    ['a plain body that says it is in gzip', headers({ 'content-encoding': 'gzip' })],
  ],
  { delivers: true },
);

const DAMAGED = edited('once', 'exact', [
  ['a body in gzip that is cut', compressed((text) => gzipSync(text).subarray(0, -20), 'gzip')],
  ['a body in gzip whose sum is wrong', compressed((text) => flippedAtEnd(gzipSync(text)), 'gzip')],
  ['a body in zstd that is damaged', compressed((text) => flippedAtEnd(zstdCompressSync(text)), 'zstd')],
  ['40 MB in 40 KB', compressed(() => gzipSync(Buffer.alloc(40 * 2 ** 20, ' ')), 'gzip')],
]);

function compressed(compress: (text: string) => Buffer, name: string | undefined): Edit {
  return both(body(compress), headers({ 'content-encoding': name }));
}

/** Another sum (gzip: the last eight bytes are sum and length), or another last block. */
function flippedAtEnd(bytes: Buffer): Buffer {
  bytes[bytes.length - 6]! ^= 0x55;
  return bytes;
}

/** Wrong within a topic: a bundle is answered, its topics are not. */
const TOPICS = edited('topics', 'exact', [
  ['results of null', results(() => null)],
  ['results without a value', results(() => ({ details: null }))],
  ['values of null', results((result) => ({ ...result, value: null }))],
  ['values that are texts', results((result) => ({ ...result, value: JSON.stringify(result.value) }))],
  [
    'values of another kind',
    results(({ value }) => ({ value: typeof value === 'number' ? { title: 'x' } : 12, details: [] })),
  ],
  [
    'counts that are no counts',
    results(({ value }) => ({
      value: typeof value === 'number' ? -1 : { ...value, score: '81.5', measurement: { value: '1', unit: 'ppm' } },
    })),
  ],
  ['numbers beyond all bounds', body((text) => text.replace(/"(score|frequency|value)":\s*[\d.]+/g, '"$1":1e999'))],
]);

/** Each topic failed on its own, which is charged all the same. */
const ERRORS = edited('errors', 'exact', [
  ['errors beside values', results((result) => ({ ...result, error: 'unavailable' }))],
  ['errors that are no texts', results((result) => ({ ...result, error: { code: 7 } }))],
]);

/** Bundles that bring now these topics, now those. */
const HALVES = edited('halves', 'exact', [
  [
    'half of the topics',
    (answer, passage) => {
      const kept = passage.random() < 0.5 ? 0 : 1;
      return envelope(({ data }) => {
        if (!data.topics) return;
        data.topics = Object.fromEntries(Object.entries(data.topics).filter((_, index) => index % 2 === kept));
      })(answer, passage);
    },
  ],
]);

/** Odd, and yet an answer. */
const HARMLESS = edited(
  'fine',
  'exact',
  [
    ['a byte order mark', body((text) => `\ufeff${text}`)],
    ['fields that nobody knows', envelope((whole) => ({ ...whole, more: 1, data: { ...whole.data, more: [1] } }))],
    [
      'a prototype among the topics',
      body((text) => text.replace('"topics":{', '"topics":{"__proto__":{"value":1},"constructor":{"value":2},')),
    ],
    ['no meta', envelope(({ data }) => ({ data }))],
    [
      'a meta of wrong kinds',
      envelope(({ data }) => ({ data, meta: { request_id: 7, timestamp: 'now', credit_cost: '1' } })),
    ],
    [
      'a time of the year 9999',
      envelope(({ meta }) => {
        meta.timestamp = '9999-12-31T23:59:59.999Z';
      }),
    ],
    [
      'a time of 1970',
      envelope(({ meta }) => {
        meta.timestamp = '1970-01-01T00:00:00.000Z';
      }),
    ],
    ['no content type', headers({ 'content-type': undefined })],
    ['the type of a page', headers({ 'content-type': 'text/html' })],
    ['the rate used up for ever', headers({ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '999999999999999' })],
    [
      'a rate that makes no sense',
      headers({ 'x-ratelimit-limit': '-7', 'x-ratelimit-remaining': 'many', 'x-ratelimit-reset': '1e99' }),
    ],
    ['a wait beside an answer', headers({ 'retry-after': '31536000' })],
    ['a day of 1970', headers({ date: 'Thu, 01 Jan 1970 00:00:00 GMT' })],
  ],
  { delivers: true },
);

const inMeta = (cost: unknown) =>
  envelope(({ meta }) => {
    meta.credit_cost = cost;
  });

/** Charged, of no use, and said to have cost nothing. */
const NOTHING = both(headers({ 'x-credit-cost': '0' }), inMeta(0));
const CHEAP = edited('malformed', 'exact', [
  [
    'a page at a stated cost of 0',
    both(
      body(() => PAGE),
      headers({ 'x-credit-cost': '0' }),
    ),
  ],
  [
    'a location elsewhere at a stated cost of 0',
    both(
      NOTHING,
      envelope(({ data }) => {
        data.location.lat += 1;
      }),
    ),
  ],
  ['status 201 at a stated cost of 0', both(NOTHING, (answer: Answer) => ({ ...answer, status: 201 }))],
]);

const COSTS = [
  ...edited(
    'fine',
    'lied',
    [
      ['no cost', both(headers({ 'x-credit-cost': undefined }), inMeta(undefined))],
      ['a cost in words', both(headers({ 'x-credit-cost': 'one' }), inMeta('one'))],
      ['a cost below zero', both(headers({ 'x-credit-cost': '-35' }), inMeta(-35))],
      ['a cost of nothing in the header', headers({ 'x-credit-cost': '0' })],
      ['a cost of nothing', both(headers({ 'x-credit-cost': '0' }), inMeta(0))],
      ['a cost beyond all bounds', headers({ 'x-credit-cost': '999999999999999' })],
      ['a cost beyond all bounds in meta', inMeta(Number.MAX_SAFE_INTEGER)],
    ],
    { delivers: true },
  ),
  ...edited('dear', 'lied', [['a cost of 35 for all', headers({ 'x-credit-cost': '35' })]], {
    delivers: true,
    alone: true,
  }),
];

/** The service is asked, and what it says is bent. */
export const ANSWERS: readonly FaultCase[] = [
  ...BODIES,
  ...COMPRESSED,
  ...DAMAGED,
  ...TOPICS,
  ...ERRORS,
  ...HALVES,
  ...HARMLESS,
  ...CHEAP,
  ...COSTS,
];
