import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MultiPolygon, Polygon, Position } from 'geojson';
import { innerPoint } from '../../src/geo/inner-point.ts';
import { fc } from '../properties.ts';

/** A ring of metres around a place in Nebraska. */
const ring = (positions: readonly (readonly [east: number, north: number])[]): Position[] =>
  positions.map(([east, north]) => [-99.9 + east / 85_180, 40.1 + north / 111_195]);
const box = (west: number, south: number, side: number) =>
  ring([
    [west, south],
    [west + side, south],
    [west + side, south + side],
    [west, south + side],
    [west, south],
  ]);
const polygon = (...coordinates: Position[][]): Polygon => ({ type: 'Polygon', coordinates });

/** Whether a point is inside rings, by crossings of the ray to the east: holes count as outside. */
function isInside({ lng, lat }: { lng: number; lat: number }, rings: readonly (readonly Position[])[]): boolean {
  let inside = false;
  for (const points of rings) {
    for (const [at, [x, y]] of points.entries()) {
      const [nextX, nextY] = points[(at + 1) % points.length]!;
      if (y! > lat !== nextY! > lat && lng < ((nextX! - x!) * (lat - y!)) / (nextY! - y!) + x!) inside = !inside;
    }
  }
  return inside;
}

const CASES: readonly (readonly [what: string, geometry: Polygon | MultiPolygon, rings: readonly Position[][]])[] = [
  ['a box', polygon(box(0, 0, 30)), [box(0, 0, 30)]],
  ['a ring', polygon(box(0, 0, 100), box(10, 10, 80)), [box(0, 0, 100), box(10, 10, 80)]],
  ...[
    ring([
      [0, 0],
      [200, 0],
      [200, 10],
      [10, 10],
      [10, 200],
      [0, 200],
      [0, 0],
    ]),
  ].map((corner) => ['an L', polygon(corner), [corner]] as const),
  [
    'a shed beside a house: in the house',
    { type: 'MultiPolygon', coordinates: [[box(50, 50, 5)], [box(0, 0, 30)]] },
    [box(0, 0, 30)],
  ],
];

test('the point is inside the outline, outside its holes, and in the largest part', () => {
  for (const [what, geometry, rings] of CASES) {
    const point = innerPoint(geometry);
    assert.ok(point !== null && point !== 'too_large' && isInside(point, rings), what);
  }
});

test('any star is looked up at a point inside it', () => {
  const radii = fc.array(fc.integer({ min: 5, max: 500 }), { minLength: 3, maxLength: 30 });
  fc.assert(
    fc.property(radii, (all) => {
      const corners = all.map((radius, at): [number, number] => {
        const angle = (2 * Math.PI * at) / all.length;
        return [radius * Math.cos(angle), radius * Math.sin(angle)];
      });
      const star = ring([...corners, corners[0]!]);
      const point = innerPoint(polygon(star));
      assert.ok(point !== null && point !== 'too_large' && isInside(point, [star]));
    }),
  );
});

test('a larger outline is too large, and one without an inside has no point', () => {
  assert.notEqual(innerPoint(polygon(box(0, 0, 1_190))), 'too_large');
  assert.equal(innerPoint(polygon(box(0, 0, 1_210))), 'too_large');
  const far: MultiPolygon = { type: 'MultiPolygon', coordinates: [[box(0, 0, 30)], [box(5_000, 0, 30)]] };
  assert.equal(innerPoint(far), 'too_large');
  const odd = [
    polygon(),
    polygon([]),
    polygon(
      ring([
        [0, 0],
        [30, 0],
        [0, 0],
        [0, 0],
      ]),
    ),
    polygon(
      ring([
        [0, 0],
        [30, 30],
      ]),
    ),
  ];
  for (const geometry of odd) assert.equal(innerPoint(geometry), null);
  assert.equal(innerPoint({ type: 'Polygon', coordinates: [[['x'], [1]]] } as unknown as Polygon), null);
});
