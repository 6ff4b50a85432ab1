import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  createWithin,
  distanceMeters,
  type Location,
  unitVectorOf,
} from '../../src/geo/coordinates.ts';
import { metersToShape, NearestSearch, nearestMeters, parseShape } from '../../src/geo/nearest.ts';
import { crossesEastward } from '../../src/geo/polygon-parts.ts';
import { fc } from '../properties.ts';
import { positions } from './lines.ts';

const HERE: Location = { lat: 40, lng: -100 };
/** Metres of a degree of latitude, and of a degree of longitude at HERE, on the sphere of coordinates.ts. */
const NORTH = 111_195.08;
const EAST = NORTH * Math.cos((40 * Math.PI) / 180);

type Position = [lng: number, lat: number];
const feature = (type: string, coordinates: unknown) => ({
  type: 'Feature',
  geometry: { type, coordinates },
});
const nearest = (type: string, coordinates: unknown, from = HERE) =>
  nearestMeters(from, [feature(type, coordinates)]);

function assertMeters(actual: number | null, expected: number, share = 0.001): void {
  assert.ok(
    actual !== null &&
      Math.abs(actual - expected) <= Math.max(expected === 0 ? 0 : 0.01, expected * share),
    `${actual}`,
  );
}

/** A closed square ring around a centre, `half` degrees to each side. */
function ring([lng, lat]: Position, half: number): Position[] {
  return [
    [lng - half, lat - half],
    [lng + half, lat - half],
    [lng + half, lat + half],
    [lng - half, lat + half],
    [lng - half, lat - half],
  ];
}

test('of points to the east and to the north the nearest in metres counts, and points are not joined', () => {
  assertMeters(
    nearest('MultiPoint', positions('-99.85 60, -100 60.1'), { lat: 60, lng: -100 }),
    0.075 * NORTH,
  );
  assertMeters(nearest('MultiPoint', positions('-100.1 40, -99.9 40')), 0.1 * EAST);
});

test('of two areas that share an edge, the eastern or the northern one has its places', () => {
  const holds = (west: number, south: number) => (x: number, y: number) => {
    const corners = [
      west,
      south,
      west + 2,
      south,
      west + 2,
      south + 2,
      west,
      south + 2,
      west,
      south,
    ];
    const edges = [0, 2, 4, 6].map(
      (at) => corners.slice(at, at + 4) as [number, number, number, number],
    );
    return edges.filter((edge) => crossesEastward(...edge, x, y)).length % 2 === 1;
  };
  const owners = (x: number, y: number) =>
    [holds(0, 0), holds(2, 0), holds(0, 2), holds(2, 2)].map((at) => at(x, y));
  assert.deepEqual(owners(2, 1), [false, true, false, false]);
  assert.deepEqual(owners(1, 2), [false, false, true, false]);
  assert.deepEqual(owners(2, 2), [false, false, false, true]);
});

test('a ray crosses a sloping edge that lies to the east, in either direction of the edge', () => {
  const crosses = (x: number) => [
    crossesEastward(10, 10, 18, 12, x, 11),
    crossesEastward(18, 12, 10, 10, x, 11),
  ];
  assert.deepEqual([crosses(13), crosses(14), crosses(15)].flat(), [
    true,
    true,
    false,
    false,
    false,
    false,
  ]);
});

test('a search takes points, segments without length and what another search has found', () => {
  const search = new NearestSearch(HERE);
  search.add(new NearestSearch(HERE));
  assert.equal(search.meters(), null);
  search.measureSegment(-100, 40.3, -100, 40.3);
  assertMeters(search.meters(), 0.3 * NORTH);
  const other = new NearestSearch(HERE);
  other.measurePoint(-100, 40.1);
  search.add(other);
  assertMeters(search.meters(), 0.1 * NORTH);
  search.measureSegment(-100.1, 40.05, -99.9, 40.05);
  assertMeters(search.meters(), 0.05 * NORTH);
});

const CENTER: Position = [-100, 40];
const [SOUTHWEST, SOUTHEAST, ...NORTH_AND_END] = ring(CENTER, 0.5);
const [FAR, AROUND] = [[ring([-98, 40], 0.5)], [ring(CENTER, 0.5)]];

for (const [what, type, coordinates, meters] of [
  ['in the hole of a polygon', 'Polygon', [ring(CENTER, 1), ring(CENTER, 0.1)], 0.1 * EAST],
  ['on an island in a hole', 'Polygon', [ring(CENTER, 1), ring(CENTER, 0.5), ring(CENTER, 0.1)], 0],
  ['within lines, which do not hold it', 'MultiLineString', [ring(CENTER, 0.1)], 0.1 * EAST],
  [
    'in a ring that is not closed',
    'Polygon',
    [[SOUTHWEST, SOUTHEAST, ...NORTH_AND_END.slice(0, -1)]],
    0,
  ],
  ['in a ring that begins elsewhere', 'Polygon', [[...NORTH_AND_END, SOUTHEAST]], 0],
  ['in one of several polygons', 'MultiPolygon', [FAR, AROUND], 0],
  ['in polygons that overlap, and do not cancel one another', 'MultiPolygon', [AROUND, AROUND], 0],
  ['between polygons', 'MultiPolygon', [FAR, [ring([-101, 40], 0.9)]], 0.1 * EAST],
] as const) {
  test(`a place ${what}`, () => assertMeters(nearest(type, coordinates), meters));
}

test('a collection, also inside another, counts with its nearest member', () => {
  const collection = (...geometries: unknown[]) => ({ type: 'GeometryCollection', geometries });
  const geometry = collection(
    { type: 'Point', coordinates: [-99, 40] },
    collection({ type: 'LineString', coordinates: ring([-100, 40.3], 0.1) }),
  );
  assertMeters(nearestMeters(HERE, [{ geometry }]), 0.2 * NORTH);
});

test('across the antimeridian: the short way round, inside and outside', () => {
  const east: Location = { lat: 52, lng: 179.95 };
  const west: Location = { lat: 52, lng: -179.95 };
  const tenth = 0.1 * NORTH * Math.cos((52 * Math.PI) / 180);
  assertMeters(nearest('Point', [-179.95, 52], east), tenth);
  assertMeters(nearest('Point', [179.95, 52], west), tenth);
  const line = positions('179.9 52.1, -179.9 52.1');
  assertMeters(nearest('LineString', line, { lat: 52, lng: 180 }), 0.1 * NORTH);
  assertMeters(nearest('LineString', line, { lat: 52, lng: -180 }), 0.1 * NORTH);
  const across = positions('179.5 51.5, -179.5 51.5, -179.5 52.5, 179.5 52.5, 179.5 51.5');
  for (const from of [east, west]) assert.equal(nearest('Polygon', [across], from), 0);
  assertMeters(nearest('Polygon', [across], { lat: 52, lng: 179.4 }), tenth);
});

const unreadable: readonly (readonly [says: string, feature: unknown])[] = [
  ['null', null],
  ['no geometry', { type: 'Feature' }],
  ['a null geometry', { geometry: null }],
  ['a geometry that is text', { geometry: 'POINT(-100 40)' }],
  ['an unknown type', feature('Circle', [-100, 40])],
  ['a point without coordinates', feature('Point', undefined)],
  ['a point of text', feature('Point', ['-100', '40'])],
  ['a point with one number', feature('Point', [-100])],
  ['a point that is not finite', feature('Point', [Number.NaN, 40])],
  ['an empty line', feature('LineString', [])],
  ['an empty polygon', feature('Polygon', [])],
  ['a polygon of one level too few', feature('Polygon', ring([-100, 40], 1))],
  ['an empty collection', { geometry: { type: 'GeometryCollection' } }],
];

for (const [says, wrong] of unreadable) {
  test(`nothing is read from ${says}, and what stands beside it still counts`, () => {
    assert.equal(nearestMeters(HERE, [wrong]), null);
    const { geometry } = (wrong ?? {}) as { geometry?: unknown };
    assert.equal(metersToShape(parseShape(geometry), HERE), Number.POSITIVE_INFINITY);
    assertMeters(nearestMeters(HERE, [wrong, feature('Point', [-100, 40.1]), wrong]), 0.1 * NORTH);
  });
}

test('positions that cannot be read are left out of a line', () => {
  assertMeters(nearest('LineString', [[-100, 40.3], null, ['x'], [-100, 40.1]]), 0.1 * NORTH);
});

test('of places that are equally near on the plane the nearest on the sphere counts, in whatever order they come', () => {
  // Meridians come together to the north, so the northern one is nearer.
  const corners = positions('-99.5 39.5, -99.5 40.5, -100.5 39.5');
  const features = corners.map((corner) => feature('Point', corner));
  const expected = distanceMeters(HERE, { lat: 40.5, lng: -99.5 });
  assert.equal(nearestMeters(HERE, features), expected);
  assert.equal(nearestMeters(HERE, features.toReversed()), expected);
});

const degrees = (most: number) => fc.double({ min: -most, max: most, noNaN: true });

/** The same distance the slow way: each position as a pair on the plane. */
function plainMeters(place: Location, ring: readonly Position[], isOutline: boolean): number {
  const stretch = Math.cos((place.lat * Math.PI) / 180);
  const flat = ring.map(
    ([lng, lat]): Position => [(((lng - place.lng + 540) % 360) - 180) * stretch, lat - place.lat],
  );
  const crossed = flat.filter(([bx, by], index) => {
    const [ax, ay] = flat.at(index - 1)!;
    return ay > 0 !== by > 0 && ax - (ay * (bx - ax)) / (by - ay) > 0;
  });
  if (isOutline && crossed.length % 2 === 1) return 0;
  let nearest = flat[0]!;
  for (const [index, [bx, by]] of flat.entries()) {
    const [ax, ay] = flat[Math.max(0, index - 1)]!;
    const [dx, dy] = [bx - ax, by - ay];
    const length = dx * dx + dy * dy;
    const share = length === 0 ? 0 : Math.max(0, Math.min(1, -(ax * dx + ay * dy) / length));
    const at: Position = [ax + share * dx, ay + share * dy];
    if (Math.hypot(...at) < Math.hypot(...nearest)) nearest = at;
  }
  return distanceMeters(place, {
    lat: nearest[1] + place.lat,
    lng: nearest[0] / (stretch || 1) + place.lng,
  });
}

test('lines and outlines are measured to their nearest point, wherever they are', () => {
  const aside = degrees(3);
  const center = fc.record({ lat: fc.oneof(degrees(89), degrees(75)), lng: degrees(180) });
  fc.assert(
    fc.property(
      center,
      fc.array(fc.tuple(aside, aside), { minLength: 1, maxLength: 6 }),
      fc.boolean(),
      (place, offsets, isOutline) => {
        const ring = offsets.map(
          ([x, y]): Position => [place.lng + x, Math.max(-90, Math.min(90, place.lat + y))],
        );
        const shape = parseShape(
          isOutline
            ? { type: 'Polygon', coordinates: [ring] }
            : { type: 'LineString', coordinates: ring },
        );
        const expected = plainMeters(place, ring, isOutline);
        assert.ok(Math.abs(metersToShape(shape, place) - expected) <= 1e-6 * (1 + expected));
      },
    ),
    { seed: 7, numRuns: 1_000 },
  );
});

test('a place is within a radius exactly when its distance is at most the radius', () => {
  const lat = fc.double({ min: -90, max: 90, noNaN: true });
  const lng = fc.double({ min: -180, max: 180, noNaN: true });
  const location = fc.record({ lat, lng });
  const within = (
    from: { lat: number; lng: number },
    meters: number,
    to: { lat: number; lng: number },
  ) => createWithin(from, meters)({ ...to, ...unitVectorOf(to) });
  fc.assert(
    fc.property(
      location,
      location,
      fc.double({ min: 1, max: 500_000, noNaN: true }),
      (from, to, meters) => {
        assert.equal(within(from, meters, to), distanceMeters(from, to) <= meters);
      },
    ),
    { seed: 1, numRuns: 300 },
  );
  // On the edge, and a rounding error to each side of it.
  const near = fc.double({ min: -3, max: 3, noNaN: true });
  fc.assert(
    fc.property(
      location,
      near,
      near,
      fc.constantFrom(-1e-9, 0, 1e-9, -1e-6, 1e-6),
      (from, north, east, share) => {
        const to = { lat: Math.max(-90, Math.min(90, from.lat + north)), lng: from.lng + east };
        const distance = distanceMeters(from, to);
        const meters = distance * (1 + share);
        if (meters >= 1) assert.equal(within(from, meters, to), distance <= meters);
      },
    ),
    { seed: 2, numRuns: 500 },
  );
});
