import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { County } from '../../src/geo/us-counties.ts';
import { makeConcentration } from '../../src/report/figures/concentration.ts';
import { HIGH, HIGHEST, unansweredClass, VERY_HIGH } from '../../src/report/figures/scales.ts';
import { sumMaker } from '../../src/report/figures/sums.ts';

const NOT_ANSWERED = unansweredClass(HIGHEST);
const [HAIL, WILDFIRE] = [1, 2];

/** A county of its own state, or of one of a few states. */
const countyOf = (code: number, state = code): County => ({
  ...{ code: String(10_000 + code), name: `C${code}` },
  state: { code: String(state), name: `S${state}` },
});

/** Of locations: county, rows, value, and the classes of highest, hail and wildfire. */
type Added = readonly [county: County | null, rows: number, value: number, ...classes: number[]];

function totalsOf(added: readonly Added[]) {
  const sums = makeConcentration(3);
  for (const [county, rows, value, ...classes] of added)
    sums.add(county, rows, value, Uint8Array.from(classes));
  return sums.totals([{ slug: 'hail', layer: HAIL, scale: HIGHEST }], sumMaker(0));
}

test('areas are listed by value, then by locations, then by name; those beyond the longest list are added up', () => {
  const added = Array.from(
    { length: 22 },
    (_, index): Added => [countyOf(index), 1, 100 - index, 0, 0, 0],
  );
  const { counties, states, all } = totalsOf(added);
  assert.deepEqual(
    [counties.count, counties.largest.length, states.count, states.largest.length],
    [22, 20, 22, 12],
  );
  assert.deepEqual([counties.largest[0]!.name, counties.largest[19]!.name], ['C0, S0', 'C19, S19']);
  assert.deepEqual([counties.others!.locations, counties.others!.value], [2, 80 + 79]);
  assert.equal(states.others!.locations, 10);
  assert.deepEqual(all.all, { rows: 22, value: 22 * 100 - 231 });
  const equal = totalsOf([
    [countyOf(2), 1, 5, 0, 0, 0],
    [countyOf(1), 1, 5, 0, 0, 0],
    [countyOf(4), 1, 5, 0, 0, 0],
    [countyOf(3), 2, 5, 0, 0, 0],
    [null, 9, 4, 0, 0, 0],
  ]);
  const names = equal.counties.largest.map(({ name }) => name);
  assert.deepEqual(
    [names, equal.counties.others],
    [['C3, S3', 'C1, S1', 'C2, S2', 'C4, S4', 'Elsewhere'], null],
  );
});

test('counties of a state are added up, and each sum is of its classes', () => {
  const [one, other] = [countyOf(1, 7), countyOf(2, 7)];
  const { states, counties } = totalsOf([
    [one, 1, 10, VERY_HIGH, HIGH, 0],
    [other, 2, 20, HIGH, HIGH - 1, 0],
    [other, 4, 40, VERY_HIGH + 1, VERY_HIGH + 1, 0],
    [other, 8, 80, NOT_ANSWERED, NOT_ANSWERED, 0],
    [one, 16, 160, VERY_HIGH, VERY_HIGH, 0],
  ]);
  const sum = (locations: number) => ({ locations, value: locations * 10 });
  const perils = [{ topic: 'hail', answered: sum(23), severe: sum(17) }];
  const whole = { ...sum(31), answered: sum(23), veryHigh: sum(17), perils };
  assert.deepEqual(states, {
    count: 1,
    largest: [{ name: 'S7', ...whole }],
    others: null,
    all: { name: 'All', ...whole },
  });
  const named = counties.largest.map(({ name, locations }) => `${name}: ${locations}`);
  assert.deepEqual(named, ['C1, S7: 17', 'C2, S7: 14']);
});

test('a topic is most in the three counties of largest Very High sums; without any, of High ones', () => {
  const { mostIn } = totalsOf([
    ...[1, 2, 3, 4].map((code): Added => [countyOf(code), 1, code, 0, VERY_HIGH, HIGH]),
    [countyOf(5), 1, 50, 0, HIGH, HIGH - 1],
    [countyOf(6), 1, 60, 0, 0, VERY_HIGH + 1],
  ]);
  const told = (layer: number) =>
    mostIn(layer).map(({ county, locations, value }) => [county, locations, value]);
  const three = [4, 3, 2].map((code) => [`C${code}, S${code}`, 1, code]);
  assert.deepEqual([told(HAIL), told(WILDFIRE), told(0)], [three, three, []]);
});
