import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  isAtRisk,
  makeBridgeSums,
  type RowState,
  sumSteps,
} from '../../src/report/compare/bridge.ts';
import { type ComparedRow, matchRows } from '../../src/report/compare/match-rows.ts';
import {
  CLASS_LETTERS,
  HIGH,
  HIGHEST,
  unansweredClass,
  VERY_HIGH,
} from '../../src/report/figures/scales.ts';
import { changesSection } from '../../src/report/html/changes.ts';
import { fc } from '../properties.ts';
import { handMadeBook } from './hand-made-book.ts';

const UNANSWERED = unansweredClass(HIGHEST);

/** Rows by key; in each file a row is on the line of its place in the list. */
type Rows = Readonly<
  Record<
    string,
    {
      readonly at?: string;
      readonly value: number | null;
      readonly rating: number;
      readonly code?: string;
    }
  >
>;

async function* rowsOf(rows: Rows): AsyncIterable<ComparedRow[]> {
  yield Object.entries(rows).map(([key, { at = 'here', value, rating, code }], index) => ({
    ...{
      key,
      line: index + 2,
      part: null,
      place: at,
      value,
      otherCurrency: code ?? null,
      rate: null,
      lossValue: null,
      classes: CLASS_LETTERS[rating]!,
    },
  }));
}

const THEN: Rows = {
  worse: { value: 1, rating: 2 },
  better: { value: 2, rating: VERY_HIGH },
  higher: { value: 4, rating: HIGH },
  lower: { value: 8, rating: 1 },
  relocated: { at: 'there', value: 16, rating: 0 },
  answered: { value: 32, rating: UNANSWERED },
  forgotten: { value: 64, rating: HIGH },
  nowhere: { at: '', value: 128, rating: UNANSWERED },
  gone: { value: null, rating: HIGH },
};
const NOW: Rows = {
  worse: { value: 1, rating: HIGH },
  better: { value: 2, rating: 0 },
  higher: { value: 4, rating: VERY_HIGH },
  lower: { value: 8, rating: 0 },
  relocated: { value: 16, rating: VERY_HIGH },
  answered: { value: 32, rating: HIGH },
  forgotten: { value: 64, rating: UNANSWERED },
  nowhere: { at: '', value: 130, rating: UNANSWERED },
};

test('a comparison counts the same rows everywhere, or says which it leaves out', async (t) => {
  const compared = await matchRows(
    rowsOf(THEN),
    rowsOf(NOW),
    [{ slug: 'hail', scale: HIGHEST }],
    0,
  );
  const { before, now, bridge, relocated } = compared;
  // All rows of both files, also those without a location.
  assert.deepEqual([before.rows, before.value, before.withoutValue], [9, 255, 1]);
  assert.deepEqual([now.rows, now.value, now.withoutValue], [8, 257, 0]);
  assert.deepEqual(bridge.before, { rows: 9, value: 255 });
  assert.deepEqual(bridge.now, { rows: 8, value: 257 });
  assert.deepEqual([relocated.rows, relocated.value], [1, 16]);
  const [hail] = compared.topics;
  assert.deepEqual(
    hail!.bridge.steps.map(({ step, change, examples }) => [
      step,
      change.rows,
      change.value,
      examples[0]!.key,
    ]),
    [
      ['gone', -1, 0, 'gone'],
      ['moved', 1, 16, 'relocated'],
      ['rated_worse', 1, 1, 'worse'],
      ['rated_better', -1, -2, 'better'],
      ['newly_answered', 1, 32, 'answered'],
      ['no_longer_answered', -1, -64, 'forgotten'],
    ],
  );
  assert.deepEqual(hail!.answeredThen, { rows: 7, value: 95 });
  // Of rows that stayed at their place.
  assert.deepEqual(
    hail!.classes.map(({ before: was, now: is, rows, value, examples }) => [
      `${was} > ${is}`,
      rows,
      value,
      examples[0]!.key,
    ]),
    [
      ['Not answered > Relatively High', 1, 32, 'answered'],
      ['Relatively High > Not answered', 1, 64, 'forgotten'],
      ['Relatively High > Very High', 1, 4, 'higher'],
      ['Relatively Low > Very Low', 1, 8, 'lower'],
      ['Relatively Moderate > Relatively High', 1, 1, 'worse'],
      ['Very High > Very Low', 1, 2, 'better'],
    ],
  );
  assert.deepEqual(hail!.answeredNow, { rows: 6, value: 63 });

  const { rows, all, ...facts } = await (await handMadeBook(t, 'partly')).facts();
  assert.deepEqual([rows, all.locations], [6, 5]);
  const changes = {
    earlier: 'earlier.csv',
    currency: 'USD',
    matchedBy: 'place',
    notCompared: [],
    ...compared,
  };
  const page = changesSection({ ...facts, rows, all, changes })!.text;
  assert.ok(
    page.includes(
      'also those without a location in the US (now: 1), which the figures above leave out.',
    ),
  );
  // What was not answered is not said to be unchanged.
  const none = { before: { rows: 0, value: 0 }, steps: [], now: { rows: 0, value: 0 } };
  const untouched = { ...hail!, title: 'Tsunami', bridge: none };
  const unanswered = {
    ...untouched,
    title: 'Drought',
    answeredThen: none.now,
    answeredNow: none.now,
  };
  const quiet = changesSection({
    ...facts,
    rows,
    all,
    changes: { ...changes, topics: [untouched, unanswered] },
  })!.text;
  assert.ok(quiet.includes('<b>Nothing changed in what is at risk:</b> <small>Tsunami</small>'));
  assert.ok(quiet.includes('<b>Not answered then or now:</b> <small>Drought</small>'));
});

test('a comparison has the sums of other currencies beside its own, that of most rows first', async () => {
  const rows = (more: number): Rows => ({
    own: { value: 100, rating: HIGH },
    unnamed: { value: 200, rating: HIGH, code: '' },
    first: { value: 400, rating: HIGH, code: 'CAD' },
    second: { value: 800 + more, rating: HIGH, code: 'CAD' },
  });
  const topics = [{ slug: 'hail', scale: HIGHEST }] as const;
  const { before, now, bridge } = await matchRows(rowsOf(rows(0)), rowsOf(rows(50)), topics, 2);
  const sum = (cad: number) => ({
    ...{ rows: 4, value: 1, withoutValue: 0 },
    otherCurrencies: [
      { currency: 'CAD', rows: 2, value: cad },
      { currency: null, rows: 1, value: 2 },
    ],
  });
  assert.deepEqual([before, now], [sum(12), sum(12.5)]);
  assert.deepEqual(bridge, {
    before: { rows: 4, value: 1 },
    steps: [],
    now: { rows: 4, value: 1 },
  });
});

const anyState = fc.record({
  // Cents, up to a trillion dollars, and values that fell below zero.
  value: fc.integer({ min: -1e12, max: 1e14 }),
  rating: fc.nat(HIGHEST.classes.length - 1),
});
const anyRow = fc.record({
  was: fc.option(anyState),
  now: fc.option(anyState),
  hasMoved: fc.boolean(),
});

test('then and all changes add up to now, to the unit, for what is at risk and for all', () => {
  fc.assert(
    fc.property(fc.array(anyRow, { maxLength: 30 }), (rows) => {
      for (const isCounted of [isAtRisk(HIGHEST), () => true]) {
        const sums = makeBridgeSums(HIGHEST, isCounted);
        for (const { was, now, hasMoved } of rows)
          sums.add(was, now, hasMoved, () => ({ line: 1, key: 'a' }));
        const { before, steps, now } = sums.bridge();
        const total = (side: 'was' | 'now') =>
          rows.reduce(
            (sum, { [side]: one }) => sum + (one && isCounted(one.rating) ? one.value : 0),
            0,
          );
        assert.deepEqual([before.value, now.value], [total('was'), total('now')]);
        for (const part of ['rows', 'value'] as const) {
          const sum = steps.reduce((all, { change }) => all + change[part], before[part]);
          assert.equal(sum, now[part], part);
        }
      }
    }),
  );
});

test('each change of a row is one step: what changes in value is apart from what changes in rating', () => {
  const steps = (then: RowState | null, now: RowState | null, hasMoved = false) => {
    const all = sumSteps(HIGHEST, then, now, hasMoved, isAtRisk(HIGHEST));
    const changes = all.filter(([, change]) => change !== 0);
    return changes.map(([step, change]) => `${step} ${change}`).join(', ');
  };
  const at = (rating: number, value = 100) => ({ rating, value });
  assert.equal(steps(at(HIGH), null), 'gone -100');
  assert.equal(steps(null, at(VERY_HIGH)), 'new 100');
  assert.equal(steps(null, at(0)), '');
  assert.equal(steps(at(HIGH), at(VERY_HIGH, 130)), 'revalued 30');
  assert.equal(steps(at(0), at(HIGH, 130)), 'rated_worse 130');
  assert.equal(steps(at(VERY_HIGH), at(2, 130)), 'revalued 30, rated_better -130');
  assert.equal(steps(at(UNANSWERED), at(HIGH)), 'newly_answered 100');
  assert.equal(steps(at(HIGH), at(UNANSWERED)), 'no_longer_answered -100');
  assert.equal(
    steps(at(0), at(HIGH, 130), true),
    'moved 100, revalued 30',
    'a rating of another place is the move',
  );
});
