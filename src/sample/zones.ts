import type { Polygon, Position } from 'geojson';
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
  const cities = citiesByCounty(land);
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

/** The sides of the fields of layers, in degrees. */
const FIRE_SIDE = 0.08;
const BARRIER_SIDE = 0.05;

/** So near to the middle of a city a field belongs to it. */
const CITY_METERS = 8_000;

/** The share of fields outside of cities that nobody has mapped, and of those in cities that are no wildland. */
const UNMAPPED = 0.35;
const BUILT = 0.7;

/** California's fire hazard severity zones. What is drawn nowhere is unknown, as in the layer itself. */
export function* fireZones(land: Land, random: Random): Generator<ZoneRecord> {
  const cities = citiesByCounty(land);
  for (const county of land.counties.filter(({ state }) => state === 'CA')) {
    const exposure = exposureTo('wildfire', county.centre) ?? 0;
    for (const { middle, geometry } of fieldsOf(county, land, FIRE_SIDE)) {
      const isOfCity = (cities.get(county.geoid) ?? []).some(
        (city) => distanceMeters(city, middle) < CITY_METERS,
      );
      const [share, hazard] = [random(), random() / (0.3 + exposure)];
      if (!isOfCity && share < UNMAPPED) continue;
      const code = hazard < 0.4 ? 'Very High' : hazard < 0.8 ? 'High' : 'Moderate';
      const facts = { responsibility: isOfCity ? 'local' : 'state' };
      yield layerZone(isOfCity && share < BUILT ? 'NonWildland' : code, facts, geometry);
    }
  }
}

/** The share of fields at the sea that belong to the system. */
const PROTECTED = 0.3;

/** The units of the Coastal Barrier Resources System: some fields at the sea. */
export function* coastalBarriers(land: Land, random: Random): Generator<ZoneRecord> {
  for (const county of land.counties) {
    if ((exposureTo('coastalFlood', county.centre) ?? 0) <= 0.4) continue;
    let number = 0;
    for (const { middle, geometry } of fieldsOf(county, land, BARRIER_SIDE)) {
      const { lat, lng } = middle;
      const isAtSea = [-BARRIER_SIDE, BARRIER_SIDE].some(
        (away) =>
          land.countyAt({ lat: lat + away, lng }) === null ||
          land.countyAt({ lat, lng: lng + away }) === null,
      );
      if (!isAtSea || random() >= PROTECTED) continue;
      number += 1;
      const isOpen = random() < 0.7;
      const unit = `${county.state}-${county.geoid.slice(2)}-${number}${isOpen ? '' : 'P'}`;
      yield layerZone(isOpen ? 'System Unit' : 'Otherwise Protected Area', { unit }, geometry);
    }
  }
}

/** A county in fields of four corners, which lie side by side: those whose middle is in it. */
function* fieldsOf(
  { geometry, geoid }: SampleCounty,
  land: Land,
  side: number,
): Generator<{ readonly middle: Location; readonly geometry: Polygon }> {
  const { minLat, maxLat, minLng, maxLng } = boxOfGeometry(geometry)!;
  const corner = (row: number, column: number): Position => {
    const lat = (row + 0.6 * mixed(row, column) - 0.3) * side;
    const lng = (column + 0.6 * mixed(column, row) - 0.3) * side;
    return positionOf({ lat, lng });
  };
  for (let row = Math.floor(minLat / side); row * side < maxLat; row++) {
    for (let column = Math.floor(minLng / side); column * side < maxLng; column++) {
      const middle = { lat: (row + 0.5) * side, lng: (column + 0.5) * side };
      if (land.countyAt(middle)?.geoid !== geoid) continue;
      const [first, second] = [corner(row, column), corner(row, column + 1)];
      const ring = [first, second, corner(row + 1, column + 1), corner(row + 1, column), first];
      yield { middle, geometry: { type: 'Polygon', coordinates: [ring] } };
    }
  }
}

/** The same number from 0 to 1 for the same whole numbers: neighbours share their corners. */
function mixed(a: number, b: number): number {
  const bits = Math.imul(Math.imul(a, 73_856_093) ^ Math.imul(b, 19_349_663), 2_654_435_761);
  return (bits >>> 0) / 2 ** 32;
}

/** A zone of a layer without studies: all of it is one. */
function layerZone(
  code: string,
  facts: Readonly<Record<string, string>>,
  geometry: Polygon,
): ZoneRecord {
  return {
    kind: 'zone',
    geoid: 'sample',
    code,
    detail: '',
    facts: { special: '', facts },
    geometry,
  };
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

function citiesByCounty(land: Land): ReadonlyMap<string, readonly Location[]> {
  return Map.groupBy(CITIES, (city) => land.countyAt(city)?.geoid ?? '');
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
