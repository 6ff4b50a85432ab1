import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addedColumns, bareFields, completeFields, enrichedFields } from '../../src/columns/row.ts';
import { cellStatus, LOOKED_UP, ROW_STATUSES, SAMPLE_NOTE } from '../../src/columns/row-status.ts';
import { columnsOf } from '../../src/columns/topic-columns.ts';
import {
  type Answer,
  type CellRecord,
  EMPTY_RECORD,
  type Field,
  noDataAnswer,
  REJECTION_HOLDS_MS,
  type TopicFailure,
} from '../../src/contract/answer.ts';
import { TOPIC_SLUGS, type TopicSlug } from '../../src/contract/topics.ts';
import { fc } from '../properties.ts';

const OK = { status: 'ok', note: '' } as const;
const real = () => false;
const DAY = 86_400_000;
const FIRST = Date.UTC(2026, 0, 1);

const recordOf = (answers: readonly Answer[]): CellRecord => ({
  answers: new Map(answers.map((answer) => [answer.topic, answer])),
  failures: new Map(),
});

/** As many fields as the topic has columns, each with the number of its column. */
const numbered = (topic: TopicSlug): Field[] => columnsOf(topic).map((_, index) => index);

test('the fields stand under their columns, topics without an answer stay empty, and null is not 0', () => {
  const record = recordOf([
    { topic: 'hail', asOf: FIRST + DAY, fields: ['Very Low', 0, null, 0] },
    { topic: 'radon', asOf: FIRST, fields: ['Zone 1', 'Radon', 'High'] },
    { topic: 'tsunami', asOf: 0, fields: ['Very High', 1, 1] },
  ]);
  assert.deepEqual(
    enrichedFields(
      record,
      ['hail', 'park', 'radon'],
      { status: 'deferred', note: 'why' },
      real,
      true,
      0,
    ),
    [
      ...['deferred', 'why', '2026-01-01T00:00:00.000Z'],
      ...['Very Low', 0, null, 0],
      ...[null, null],
      ...['Zone 1', 'Radon', 'High'],
    ],
  );
});

test('the sample note stands before any other note, and on no row that nothing answered', () => {
  const answered = recordOf([{ topic: 'hail', asOf: FIRST, fields: numbered('hail') }]);
  const noteOf = (note: string, sample: boolean) => [
    enrichedFields(answered, ['hail'], { status: 'partial', note }, () => sample, true, 0)[1],
    enrichedFields(EMPTY_RECORD, ['hail'], { status: 'deferred', note }, () => sample, true, 0)[1],
  ];
  assert.equal(SAMPLE_NOTE, 'sample data');
  assert.deepEqual(noteOf('', true), ['sample data', null]);
  assert.deepEqual(noteOf('why', true), ['sample data; why', 'why']);
  assert.deepEqual(noteOf('why', false), ['why', 'why']);
  assert.deepEqual(noteOf('', false), [null, null]);
});

test('a row that was not looked up has its status, its reason, and nothing else', () => {
  const bare = bareFields(['drought', 'park'], { status: 'outside_us', note: 'elsewhere' });
  assert.deepEqual(bare, ['outside_us', 'elsewhere', null, ...[null, null, null], ...[null, null]]);
});

test('every row has as many fields as there are columns, whatever topics were asked for and answered', () => {
  const topics = fc.shuffledSubarray([...TOPIC_SLUGS]);
  const answers = fc.array(
    fc.record({
      topic: fc.constantFrom(...TOPIC_SLUGS),
      asOf: fc.integer({ min: 0, max: FIRST }),
      fields: fc.array(fc.oneof(fc.string(), fc.double({ noNaN: true }), fc.constant(null)), {
        maxLength: 12,
      }),
    }),
    { maxLength: 40 },
  );
  const status = fc.record({ status: fc.constantFrom(...ROW_STATUSES), note: fc.string() });
  fc.assert(
    fc.property(
      topics,
      answers,
      status,
      fc.boolean(),
      fc.string(),
      (asked, said, cell, sample, prefix) => {
        const width = addedColumns(asked, prefix).length;
        const enriched = enrichedFields(recordOf(said), asked, cell, () => sample, true, 0);
        const bare = bareFields(asked, cell);
        assert.deepEqual([enriched.length, bare.length], [width, width]);
        assert.ok(!enriched.includes(undefined as never) && !bare.includes(undefined as never));
        assert.deepEqual([enriched[0], bare[0]], [cell.status, cell.status]);
        const isMarked =
          String(enriched[1]) === SAMPLE_NOTE || String(enriched[1]).startsWith(`${SAMPLE_NOTE}; `);
        if (sample && enriched[2] !== null) assert.ok(isMarked);
      },
    ),
  );
});

test('a row is told to be sample data by its oldest answer; a row without answers has none', () => {
  const record = recordOf([
    { topic: 'hail', asOf: FIRST, fields: numbered('hail') },
    { topic: 'park', asOf: FIRST + DAY, fields: numbered('park') },
  ]);
  const asked: number[] = [];
  const ask = (...topics: TopicSlug[]) =>
    enrichedFields(record, topics, OK, (oldest) => asked.push(oldest) > 1, true, 0);
  assert.deepEqual(
    [ask('hail', 'park')[1], ask('park')[1], ask('radon')[1]],
    [null, SAMPLE_NOTE, null],
  );
  assert.deepEqual(asked, [FIRST, FIRST + DAY]);
});

test('the fields of a row that lacks none are the same by the short way, with and without data, counts and a note', () => {
  const has = fc.constantFrom('all', 'no first', 'nothing');
  const answered = fc.record({ asOf: fc.integer({ min: 0, max: 3 }), has });
  const origin = fc.constantFrom('', 'from the county');
  fc.assert(
    fc.property(
      fc.subarray([...TOPIC_SLUGS], { minLength: 1, maxLength: 4 }).chain((topics) => {
        const answers = fc.array(answered, { minLength: topics.length, maxLength: topics.length });
        return fc.tuple(fc.constant(topics), answers, fc.boolean(), fc.boolean(), origin);
      }),
      ([topics, said, counts, sample, from]) => {
        const answers = topics.map((topic, at): Answer => {
          const { asOf, has } = said[at]!;
          if (has === 'nothing') return noDataAnswer(topic, asOf, columnsOf(topic).length);
          const [first = null, ...others] = numbered(topic);
          return { topic, asOf, fields: [has === 'all' ? first : null, ...others] };
        });
        const record = recordOf(answers);
        const { note } = cellStatus(record, topics, () => ({ freshSince: 0 }), 0);
        const status = {
          status: 'ok',
          note: [from, note].filter((text) => text !== '').join('; '),
        } as const;
        const oldest = Math.min(...said.map(({ asOf }) => asOf));
        const whole = enrichedFields(
          record,
          topics,
          status,
          (at) => sample && at === oldest,
          counts,
          0,
        );
        const own = topics.map((topic) =>
          enrichedFields(record, [topic], OK, real, counts, 0).slice(3),
        );
        const complete = completeFields(topics, counts, (at) => sample && at === oldest, 0, from);
        // Twice: the text of a time is kept.
        for (const _ of [1, 2]) assert.deepEqual(complete(oldest, own.flat()), whole);
      },
    ),
  );
});

const RUN_STARTED = 1_000;
const FRESH_SINCE = 500;

/** What the store may hold of one topic. */
const KNOWN = [
  ...['nothing', 'fresh', 'stale', 'no data', 'failed now', 'unavailable now', 'failed before'],
  ...['rejected', 'rejected too long ago'],
  ...[
    'stale, failed now',
    'stale, failed before',
    'stale, rejected',
    'fresh, failed now',
    'fresh, rejected',
  ],
] as const;
type Known = (typeof KNOWN)[number];

const FAILURES: Readonly<Record<string, TopicFailure>> = {
  'failed now': { reason: 'failed', note: 'the service failed', at: RUN_STARTED },
  'unavailable now': {
    reason: 'unavailable',
    note: 'unavailable at the service',
    at: RUN_STARTED + 1,
  },
  'failed before': { reason: 'failed', note: 'the service failed', at: RUN_STARTED - 1 },
  rejected: { reason: 'rejected', note: 'refused', at: RUN_STARTED - REJECTION_HOLDS_MS },
  'rejected too long ago': {
    reason: 'rejected',
    note: 'refused',
    at: RUN_STARTED - REJECTION_HOLDS_MS - 1,
  },
};

const TOPICS = ['hail', 'drought', 'park'] as const satisfies readonly TopicSlug[];

function knownRecord(known: Readonly<Partial<Record<TopicSlug, Known>>>): CellRecord {
  const answers = new Map<TopicSlug, Answer>();
  const failures = new Map<TopicSlug, TopicFailure>();
  for (const [name, what] of Object.entries(known) as [string, Known][]) {
    const topic = name as TopicSlug;
    if (/fresh/.test(what)) answers.set(topic, { topic, asOf: FRESH_SINCE, fields: [] });
    if (/stale/.test(what)) answers.set(topic, { topic, asOf: FRESH_SINCE - 1, fields: [] });
    if (what === 'no data') answers.set(topic, noDataAnswer(topic, FRESH_SINCE, 2));
    const failure = FAILURES[what.replace(/^.*, /, '')];
    if (failure) failures.set(topic, failure);
  }
  return { answers, failures };
}

const statusOf = (
  known: Readonly<Partial<Record<TopicSlug, Known>>>,
  topics: readonly TopicSlug[] = TOPICS,
) => cellStatus(knownRecord(known), topics, () => ({ freshSince: FRESH_SINCE }), RUN_STARTED);

const three = (hail: Known, drought: Known, park: Known) => ({ hail, drought, park });

const table: readonly (readonly [known: ReturnType<typeof three>, status: string, note: string])[] =
  [
    [three('fresh', 'fresh', 'fresh'), 'ok', ''],
    [three('fresh', 'fresh, failed now', 'fresh, rejected'), 'ok', ''],
    [three('nothing', 'nothing', 'nothing'), 'deferred', 'not bought yet'],
    [
      three('fresh', 'stale, failed before', 'fresh'),
      'deferred',
      'stale, not bought again yet: drought',
    ],
    [
      three('nothing', 'stale', 'fresh'),
      'deferred',
      'stale, not bought again yet: drought; not bought yet: hail',
    ],
    [
      three('failed now', 'stale', 'nothing'),
      'deferred',
      'the service failed: hail; stale, not bought again yet: drought; not bought yet: park',
    ],
    [three('failed now', 'fresh', 'fresh'), 'partial', 'the service failed: hail'],
    [
      three('stale, failed now', 'failed now', 'failed now'),
      'partial',
      'the service failed: hail drought park; stale answer written: hail',
    ],
    [
      three('failed now', 'failed now', 'failed now'),
      'failed',
      'the service failed: hail drought park',
    ],
    [
      three('unavailable now', 'failed now', 'unavailable now'),
      'failed',
      'unavailable at the service: hail park; the service failed: drought',
    ],
    [three('rejected', 'rejected', 'rejected'), 'rejected', 'refused'],
    [three('fresh', 'stale, rejected', 'fresh'), 'rejected', 'refused'],
    [three('rejected too long ago', 'fresh', 'fresh'), 'deferred', 'not bought yet: hail'],
    [three('fresh', 'fresh', 'no data'), 'ok', 'no data here: park'],
    [
      three('fresh', 'failed now', 'no data'),
      'partial',
      'the service failed: drought; no data here: park',
    ],
  ];

for (const [known, status, note] of table) {
  test(`${Object.values(known).join(' | ')}: ${status}`, () => {
    assert.deepEqual(statusOf(known), { status, note });
  });
}

test('only the topics that were asked for count', () => {
  assert.deepEqual(statusOf(three('fresh', 'rejected', 'failed now'), ['hail']), {
    status: 'ok',
    note: '',
  });
  assert.equal(
    statusOf(three('fresh', 'rejected', 'failed now'), ['hail', 'park']).status,
    'partial',
  );
});

test('of local data the first four topics of a reason are listed', () => {
  const topics = TOPIC_SLUGS.slice(0, 5);
  const noteOf = (failing: readonly TopicSlug[]) => {
    const record = knownRecord(Object.fromEntries(failing.map((topic) => [topic, 'failed now'])));
    return cellStatus(record, failing, () => ({ freshSince: FRESH_SINCE }), RUN_STARTED, LOOKED_UP)
      .note;
  };
  const four = `the service failed: ${topics.slice(0, 4).join(' ')}`;
  assert.deepEqual([noteOf(topics.slice(0, 4)), noteOf(topics)], [four, `${four} and 1 more`]);
});
