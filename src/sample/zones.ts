import type { Position } from 'geojson';
import type { ZoneRecord } from '../data/tables/records.ts';
import { boxOfGeometry, polygonOfBox } from '../geo/bounding-boxes.ts';
import { CITIES } from '../geo/cities.ts';
import { distanceMeters, type Location } from '../geo/coordinates.ts';
import { polygonsOf } from '../geo/outline.ts';
import { anyDirection, awayFrom, type Land, positionOf, round, type SampleCounty } from './land.ts';
import { exposureTo } from './perils.ts';
import { drawBetween, drawWhole, type Random } from './random.ts';

/** The share of counties without a study, and with zone D alone. */
const UNSTUDIED = 0.03;
const UNDETERMINED = 0.03;

/** The most low places around the middle of a county, and around each of its cities. */
const MOST_BASINS = 4;
const MOST_AT_CITY = 12;
const CORNERS = 14;
/** Beyond what two of them with their belts reach. */
const APART_METERS = 5_500;
/** How far the area of 0.2 % reaches beyond that of 1 %. */
const WIDER = 1.35;
const DAY_MS = 86_400_000;

/** The flood zones of all counties: a few low places in each with a zone A or V, a belt of 0.2 % around each, and zone X elsewhere. */
export function* floodZones(land: Land, now: number, random: Random): Generator<ZoneRecord> {
  const cities = Map.groupBy(CITIES, (city) => land.countyAt(city)?.geoid ?? '');
  for (const county of land.counties) {
    const geoid = `${county.geoid}C`;
    const share = random();
    if (share < UNSTUDIED) continue;
    const day = new Date(now - drawWhole(random, 200, 7_000) * DAY_MS).toISOString().slice(0, 10);
    const detail = { code: `${geoid}0100J`, detail: day, facts: null };
    yield {
      kind: 'panel',
      geoid,
      ...detail,
      geometry: polygonOfBox(boxOfGeometry(county.geometry)!),
    };
    if (share < UNSTUDIED + UNDETERMINED) {
      yield { ...makeZone(geoid, 'D', '', 'F'), geometry: county.geometry };
      continue;
    }
    const basins = basinsIn(county, cities.get(county.geoid) ?? [], land, random);
    const isCoastal = (exposureTo('coastalFlood', county.centre) ?? 0) > 0.4;
    const belts: Position[][] = [];
    for (const [index, basin] of basins.entries()) {
      const [inner, outer] = [1, WIDER].map((scale) => outlineOf(basin, scale));
      belts.push(outer!);
      yield {
        ...lowZone(geoid, isCoastal, index, random),
        geometry: { type: 'Polygon', coordinates: [inner!] },
      };
      const moderate = makeZone(geoid, 'X', '0.2 PCT ANNUAL CHANCE FLOOD HAZARD', 'F');
      yield { ...moderate, geometry: { type: 'Polygon', coordinates: [outer!, inner!] } };
    }
    const [first = [], ...others] = polygonsOf(county.geometry);
    const coordinates = [[...first, ...belts], ...others];
    yield {
      ...makeZone(geoid, 'X', 'AREA OF MINIMAL FLOOD HAZARD', 'F'),
      geometry: { type: 'MultiPolygon', coordinates },
    };
  }
}

type BareZone = Omit<ZoneRecord, 'geometry'>;

const NO_FACTS = { baseElevationFt: null, baseElevationDatum: null, depthFt: null };

function makeZone(
  geoid: string,
  code: string,
  detail: string,
  special: 'T' | 'F',
  facts: object = {},
): BareZone {
  return {
    kind: 'zone',
    geoid,
    code,
    detail,
    facts: { special, facts: { ...NO_FACTS, ...facts } },
  };
}

function lowZone(geoid: string, isCoastal: boolean, index: number, random: Random): BareZone {
  const baseElevationFt = drawWhole(random, isCoastal ? 6 : 60, isCoastal ? 18 : 900);
  const elevation = { baseElevationFt, baseElevationDatum: 'NAVD88' };
  if (index === 0)
    return makeZone(geoid, isCoastal ? 'VE' : 'AE', isCoastal ? '' : 'FLOODWAY', 'T', elevation);
  const kind = random();
  if (kind < 0.2) return makeZone(geoid, 'AO', '', 'T', { depthFt: drawWhole(random, 1, 3) });
  return kind < 0.6 ? makeZone(geoid, 'A', '', 'T') : makeZone(geoid, 'AE', '', 'T', elevation);
}

/** A low place: its middle, and how far it reaches in each direction. */
interface Basin {
  readonly middle: Location;
  readonly kilometres: readonly number[];
}

/** Low places that lie in a county with their belts, apart from each other. */
function basinsIn(
  county: SampleCounty,
  cities: readonly Location[],
  land: Land,
  random: Random,
): Basin[] {
  const basins: Basin[] = [];
  const drawNear = (place: Location, km: number) =>
    awayFrom(place, drawBetween(random, 0, km), anyDirection(random));
  const drawAround = (place: Location, most: number) =>
    Array.from({ length: most }, (_, index) => drawNear(place, 4 + 2 * index));
  const middles = [
    ...drawAround(county.centre, MOST_BASINS),
    ...cities.flatMap((city) => drawAround(city, MOST_AT_CITY)),
  ];
  for (const middle of middles) {
    const size = drawBetween(random, 0.5, 2);
    const kilometres = Array.from({ length: CORNERS }, () =>
      round(size * drawBetween(random, 0.6, 1), 3),
    );
    const basin = { middle, kilometres };
    const isIn = outlineOf(basin, WIDER).every(
      ([lng, lat]) => land.countyAt({ lat: lat!, lng: lng! }) === county,
    );
    const isApart = basins.every((other) => distanceMeters(other.middle, middle) > APART_METERS);
    if (isIn && isApart) basins.push(basin);
  }
  return basins;
}

function outlineOf({ middle, kilometres }: Basin, scale: number): Position[] {
  const corners = kilometres.map((reach, index) =>
    positionOf(awayFrom(middle, scale * reach, (2 * Math.PI * index) / CORNERS)),
  );
  return [...corners, corners[0]!];
}
