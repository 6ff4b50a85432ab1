import { type Box, widenedBox } from '../../geo/bounding-boxes.ts';
import { distanceMeters, type Location } from '../../geo/coordinates.ts';
import { statesWithin } from '../tables/states-near.ts';
import type { FileEntry } from './downloads-folder.ts';

/** The squares that hold locations, by the two letters of a state; a square at a border is in each of its states. */
export type PlaceTiles = ReadonlyMap<string, readonly Box[]>;

/** The sides of squares in degrees, each twice the one before, so that a small one lies in one large one: 7 km to a degree. */
const SIDES = [1 / 16, 1 / 8, 1 / 4, 1 / 2, 1] as const;

/** A request each: with more, larger squares are taken. */
const MOST_TILES = 400;

/** The squares that hold some locations, the smallest of which a state has not too many. */
export function placeTiles(locations: Iterable<Location>): PlaceTiles {
  const [smallest] = SIDES;
  const corners = new Map<string, Location>();
  for (const { lat, lng } of locations) {
    const corner = { lat: Math.floor(lat / smallest), lng: Math.floor(lng / smallest) };
    corners.set(`${corner.lat} ${corner.lng}`, corner);
  }
  const byState = new Map<string, Box[]>();
  for (const { lat, lng } of corners.values()) {
    const box = squareAt(lat * smallest, lng * smallest, smallest);
    const middle = { lat: box.minLat + smallest / 2, lng: box.minLng + smallest / 2 };
    const reach = distanceMeters(middle, { lat: box.minLat, lng: box.minLng });
    for (const state of statesWithin(middle, reach))
      byState.set(state, [...(byState.get(state) ?? []), box]);
  }
  return new Map([...byState].sort().map(([state, boxes]) => [state, largerTiles(boxes)]));
}

function largerTiles(boxes: readonly Box[]): readonly Box[] {
  const sets = SIDES.map((side) => {
    const squares = boxes.map(({ minLat, minLng }) =>
      squareAt(Math.floor(minLat / side) * side, Math.floor(minLng / side) * side, side),
    );
    return [...new Map(squares.map((box) => [JSON.stringify(box), box])).values()];
  });
  return sets.find((squares) => squares.length <= MOST_TILES) ?? sets.at(-1)!;
}

/** Exact: the sides are powers of two. */
function squareAt(lat: number, lng: number, side: number): Box {
  return { minLat: lat, minLng: lng, maxLat: lat + side, maxLng: lng + side };
}

type TileBounds = NonNullable<FileEntry['tiles']>[number];

/** A box as a manifest keeps it. */
export const boundsOf = ({ minLng, minLat, maxLng, maxLat }: Box): TileBounds => [
  minLng,
  minLat,
  maxLng,
  maxLat,
];

/** The box of a manifest's bounds. */
export const boxOfBounds = ([minLng, minLat, maxLng, maxLat]: TileBounds): Box => ({
  minLng,
  minLat,
  maxLng,
  maxLat,
});

/** Tiles with those that were downloaded before, without those that lie in others; in an order of their own. */
export function joinedTiles(asked: readonly Box[], before: readonly Box[]): readonly Box[] {
  const all = [
    ...new Map([...asked, ...before].map((box) => [boundsOf(box).join(), box])).values(),
  ];
  const isIn = (inner: Box, outer: Box) =>
    inner !== outer &&
    inner.minLng >= outer.minLng &&
    inner.maxLng <= outer.maxLng &&
    inner.minLat >= outer.minLat &&
    inner.maxLat <= outer.maxLat;
  const kept = all.filter((box) => !all.some((other) => isIn(box, other)));
  return kept.sort((a, b) => a.minLat - b.minLat || a.minLng - b.minLng);
}

/** The boxes to ask for so that a search around each place of the tiles finds all. */
export const askedTiles = (tiles: readonly Box[], meters: number): readonly Box[] =>
  tiles.map((box) => widenedBox(box, meters));
