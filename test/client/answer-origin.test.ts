import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AGED_NOTICE, AnswerOrigin, REPEATED_NOTICE } from '../../src/client/answer-origin.ts';
import { type Cell, cellOf, locationOf } from '../../src/geo/coordinates.ts';
import { envelopeOf, findVerdict, NOW, received, WILDFIRE } from './answers.ts';

/** An answer: to which place, how many degrees off the location is that it states, and what else is odd about it. */
interface Told {
  readonly to: number;
  readonly off?: number;
  /** Default: an id that no other answer has; null for none. */
  readonly id?: string | null;
  readonly age?: string;
  /** A refusal, by its status and code, in place of an answer. */
  readonly refusal?: readonly [status: number, code: string];
}

const REPEATED = `repeated: ${REPEATED_NOTICE}`;
const AGED = `aged: ${AGED_NOTICE}`;
const NO_DATA = [404, 'NO_DATA'] as const;
const OUTSIDE = [422, 'OUTSIDE_COVERAGE'] as const;
const exact = (...places: number[]): Told[] => places.map((to) => ({ to }));
const told = (to: number, more: Omit<Told, 'to'>): Told => ({ to, ...more });
const said = (count: number, outcome: string) => Array<string>(count).fill(outcome);

/** A place whose coordinates have so many decimals. */
const placeOf = (number: number, ofLat: number, ofLng: number): Cell => ({
  lat7: cellOf({ lat: 40 + 0.0011 * number, lng: 0 }, ofLat).lat7,
  lng7: cellOf({ lat: 0, lng: -100 - 0.0011 * number }, ofLng).lng7,
});

/** What answers come to, one after the other; places are 0.0011 degrees apart. */
const CASES: readonly (readonly [
  what: string,
  told: readonly Told[],
  expected: readonly string[],
])[] = [
  [
    'a service with a grid of its own is believed',
    [...exact(1, 2), told(3, { off: 0.0002 }), ...exact(4, 5), told(6, { off: 0.0002 })],
    said(6, 'answered'),
  ],
  [
    'another place is refused where the answer has the request id of another call, a true one is told of',
    [
      told(1, { id: 'a' }),
      told(1, { id: 'a' }),
      told(2, { id: 'a', off: -0.0011 }),
      told(2, { id: 'a' }),
    ],
    [...said(2, 'answered'), `elsewhere ${REPEATED}`, `answered ${REPEATED}`],
  ],
  [
    'the same of answers without request ids, by their bytes',
    [
      told(2, { id: null }),
      told(3, { id: null, off: -0.0011 }),
      told(1, { id: null, off: 0.0005 }),
    ],
    ['answered', `elsewhere ${REPEATED}`, 'answered'],
  ],
  [
    'another place is refused where the answer has an age, of a second and more',
    [
      told(1, { off: 0.0002, age: '0' }),
      told(2, { off: 0.0002, age: '1' }),
      told(3, { age: '30' }),
    ],
    ['answered', `elsewhere ${AGED}`, `answered ${AGED}`],
  ],
  [
    'a refusal from a cache is no fact about the location',
    [
      ...[told(1, { id: 'a', refusal: NO_DATA }), told(2, { id: 'a', refusal: NO_DATA })],
      ...[told(3, { id: 'a', refusal: OUTSIDE }), told(3, { refusal: OUTSIDE, age: '1' })],
      told(4, { id: 'a', refusal: [502, 'UPSTREAM_UNAVAILABLE'] }),
      ...[told(5, { id: null, refusal: NO_DATA }), told(6, { id: null, refusal: NO_DATA })],
    ],
    [
      ...['no_data', `unexplained ${REPEATED}`, `unexplained ${REPEATED}`, `unexplained ${AGED}`],
      ...[`upstream ${REPEATED}`, 'no_data', 'no_data'],
    ],
  ],
];

function checked(
  origin: AnswerOrigin,
  { to, off = 0, id, age, refusal }: Told,
  cell = placeOf(to, 4, 0),
): string {
  const asked = locationOf(cell);
  const stated = locationOf({ ...cell, lat7: cell.lat7 + Math.round(off * 1e7) });
  const { data, meta } = envelopeOf(WILDFIRE, stated);
  const told = {
    ...meta,
    ...(refusal && { credit_cost: 0 }),
    request_id: id === undefined ? crypto.randomUUID() : (id ?? undefined),
  };
  const body = refusal ? { error: { code: refusal[1] }, meta: told } : { data, meta: told };
  const headers: Record<string, string> = age === undefined ? {} : { age };
  const before = findVerdict(received(refusal?.[0] ?? 200, body, headers), WILDFIRE, asked, NOW);
  const { verdict, notice } = origin.check(before, { cell, call: WILDFIRE, headers });
  const { charged, requestId, rate, discrepancy } = before;
  const kept = { charged, requestId, rate, discrepancy };
  assert.deepEqual({ ...kept, ...verdict }, { ...verdict, ...kept }, 'what it cost stays');
  const kind = verdict.kind === 'malformed' ? verdict.reason : verdict.kind;
  if (kind === 'elsewhere')
    assert.match(verdict.message, /^The answer is for another location \(\d+ m away\): /);
  if (notice === null) return kind;
  return `${kind} ${notice === AGED_NOTICE ? 'aged' : 'repeated'}: ${notice}`;
}

for (const [what, answers, expected] of CASES) {
  test(what, () => {
    const origin = new AnswerOrigin(4);
    const outcomes = answers.map((answer) => checked(origin, answer));
    assert.deepEqual(outcomes, expected);
  });
}
