import type { Location } from '../../geo/coordinates.ts';

/** A box on the map in degrees, ends included. */
export interface Box {
  readonly minLng: number;
  readonly maxLng: number;
  readonly minLat: number;
  readonly maxLat: number;
}

/** Slightly less than a degree of latitude on the sphere of geo/distance.ts (111,195.08 m), so that a box never cuts
 * off a point just within the radius. */
const METERS_PER_DEGREE = 111_190;

/**
 * The boxes that hold every point within `meters` of a location: one, or two where the 180th meridian cuts it.
 *
 * @param meters the radius; up to some hundred kilometres is meant
 */
export function boxesAround({ lat, lng }: Location, meters: number): Box[] {
  const dLat = meters / METERS_PER_DEGREE;
  const minLat = Math.max(-90, lat - dLat);
  const maxLat = Math.min(90, lat + dLat);
  const narrowest = Math.cos((Math.max(Math.abs(minLat), Math.abs(maxLat)) * Math.PI) / 180);
  const dLng = dLat / Math.max(narrowest, 1e-9);
  const box = (minLng: number, maxLng: number): Box => ({ minLng, maxLng, minLat, maxLat });
  if (dLng >= 180) return [box(-180, 180)];
  const [west, east] = [lng - dLng, lng + dLng];
  if (west < -180) return [box(-180, east), box(west + 360, 180)];
  if (east > 180) return [box(west, 180), box(-180, east - 360)];
  return [box(west, east)];
}
