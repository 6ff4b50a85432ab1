import { once } from 'node:events';
import { gzipSync } from 'node:zlib';
import { body, both, type Edit, envelope, headers, instead, PAGE, results, status } from './edits.ts';
import { type Answer, asHttp, type Fault, type Passage } from './fault-proxy.ts';

/** What becomes of the money under a fault.
 * `free`: neither side counts anything. `exact`: what the service charged is what the ledger calls charged or unknown.
 * `bounded`: the client cannot know that nothing was charged, and says so. `lied`: the service states a wrong cost; the
 * ledger never counts less than was charged. */
export type Money = 'free' | 'exact' | 'bounded' | 'lied';

export interface FaultCase extends Fault {
  readonly money: Money;
  /** Which end of a run under this fault alone is the right one; see `ENDS`. */
  readonly end: string;
  /** What the user must do before a later run can finish. */
  readonly believed?: 'quota' | 'scope' | 'place';
  /** Too slow, too large or too lasting for the random mix. */
  readonly alone?: boolean;
}

const GB = 2 ** 30;

type Extra = Partial<Pick<FaultCase, 'believed' | 'alone' | 'delivers'>>;

function fault(name: string, end: string, money: Money, act: Fault['act'], extra: Extra = {}): FaultCase {
  return { name, end, money, act, ...extra };
}

type Named<What> = readonly (readonly [name: string, what: What])[];

/** Faults of one kind: each asks the service, which charges, and hands on something else. */
function edited(end: string, money: Money, edits: Named<Edit>, extra: Extra = {}): FaultCase[] {
  return edits.map(([name, edit]) => fault(name, end, money, instead(edit), extra));
}

/** Faults of one kind that never reach the service. */
function unasked(end: string, acts: Named<Fault['act']>, extra: Extra = {}): FaultCase[] {
  return acts.map(([name, act]) => fault(name, end, 'free', act, extra));
}

/** Lets only a part of the true answer through, then does something to the socket. */
const cutAt = (share: number, end: (passage: Passage) => void) => async (passage: Passage) => {
  const whole = asHttp(await passage.ask());
  const head = whole.indexOf('\r\n\r\n') + 4;
  const at = share <= 0 ? Math.floor(head / 2) : head + Math.floor((whole.length - head) * share);
  passage.write(whole.subarray(0, at));
  // What was written must have arrived before a reset takes it back.
  if (share < 1 || end === reset) await passage.clock.sleep(2_000);
  end(passage);
};

const reset = ({ socket }: Passage) => void socket.resetAndDestroy();
const close = ({ socket }: Passage) => void socket.end();

/** Often enough that no silence is noticed, and seldom enough that 150 s of it make a quick test. */
const DRIP_MS = 5_000;

/** Writes byte by byte until nobody listens. */
const drip = (head: string) => async (passage: Passage) => {
  await passage.ask();
  passage.write(head);
  while (!passage.socket.destroyed) {
    passage.write('x');
    await passage.clock.sleep(DRIP_MS);
  }
};

/** Pours as fast as it is taken, up to 2 GB. */
const pour = (head: string, chunk: Buffer) => (passage: Passage) => passage.clock.during(flood(head, chunk, passage));

async function flood(head: string, chunk: Buffer, passage: Passage): Promise<void> {
  const { socket } = passage;
  const closed = once(socket, 'close').catch(() => {});
  passage.write(head);
  for (let sent = 0; sent < 2 * GB && !socket.destroyed; sent += chunk.length) {
    if (socket.write(chunk)) continue;
    await Promise.race([once(socket, 'drain').catch(() => {}), closed]);
  }
  socket.end();
}

const afterAsking = (act: (passage: Passage) => Promise<void>) => async (passage: Passage) => {
  await passage.ask();
  await act(passage);
};

const BLANKS = Buffer.alloc(65_536, ' ');
const CHUNKED = Buffer.concat([Buffer.from('10000\r\n'), BLANKS, Buffer.from('\r\n')]);

/** A redirect of every kind, to a server that must never be asked. */
const redirect = (code: number) => (passage: Passage) =>
  passage.answer({
    status: code,
    headers: { location: `${passage.elsewhere}${passage.path}` },
    body: Buffer.alloc(0),
  });

const inSeconds = (seconds: number) => (passage: Passage) => {
  const at = new Date(passage.clock.now() + seconds * 1_000).toUTCString();
  status(429, { error: { code: 'RATE_LIMITED' } }, { 'retry-after': at })(passage);
};

const YEAR_S = 365 * 86_400;

/** The connection, before, in and after the answer. */
const CONNECTION: readonly FaultCase[] = [
  fault('reset before the service is asked', 'doubt', 'bounded', reset),
  fault('closed before the service is asked', 'doubt', 'bounded', close),
  fault('reset before the answer', 'doubt', 'exact', async (passage) => {
    await passage.ask();
    reset(passage);
  }),
  fault('reset in the head', 'doubt', 'exact', cutAt(0, reset)),
  fault('reset in the body', 'doubt', 'exact', cutAt(0.5, reset)),
  fault('closed in the head', 'doubt', 'exact', cutAt(0, close)),
  fault('closed in the body', 'doubt', 'exact', cutAt(0.5, close)),
  fault('closed before the last byte', 'doubt', 'exact', cutAt(0.9999, close)),
  // A reset may overtake the answer that it follows.
  fault('reset after the body', 'mostly', 'bounded', cutAt(1, reset), { alone: true }),
  fault('closed after the body', 'fine', 'exact', cutAt(1, close), { delivers: true, alone: true }),
  fault('never an answer', 'doubt', 'exact', async (passage) => void (await passage.ask()), { alone: true }),
  fault('a head byte by byte', 'doubt', 'exact', drip('HTTP/1.1 200 OK\r\nx-slow: '), { alone: true }),
  fault('a body byte by byte', 'doubt', 'exact', drip('HTTP/1.1 200 OK\r\ncontent-length: 999\r\n\r\n'), {
    alone: true,
  }),
  fault(
    '"still at it" without end',
    'doubt',
    'exact',
    async (passage) => {
      await passage.ask();
      while (!passage.socket.destroyed) {
        passage.write('HTTP/1.1 103 Early Hints\r\nlink: </>\r\n\r\n');
        await passage.clock.sleep(DRIP_MS);
      }
    },
    { alone: true },
  ),
  fault('another protocol', 'once', 'exact', async (passage) => {
    await passage.ask();
    passage.write('220 mail.example.com ESMTP\r\n');
    passage.socket.end();
  }),
  fault('an offer to change the protocol', 'doubt', 'exact', async (passage) => {
    await passage.ask();
    passage.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n');
  }),
  fault('a header of a megabyte', 'once', 'exact', async (passage) => {
    await passage.ask();
    passage.write(`HTTP/1.1 200 OK\r\nx-long: ${'y'.repeat(2 ** 20)}\r\n\r\n`);
    passage.socket.end();
  }),
  fault(
    'two answers to one question',
    'fine',
    'exact',
    async (passage) => {
      const answer = await passage.ask();
      passage.write(Buffer.concat([asHttp(answer), asHttp({ ...answer, body: Buffer.from('{}') })]));
    },
    { delivers: true, alone: true },
  ),
  fault(
    '2 GB declared',
    'once',
    'exact',
    afterAsking(pour(`HTTP/1.1 200 OK\r\ncontent-length: ${2 * GB}\r\n\r\n`, BLANKS)),
    {
      alone: true,
    },
  ),
  fault(
    '2 GB sent',
    'once',
    'exact',
    afterAsking(pour('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n', CHUNKED)),
    {
      alone: true,
    },
  ),
  fault(
    'a failure with 2 GB of words',
    'upstream',
    'free',
    pour('HTTP/1.1 502 No\r\ntransfer-encoding: chunked\r\n\r\n', CHUNKED),
    {
      alone: true,
    },
  ),
];

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
  [
    'a packed body that nobody asked for',
    both(
      body((text) => gzipSync(text)),
      headers({ 'content-encoding': 'gzip' }),
    ),
  ],
  ['UTF-16', body((text) => Buffer.from(text, 'utf16le'))],
  ['status 201', (answer: Answer) => ({ ...answer, status: 201 })],
  ['status 206', (answer: Answer) => ({ ...answer, status: 206 })],
]);

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

const RATE = unasked(
  'rate',
  [
    ['429', status(429)],
    ['429 and nothing else', status(429, '')],
    ['429 with a page', status(429, PAGE)],
    ['429 with a code', status(429, { error: { code: 'RATE_LIMITED' } })],
    ['429, Retry-After 0', status(429, {}, { 'retry-after': '0' })],
    ['429, Retry-After 2', status(429, {}, { 'retry-after': '2' })],
    ['429, Retry-After in words', status(429, {}, { 'retry-after': 'soon' })],
    ['429, Retry-After below zero', status(429, {}, { 'retry-after': '-5' })],
    ['429, Retry-After a date in three seconds', inSeconds(3)],
    ['429, Retry-After a date gone by', inSeconds(-3_600)],
  ],
  { alone: true },
);

const PAUSES = unasked(
  'asked',
  [
    ['429, Retry-After a year', status(429, {}, { 'retry-after': String(YEAR_S) })],
    ['429, Retry-After the date of a year ahead', inSeconds(YEAR_S)],
    ['429, Retry-After 30,000 years', status(429, {}, { 'retry-after': '999999999999' })],
    ['503, Retry-After a year', status(503, {}, { 'retry-after': String(YEAR_S) })],
  ],
  { alone: true },
);

const FAILURES = unasked('upstream', [
  ['a storm of 502', status(502, { error: { code: 'UPSTREAM_UNAVAILABLE' } })],
  ['502 with a page', status(502, PAGE)],
  ['500', status(500)],
  ['503, Retry-After 1', status(503, {}, { 'retry-after': '1' })],
  ['504', status(504, '')],
  ['599', status(599, 'no')],
  ['408', status(408, '')],
]);

const REFUSALS: readonly FaultCase[] = [
  fault('429 QUOTA_EXCEEDED', 'quota', 'free', status(429, { error: { code: 'QUOTA_EXCEEDED' } }), {
    believed: 'quota',
    alone: true,
  }),
  fault('401', 'keys', 'free', status(401), { alone: true }),
  fault('401 with a page', 'keys', 'free', status(401, PAGE), { alone: true }),
  fault('403', 'scope', 'free', status(403, { error: { code: 'SCOPE_REQUIRED' } }), { believed: 'scope', alone: true }),
  fault('403 with a page', 'scope', 'free', status(403, PAGE), { alone: true }),
  ...[400, 404, 410, 418, 451].map((code) => fault(`${code} with a page`, 'wrong place', 'free', status(code, PAGE))),
  fault('422 with a code', 'rejected', 'free', status(422, { error: { code: 'OUTSIDE_COVERAGE' } }), {
    believed: 'place',
    alone: true,
  }),
  ...[300, 301, 302, 303, 304, 307, 308].map((code) =>
    fault(`${code} to another host`, 'misdirected', 'free', redirect(code), { alone: true }),
  ),
  fault('302 to itself', 'misdirected', 'free', (passage) => status(302, '', { location: passage.path })(passage), {
    alone: true,
  }),
  fault('302 to nowhere', 'misdirected', 'free', status(302), { alone: true }),
];

/** Everything that may happen between the client and the service, and how a run under it ends. */
export const FAULTS: readonly FaultCase[] = [
  ...CONNECTION,
  ...BODIES,
  ...TOPICS,
  ...ERRORS,
  ...HARMLESS,
  ...COSTS,
  ...RATE,
  ...PAUSES,
  ...FAILURES,
  ...REFUSALS,
];
