import { once } from 'node:events';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { body, both, type Edit, envelope, headers, instead, PAGE, results, status } from './edits.ts';
import { asHttp, type Fault, type Passage } from './fault-proxy.ts';

/** How the service's charges and the ledger compare under a fault.
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

type Extra = Partial<Pick<FaultCase, 'believed' | 'alone' | 'delivers'>>;
type Named<What> = readonly (readonly [name: string, what: What])[];

function fault(name: string, end: string, money: Money, act: Fault['act'], extra: Extra = {}): FaultCase {
  return { name, end, money, act, ...extra };
}

/** Faults of one kind: each asks the service, which charges, and hands on something else. */
function edited(end: string, money: Money, edits: Named<Edit>, extra: Extra = {}): FaultCase[] {
  return edits.map(([name, edit]) => fault(name, end, money, instead(edit), extra));
}

/** Faults of one kind that never reach the service. */
function unasked(end: string, acts: Named<Fault['act']>, extra: Extra = {}): FaultCase[] {
  return acts.map(([name, act]) => fault(name, end, 'free', act, extra));
}

const MB = 2 ** 20;

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

/** Writes a byte at a time until the client leaves: often enough to pass as no silence, seldom enough that 150 s make a quick test. */
const drip = (head: string) => async (passage: Passage) => {
  await passage.ask();
  passage.write(head);
  while (!passage.socket.destroyed) {
    passage.write('x');
    await passage.clock.sleep(5_000);
  }
};

/** Pours 64 KB at a time, as fast as it is taken, up to 2 GB. */
async function flood({ socket, write }: Passage): Promise<void> {
  const chunk = Buffer.concat([Buffer.from('10000\r\n'), Buffer.alloc(65_536, ' '), Buffer.from('\r\n')]);
  const closed = once(socket, 'close').catch(() => {});
  write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
  for (let sent = 0; sent < 2_048 * MB && !socket.destroyed; sent += chunk.length) {
    if (socket.write(chunk)) continue;
    await Promise.race([once(socket, 'drain').catch(() => {}), closed]);
  }
  socket.end();
}

/** The connection, before, in and after the answer. */
const CONNECTION: readonly FaultCase[] = [
  fault('closed before the service is asked', 'doubt', 'bounded', close),
  fault('reset before the answer', 'doubt', 'exact', async (passage) => {
    await passage.ask();
    reset(passage);
  }),
  fault('reset in the head', 'doubt', 'exact', cutAt(0, reset)),
  fault('closed before the last byte', 'doubt', 'exact', cutAt(0.9999, close)),
  // A reset may overtake the answer that it follows.
  fault('reset after the body', 'mostly', 'bounded', cutAt(1, reset), { alone: true }),
  fault('closed after the body', 'fine', 'exact', cutAt(1, close), { delivers: true, alone: true }),
  fault('never an answer', 'doubt', 'exact', async (passage) => void (await passage.ask()), { alone: true }),
  fault('a body byte by byte', 'doubt', 'exact', drip('HTTP/1.1 200 OK\r\ncontent-length: 999\r\n\r\n'), {
    alone: true,
  }),
  fault('another protocol', 'once', 'exact', async (passage) => {
    await passage.ask();
    passage.write('220 mail.example.com ESMTP\r\n');
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
    '2 GB sent',
    'once',
    'exact',
    async (passage) => {
      await passage.ask();
      await passage.clock.during(flood(passage));
    },
    { alone: true },
  ),
];

const compressed = (compress: (text: string) => Buffer, name: string | undefined): Edit =>
  both(body(compress), headers({ 'content-encoding': name }));

/** Another last block. */
function flippedAtEnd(bytes: Buffer): Buffer {
  bytes[bytes.length - 6]! ^= 0x55;
  return bytes;
}

/** Made once: it takes a second. */
const BOMB = gzipSync(Buffer.alloc(40 * MB, ' '));

const inMeta = (cost: unknown) =>
  envelope(({ meta }) => {
    meta.credit_cost = cost;
  });
/** Charged, unusable, and stated to have cost nothing. */
const NOTHING = both(headers({ 'x-credit-cost': '0' }), inMeta(0));
const aPage = body(() => PAGE);
const elsewhere = envelope(({ data }) => {
  data.location.lat += 1;
});

/** The service is asked, and what it says is bent. */
const ANSWERS: readonly FaultCase[] = [
  ...edited('malformed', 'exact', [
    ['an empty body', body(() => '')],
    ['JSON that is cut', body((text) => text.slice(0, text.length / 2))],
    ['an envelope by other names', envelope(({ data, meta }) => ({ result: data, info: meta }))],
    [
      'no topic',
      envelope(({ data }) => {
        delete data.topic;
        data.topics = {};
      }),
    ],
    [
      'a location in words',
      envelope(({ data }) => {
        data.location = { lat: String(data.location.lat), lng: '-99' };
      }),
    ],
    ['a location elsewhere', elsewhere],
    ['a page, and no cost', both(aPage, headers({ 'x-credit-cost': undefined }))],
    ['status 201', (answer) => ({ ...answer, status: 201 })],
    ['a page at a stated cost of 0', both(aPage, headers({ 'x-credit-cost': '0' }))],
    ['a location elsewhere at a stated cost of 0', both(NOTHING, elsewhere)],
  ]),
  ...edited('once', 'exact', [
    ['a body in zstd that is damaged', compressed((text) => flippedAtEnd(zstdCompressSync(text)), 'zstd')],
    ['40 MB in 40 KB', compressed(() => BOMB, 'gzip')],
  ]),
  // Wrong within a topic: a bundle is answered, its topics are not.
  ...edited('topics', 'exact', [
    ['results of null', results(() => null)],
    ['numbers beyond all bounds', body((text) => text.replace(/"(score|frequency|value)":\s*[\d.]+/g, '"$1":1e999'))],
  ]),
  // Each topic failed on its own, which is charged all the same.
  ...edited('errors', 'exact', [['errors beside values', results((result) => ({ ...result, error: 'unavailable' }))]]),
  // Bundles that bring now these topics, now those.
  ...edited('halves', 'exact', [
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
  ]),
  // Odd, and yet an answer.
  ...edited(
    'fine',
    'exact',
    [
      ['a body in gzip that does not say so', compressed(gzipSync, undefined)],
      ['a plain body that says it is in gzip', headers({ 'content-encoding': 'gzip' })],
      [
        'a prototype among the topics',
        body((text) => text.replace('"topics":{', '"topics":{"__proto__":{"value":1},"constructor":{"value":2},')),
      ],
      ['no meta', envelope(({ data }) => ({ data }))],
      [
        'a time of 1970',
        envelope(({ meta }) => {
          meta.timestamp = '1970-01-01T00:00:00.000Z';
        }),
      ],
      ['the rate used up for ever', headers({ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '999999999999999' })],
      ['a wait beside an answer', headers({ 'retry-after': '31536000' })],
      ['a day of 1970', headers({ date: 'Thu, 01 Jan 1970 00:00:00 GMT' })],
    ],
    { delivers: true },
  ),
  ...edited(
    'fine',
    'lied',
    [
      ['no cost', both(headers({ 'x-credit-cost': undefined }), inMeta(undefined))],
      ['a cost below zero', both(headers({ 'x-credit-cost': '-35' }), inMeta(-35))],
      ['a cost of nothing', NOTHING],
      ['a cost beyond all bounds', headers({ 'x-credit-cost': '999999999999999' })],
    ],
    { delivers: true },
  ),
  ...edited('dear', 'lied', [['a cost of 35 for all', headers({ 'x-credit-cost': '35' })]], {
    delivers: true,
    alone: true,
  }),
];

/** A redirect, to a server that must never be asked. */
const redirect = (code: number) => (passage: Passage) =>
  passage.answer({
    status: code,
    headers: { location: `${passage.elsewhere}${passage.path}` },
    body: Buffer.alloc(0),
  });
const YEAR_S = 365 * 86_400;

/** The service is never asked. */
const REFUSED: readonly FaultCase[] = [
  ...unasked(
    'rate',
    [
      ['429 with a page', status(429, PAGE)],
      ['429, Retry-After 2', status(429, {}, { 'retry-after': '2' })],
    ],
    { alone: true },
  ),
  ...unasked('asked', [['503, Retry-After a year', status(503, {}, { 'retry-after': String(YEAR_S) })]], {
    alone: true,
  }),
  ...unasked('upstream', [
    ['502 with a code', status(502, { error: { code: 'UPSTREAM_UNAVAILABLE' } })],
    ['418 with a page', status(418, PAGE)],
  ]),
  ...unasked('keys', [['401 with a page', status(401, PAGE)]], { alone: true }),
  ...unasked('quota', [['429 QUOTA_EXCEEDED', status(429, { error: { code: 'QUOTA_EXCEEDED' } })]], {
    believed: 'quota',
    alone: true,
  }),
  ...unasked('scope', [['403', status(403, { error: { code: 'SCOPE_REQUIRED' } })]], {
    believed: 'scope',
    alone: true,
  }),
  ...unasked('scope', [['403 with a page', status(403, PAGE)]], { alone: true }),
  ...unasked('unexplained', [
    ['404 with a page', status(404, PAGE)],
    ['422 with a code of no location', status(422, { error: { code: 'VALIDATION_ERROR' } })],
  ]),
  ...unasked('denied', [['402 with a code', status(402, { error: { code: 'PAYMENT_REQUIRED' } })]], { alone: true }),
  ...unasked('rejected', [['422 with a code', status(422, { error: { code: 'OUTSIDE_COVERAGE' } })]], {
    believed: 'place',
    alone: true,
  }),
  ...unasked(
    'misdirected',
    [301, 307].map((code) => [`${code} to another host`, redirect(code)] as const),
    { alone: true },
  ),
];

/** What may happen between the client and the service, and how a run under it ends. */
export const FAULTS: readonly FaultCase[] = [...CONNECTION, ...ANSWERS, ...REFUSED];
