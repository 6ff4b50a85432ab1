import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { addedColumns, enrichedFields } from '../../src/columns/row.ts';
import type { Answer, Field } from '../../src/contract/answer.ts';
import type { TopicSlug } from '../../src/contract/topics.ts';
import type { EnrichedCell } from '../../src/job/enriched-cells.ts';
import { typicalClass } from '../../src/report/class-sums.ts';
import type { ReportFigures } from '../../src/report/figures.ts';
import { binningOf, HEXAGON_RADIUS, MOST_POINTS } from '../../src/report/map/bins.ts';
import { HIGHEST, scaleOf } from '../../src/report/scales.ts';
import { Tally } from '../../src/report/tally.ts';

const TOPICS = ['hail', 'wildfire', 'superfund'] as const;

const LA = { lat: 34.0522, lng: -118.2437 };
const HOUSTON = { lat: 29.7604, lng: -95.3698 };
const SAN_JUAN = { lat: 18.4655, lng: -66.1057 };

type Said = Partial<Record<(typeof TOPICS)[number], readonly Field[]>>;

function cell(
  number: number,
  location: EnrichedCell['location'],
  rows: number,
  value: number,
  said: Said,
): EnrichedCell {
  const entries = Object.entries(said) as [TopicSlug, readonly Field[]][];
  const answers = new Map<TopicSlug, Answer>(
    entries.map(([topic, fields]) => {
      const width = addedColumns([topic]).length - addedColumns([]).length;
      return [
        topic,
        { topic, asOf: number, fields: [...fields, ...new Array<Field>(width).fill(null)].slice(0, width) },
      ];
    }),
  );
  const status = entries.length === TOPICS.length ? ({ status: 'ok', note: '' } as const) : DEFERRED;
  return {
    number,
    location,
    rows,
    value,
    fields: enrichedFields({ answers, failures: new Map() }, TOPICS, status, () => false),
  };
}

const DEFERRED = { status: 'deferred', note: 'not bought yet' } as const;

function figuresOf(cells: readonly EnrichedCell[]): ReportFigures {
  const locations = cells.map(({ location }) => location);
  const tally = new Tally({ topics: TOPICS, counts: true, cells: cells.length, locations });
  for (const one of cells) tally.add(one);
  return tally.figures();
}

const BOOK = [
  cell(0, LA, 3, 300, { hail: ['Very Low', 1, 1], wildfire: ['Very High', 99, 1], superfund: [2, 430] }),
  cell(1, HOUSTON, 1, 1000, {
    hail: ['Relatively High', 70, 1],
    wildfire: ['No Rating', null, null],
    superfund: [0, null],
  }),
  cell(2, SAN_JUAN, 2, 50, {
    hail: ['Very Low', 1, 1],
    wildfire: ['Not Applicable', null, null],
    superfund: [1, 20_000],
  }),
  cell(3, HOUSTON, 4, 0, {}),
];

test('rows and value by rating, for each topic and for the highest of all', () => {
  const { topics, highest, rows, value, status, notes } = figuresOf(BOOK);
  assert.deepEqual([rows, value], [10, 1350]);
  assert.deepEqual(topics[0]!.distribution.rows, [5, 0, 0, 1, 0, 0, 0, 0, 4]);
  assert.deepEqual(topics[0]!.distribution.value, [350, 0, 0, 1000, 0, 0, 0, 0, 0]);
  assert.deepEqual(topics[1]!.distribution.rows, [0, 0, 0, 0, 3, 1, 0, 2, 4]);
  assert.deepEqual(highest!.rows, [2, 0, 0, 1, 3, 0, 0, 0, 4]);
  assert.deepEqual(status, { ok: 6, deferred: 4 });
  assert.deepEqual(notes, [{ note: 'not bought yet', rows: 4 }]);
});

test('nearest sites by distance, none found apart from not answered', () => {
  const { distribution, scale } = figuresOf(BOOK).topics[2]!;
  const found = scale.classes.flatMap(({ name }, index) =>
    distribution.rows[index]! > 0 ? [[name, distribution.rows[index]]] : [],
  );
  assert.deepEqual(found, [
    ['Beyond 10 km', 2],
    ['Within 500 m', 3],
    ['None found', 1],
    ['Not answered', 4],
  ]);
});

test('states and counties by value; territories are counted and not drawn', () => {
  const { states, counties, map } = figuresOf(BOOK);
  assert.deepEqual(
    states.map(({ name, rows, value, veryHigh }) => [name, rows, value, veryHigh.rows]),
    [
      ['Texas', 5, 1000, 0],
      ['California', 3, 300, 3],
      ['Puerto Rico', 2, 50, 0],
    ],
  );
  assert.deepEqual(
    counties.map(({ name }) => name),
    ['Harris, Texas', 'Los Angeles, California', 'San Juan, Puerto Rico'],
  );
  assert.deepEqual(map.notDrawn, [{ name: 'Puerto Rico', rows: 2, value: 50 }]);
  assert.equal(map.bins.length, 2, 'two cells of Houston fall on one point');
  assert.deepEqual(
    map.bins.map(({ rows }) => rows),
    [5, 3],
  );
});

test('the gravest: most Very High, then most Relatively High, then value, then order; at most a hundred', () => {
  const rated = (number: number, value: number, hail: string, wildfire: string) =>
    cell(number, LA, 1, value, { hail: [hail, 1, 1], wildfire: [wildfire, 1, 1], superfund: [0, null] });
  const { worst } = figuresOf([
    rated(0, 5, 'Relatively High', 'Very Low'),
    rated(1, 9, 'Relatively High', 'Very Low'),
    rated(2, 9, 'Very Low', 'Relatively High'),
    rated(3, 1, 'Relatively High', 'Relatively High'),
    rated(4, 1, 'Very High', 'Very Low'),
    rated(5, 99, 'Relatively Moderate', 'Very Low'),
    rated(6, 0, 'Very High', 'Relatively High'),
  ]);
  assert.deepEqual(
    worst.map(({ cell: number }) => number),
    [6, 4, 3, 1, 2, 0],
  );
  assert.deepEqual([worst[0]!.veryHigh, worst[0]!.high], [['hail'], ['wildfire']]);
  const many = Array.from({ length: 250 }, (_, number) => rated(number, number % 17, 'Very High', 'Very Low'));
  const kept = figuresOf(many).worst;
  assert.equal(kept.length, 100);
  assert.deepEqual(
    kept.map(({ cell: number }) => number),
    many
      .map(({ number, value }) => ({ number, value }))
      .sort((a, b) => b.value - a.value || a.number - b.number)
      .slice(0, 100)
      .map(({ number }) => number),
  );
});

test('an air category that nobody knows, and one by the median index', () => {
  const air = scaleOf('airQuality');
  const fields = (median: Field): Field[] => ['AQI', 1, 365, 300, 60, 5, 0, 0, 0, 170, median];
  assert.deepEqual([air.classOf(fields(50), 0), air.classOf(fields(51), 0), air.classOf(fields(null), 0)], [0, 1, 6]);
  assert.deepEqual(
    [scaleOf('ozone').classOf([1, 'u', 'Strange'], 0), scaleOf('ozone').classOf([null, null, null], 0)],
    [6, 7],
  );
  assert.deepEqual([scaleOf('radon').classOf(['Zone 1'], 0), scaleOf('radon').classOf(['Zone 9'], 0)], [2, 3]);
});

test('the typical class of a heap: at least half of its weight is at most as grave, and at least half at least', () => {
  const weights = fc.array(fc.nat(1000), { minLength: HIGHEST.classes.length, maxLength: HIGHEST.classes.length });
  fc.assert(
    fc.property(weights, (all) => {
      const typical = typicalClass(all, HIGHEST);
      const sum = (parts: readonly number[]) => parts.reduce((a, b) => a + b, 0);
      const ordered = all.slice(0, HIGHEST.ordered);
      if (sum(ordered) === 0) return typical >= HIGHEST.ordered;
      return 2 * sum(ordered.slice(0, typical + 1)) >= sum(ordered) && 2 * sum(ordered.slice(typical)) >= sum(ordered);
    }),
  );
});

test('a place falls into the hexagon whose centre is nearest, never farther than a corner', () => {
  const { kind, binOf } = binningOf(MOST_POINTS + 1);
  assert.equal(kind, 'hexagon');
  const coordinate = fc.double({ min: -50, max: 1000, noNaN: true });
  fc.assert(
    fc.property(coordinate, coordinate, (x, y) => {
      const { key, at } = binOf([x, y]);
      assert.equal(binOf(at).key, key);
      assert.ok(Math.hypot(at[0] - x, at[1] - y) <= HEXAGON_RADIUS + 1e-9);
    }),
  );
  assert.equal(binningOf(MOST_POINTS).kind, 'point');
});
