import { geoCentroid } from 'd3-geo';
import type { MultiPolygon, Polygon } from 'geojson';
import { feature } from 'topojson-client';
import { stateOf } from '../data/tables/states.ts';
import type { Location } from '../geo/coordinates.ts';
import { usAtlas } from '../geo/us-atlas.ts';
import { countyHolding } from '../geo/us-counties.ts';
import type { Random } from './random.ts';

export interface SampleCounty {
  readonly geoid: string;
  readonly name: string;
  /** Two letters. */
  readonly state: string;
  readonly geometry: Polygon | MultiPolygon;
  readonly centre: Location;
}

/** A place on land, with its county. */
export type SampleLocation = Location & { readonly county: SampleCounty };

/** The counties of the US; a place in none of them is not on land. */
export interface Land {
  readonly counties: readonly SampleCounty[];
  countyAt(location: Location): SampleCounty | null;
}

/** Reads the county boundaries of the us-atlas package, with DC and the territories. */
export function readLand(): Land {
  const atlas = usAtlas('counties-10m');
  const counties = feature(atlas, atlas.objects.counties).features.map((shape): SampleCounty => {
    const geoid = String(shape.id);
    const [lng, lat] = geoCentroid(shape);
    const geometry = shape.geometry as Polygon | MultiPolygon;
    return {
      geoid,
      name: shape.properties.name,
      state: stateOf(geoid),
      geometry,
      centre: { lat, lng },
    };
  });
  counties.sort((a, b) => (a.geoid < b.geoid ? -1 : 1));
  const byCode = new Map(counties.map((county) => [county.geoid, county]));
  return {
    counties,
    countyAt: (location) => byCode.get(countyHolding(location)?.code ?? '') ?? null,
  };
}

/** The first random place on land, with five decimals (a metre); null after some tries, as at the end of a pier. */
export function landLocation(land: Land, randomLocation: () => Location): SampleLocation | null {
  for (let attempt = 0; attempt < 25; attempt += 1) {
    const { lat, lng } = randomLocation();
    const location = { lat: round(lat, 5), lng: round(lng, 5) };
    const county = land.countyAt(location);
    if (county) return { ...location, county };
  }
  return null;
}

const KM_PER_DEGREE = 111.2;

/** The location at a distance and direction (radians, 0 is north) from another. */
export function awayFrom(from: Location, kilometres: number, direction: number): Location {
  const lat = from.lat + (kilometres * Math.cos(direction)) / KM_PER_DEGREE;
  const lng =
    from.lng +
    (kilometres * Math.sin(direction)) / (KM_PER_DEGREE * Math.cos((from.lat * Math.PI) / 180));
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

/** Rounds to decimals; never -0. */
export function round(value: number, decimals: number): number {
  const scale = 10 ** decimals;
  return Math.round(value * scale) / scale + 0;
}
