import type { Location } from './coordinates.ts';

/** Mean earth radius in metres (IUGG R1). */
const EARTH_RADIUS_M = 6_371_008.8;
const RADIANS = Math.PI / 180;
/** Metres of a degree of latitude. */
export const METERS_PER_DEGREE = EARTH_RADIUS_M * RADIANS;

/** Great-circle distance in metres by the haversine formula (good to 0.5 % against the ellipsoid). */
export function distanceMeters(a: Location, b: Location): number {
  const sinLat = Math.sin(((b.lat - a.lat) * RADIANS) / 2);
  const sinLng = Math.sin(((b.lng - a.lng) * RADIANS) / 2);
  const h = sinLat * sinLat + Math.cos(a.lat * RADIANS) * Math.cos(b.lat * RADIANS) * sinLng * sinLng;
  return 2 * EARTH_RADIUS_M * Math.asin(Math.min(1, Math.sqrt(h)));
}

/** Nearer to the edge than this share of the squared chord, rounding could decide (at a kilometre its error is 3e-12). */
const NEAR_EDGE = 1e-6;

export interface UnitVector {
  readonly x: number;
  readonly y: number;
  readonly z: number;
}

export function unitVectorOf({ lat, lng }: Location): UnitVector {
  const shrink = Math.cos(lat * RADIANS);
  return { x: shrink * Math.cos(lng * RADIANS), y: shrink * Math.sin(lng * RADIANS), z: Math.sin(lat * RADIANS) };
}

/** Makes the function that decides whether a point is within `meters` of a location. Its result always agrees with `distanceMeters`, in
 * a tenth of the time, because comparing chords needs no trigonometry. */
export function createWithin(location: Location, meters: number): (point: Location & UnitVector) => boolean {
  const { x, y, z } = unitVectorOf(location);
  const squaredChord = 4 * Math.sin(meters / (2 * EARTH_RADIUS_M)) ** 2;
  const inside = squaredChord * (1 - NEAR_EDGE);
  const outside = squaredChord * (1 + NEAR_EDGE);
  return (point) => {
    const squared = (point.x - x) ** 2 + (point.y - y) ** 2 + (point.z - z) ** 2;
    return squared < inside || (squared <= outside && distanceMeters(location, point) <= meters);
  };
}
