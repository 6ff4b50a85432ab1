/** Locations a second that are checked for lying in the US, compared with d3-geo on the same outline. */
import { createRequire } from 'node:module';
import { geoContains } from 'd3-geo';
import { feature } from 'topojson-client';
import type { GeometryCollection, Topology } from 'topojson-specification';
import { isCovered } from '../src/geo/us-coverage.ts';
import { makeRandom } from '../src/sample/random.ts';
import { sized } from './size.ts';
import { type Goal, table } from './table.ts';

/** The middles of five cities, four of them on the coast: where books have their places. */
const CITIES = [
  [40.7128, -74.006],
  [34.05, -118.24],
  [25.76, -80.19],
  [47.6, -122.33],
  [39.74, -104.99],
] as const;
const PLACES = sized(1_000_000, 2_000);
/** What d3-geo gets through in some seconds. */
const FEW = sized(2_000, 20);

/** Prints both rates; the first look at a place fills what is remembered of its surroundings, so all are asked twice. */
export async function run(): Promise<Goal[]> {
  const random = makeRandom(1, 'coverage');
  const places = Array.from({ length: PLACES }, (_, index) => {
    const [lat, lng] = CITIES[index % CITIES.length]!;
    return { lat: lat + (random() - 0.5) / 2, lng: lng + (random() - 0.5) / 2 };
  });
  const atlas: Topology<{ nation: GeometryCollection }> = createRequire(import.meta.url)(
    'us-atlas/states-10m.json',
  );
  const nation = feature(atlas, atlas.objects.nation);
  const rate = (count: number, isThere: (place: (typeof places)[number]) => boolean) => {
    const begun = performance.now();
    for (let index = 0; index < count; index++) isThere(places[index]!);
    return count / ((performance.now() - begun) / 1_000);
  };
  const first = rate(PLACES, isCovered);
  const again = rate(PLACES, isCovered);
  const theirs = rate(FEW, ({ lat, lng }) => geoContains(nation, [lng, lat]));
  const line = (name: string, perSecond: number) => [
    name,
    Math.round(perSecond),
    (perSecond / theirs).toFixed(0),
  ];
  console.log(
    table(
      ['', 'places a second', 'of d3-geo'],
      [
        line('perilbook, first time', first),
        line('perilbook, again', again),
        line('d3-geo', theirs),
      ],
    ),
  );
  return [];
}
