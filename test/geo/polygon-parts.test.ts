import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MultiPolygon, Position } from 'geojson';
import { nearestMeters } from '../../src/geo/nearest.ts';
import { makeOutline, outlineHolds, packArea } from '../../src/geo/outline.ts';

/** A ring round a square, counterclockwise. */
function ring(west: number, south: number, side: number): Position[] {
  const [east, north] = [west + side, south + side];
  return [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ];
}

const OUTER = ring(0, 0, 0.8);
const HOLE = ring(0.2, 0.2, 0.4);
/** Round three sides of a square. */
const BENT: Position[] = [
  [0.1, 0.1],
  [0.6, 0.1],
  [0.6, 0.2],
  [0.2, 0.2],
  [0.2, 0.6],
  [0.6, 0.6],
  [0.6, 0.7],
  [0.1, 0.7],
  [0.1, 0.1],
];
const BOW: Position[] = [
  [0, 0],
  [0.8, 0.8],
  [0.8, 0],
  [0, 0.8],
  [0, 0],
];

/** Each shape with places inside of it, and places outside. */
const SHAPES: Readonly<
  Record<string, readonly [MultiPolygon['coordinates'], inside: Position[], outside: Position[]]>
> = {
  'parts that overlap': [
    [[OUTER], [ring(0.4, 0.4, 0.8)]],
    [
      [0.6, 0.6],
      [0.1, 0.1],
      [1.1, 1.1],
    ],
    [[1.1, 0.1]],
  ],
  'a part given twice': [[[OUTER], [OUTER]], [[0.4, 0.4]], [[0.9, 0.4]]],
  'a part given twice, the second time turned round': [
    [[OUTER], [OUTER.toReversed()]],
    [[0.4, 0.4]],
    [[0.9, 0.4]],
  ],
  'the outer ring given twice in one part': [[[OUTER, OUTER]], [[0.4, 0.4]], [[0.9, 0.4]]],
  'the outer ring once more, from another corner and turned round, with a hole': [
    [[OUTER, HOLE, [...OUTER.slice(2), ...OUTER.slice(1, 3)].toReversed()]],
    [[0.1, 0.1]],
    [
      [0.4, 0.4],
      [0.9, 0.4],
    ],
  ],
  'a ring wound twice': [[[[...OUTER, ...OUTER.slice(1)]]], [[0.4, 0.4]], [[0.9, 0.4]]],
  'a part inside a part': [[[OUTER], [ring(0.3, 0.3, 0.1)]], [[0.35, 0.35]], [[0.9, 0.4]]],
  'a ring that crosses itself': [
    [[BOW]],
    [
      [0.1, 0.4],
      [0.7, 0.4],
    ],
    [
      [0.4, 0.1],
      [0.4, 0.7],
    ],
  ],
  'a hole, in whatever direction': [
    [
      [OUTER, HOLE],
      [ring(1, 0, 0.4), ring(1.1, 0.1, 0.2).toReversed()],
    ],
    [
      [0.1, 0.1],
      [1.05, 0.05],
    ],
    [
      [0.4, 0.4],
      [1.2, 0.2],
    ],
  ],
  'a hole given twice': [[[OUTER, HOLE, HOLE]], [[0.1, 0.4]], [[0.4, 0.4]]],
  'holes that overlap': [
    [[OUTER, ring(0.1, 0.1, 0.4), ring(0.3, 0.3, 0.4)]],
    [[0.6, 0.2]],
    [
      [0.4, 0.4],
      [0.2, 0.2],
      [0.65, 0.65],
    ],
  ],
  'a hole in the bend of another': [
    [[OUTER, BENT, ring(0.3, 0.3, 0.2)]],
    [
      [0.25, 0.4],
      [0.7, 0.4],
    ],
    [
      [0.4, 0.4],
      [0.15, 0.4],
      [0.4, 0.15],
    ],
  ],
  'the hole of a part in another part': [[[OUTER, HOLE], [HOLE]], [[0.4, 0.4]], [[0.9, 0.4]]],
  'all rings of an area in one polygon': [
    [[OUTER, HOLE, ring(0.3, 0.3, 0.2), ring(2, 0, 0.4)]],
    [
      [0.1, 0.1],
      [0.4, 0.4],
      [2.2, 0.2],
    ],
    [
      [0.25, 0.4],
      [1.5, 0.2],
    ],
  ],
};

for (const [name, [coordinates, inside, outside]] of Object.entries(SHAPES)) {
  test(`${name}: what the outline holds, and what is at no distance`, () => {
    const geometry: MultiPolygon = { type: 'MultiPolygon', coordinates };
    const outline = makeOutline(packArea(geometry));
    const holds = ([lng, lat]: Position) => outlineHolds(outline, { lng: lng!, lat: lat! });
    const isAtNone = ([lng, lat]: Position) =>
      nearestMeters({ lng: lng!, lat: lat! }, [{ geometry }]) === 0;
    for (const places of [inside, outside])
      for (const place of places)
        assert.deepEqual(
          [holds(place), isAtNone(place)],
          Array(2).fill(places === inside),
          `${place}`,
        );
  });
}
