import type { Geometry, LineString, Polygon } from 'geojson';
import type { NaturalSlug, ProximitySlug } from '../contract/topics.ts';
import type { EventKind, EventRecord, SiteRecord } from '../data/tables/records.ts';
import { CITIES } from '../geo/cities.ts';
import type { Location } from '../geo/coordinates.ts';
import {
  anyDirection,
  awayFrom,
  type Land,
  landLocation,
  positionOf,
  type SampleLocation,
} from './land.ts';
import { PERILS, positionsOf } from './perils.ts';
import { drawBetween, drawNormal, drawWhole, pick, type Random } from './random.ts';

/** What is made at random places, in its publisher's columns. */
interface PointKind {
  readonly noun: string;
  readonly count: number;
  /** Around cities, with a share of so much anywhere; or where a peril is strong. */
  readonly where: number | NaturalSlug;
  /** The columns of the name and of the state. */
  readonly name: string;
  readonly state: string;
  /** The other columns: one of the texts, or a whole number between two. */
  readonly values: Readonly<
    Record<string, readonly string[] | readonly [low: number, high: number]>
  >;
  /** Of an event the column of its time, and how many days ago the first was. */
  readonly time?: readonly [column: string, days: number];
}

// biome-ignore format: two lines each
const KINDS: Readonly<Record<ProximitySlug | Exclude<EventKind, 'hurricane'>, PointKind>> = {
  brownfield: { noun: 'brownfield', count: 900, where: 0.2, name: 'Property_Name', state: 'State',
    values: { ACRES_Property_ID: [10_000, 99_999], Past_Use: ['Gas station', 'Rail yard', 'Foundry'] } },
  superfund: { noun: 'superfund site', count: 500, where: 0.2, name: 'Site_Name', state: 'State',
    values: { NPL_Status: ['Currently on the Final NPL', 'Proposed for NPL'], Contaminants: ['Lead', 'PCBs', 'VOCs'] } },
  toxicReleaseInventory: { noun: 'TRI facility', count: 1000, where: 0.3, name: 'Facility_Name', state: 'State',
    values: { TRI_Facility_ID: [10_000, 99_999], Chemical: ['Ammonia', 'Benzene'], Total_Releases: [0, 90_000] } },
  solidWasteLandfill: { noun: 'landfill', count: 500, where: 0.4, name: 'Landfill_Name', state: 'State',
    values: { Ownership_Type: ['Public', 'Private'], Current_Landfill_Status: ['Open', 'Closed'], Year_Landfill_Opened: [1945, 2005] } },
  ustFacility: { noun: 'UST facility', count: 1300, where: 0.2, name: 'Name', state: 'State',
    values: { Open_USTs: [0, 6], Closed_USTs: [0, 8], Substances: ['Gasoline', 'Diesel', 'Used oil'] } },
  ustRelease: { noun: 'UST release', count: 1100, where: 0.2, name: 'Name', state: 'State',
    values: { Status: ['No Further Action', 'Open'], Substance: ['Gasoline', 'Diesel', 'Used oil'] } },
  oilGasWell: { noun: 'well', count: 900, where: 0.5, name: 'WellDesignation', state: 'State',
    values: { WellStatus: ['Active', 'Idle', 'Plugged'], WellTypeLabel: ['Oil & Gas', 'Dry Gas'], TotalDepthFt: [800, 14_000] } },
  naturalGasPipeline: { noun: 'pipeline segment', count: 600, where: 0.4, name: 'Segment', state: 'State',
    values: { TYPEPIPE: ['Interstate', 'Intrastate', 'Gathering'], Status: ['Operating', 'Abandoned'], DiameterIn: [6, 36] } },
  powerPlant: { noun: 'power plant', count: 500, where: 0.4, name: 'Plant_Name', state: 'StateName',
    values: { PrimSource: ['NG', 'SUN', 'WND', 'BIT', 'WAT'], Install_MW: [1, 1800] } },
  nuclearReactors: { noun: 'reactor site', count: 60, where: 0.6, name: 'Name', state: 'State',
    values: { Reactor_Type: ['PWR', 'BWR'], Units: [1, 3], Capacity_MWt: [1500, 3990], Status: ['Operating'] } },
  highVoltageLine: { noun: 'transmission line', count: 700, where: 0.4, name: 'NAME', state: 'STATE',
    values: { TYPE: ['AC; OVERHEAD', 'AC; UNDERGROUND', 'DC; OVERHEAD'], STATUS: ['IN SERVICE'], VOLTAGE: ['69', '138', '230', '345'] } },
  cellTower: { noun: 'cell tower', count: 1000, where: 0.3, name: 'Site_Name', state: 'LocState',
    values: { StrucType: ['LTOWER', 'MTOWER', 'GTOWER', 'POLE'], AllStruc: [12, 120], LicStatus: ['A'] } },
  alternativeFuels: { noun: 'charging station', count: 1100, where: 0.1, name: 'Station Name', state: 'State',
    values: { 'Fuel Type Code': ['ELEC', 'ELEC', 'E85', 'LPG'], 'EV Level2 EVSE Num': [0, 12] } },
  park: { noun: 'park', count: 900, where: 0.3, name: 'Unit_Nm', state: 'State_Nm',
    values: { Category: ['Fee', 'Easement', 'Designation'], Own_Type: ['LOC', 'STAT', 'FED'], Pub_Access: ['OA', 'RA', 'UK'] } },
  earthquake: { noun: 'earthquake', count: 1500, where: 'earthquake', name: 'title', state: 'st', time: ['time', 365],
    values: { mag: [1, 5], status: ['reviewed'], type: ['earthquake'], magType: ['mw', 'ml'] } },
  hail: { noun: 'hail report', count: 1500, where: 'hail', name: 'om', state: 'st', time: ['reported', 3650],
    values: { mag: [1, 3], source: ['sample'] } },
  tornado: { noun: 'tornado', count: 700, where: 'tornado', name: 'om', state: 'st', time: ['reported', 3650],
    values: { mag: [0, 4], wid: [20, 900], source: ['sample'] } },
  'wildfire.current': { noun: 'fire', count: 100, where: 'wildfire', name: 'attr_IncidentName', state: 'attr_POOState',
    time: ['attr_FireDiscoveryDateTime', 40],
    values: { attr_IncidentSize: [1, 50_000], attr_PercentContained: [0, 95], attr_FireCause: ['Natural', 'Human'] } },
  'wildfire.historical': { noun: 'fire', count: 900, where: 'wildfire', name: 'attr_IncidentName', state: 'attr_POOState',
    time: ['attr_FireDiscoveryDateTime', 7300],
    values: { attr_IncidentSize: [1, 50_000], attr_PercentContained: [100, 100], attr_FireCause: ['Natural', 'Human'] } },
  'wildfire.perimeters': { noun: 'fire', count: 250, where: 'wildfire', name: 'poly_IncidentName', state: 'attr_POOState',
    time: ['poly_DateCurrent', 1800],
    values: { poly_GISAcres: [10, 50_000], poly_MapMethod: ['Sample'] } },
};

/** The sites of a topic, or the events of a kind. The name of each says that it is a sample. */
export function* points(
  of: keyof typeof KINDS,
  land: Land,
  now: number,
  random: Random,
): Generator<SiteRecord> {
  const { noun, name, state, values, time } = KINDS[of];
  let index = 0;
  for (const location of locationsOf(of, land, random)) {
    index += 1;
    const properties: Record<string, unknown> = {
      [name]: `Sample ${noun} ${String(index).padStart(5, '0')}`,
      [state]: location.county.state,
      County: location.county.name,
    };
    if (time !== undefined) properties[time[0]] = Math.floor(now - random() * time[1] * 86_400_000);
    for (const [column, [first, second, ...others]] of Object.entries(values)) {
      properties[column] =
        typeof first === 'number'
          ? drawWhole(random, first, second as number)
          : pick(random, [first, second ?? first, ...others]);
    }
    yield { geometry: makeShape(of, location, random), properties };
  }
}

function makeShape(of: string, location: SampleLocation, random: Random): Geometry {
  if (['naturalGasPipeline', 'highVoltageLine', 'tornado'].includes(of))
    return lineFrom(location, random);
  if (of === 'wildfire.perimeters')
    return outlineAround(location, 9 * drawBetween(random, 0.2, 1) ** 3, random);
  if (of === 'park' && random() < 0.5)
    return outlineAround(location, drawBetween(random, 0.05, 0.5), random);
  return { type: 'Point', coordinates: positionOf(location) };
}

function* locationsOf(
  of: keyof typeof KINDS,
  land: Land,
  random: Random,
): Generator<SampleLocation> {
  const { count, where } = KINDS[of];
  const [share, centres] =
    typeof where === 'string' ? [0, strongCentres(where)] : [where, CITY_CENTRES];
  const country =
    of === 'oilGasWell' ? BASINS : land.counties.map(({ centre }) => ({ ...centre, spreadKm: 20 }));
  const sum = centres.reduce((total, { weight }) => total + weight, 0);
  for (let index = 0; index < count; index += 1) {
    const centre = random() < share ? pick(random, country) : weighted(centres, random() * sum);
    const distance = () => centre.spreadKm * Math.sqrt(-2 * Math.log(1 - random()));
    const location = landLocation(land, () => awayFrom(centre, distance(), anyDirection(random)));
    if (location) yield location;
  }
}

function weighted<T extends { readonly weight: number }>(items: readonly T[], value: number): T {
  let left = value;
  return items.find(({ weight }) => {
    left -= weight;
    return left < 0;
  })!;
}

const CITY_CENTRES = CITIES.map(({ people, ...city }) => ({
  ...city,
  spreadKm: 8,
  weight: people ** 0.8,
}));

/** Oil and gas basins: wells are there whether people are or not. */
const BASINS = positionsOf(
  '-102.3 31.9, -103.3 47.9, -98.6 28.6, -119.3 35.4, -98 35.9, -104.6 40.3, -80.2 40.2',
).map(([lng, lat]) => ({ lat, lng, spreadKm: 40 }));

function strongCentres(topic: NaturalSlug) {
  return PERILS[topic].zones.flatMap(([exposure, reachKm, line]) =>
    positionsOf(line).map(([lng, lat]) => ({
      lat,
      lng,
      spreadKm: reachKm / 2,
      weight: exposure ** 2 * reachKm,
    })),
  );
}

/** A line from a place that roughly keeps its direction. */
function lineFrom(start: Location, random: Random): LineString {
  const line = [positionOf(start)];
  let direction = anyDirection(random);
  let at = start;
  for (let steps = drawWhole(random, 2, 5); steps > 0; steps -= 1) {
    direction += 0.3 * drawNormal(random);
    at = awayFrom(at, drawBetween(random, 0.3, 1.5), direction);
    line.push(positionOf(at));
  }
  return { type: 'LineString', coordinates: line };
}

/** A star-shaped polygon around a place, closed and counter-clockwise (RFC 7946). */
function outlineAround(centre: Location, radiusKm: number, random: Random): Polygon {
  const corners = drawWhole(random, 5, 9);
  const ring = Array.from({ length: corners }, (_, corner) =>
    positionOf(
      awayFrom(centre, radiusKm * drawBetween(random, 0.7, 1.2), -(2 * Math.PI * corner) / corners),
    ),
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
    const [eastward, northward] = [0.9 * drawNormal(random), 0.7 * drawNormal(random)];
    const coordinates = PATHS[index % PATHS.length]!.map(([lng, lat]) =>
      positionOf({
        lat: lat + northward + 0.25 * drawNormal(random),
        lng: lng + eastward + 0.25 * drawNormal(random),
      }),
    );
    const season = new Date(now).getUTCFullYear() - drawWhole(random, 1, SEASONS);
    const wind = 5 * drawWhole(random, 13, 31);
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
