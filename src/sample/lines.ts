import type { LineString, Polygon } from 'geojson';
import type { EventRecord } from '../data/tables/records.ts';
import type { Location } from '../geo/coordinates.ts';
import { anyDirection, awayFrom, positionOf } from './land.ts';
import { positionsOf } from './perils.ts';
import { between, normal, type Random, whole } from './random.ts';

/** A line from a place that roughly keeps its direction. */
export function lineFrom(start: Location, random: Random): LineString {
  const line = [positionOf(start)];
  let direction = anyDirection(random);
  let at = start;
  for (let steps = whole(random, 2, 5); steps > 0; steps -= 1) {
    direction += 0.3 * normal(random);
    at = awayFrom(at, between(random, 0.3, 1.5), direction);
    line.push(positionOf(at));
  }
  return { type: 'LineString', coordinates: line };
}

/** A star-shaped polygon around a place, closed and counter-clockwise (RFC 7946). */
export function outlineAround(centre: Location, radiusKm: number, random: Random): Polygon {
  const corners = whole(random, 5, 9);
  const ring = Array.from({ length: corners }, (_, corner) =>
    positionOf(awayFrom(centre, radiusKm * between(random, 0.7, 1.2), -(2 * Math.PI * corner) / corners)),
  );
  return { type: 'Polygon', coordinates: [[...ring, ring[0]!]] };
}

/** The usual paths of storms; a made-up storm follows one of them at some distance. */
const PATHS = [
  '-58 15, -66 19, -73 22.5, -78.5 25, -81.2 26, -83.5 28.5, -84.5 31.5, -82 35',
  '-50 14, -60 18, -68 23, -74 27, -77.5 31, -77.5 34.5, -75.5 37.5, -71 41.5, -65 45',
  '-82 17, -85.5 21, -87.5 24.5, -89 27.5, -89.8 29.8, -89.5 32.5, -86 36, -80 39',
  '-84 18, -89 21.5, -92.5 24.5, -94.6 28, -95.2 29.8, -95 32, -92 35',
  '-88 19.5, -93 22.5, -96 25.5, -97.6 27.8, -99 29.5, -100 31',
  '-52 14, -61 16.8, -64.8 17.8, -66.3 18.4, -69 20, -73 24, -73 30, -66 38',
  '-84 21, -84.5 25, -84 28.5, -83.5 30.2, -81 33, -77 36.5, -72 40.5',
  '-140 14, -148 17, -154 19, -158 20.8, -163 22',
  '152 11, 148 12.6, 144.8 13.6, 140 15.5, 134 18.5',
].map(positionsOf);

const STORMS = 90;
const SEASONS = 40;

/** Tracks of made-up hurricanes, in the fields of the best-track lists. */
export function* hurricaneTracks(now: number, random: Random): Generator<EventRecord> {
  for (let index = 1; index <= STORMS; index += 1) {
    const [eastward, northward] = [0.9 * normal(random), 0.7 * normal(random)];
    const coordinates = PATHS[index % PATHS.length]!.map(([lng, lat]) =>
      positionOf({ lat: lat + northward + 0.25 * normal(random), lng: lng + eastward + 0.25 * normal(random) }),
    );
    const season = new Date(now).getUTCFullYear() - whole(random, 1, SEASONS);
    const wind = 5 * whole(random, 13, 31);
    const number = String(index).padStart(2, '0');
    yield {
      geometry: { type: 'LineString', coordinates },
      properties: {
        sid: `SAMPLE${season}${number}`,
        name: `Sample storm ${number}`,
        season,
        max_wind_kt: wind,
        category: [64, 83, 96, 113, 137].filter((knots) => wind >= knots).length,
        source: 'sample',
      },
    };
  }
}
