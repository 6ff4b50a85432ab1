import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Exchange } from '../../src/client/exchange.ts';
import { findVerdict } from '../../src/client/verdict.ts';
import { columnsOf, flatten } from '../../src/columns/topic-columns.ts';
import { type Call, CREDITS } from '../../src/contract/credits.ts';
import { decideNextStep, NOTHING_TRIED } from '../../src/run/buy/next-step.ts';
import {
  ENTERPRISE,
  envelopeOf,
  NOW,
  PLACE,
  received,
  STANDARD,
  WILDFIRE,
} from '../client/answers.ts';
import { clientOf, serveRaw } from '../client/servers.ts';
import { fc } from '../properties.ts';
import { times } from '../tier.ts';

/** FUZZ_RUNS asks for more. fast-check prints the seed of what fails. */
const RUNS = Number(process.env.FUZZ_RUNS ?? times({ long: 600, soak: 50_000 }));

const CALLS: readonly Call[] = [
  WILDFIRE,
  STANDARD,
  ENTERPRISE,
  ...(['park', 'ozone', 'airQuality', 'radon'] as const).map(
    (topic): Call => ({ kind: 'single', topic }),
  ),
];
const HEADER_NAMES = [
  ...[
    'x-credit-cost',
    'retry-after',
    'x-ratelimit-limit',
    'x-ratelimit-remaining',
    'x-ratelimit-reset',
  ],
  ...['location', 'date', 'content-type', '__proto__'],
];

/** Everything that the client makes of one answer: what it means, what is kept of it, what is done next. */
function makeOf(call: Call, exchange: Exchange): void {
  const verdict = findVerdict(
    exchange,
    { call, price: CREDITS[call.kind] },
    PLACE,
    NOW,
    (topic, result) => flatten(topic, result, PLACE),
  );
  const { charged, message, discrepancy, rate } = verdict;
  assert.ok(
    charged === 'unknown' ||
      (Number.isSafeInteger(charged) && charged >= 0 && charged <= 1_000_000),
    `${charged}`,
  );
  for (const text of [message, discrepancy ?? '', verdict.requestId ?? '']) {
    assert.doesNotMatch(text, /\p{Cc}/u);
    assert.ok(text.length <= 1_000, text);
  }
  assert.ok([...message].length <= 320, message);
  for (const number of Object.values(rate))
    assert.ok(number === null || (Number.isFinite(number) && number >= 0));
  if (verdict.kind !== 'answered') {
    const next = decideNextStep({
      verdict,
      tried: NOTHING_TRIED,
      standing: 'fresh',
      random: () => 0.5,
    });
    if (next.step === 'retry') assert.ok(next.afterMs >= 0 && Number.isFinite(next.afterMs));
    if (verdict.kind === 'malformed') assert.equal(next.step, 'give_up', 'paid, and asked again');
    return;
  }
  assert.ok(charged !== 'unknown' && charged >= CREDITS[call.kind]);
  for (const [topic, result] of verdict.results) {
    if (!result.ok) continue;
    const columns = columnsOf(topic);
    assert.equal(result.result.length, columns.length);
    for (const [index, field] of result.result.entries()) {
      const { type, name } = columns[index]!;
      const isText = type === 'text' || type === 'time';
      assert.ok(
        field === null || typeof field === (isText ? 'string' : 'number'),
        `${name}: ${JSON.stringify(field)}`,
      );
      if (typeof field === 'number') assert.ok(Number.isFinite(field), name);
      if (type === 'count' && field !== null)
        assert.ok(Number.isSafeInteger(field) && (field as number) >= 0, name);
    }
  }
}

const call = fc.constantFrom(...CALLS);
const headerValue = fc
  .oneof(
    fc.string(),
    fc.nat(),
    fc.integer(),
    fc.double(),
    fc.date().map(String),
    fc.constantFrom(
      '1e99',
      '-0',
      ' 1',
      '0x10',
      '١',
      '1,1',
      '99999999999999999999',
      'Fri, 31 Dec 9999 23:59:59 GMT',
    ),
  )
  .map(String);
const headers = fc.dictionary(fc.constantFrom(...HEADER_NAMES), headerValue);

/** The places of a value, from the outside in. */
function placesOf(value: unknown, path: readonly string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [[...path]];
  return [
    [...path],
    ...Object.entries(value).flatMap(([name, inner]) => placesOf(inner, [...path, name])),
  ];
}

/** A true envelope in which something stands where something else should. */
const odd = fc.oneof(fc.jsonValue(), fc.constantFrom(1e308, -1, 1.5, '', '=1', null, [], {}));
const bent = fc
  .tuple(call, fc.array(fc.tuple(fc.nat(), odd), { minLength: 1, maxLength: 4 }))
  .map(([call, changes]) => {
    const whole = JSON.parse(JSON.stringify(envelopeOf(call))) as Record<string, unknown>;
    for (const [nth, value] of changes) {
      const places = placesOf(whole).filter((path) => path.length > 0);
      const path = places[nth % places.length]!;
      const inside = (at: Record<string, unknown>, name: string) =>
        at[name] as Record<string, unknown>;
      path.slice(0, -1).reduce(inside, whole)[path.at(-1)!] = value;
    }
    return [call, JSON.stringify(whole)] as const;
  });

test('a true answer with other things in its places: a verdict, and fields of the right kinds', () => {
  fc.assert(
    fc.property(bent, headers, ([of, text], said) => makeOf(of, received(200, text, said))),
    { numRuns: RUNS },
  );
});

test('any status with any body: a verdict', () => {
  const status = fc.integer({ min: 200, max: 999 });
  const body = fc.oneof(fc.string(), fc.json());
  fc.assert(
    fc.property(call, status, body, headers, (of, status, text, said) =>
      makeOf(of, received(status, text, said)),
    ),
    { numRuns: RUNS },
  );
});

test('any bytes on the wire: the client says what came of it, and goes on', async (t) => {
  let next: Buffer = Buffer.alloc(0);
  const client = clientOf(t, await serveRaw(t, (socket) => socket.end(next)), { sockets: 1 });
  const start = fc.constantFrom(
    '',
    'HTTP/1.1 200 OK\r\n',
    'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n',
    'HTTP/1.0 502 No\r\n\r\n',
    'HTTP/1.1 100 Continue\r\n\r\n',
  );
  const rest = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.string().map((text) => Buffer.from(text)),
  );
  await fc.assert(
    fc.asyncProperty(start, rest, async (head, bytes) => {
      next = Buffer.concat([Buffer.from(head), bytes]);
      const exchange = await client.send({ call: WILDFIRE, location: PLACE, key: 'key-7f3a9c' });
      makeOf(WILDFIRE, exchange);
      if (exchange.kind === 'failure') assert.equal(exchange.reached, 'maybe', exchange.message);
    }),
    { numRuns: Math.min(RUNS, 300) },
  );
});
