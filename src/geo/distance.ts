import type { Location } from './coordinates.ts';

/** Mean earth radius in metres (IUGG R1). */
export const EARTH_RADIUS_M = 6_371_008.8;
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
