import type { Location } from '../../geo/coordinates.ts';
import type { Land, SampleCounty } from './land.ts';
import type { Random } from './random.ts';

const KM_PER_DEGREE = 111.2;

/** A place on land, with its county. */
export interface SamplePlace extends Location {
  readonly county: SampleCounty;
}

/** The first random place on land, with five decimals (a metre); null after some tries, as at the end of a pier. */
export function landPlace(land: Land, randomPlace: () => Location, tries = 25): SamplePlace | null {
  for (let attempt = 0; attempt < tries; attempt += 1) {
    const { lat, lng } = randomPlace();
    const location = { lat: round(lat, 5), lng: round(lng, 5) };
    const county = land.countyAt(location);
    if (county) return { ...location, county };
  }
  return null;
}

/** The location at a distance and direction (radians, 0 is north) from another. */
export function awayFrom(from: Location, kilometres: number, direction: number): Location {
  const lat = from.lat + (kilometres * Math.cos(direction)) / KM_PER_DEGREE;
  const lng = from.lng + (kilometres * Math.sin(direction)) / (KM_PER_DEGREE * Math.cos((from.lat * Math.PI) / 180));
  return { lat, lng };
}

/** A random direction in radians. */
export function anyDirection(random: Random): number {
  return 2 * Math.PI * random();
}

/** A location as a GeoJSON position with five decimals. */
export function positionOf({ lat, lng }: Location): [lng: number, lat: number] {
  return [round(lng, 5), round(lat, 5)];
}

/** The positions of a WKT coordinate list: `-97.2 25.9, -94.8 29.3`. */
export function line(text: string): [lng: number, lat: number][] {
  return text.split(', ').map((pair) => pair.split(' ').map(Number) as [number, number]);
}

/** Rounds to a number of decimals. */
export function round(value: number, decimals: number): number {
  const scale = 10 ** decimals;
  return Math.round(value * scale) / scale + 0;
}
