import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { type CellAreas, createCellAreaFinder } from '../../src/data/tables/cell-area-finder.ts';
import { importDataset } from '../../src/data/tables/import-dataset.ts';
import type { AreaRecord } from '../../src/data/tables/records.ts';
import { cellOf, UNITS_PER_DEGREE } from '../../src/geo/coordinates.ts';
import { makeOutline, packRings, relationToBox } from '../../src/geo/outline.ts';
import { fc } from '../properties.ts';
import { AREAS, info, openDatabase, StillClock, square } from '../service/small-data.ts';

function finderOf(
  t: TestContext,
  records: readonly AreaRecord[],
  level: 'tract' | 'county' = 'tract',
  precision = 4,
) {
  const database = openDatabase(t);
  importDataset(database, { kind: 'areas', info: info('areas'), records }, new StillClock());
  const find = createCellAreaFinder(database, level, precision);
  return (lng: number, lat: number): CellAreas => find(cellOf({ lat, lng }, precision));
}

/** What `relationToBox` says, edge by edge and in whole numbers: slow, and with other arithmetic. */
function slowRelation(
  rings: readonly Point[][],
  x: number,
  y: number,
  half: number,
): 'holds' | 'crosses' | 'apart' {
  const corners = [
    [x - half, y - half],
    [x + half, y - half],
    [x + half, y + half],
    [x - half, y + half],
  ] as const;
  let isInside = false;
  for (const ring of rings) {
    let winding = 0;
    for (const [i, a] of ring.entries()) {
      const b = ring[(i + 1) % ring.length]!;
      const isWithin = Math.abs(a[0] - x) <= half && Math.abs(a[1] - y) <= half;
      if (isWithin || corners.some((corner, at) => meet(a, b, corner, corners[(at + 1) % 4]!)))
        return 'crosses';
      const [south, north] = a[1] < b[1] ? [a, b] : [b, a];
      if (south[1] <= y && y < north[1] && turn(south, north, [x, y]) > 0)
        winding += south === a ? 1 : -1;
    }
    if (winding !== 0) isInside = !isInside;
  }
  return isInside ? 'holds' : 'apart';
}

type Point = readonly [x: number, y: number];

const turn = (o: Point, a: Point, b: Point) =>
  Math.sign((a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]));

/** Whether two segments have a point in common, ends included. */
function meet(a: Point, b: Point, c: Point, d: Point): boolean {
  const isOn = (p: Point, q: Point, r: Point) =>
    turn(p, q, r) === 0 &&
    r[0] >= Math.min(p[0], q[0]) &&
    r[0] <= Math.max(p[0], q[0]) &&
    r[1] >= Math.min(p[1], q[1]) &&
    r[1] <= Math.max(p[1], q[1]);
  if (turn(a, b, c) * turn(a, b, d) < 0 && turn(c, d, a) * turn(c, d, b) < 0) return true;
  return isOn(a, b, c) || isOn(a, b, d) || isOn(c, d, a) || isOn(c, d, b);
}

test('a box is held, crossed or apart as a slow count of the edges says, also where an edge only touches it', () => {
  const coordinate = fc.integer({ min: -40, max: 40 });
  const ring = fc.array(fc.tuple(coordinate, coordinate), { minLength: 3, maxLength: 40 });
  const seen = { holds: 0, crosses: 0, apart: 0 };
  fc.assert(
    fc.property(
      fc.array(ring, { minLength: 1, maxLength: 3 }),
      fc.boolean(),
      fc.array(fc.tuple(coordinate, coordinate, fc.integer({ min: 1, max: 12 })), {
        minLength: 1,
        maxLength: 20,
      }),
      (rings, isClosed, boxes) => {
        const closed = rings.map((points) => (isClosed ? [...points, points[0]!] : points));
        const degrees = closed.map((points) =>
          points.map((point) => point.map((units) => units / UNITS_PER_DEGREE)),
        );
        const outline = makeOutline(packRings(degrees));
        for (const [x, y, side] of boxes) {
          const relation = relationToBox(outline, x, y, side / 2);
          assert.equal(relation, slowRelation(closed, x, y, side / 2));
          seen[relation]++;
        }
      },
    ),
    { seed: 5, numRuns: 1_000 },
  );
  assert.ok(Math.min(...Object.values(seen)) > 100, JSON.stringify(seen));
});

const [ONE, OTHER, COUNTY] = ['31001000100', '31001000200', '31001'];

for (const [what, lng, lat, tract, county, lacks, level, precision] of [
  ['in a tract', -99.75, 40.25, ONE, COUNTY, null],
  // The border of two tracts is at -99.5; a cell reaches half a step of 1e-4 to each side.
  ['beside the border of its tract', -99.5002, 40.25, ONE, COUNTY, null],
  ['on the border of two tracts', -99.5, 40.25, null, COUNTY, 'near_border'],
  ['on the other side', -99.4998, 40.25, OTHER, COUNTY, null],
  ['on the border of two counties', -99, 40.25, null, null, 'near_border'],
  [
    'that is coarser, and reaches the border',
    -99.496,
    40.25,
    null,
    COUNTY,
    'near_border',
    'tract',
    2,
  ],
  ['in a county without tracts', -98.5, 40.5, null, '31003', 'in_no_area'],
  ['in a part of the state without outlines', -97.5, 41.5, null, null, 'in_no_area'],
  ['in a state without boundaries', -77.4, 37.5, null, null, 'no_boundaries'],
  ['off the coast', -140, 30, null, null, 'in_no_area'],
  ['by counties alone, on the border of two tracts', -99.5, 40.25, null, COUNTY, null, 'county'],
  ['by counties alone, on their border', -99, 40.25, null, null, 'near_border', 'county'],
] as const) {
  test(`the areas of a cell ${what}`, (t) => {
    const records = AREAS.filter((area) => level !== 'county' || area.level === level);
    assert.deepEqual(finderOf(t, records, level, precision)(lng, lat), { tract, county, lacks });
  });
}

test('a cell whose edge lies on the border is near it', (t) => {
  const [tract] = AREAS.filter(({ level }) => level === 'tract');
  const find = finderOf(t, [{ ...tract!, geometry: square(-100.00005, 40, 0.5) }]);
  assert.equal(find(-100, 40.25).lacks, 'near_border');
  assert.equal(find(-99.9999, 40.25).tract, tract!.geoid);
});
