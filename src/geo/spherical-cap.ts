import type { Location } from './coordinates.ts';
import { distanceMeters, EARTH_RADIUS_M } from './distance.ts';

const RADIANS = Math.PI / 180;

/** Nearer to the edge than this share of the squared chord, rounding could decide, and the distance itself is computed. The
 * squared chord of a kilometre is exact to 3e-12 of itself. */
const NEAR_EDGE = 1e-6;

/** A place as a unit vector. */
export interface UnitVector {
  readonly x: number;
  readonly y: number;
  readonly z: number;
}

export function unitVectorOf({ lat, lng }: Location): UnitVector {
  const shrink = Math.cos(lat * RADIANS);
  return { x: shrink * Math.cos(lng * RADIANS), y: shrink * Math.sin(lng * RADIANS), z: Math.sin(lat * RADIANS) };
}

/**
 * Makes the function that tells whether a place is within `meters` of a location: always the same as `distanceMeters` tells,
 * in a tenth of its time, because chords are compared and need no trigonometry.
 */
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
