import { once } from 'node:events';
import { zstdCompressSync } from 'node:zlib';
import { type Answer, asHttp, type Fault, type Passage } from './fault-proxy.ts';

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

function fault(
  name: string,
  end: string,
  money: Money,
  act: Fault['act'],
  extra: Extra = {},
): FaultCase {
  return { name, end, money, act, ...extra };
}

/** Faults of one kind: each asks the service, which charges, and hands on something else. */
function edited(end: string, money: Money, edits: Named<Edit>, extra: Extra = {}): FaultCase[] {
  return edits.map(([name, edit]) => fault(name, end, money, instead(edit), extra));
}

/** Makes something else of an answer of the service. */
type Edit = (answer: Answer, passage: Passage) => Answer;

/** Asks the service, which charges, and hands on something else. */
const instead =
  (edit: Edit) =>
  async (passage: Passage): Promise<void> =>
    passage.answer(edit(await passage.ask(), passage));

/** Another body; a text goes as it is, anything else as JSON. */
const body = (make: (text: string, passage: Passage) => unknown): Edit => {
  return (answer, passage) => {
    const made = make(answer.body.toString(), passage);
    const bytes = Buffer.isBuffer(made)
      ? made
      : Buffer.from(typeof made === 'string' ? made : JSON.stringify(made));
    return { ...answer, body: bytes };
  };
};

// biome-ignore lint/suspicious/noExplicitAny: envelopes are bent freely
type Envelope = any;

/** The envelope with something changed in it. */
const envelope = (bend: (envelope: Envelope) => unknown): Edit =>
  body((text) => {
    const whole = JSON.parse(text);
    return bend(whole) ?? whole;
  });

/** Every result of the answer, of a single or of a bundle, made into something else. */
const results = (bend: (result: Envelope) => unknown): Edit =>
  envelope((whole) => {
    const { data } = whole;
    if (data.result) data.result = bend(data.result);
    else for (const slug of Object.keys(data.topics)) data.topics[slug] = bend(data.topics[slug]);
  });

/** Other headers; undefined takes one away. */
const headers = (change: Readonly<Record<string, string | undefined>>): Edit => {
  return (answer) => {
    const all = Object.entries({ ...answer.headers, ...change }).filter(
      ([, value]) => value !== undefined,
    );
    return { ...answer, headers: Object.fromEntries(all) as Record<string, string> };
  };
};

const both =
  (first: Edit, second: Edit): Edit =>
  (answer, passage) =>
    second(first(answer, passage), passage);

const JSON_TYPE = { 'content-type': 'application/json' };

/** Refuses or fails without asking the service. */
const status =
  (code: number, said: unknown = {}, more: Readonly<Record<string, string>> = {}) =>
  (passage: Passage): void =>
    passage.answer({
      status: code,
      headers: { ...JSON_TYPE, ...more },
      body: Buffer.from(typeof said === 'string' ? said : JSON.stringify(said)),
    });

const PAGE = '<!doctype html><html><body><h1>Sign in to the guest network</h1></body></html>';

const MB = 2 ** 20;
const YEAR_S = '31536000';

const reset = ({ socket }: Passage) => void socket.resetAndDestroy();
const close = ({ socket }: Passage) => void socket.end();

async function twice({ ask, write }: Passage): Promise<void> {
  const answer = await ask();
  write(Buffer.concat([asHttp(answer), asHttp({ ...answer, body: Buffer.from('{}') })]));
}

async function flood(passage: Passage): Promise<void> {
  await passage.ask();
  await passage.clock.during(pour(passage));
}

/** Pours 64 KB at a time, as fast as it is taken, up to 2 GB. */
async function pour({ socket, write }: Passage): Promise<void> {
  const chunk = Buffer.concat([
    Buffer.from('10000\r\n'),
    Buffer.alloc(65_536, ' '),
    Buffer.from('\r\n'),
  ]);
  const closed = once(socket, 'close').catch(() => {});
  write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
  for (let sent = 0; sent < 2_048 * MB && !socket.destroyed; sent += chunk.length) {
    if (socket.write(chunk)) continue;
    await Promise.race([once(socket, 'drain').catch(() => {}), closed]);
  }
  socket.end();
}

/** Writes a piece every ten seconds for as long as the client listens. */
async function drip({ socket, clock, write }: Passage, pieces: Iterable<string>): Promise<void> {
  for (const piece of pieces) {
    if (socket.destroyed) return;
    write(piece);
    await clock.sleep(10_000);
  }
}

function* endless(first: string, each: string): Generator<string> {
  yield first;
  for (;;) yield each;
}

/** The service is asked, which charges, and what comes is slow without an end. */
const dripped = (name: string, pieces: () => Iterable<string>): FaultCase => {
  const act = async (passage: Passage) => {
    await passage.ask();
    await drip(passage, pieces());
  };
  return fault(name, 'silent', 'exact', act, { alone: true });
};

/** The connection, before, in and after the answer. */
const CONNECTION: readonly FaultCase[] = [
  fault('closed before the service is asked', 'doubt', 'bounded', close),
  fault('reset before the answer', 'doubt', 'exact', async (passage) => {
    await passage.ask();
    reset(passage);
  }),
  fault('closed before the last byte', 'doubt', 'exact', async (passage) => {
    passage.write(asHttp(await passage.ask()).subarray(0, -1));
    close(passage);
  }),
  fault('never an answer', 'silent', 'exact', async (passage) => void (await passage.ask()), {
    alone: true,
  }),
  dripped('a head that drips', () => endless('HTTP/1.1 200 OK\r\n', 'x-a: b\r\n')),
  dripped('a body that drips', () =>
    endless('HTTP/1.1 200 OK\r\ncontent-length: 99999\r\n\r\n{', ' '),
  ),
  dripped('interim answers without an end', () =>
    endless('HTTP/1.1 102 Processing\r\n\r\n', 'HTTP/1.1 102 Processing\r\n\r\n'),
  ),
  fault('two answers to one question', 'fine', 'exact', twice, { delivers: true, alone: true }),
  fault('2 GB sent', 'once', 'exact', flood, { alone: true }),
];

/** In zstd, with another last block. */
function damagedZstd(text: string): Buffer {
  const bytes = zstdCompressSync(text);
  bytes[bytes.length - 6]! ^= 0x55;
  return bytes;
}

const inMeta = (said: object) =>
  envelope((whole) => ({ ...whole, meta: { ...whole.meta, ...said } }));
const half: Edit = (answer, passage) => {
  const kept = passage.random() < 0.5 ? 0 : 1;
  return envelope(({ data }) => {
    if (!data.topics) return;
    data.topics = Object.fromEntries(
      Object.entries(data.topics).filter((_, index) => index % 2 === kept),
    );
  })(answer, passage);
};
/** Charged, unusable, and stated to have cost nothing. */
const NOTHING = both(headers({ 'x-credit-cost': '0' }), inMeta({ credit_cost: 0 }));
const aPage = body(() => PAGE);
const elsewhere = envelope(({ data }) => {
  data.location.lat += 1;
});

/** The service is asked, and what it says is bent. */
const ANSWERS: readonly FaultCase[] = [
  ...edited('malformed', 'exact', [
    ['JSON that is cut', body((text) => text.slice(0, text.length / 2))],
    [
      'no topic',
      envelope((whole) => ({ ...whole, data: { location: whole.data.location, topics: {} } })),
    ],
    ['a location elsewhere', elsewhere],
    ['a page, and no cost', both(aPage, headers({ 'x-credit-cost': undefined }))],
    ['a page at a stated cost of 0', both(aPage, headers({ 'x-credit-cost': '0' }))],
    ['a location elsewhere at a stated cost of 0', both(NOTHING, elsewhere)],
  ]),
  ...edited('once', 'exact', [
    [
      'a body in zstd that is damaged',
      both(body(damagedZstd), headers({ 'content-encoding': 'zstd' })),
    ],
  ]),
  // Wrong within a topic: a bundle is answered, its topics are not.
  ...edited('topics', 'exact', [['results of null', results(() => null)]]),
  // Each topic failed on its own, which is charged all the same.
  ...edited('errors', 'exact', [
    ['errors beside values', results((result) => ({ ...result, error: 'unavailable' }))],
  ]),
  // Bundles that bring now these topics, now those.
  ...edited('halves', 'exact', [['half of the topics', half]]),
  // Odd, and yet an answer.
  ...edited(
    'fine',
    'exact',
    [
      ['a time of 1970', inMeta({ timestamp: '1970-01-01T00:00:00.000Z' })],
      [
        'the rate used up for ever',
        headers({ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '999999999999999' }),
      ],
      ['a wait beside an answer', headers({ 'retry-after': YEAR_S })],
      ['a day of 1970', headers({ date: 'Thu, 01 Jan 1970 00:00:00 GMT' })],
    ],
    { delivers: true },
  ),
  ...edited(
    'fine',
    'lied',
    [
      [
        'no cost',
        both(headers({ 'x-credit-cost': undefined }), inMeta({ credit_cost: undefined })),
      ],
      ['a cost of nothing', NOTHING],
    ],
    { delivers: true },
  ),
  ...edited(
    'dear',
    'lied',
    [
      [
        'a cost of 35 for all',
        both(headers({ 'x-credit-cost': '35' }), inMeta({ credit_cost: 35 })),
      ],
    ],
    { delivers: true, alone: true },
  ),
];

/** A redirect to a path that no client asks for; whoever follows it is seen. */
const redirect = (passage: Passage) => {
  const location = `http://localhost:${passage.socket.localPort}/elsewhere${passage.path}`;
  status(307, '', { location })(passage);
};

const refused = (code: string) => ({ error: { code } });

/** The service is never asked. */
const REFUSED: readonly FaultCase[] = [
  fault('429, Retry-After 2', 'rate', 'free', status(429, {}, { 'retry-after': '2' }), {
    alone: true,
  }),
  fault('503, Retry-After a year', 'asked', 'free', status(503, {}, { 'retry-after': YEAR_S }), {
    alone: true,
  }),
  fault('503, Retry-After 9 minutes', 'waited', 'free', status(503, {}, { 'retry-after': '540' }), {
    alone: true,
  }),
  fault('502 with a code', 'upstream', 'free', status(502, refused('UPSTREAM_UNAVAILABLE'))),
  fault('401 with a page', 'keys', 'free', status(401, PAGE), { alone: true }),
  fault('429 QUOTA_EXCEEDED', 'quota', 'free', status(429, refused('QUOTA_EXCEEDED')), {
    believed: 'quota',
    alone: true,
  }),
  fault('403', 'scope', 'free', status(403, refused('SCOPE_REQUIRED')), {
    believed: 'scope',
    alone: true,
  }),
  fault('403 with a page', 'scope', 'free', status(403, PAGE), { alone: true }),
  fault('404 with a page', 'unexplained', 'free', status(404, PAGE)),
  fault('402 with a code', 'denied', 'free', status(402, refused('PAYMENT_REQUIRED')), {
    alone: true,
  }),
  fault('422 with a code', 'rejected', 'free', status(422, refused('OUTSIDE_COVERAGE')), {
    believed: 'place',
    alone: true,
  }),
  fault('307 to another host', 'misdirected', 'free', redirect, { alone: true }),
];

/** What may happen between the client and the service, and how a run under it ends. */
export const FAULTS: readonly FaultCase[] = [...CONNECTION, ...ANSWERS, ...REFUSED];
