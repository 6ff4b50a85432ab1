import type { Location } from '../../geo/coordinates.ts';
import { listPopulatedPlaces } from '../../geo/populated-places.ts';
import { countyAt, countyName } from '../../geo/us-counties.ts';
import { drawnPoint, type Frame, HEIGHT, type MapPoint, project, WIDTH } from './frame.ts';

/** What a reader can look for on the map, besides its counties. */
export interface MapFind {
  readonly kind: 'city' | 'location';
  /** `Orlando, FL`, or the id of a location, else its name. */
  readonly name: string;
  readonly at: MapPoint;
  /** `Orange, Florida`; '' outside of every outline. */
  readonly county: string;
}

/** A location with the texts by which its owner knows it; '' for none. */
export interface NamedLocation extends Location {
  readonly id: string;
  readonly name: string;
  readonly county: string;
}

/** Lists the cities in counties with locations, and the named locations. Other cities would make a report of one town 150 KB larger. */
export function listFinds(
  frame: Frame,
  counties: ReadonlySet<string>,
  locations: readonly NamedLocation[],
): MapFind[] {
  const find = (
    kind: MapFind['kind'],
    name: string,
    location: Location,
    county: string,
  ): MapFind[] => {
    const point = project(location);
    const at = point && drawnPoint(frame, point);
    return at && isOnMap(at) ? [{ kind, name, at, county }] : [];
  };
  const cities = listPopulatedPlaces().flatMap((place) => {
    const county = countyName(countyAt(place));
    return counties.has(county) ? find('city', `${place.name}, ${place.state}`, place, county) : [];
  });
  const named = locations.flatMap((location) => {
    const name = location.id || location.name;
    return name === '' ? [] : find('location', name, location, location.county);
  });
  return [...cities, ...named];
}

function isOnMap([x, y]: MapPoint): boolean {
  return x >= 0 && x <= WIDTH && y >= 0 && y <= HEIGHT;
}
