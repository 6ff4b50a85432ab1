import { memo } from '../base/memo.ts';
import type { NaturalSlug } from '../contract/topics.ts';
import type { Location } from '../geo/coordinates.ts';
import { metersToShape, parseShape } from '../geo/nearest.ts';

/* Where each peril is strong: rough places and lines, drawn by eye from a map. They make the sample believable (hurricanes on the coasts, hail
 * on the plains); they are not science and no estimate of anything. */

/** An exposure from 0 to 1, the kilometres at which it has fallen to a third, and a place or line: `lng lat, lng lat`. */
type Zone = readonly [exposure: number, reachKm: number, line: string];

const GULF =
  '-97.2 25.9, -97.2 27.8, -94.8 29.3, -91.5 29.4, -90.1 29.9, -88.6 30.2, -85.3 29.7, -83.9 30, -82.8 28.2, -81.8 26.1, -80.9 25.2';
const ATLANTIC = '-80.1 25.8, -80.6 28.4, -81.4 30.7, -79.2 33.2, -77 34.6, -75.5 35.3, -76 36.9';
const NORTH_ATLANTIC =
  '-76 36.9, -74.5 39.3, -73.9 40.5, -71.4 41.4, -70 41.7, -70.8 42.6, -69 44, -67 44.8';
const PACIFIC =
  '-117.2 32.6, -120.6 34.6, -121.9 36.6, -122.6 37.8, -124.3 40.4, -124 44.6, -124.7 48.3, -122.4 47.4';
const ALASKA_COAST =
  '-131 55, -135.5 57.5, -140 59.7, -146.5 60.8, -150 60, -153.5 57.8, -158.5 56, -165 54.3, -176 51.8';
const HAWAII = '-159.5 22, -157.9 21.4, -155.5 19.7';
const CARIBBEAN = '-67.2 18.3, -64.7 18';
const MARIANAS = '144.8 13.5, 145.7 15.2';
const ROCKIES = '-105.6 35.6, -106.3 39.2, -107.3 43, -110 45, -114 48.6';
const SIERRA_AND_CASCADES = '-118.6 36.6, -120.2 39.2, -121.8 44, -121.3 48.5';
const APPALACHIANS = '-84.3 34.8, -82.5 35.7, -80.6 37.8, -78.8 39.7, -76.5 41.4';
const MISSISSIPPI =
  '-93.2 45, -91.2 43, -90.6 41.5, -91.4 39.9, -90.2 38.6, -89.2 37, -90.1 35.1, -91.1 32.3, -90 29.9';

interface Peril {
  /** The exposure of the contiguous states outside of the zones; 0 where the peril has no meaning there. */
  readonly elsewhere: number;
  /** A year's frequency at full exposure, or its probability (coastalFlood, earthquake, landslide, tsunami, volcano, wildfire). */
  readonly mostFrequent: number;
  readonly zones: readonly Zone[];
}

// biome-ignore format: one zone a line
export const PERILS: Readonly<Record<NaturalSlug, Peril>> = {
  avalanche: { elsewhere: 0, mostFrequent: 2.5, zones: [
    [0.9, 110, ROCKIES], [0.8, 110, '-111.6 40.6, -111.2 42.5, -114.7 44.2'], [0.8, 90, SIERRA_AND_CASCADES],
    [0.9, 150, '-135 58.6, -145 61.2, -150.5 62.8'], [0.4, 60, '-72.9 44.2, -71.3 44.3, -69.3 45.7'],
  ] },
  coastalFlood: { elsewhere: 0, mostFrequent: 0.9, zones: [
    [0.95, 80, GULF], [0.95, 100, ATLANTIC], [0.75, 60, NORTH_ATLANTIC], [0.5, 50, PACIFIC], [0.35, 90, ALASKA_COAST],
    [0.8, 110, HAWAII], [0.8, 110, CARIBBEAN], [0.4, 90, MARIANAS],
  ] },
  coldWave: { elsewhere: 0, mostFrequent: 3, zones: [
    [1, 900, '-108 48, -95 48'], [0.6, 500, '-90 44, -70 46'], [0.3, 700, '-98 33, -82 33'], [0.7, 900, '-150 64'],
  ] },
  drought: { elsewhere: 0.1, mostFrequent: 60, zones: [
    [0.9, 450, '-101 32, -101 41'], [0.85, 400, '-120 37, -112 34'], [0.6, 400, '-117 43, -109 41'], [0.35, 300, '-84 33'],
    [0.25, 90, CARIBBEAN],
  ] },
  earthquake: { elsewhere: 0.05, mostFrequent: 0.04, zones: [
    [1, 170, '-115.6 32.8, -117.3 34.2, -119.8 35.3, -121.8 37.1, -123 38.5, -124.2 40.3'],
    [0.85, 170, '-124.3 41, -123.8 44, -122.6 47.6, -122.7 48.8'], [0.75, 120, '-112 38.5, -111.8 40.7, -110.8 44.5, -112 46.6'],
    [0.7, 110, '-117.8 36.2, -118.9 38.2, -119.9 39.7'], [0.9, 150, '-90.4 35.4, -89.5 36.6, -88.9 37.3'],
    [0.65, 100, '-80.2 33, -79.9 32.8'], [0.35, 250, '-97.5 36'], [0.25, 150, APPALACHIANS], [0.85, 300, ALASKA_COAST],
    [0.6, 110, HAWAII], [0.62, 110, CARIBBEAN], [0.6, 150, MARIANAS],
  ] },
  hail: { elsewhere: 0.06, mostFrequent: 9, zones: [
    [1, 380, '-100 33, -98 37, -100 42'], [0.55, 300, '-105 40'], [0.45, 400, '-88 34'], [0.4, 350, '-88 41'],
  ] },
  heatWave: { elsewhere: 0.08, mostFrequent: 5, zones: [
    [1, 300, '-113.5 33'], [0.75, 350, '-97 31, -92 33, -85 33'], [0.65, 250, '-120 37'], [0.6, 350, '-94 39, -88 39'],
    [0.5, 250, '-77 39, -74 41'], [0.4, 250, '-82 28'],
  ] },
  hurricane: { elsewhere: 0, mostFrequent: 0.35, zones: [
    [1, 170, GULF], [1, 150, ATLANTIC], [0.55, 130, NORTH_ATLANTIC], [0.3, 450, GULF], [0.9, 200, CARIBBEAN],
    [0.45, 150, HAWAII], [0.7, 200, MARIANAS],
  ] },
  iceStorm: { elsewhere: 0, mostFrequent: 1.8, zones: [
    [0.9, 400, '-97 36, -90 37.5'], [0.7, 350, '-85 40, -73 43'], [0.6, 250, '-86 36, -79 36'], [0.4, 120, '-122.5 45.5'],
    [0.35, 400, '-97 43'],
  ] },
  landslide: { elsewhere: 0.05, mostFrequent: 0.6, zones: [
    [0.8, 110, PACIFIC], [0.75, 140, APPALACHIANS], [0.65, 150, ROCKIES], [0.6, 120, SIERRA_AND_CASCADES],
    [0.6, 150, ALASKA_COAST], [0.7, 90, CARIBBEAN], [0.6, 90, HAWAII],
  ] },
  lightning: { elsewhere: 0.06, mostFrequent: 120, zones: [
    [1, 300, '-82.5 28.5, -81 27'], [0.8, 350, '-95 30, -88 31.5, -84 32'], [0.55, 450, '-97 37'], [0.35, 300, '-106 36'],
    [0.4, 90, CARIBBEAN],
  ] },
  riverineFlood: { elsewhere: 0.15, mostFrequent: 4, zones: [
    [0.9, 70, MISSISSIPPI], [0.8, 60, '-111.3 47.5, -103.6 48, -100.8 46.8, -96.4 42.5, -94.6 39.1, -90.2 38.8'],
    [0.85, 60, '-80 40.4, -82.5 38.4, -84.5 39.1, -85.8 38.3, -89.2 37'], [0.7, 60, '-96.8 46.9, -97.1 48.9'],
    [0.7, 60, '-121.5 38.6, -122 39.7'], [0.9, 110, '-95.2 29.8, -95.6 30.3'], [0.5, 200, APPALACHIANS],
    [0.55, 90, '-77 40.2, -75.9 41.2, -74.3 40.8'], [0.45, 120, '-81.5 27, -80.5 26'], [0.4, 110, CARIBBEAN],
  ] },
  strongWind: { elsewhere: 0.15, mostFrequent: 8, zones: [
    [0.85, 450, '-97 36, -93 42'], [0.7, 350, '-87 34'], [0.55, 300, '-77 39.5'], [0.3, 110, HAWAII],
  ] },
  tornado: { elsewhere: 0.05, mostFrequent: 0.7, zones: [
    [1, 300, '-97.5 33, -97 38'], [0.9, 300, '-91 33, -86.5 34'], [0.7, 320, '-93 41, -87 40.5'], [0.5, 200, '-82 28.5'],
  ] },
  tsunami: { elsewhere: 0, mostFrequent: 0.06, zones: [
    [0.8, 50, PACIFIC], [0.8, 100, ALASKA_COAST], [0.85, 110, HAWAII], [0.4, 90, CARIBBEAN], [0.5, 150, MARIANAS],
  ] },
  volcano: { elsewhere: 0, mostFrequent: 0.02, zones: [
    [0.95, 70, '-121.5 40.5, -122.2 41.4, -121.8 44, -121.7 45.4, -121.8 46.9, -121.8 48.8'], [1, 100, '-155.3 19.4, -155.6 19.5'],
    [0.75, 150, '-152.3 61.3, -155 58.3, -160 55.8, -168 53.4, -178 51.8'], [0.5, 120, '145.7 16, 145.8 18'],
  ] },
  wildfire: { elsewhere: 0.04, mostFrequent: 0.03, zones: [
    [1, 190, '-121 39, -119.4 35, -116.8 33'], [0.75, 300, '-121 43, -114 44'], [0.7, 300, '-111 34.5, -106 35'],
    [0.5, 180, '-82 28'], [0.5, 250, '-98 31.5'], [0.45, 250, '-107 40'], [0.3, 90, HAWAII], [0.4, 500, '-148 64'],
    [0.25, 350, '-93 32, -83 32'],
  ] },
  winterWeather: { elsewhere: 0, mostFrequent: 12, zones: [
    [1, 400, '-104 47, -93 46'], [0.9, 300, '-86 45, -71 44'], [0.7, 200, ROCKIES], [0.5, 350, '-96 40, -78 39.5'],
    [0.75, 800, '-150 64'], [0.2, 300, '-98 34, -82 34'],
  ] },
};

/** Radon comes from old rock: the northern interior and the Appalachians. */
export const RADON: readonly Zone[] = [
  [1, 350, '-104 45, -95 43, -84 41'],
  [0.9, 110, APPALACHIANS],
];
/** The basins of California hold their smog. */
export const SMOG: readonly Zone[] = [[0.6, 250, '-118 34.4, -119.5 36.5']];

/** An exposure below this is none. */
const LEAST = 0.04;

/** The exposure to a peril, 0 to 1; null where it has no meaning. */
export function exposureTo(topic: NaturalSlug, location: Location): number | null {
  const { elsewhere, zones } = PERILS[topic];
  const isContiguous =
    location.lat > 24 && location.lat < 50 && location.lng > -126 && location.lng < 0;
  const exposure = Math.max(isContiguous ? elsewhere : 0, findStrength(zones, location));
  return exposure < LEAST ? null : exposure;
}

/** The strongest of some zones at a location, 0 to 1. */
export function findStrength(zones: readonly Zone[], location: Location): number {
  let most = 0;
  for (const [exposure, reachKm, line] of zones) {
    const reaches = metersToShape(shapeOfLine(line), location) / 1000 / reachKm;
    most = Math.max(most, exposure * Math.exp(-(reaches ** 2)));
  }
  return most;
}

const shapeOfLine = memo((line: string) =>
  parseShape({ type: 'LineString', coordinates: positionsOf(line) }),
);

/** The positions of a line: `-97.2 25.9, -94.8 29.3`. */
export function positionsOf(line: string): [lng: number, lat: number][] {
  return line.split(', ').map((pair) => pair.split(' ').map(Number) as [number, number]);
}
