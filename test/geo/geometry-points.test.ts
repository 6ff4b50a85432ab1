import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MultiPolygon, Polygon, Position } from 'geojson';
import { innerPoint, outlineOfWkb, pointOfWkb } from '../../src/geo/geometry-points.ts';
import { placeInValue } from '../../src/geo/place-in-value.ts';
import { fc } from '../properties.ts';

const RING = [
  [-99.9502, 40.0498],
  [-99.9498, 40.0498],
  [-99.9498, 40.0502],
  [-99.9502, 40.0502],
  [-99.9502, 40.0498],
];

/** A polygon in one of the forms of well-known binary. `more`: further axes of each position. */
function polygonBytes(type: number, more: number, little: boolean, srid = false): Buffer {
  const whole = (value: number) => {
    const bytes = Buffer.alloc(4);
    return little
      ? bytes.fill(0).subarray(0, bytes.writeUInt32LE(value))
      : bytes.subarray(0, bytes.writeUInt32BE(value));
  };
  const double = (value: number) => {
    const bytes = Buffer.alloc(8);
    return bytes.subarray(0, little ? bytes.writeDoubleLE(value) : bytes.writeDoubleBE(value));
  };
  const positions = RING.flatMap((position) => [...position, ...Array(more).fill(7)].map(double));
  return Buffer.concat([
    Buffer.of(little ? 1 : 0),
    whole(type),
    ...(srid ? [whole(4326)] : []),
    whole(1),
    whole(5),
    ...positions,
  ]);
}

/** ISO and EWKB, with heights, measures and a reference system. */
const FORMS = [
  polygonBytes(3, 0, true),
  polygonBytes(3, 0, false),
  polygonBytes(1003, 1, true),
  polygonBytes(2003, 1, true),
  polygonBytes(3003, 2, false),
  polygonBytes(0x80000003, 1, true),
  polygonBytes(0xe0000003, 2, true, true),
];
const multi = (...parts: Buffer[]) =>
  Buffer.concat([Buffer.of(1, 6, 0, 0, 0, parts.length, 0, 0, 0), ...parts]);

test('an outline is read in every form of well-known binary, and a point inside it is its location', () => {
  for (const bytes of [...FORMS, ...FORMS.map((form) => multi(form))]) {
    assert.deepEqual(outlineOfWkb(bytes).coordinates, [[RING]]);
    const remark = 'Looked up at a point inside its outline.';
    assert.deepEqual(pointOfWkb(bytes), { latitude: '40.05', longitude: '-99.95', remark });
  }
  assert.equal(outlineOfWkb(multi(...FORMS)).coordinates.length, FORMS.length);
});

test('an outline that is cut off or damaged has a problem, and is no crash', () => {
  const [whole] = FORMS;
  for (let cut = 5; cut < whole!.length; cut++)
    assert.match(pointOfWkb(whole!.subarray(0, cut)).problem!, /damaged/);
  const many = Buffer.from(whole!).fill(0xff, 5, 9);
  assert.match(pointOfWkb(many).problem!, /damaged/);
  assert.match(pointOfWkb(multi(Buffer.of(1, 1, 0, 0, 0))).problem!, /damaged/);
});

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
function isInside(
  { lng, lat }: { lng: number; lat: number },
  rings: readonly (readonly Position[])[],
): boolean {
  let inside = false;
  for (const points of rings) {
    for (const [at, [x, y]] of points.entries()) {
      const [nextX, nextY] = points[(at + 1) % points.length]!;
      if (y! > lat !== nextY! > lat && lng < ((nextX! - x!) * (lat - y!)) / (nextY! - y!) + x!)
        inside = !inside;
    }
  }
  return inside;
}

const CASES: readonly (readonly [
  what: string,
  geometry: Polygon | MultiPolygon,
  rings: readonly Position[][],
])[] = [
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
    assert.ok(typeof point === 'object' && point !== null && isInside(point, rings), what);
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
      assert.ok(typeof point === 'object' && point !== null && isInside(point, [star]));
    }),
  );
});

test('a larger outline is too large, and one without an inside has no point', () => {
  assert.notEqual(innerPoint(polygon(box(0, 0, 1_190))), 'too_large');
  assert.equal(innerPoint(polygon(box(0, 0, 1_210))), 'too_large');
  const far: MultiPolygon = {
    type: 'MultiPolygon',
    coordinates: [[box(0, 0, 30)], [box(5_000, 0, 30)]],
  };
  const ofMap = box(0, 0, 100).map(([x, y]) => [x! * 1e5, y! * 1e5]);
  assert.equal(innerPoint(polygon(ofMap)), 'other_system');
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
  assert.equal(
    innerPoint({ type: 'Polygon', coordinates: [[['x'], [1]]] } as unknown as Polygon),
    null,
  );
});

test('a place that is a point inside the outline of a value says so', () => {
  const ring = '-99.5 40, -99.5 40.002, -99.498 40.002, -99.498 40, -99.5 40';
  const isInside = (text: string) => {
    const place = placeInValue(text, null);
    assert.ok(place !== null && typeof place === 'object', text);
    return place.isInside === true;
  };
  assert.deepEqual(
    [`POLYGON((${ring}))`, `MULTIPOLYGON(((${ring})))`, 'POINT(-99.5 40)'].map(isInside),
    [true, true, false],
  );
});
