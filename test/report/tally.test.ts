import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addedColumns, enrichedFields } from '../../src/columns/row.ts';
import type { Answer, Field } from '../../src/contract/answer.ts';
import type { TopicSlug } from '../../src/contract/topics.ts';
import { countyAt, countyName } from '../../src/geo/us-counties.ts';
import { makeCellClasses, ratedTopics } from '../../src/report/figures/cell-classes.ts';
import { HIGHEST } from '../../src/report/figures/scales.ts';
import { type Rated, typicalClass } from '../../src/report/figures/sums.ts';
import { makeTally } from '../../src/report/figures/tally.ts';
import {
  drawnPoint,
  type Frame,
  fitFrame,
  HEIGHT,
  project,
  WIDTH,
} from '../../src/report/map/frame.ts';
import { binningsOf, HEXAGON_RADII, MOST_POINTS } from '../../src/report/map/map-bins.ts';
import { makeOutlines } from '../../src/report/map/outlines.ts';
import type { EnrichedCell } from '../../src/run/write/enriched-cells.ts';
import { fc } from '../properties.ts';

const TOPICS = ['hail', 'wildfire', 'superfund'] as const;

const LA = { lat: 34.0522, lng: -118.2437 };
const HOUSTON = { lat: 29.7604, lng: -95.3698 };
const SAN_JUAN = { lat: 18.4655, lng: -66.1057 };

type Said = Partial<Record<(typeof TOPICS)[number], readonly Field[]>>;

type Place = EnrichedCell['location'];

function cell(
  number: number,
  location: Place,
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
        {
          topic,
          asOf: number,
          fields: [...fields, ...new Array<Field>(width).fill(null)].slice(0, width),
        },
      ];
    }),
  );
  const status =
    entries.length === TOPICS.length ? ({ status: 'ok', note: '' } as const) : DEFERRED;
  return {
    number,
    group: number,
    location,
    rows,
    value,
    fields: enrichedFields({ answers, failures: new Map() }, TOPICS, status, () => false, true, 0),
  };
}

const DEFERRED = { status: 'deferred', note: 'not bought yet' } as const;

function figuresOf(cells: readonly EnrichedCell[]) {
  const settings = { topics: TOPICS, counts: true, units: 'kilometers' } as const;
  const frame = fitFrame(cells.map(({ location }) => location));
  const tally = makeTally({ ...settings, cells: cells.length, frame, decimals: 0, losses: null });
  const classes = makeCellClasses(ratedTopics(settings), cells.length);
  for (const { number, rows, fields } of cells) {
    classes.put(number, fields);
    if (fields[1] !== null) tally.count(fields, rows);
  }
  for (const one of cells) {
    tally.add(one, countyAt(one.location), classes);
    tally.list(one, classes);
  }
  return tally.tallied();
}

const BOOK = [
  cell(0, LA, 3, 300, {
    hail: ['Very Low', 1, 1],
    wildfire: ['Very High', 99, 1],
    superfund: [2, 430],
  }),
  cell(1, HOUSTON, 1, 1000, {
    hail: ['Relatively High', 70, 1],
    wildfire: ['No Rating', null, null],
    superfund: [0, null],
  }),
  cell(2, SAN_JUAN, 2, 50, {
    hail: ['Very Low', 1, 1],
    wildfire: ['Not Applicable', null, null],
    superfund: [1, 700],
  }),
  cell(3, HOUSTON, 4, 0, {}),
];

test('rows and value by rating, for each topic and for the highest of all', () => {
  const { figures, status, reasons: notes, atRisk } = figuresOf(BOOK);
  const { topics, highest, all } = figures;
  const classes = ({ classes, notAnswered }: Rated, of: 'locations' | 'value') =>
    [...classes, notAnswered].map((sum) => sum[of]);
  assert.deepEqual(all, { locations: 10, value: 1350 });
  assert.deepEqual(classes(topics[0]!, 'locations'), [5, 0, 0, 1, 0, 0, 0, 0, 4]);
  assert.deepEqual(classes(topics[0]!, 'value'), [350, 0, 0, 1000, 0, 0, 0, 0, 0]);
  assert.deepEqual(classes(topics[1]!, 'locations'), [0, 0, 0, 0, 3, 1, 0, 2, 4]);
  assert.deepEqual(classes(highest!, 'locations'), [2, 0, 0, 1, 3, 0, 0, 0, 4]);
  assert.deepEqual(topics[0]!.severe, { locations: 1, value: 1000 });
  assert.deepEqual(topics[0]!.mostIn, [{ county: 'Harris, Texas', locations: 1, value: 1000 }]);
  assert.deepEqual(topics[2]!.mostIn, [], 'sites nearby are no hazard');
  const cells = atRisk.map(({ cell }) => cell);
  assert.deepEqual(cells, [1, 0]);
  assert.deepEqual(status, { ok: 6, deferred: 4 });
  assert.deepEqual(notes, [{ note: 'not bought yet', rows: 4 }]);
});

test('what is complete, why the rest is not, and from when the answers are; a place off the map counts', () => {
  const all = {
    hail: ['Very Low', 1, 1],
    wildfire: ['Very Low', 1, 1],
    superfund: [0, null],
  } satisfies Said;
  const partly = { hail: ['Very Low', 1, 1] } satisfies Said;
  const withNote = (one: EnrichedCell, note: string) => ({
    ...one,
    fields: one.fields.with(1, note),
  });
  const { figures, map, reasons, status } = figuresOf([
    withNote(cell(2, SAN_JUAN, 2, 20, partly), 'sample data; stale'),
    withNote(cell(3, HOUSTON, 1, 10, partly), 'stale'),
    withNote(cell(0, LA, 3, 300, all), 'local data: nri'),
    cell(1, HOUSTON, 1, 10, partly),
    cell(4, { lat: 0, lng: 0 }, 1, 40, {}),
  ]);
  assert.deepEqual(figures.complete, { locations: 3, value: 300 });
  assert.deepEqual(
    [figures.oldest, figures.newest],
    ['1970-01-01T00:00:00.000Z', '1970-01-01T00:00:00.003Z'],
  );
  assert.deepEqual([map.notDrawn, status], [1, { ok: 3, deferred: 5 }]);
  assert.deepEqual(reasons, [
    { note: 'stale', rows: 3 },
    { note: 'not bought yet', rows: 2 },
  ]);
  const many = Array.from({ length: 102 }, (_, at) =>
    withNote(cell(at, LA, 1, 1, {}), `reason ${at}`),
  );
  const counted = figuresOf(many);
  assert.deepEqual(
    [counted.reasons.length, counted.reasons[0]],
    [101, { note: 'other reasons', rows: 2 }],
  );
  assert.deepEqual([counted.status, counted.figures.oldest], [{ deferred: 102 }, null]);
});

test('classes by the fields that decide on them are those by whole rows, with the times of the oldest and newest answer', () => {
  const topics = ratedTopics({ topics: TOPICS, counts: true, units: 'kilometers' });
  const [whole, complete] = [makeCellClasses(topics, 4), makeCellClasses(topics, 4)];
  for (const [cell, asOf] of [1000, 3000, 2000].entries()) {
    const { fields } = BOOK[cell]!;
    whole.put(cell, fields);
    const deciding = topics.flatMap(({ from, scale }) => fields.slice(from, from + scale.fields));
    complete.putComplete(cell, asOf, deciding);
    const classes = Uint8Array.from([9, 9, 9, 9, 9]);
    complete.copy(cell, classes, 1);
    const expected = topics.map((_, topic) => whole.classOf(cell, topic));
    assert.deepEqual([...classes], [9, ...expected, 9]);
    const completed = topics.map((_, topic) => complete.classOf(cell, topic));
    assert.deepEqual(completed, expected);
  }
  const isThere = [0, 1, 2, 3].map((cell) => complete.has(cell));
  assert.deepEqual(isThere, [true, true, true, false]);
  assert.deepEqual(complete.times(), ['1970-01-01T00:00:01.000Z', '1970-01-01T00:00:03.000Z']);
  assert.deepEqual(whole.times(), []);
});

/** Whether a place is inside the drawing of a frame. */
function isShown(frame: Frame, location: Place): boolean {
  const [x, y] = drawnPoint(frame, project(location)!);
  return x > 0 && x < WIDTH && y > 0 && y < HEIGHT;
}

/** Whether all of the country is on the map. */
const isWhole = (frame: Frame) =>
  isShown(frame, { lat: 48, lng: -124 }) && isShown(frame, { lat: 45, lng: -67 });

test('the map fits the locations: a state, a town, two towns, the country', () => {
  const MIAMI = { lat: 25.77, lng: -80.2 };
  const PENSACOLA = { lat: 30.43, lng: -87.2 };
  const ATLANTA = { lat: 33.75, lng: -84.39 };
  const SEATTLE = { lat: 47.6, lng: -122.3 };
  const florida = fitFrame([MIAMI, PENSACOLA]);
  assert.ok(
    !isWhole(florida) &&
      isShown(florida, PENSACOLA) &&
      isShown(florida, MIAMI) &&
      !isShown(florida, ATLANTA),
  );
  const town = fitFrame([MIAMI, { lat: 25.8, lng: -80.25 }]);
  assert.ok(town.k > 2 * florida.k && !isShown(town, PENSACOLA));
  const two = fitFrame([MIAMI, ATLANTA]);
  assert.ok(!isWhole(two) && isShown(two, ATLANTA) && isShown(two, MIAMI));
  assert.ok(isWhole(fitFrame([MIAMI, SEATTLE])));
  const hawaii = fitFrame([
    { lat: 21.3, lng: -157.8 },
    { lat: 19.7, lng: -155.1 },
  ]);
  assert.ok(!isWhole(hawaii) && isShown(hawaii, { lat: 20.8, lng: -156.3 }), 'Maui');
  const alone = fitFrame([SAN_JUAN, { lat: 18.2, lng: -67.1 }]);
  assert.deepEqual(
    [isWhole(alone), alone.territories],
    [false, ['Puerto Rico and Virgin Islands']],
  );
  assert.deepEqual(fitFrame([]).territories, []);
  const withIslands = fitFrame([MIAMI, PENSACOLA, SAN_JUAN]);
  assert.ok(
    !isWhole(withIslands) && isShown(withIslands, SAN_JUAN) && isShown(withIslands, PENSACOLA),
    'below Florida',
  );
});

/** Whether a point is inside the rings of a path of relative lines. */
function isInside(path: string, [x, y]: readonly number[]): boolean {
  let inside = false;
  for (const ring of path.match(/M[^z]*z/g)!) {
    const numbers = ring.match(/-?(\d+\.?\d*|\.\d+)/g)!.map(Number);
    let [px, py] = [0, 0];
    const points: number[][] = [];
    for (let at = 0; at < numbers.length; at += 2) {
      [px, py] = [px + numbers[at]!, py + numbers[at + 1]!];
      points.push([px, py]);
    }
    for (const [at, [bx, by]] of points.entries()) {
      const [ax, ay] = points.at(at - 1)!;
      if (ay! > y! !== by! > y! && x! < ((bx! - ax!) * (y! - ay!)) / (by! - ay!) + ax!)
        inside = !inside;
    }
  }
  return inside;
}

test('inland cities are on land, whatever part of the country the map shows', () => {
  const inland = {
    denver: [39.74, -104.99],
    wichita: [37.69, -97.34],
    memphis: [35.12, -89.97],
    boise: [43.6, -116.2],
  };
  const miami = { lat: 25.76, lng: -80.19 };
  const places = Object.entries(inland).map(([name, [lat, lng]]) => ({
    name,
    place: { lat: lat!, lng: lng! },
  }));
  const wet: string[] = [];
  for (const { name, place } of places) {
    const frame = fitFrame([place, miami]);
    const { land } = makeOutlines(frame, new Set());
    for (const other of places.filter((seen) => isShown(frame, seen.place))) {
      if (!isInside(land, drawnPoint(frame, project(other.place)!)))
        wet.push(`${other.name}, from ${name}`);
    }
  }
  assert.deepEqual(wet, []);
});

test('a map has the names of states, of cities, and of the counties that have locations', () => {
  const { names } = makeOutlines(
    fitFrame([LA, { lat: 34.1, lng: -118 }]),
    new Set(['Los Angeles, California']),
  );
  const of = (kind: string) => names.filter((name) => name.kind === kind).map(({ name }) => name);
  assert.deepEqual(of('county'), ['Los Angeles']);
  assert.ok(of('city').includes('Los Angeles'), names.map(({ name }) => name).join());
  assert.ok(
    makeOutlines(fitFrame([LA, HOUSTON, SAN_JUAN]), new Set()).names.some(
      ({ name }) => name === 'Puerto Rico',
    ),
  );
});

test('a city and the county around it have different names on a map', () => {
  const places = [
    { lat: 39.29, lng: -76.61 },
    { lat: 39.4, lng: -76.6 },
  ];
  const counties = new Set(places.map((place) => countyName(countyAt(place))));
  const { names } = makeOutlines(fitFrame(places), counties);
  const told = names.filter(({ kind }) => kind === 'county').map(({ name }) => name);
  assert.deepEqual(told.sort(), ['Baltimore County', 'Baltimore city']);
});

test('what was answered is the denominator: of a bin, of a county, of a state', () => {
  const { map, figures } = figuresOf(BOOK);
  const { counties, highest } = figures;
  const bins = map.levels[0]!.bins.map(({ locations, county }) => `${locations} ${county}`);
  assert.deepEqual(
    bins,
    ['5 Harris, Texas', '3 Los Angeles, California', '2 San Juan, Puerto Rico'],
    'Houston is one point',
  );
  assert.equal(map.notDrawn, 0);
  const [houston] = map.levels[0]!.layers;
  assert.deepEqual(
    [houston!.answered, houston!.rows],
    [[1, 3, 2], '340'],
    'one of five rows in Houston is answered',
  );
  const harris = counties.largest.find(({ name }) => name === 'Harris, Texas')!;
  assert.deepEqual(
    [harris, harris.answered, harris.perils[0]!.severe, harris.perils[0]!.answered].map(
      ({ locations }) => locations,
    ),
    [5, 1, 1, 1],
  );
  assert.equal(highest!.answered.locations, 6);
  const unratedCell = (number: number, hail: string, wildfire: string) =>
    cell(number, LA, 2, 20, {
      hail: [hail, null, null],
      wildfire: [wildfire, null, null],
      superfund: [0, null],
    });
  const unrated = figuresOf([
    unratedCell(0, 'Not Applicable', 'No Rating'),
    unratedCell(1, 'No Rating', 'Insufficient Data'),
  ]).figures.highest!;
  assert.deepEqual(
    [unrated.answered.locations, unrated.classes[5]!.locations],
    [4, 4],
    'no rating is an answer',
  );
});

test('a bin is shown by rows and by value; one whose answered rows have no value is not shown as unanswered by value', () => {
  const rated = (rating: string): Said => ({
    hail: [rating, 1, 1],
    wildfire: ['Very Low', 1, 1],
    superfund: [0, null],
  });
  const { map } = figuresOf([
    ...[cell(0, HOUSTON, 1, 0, rated('Very High')), cell(1, HOUSTON, 9, 500, {})],
    ...[cell(2, LA, 9, 1, rated('Very Low')), cell(3, LA, 1, 500, rated('Very High'))],
  ]);
  const hail = map.levels[0]!.layers.find(({ slug }) => slug === 'hail')!;
  assert.deepEqual([hail.value, hail.rows, hail.answered], ['44', '40', [1, 10]]);
});

test('each level of hexagons has all rows, values and answers', () => {
  const said = (number: number) => (number % 3 === 0 ? {} : { hail: ['Very High', 1, 1] });
  const many = Array.from({ length: MOST_POINTS + 1 }, (_, number) =>
    cell(
      number,
      { lat: 30 + (number % 47) / 5, lng: -100 + (number % 89) / 5 },
      1 + (number % 4),
      number,
      said(number),
    ),
  );
  const [coarse, fine, ...finer] = figuresOf(many).map.levels.map(({ bins, layers }) => ({
    bins: bins.length,
    rows: bins.reduce((sum, { locations }) => sum + locations, 0),
    value: bins.reduce((sum, { value }) => sum + value!, 0),
    answered: layers.map(({ answered }) => answered.reduce((sum, rows) => sum + rows, 0)),
  }));
  const rowsOf = (cells: readonly EnrichedCell[]) => cells.reduce((sum, { rows }) => sum + rows, 0);
  const answered = rowsOf(many.filter(({ number }) => number % 3 !== 0));
  const sums = {
    rows: rowsOf(many),
    value: (MOST_POINTS * (MOST_POINTS + 1)) / 2,
    answered: [answered, answered, 0, 0],
  };
  assert.ok(coarse!.bins > 10 && fine!.bins > 2 * coarse!.bins && finer.length === 0);
  assert.deepEqual(coarse, { ...sums, bins: coarse!.bins });
  assert.deepEqual(fine, { ...sums, bins: fine!.bins });
});

test('the typical class of a heap: at least half of its weight is at most as grave, and at least half at least', () => {
  const weights = fc.array(fc.nat(1000), {
    minLength: HIGHEST.classes.length,
    maxLength: HIGHEST.classes.length,
  });
  fc.assert(
    fc.property(weights, (all) => {
      const typical = typicalClass(all, HIGHEST);
      const sum = (parts: readonly number[]) => parts.reduce((a, b) => a + b, 0);
      const ordered = all.slice(0, HIGHEST.ordered);
      if (sum(ordered) === 0) {
        return (
          typical >= HIGHEST.ordered &&
          (typical === all.length - 1) === (sum(all.slice(0, -1)) === 0)
        );
      }
      return (
        2 * sum(ordered.slice(0, typical + 1)) >= sum(ordered) &&
        2 * sum(ordered.slice(typical)) >= sum(ordered)
      );
    }),
  );
});

test('the typical class of places without a rating is the reason of most, the first of as many', () => {
  const typical = (...unordered: number[]) => typicalClass([0, 0, 0, 0, 0, ...unordered], HIGHEST);
  assert.deepEqual(
    [typical(1, 3, 3, 9), typical(2, 1, 0, 9), typical(0, 0, 1, 9), typical(0, 0, 0, 9)],
    [6, 5, 7, 8],
  );
  assert.equal(typicalClass([1, 1, 0, 0, 0, 0, 0, 0, 0], HIGHEST), 0);
});

test('a place falls into the hexagon whose centre is nearest, never farther than a corner, at each size', () => {
  const binnings = binningsOf(MOST_POINTS + 1);
  const levels = binnings.map(({ kind, radius }) => `${kind} ${radius}`);
  assert.deepEqual(
    levels,
    HEXAGON_RADII.map((radius) => `hexagon ${radius}`),
  );
  const coordinate = fc.double({ min: -50, max: 1000, noNaN: true });
  fc.assert(
    fc.property(fc.constantFrom(...binnings), coordinate, coordinate, ({ radius, binOf }, x, y) => {
      const { key, at } = binOf([x, y]);
      assert.equal(binOf(at).key, key);
      assert.ok(Math.hypot(at[0] - x, at[1] - y) <= radius + 1e-9);
    }),
  );
  assert.equal(binningsOf(MOST_POINTS)[0]!.kind, 'point');
});
