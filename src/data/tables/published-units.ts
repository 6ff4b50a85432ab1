import type { Position } from 'geojson';
import { countyAt } from '../../geo/us-counties.ts';
import { layerOfDataset } from '../zones/zone-layers.ts';
import { dayIn } from './days.ts';
import { isLayer } from './layers.ts';
import type { CountyDataset, DatasetName, EventKind, SiteRecord } from './records.ts';

/** What a publisher issues within a state or the US, and withdraws or replaces by itself: a study, a county, a day, a basin. A part of a
 * dataset (parts.ts) is what is loaded at a time, and consists of units. */
export interface PublishedUnits {
  /** What a unit is called in messages. */
  readonly noun: { readonly one: string; readonly many: string };
  /** The unit of a record; '' for a record that names none. */
  readonly of: (record: unknown) => string;
  /** Under which name the rows of a unit are counted and compared: of days, the year; '' for not at all. */
  readonly counted: (unit: string) => string;
  /** Units are days: of a counted year some may stay, and others be replaced. */
  readonly isDated?: true;
  /** A unit with fewer records may vanish by chance; null if any may. */
  readonly fewest: number | null;
  /** Files of the whole US hold a few units, too: they add to the others. */
  readonly isIssuedAlone: boolean;
  /** A place that no loaded unit holds may be in one that is not loaded. */
  readonly hasOutlines?: true;
  /** A unit is the name of a file, and a file of another folder may have it, too. */
  readonly isFile?: true;
  /** A unit begins with the two digits of its state. */
  readonly hasStates?: true;
  /** Set if a unit begins the geoids of its records: all of the geoid, or its first five digits. */
  readonly geoid?: 'whole' | 'county';
}

/** In places of a county, fewer may go by chance. */
const FEWEST_OF_PLACES = 10;

const itself = (unit: string): string => unit;

const COUNTY = { one: 'county', many: 'counties' };

/** Lists of all counties: none goes by chance. */
const ALL_COUNTIES: PublishedUnits = {
  noun: COUNTY,
  of: (record) => (record as { readonly geoid: string }).geoid.slice(0, 5),
  counted: itself,
  fewest: 1,
  isIssuedAlone: false,
  hasStates: true,
  geoid: 'county',
};

/** A study replaces itself alone. */
const STUDIES: PublishedUnits = {
  ...ALL_COUNTIES,
  noun: { one: 'study', many: 'studies' },
  of: (record) => (record as { readonly geoid: string }).geoid,
  // A tile has its state in place of a study.
  counted: (unit) => (unit.length > 2 ? unit : ''),
  isIssuedAlone: true,
  hasOutlines: true,
  geoid: 'whole',
};

/** A layer of a user's own: each file is published by itself. */
const FILES: PublishedUnits = {
  noun: { one: 'file', many: 'files' },
  isFile: true,
  of: (record) => (record as { readonly geoid: string }).geoid,
  counted: itself,
  fewest: 1,
  isIssuedAlone: true,
  geoid: 'whole',
};

/** Of a line or outline, the county of its first position. */
const COUNTY_OF_PLACE: PublishedUnits = {
  noun: COUNTY,
  of(record) {
    const place = firstPosition((record as SiteRecord).geometry);
    if (place === null) return '';
    const [lng, lat] = place as [number, number];
    return countyAt({ lat, lng })?.code ?? '';
  },
  counted: itself,
  fewest: FEWEST_OF_PLACES,
  isIssuedAlone: false,
  hasStates: true,
};

/** The columns with the time of an event: of an earthquake, a storm report, the discovery of a fire. */
const TIMES =
  'time date FireDiscoveryDateTime attr_FireDiscoveryDateTime FireDiscov poly_DateCurrent'.split(
    ' ',
  );

/** Files are of spans of time, of any length. Storm reports have the hour as `time`: it is no date. */
const DAYS: PublishedUnits = {
  noun: { one: 'year', many: 'years' },
  of(record) {
    const { properties } = record as SiteRecord;
    for (const name of TIMES) {
      const day = dayIn(properties[name]);
      if (day !== '') return day;
    }
    return '';
  },
  counted: (day) => day.slice(0, 4),
  isDated: true,
  fewest: FEWEST_OF_PLACES,
  isIssuedAlone: true,
};

const BASINS: PublishedUnits = {
  noun: { one: 'basin', many: 'basins' },
  of: (record) => String((record as SiteRecord).properties.basin ?? ''),
  counted: itself,
  fewest: FEWEST_OF_PLACES,
  isIssuedAlone: true,
};

const COUNTY_TABLE: PublishedUnits = {
  ...ALL_COUNTIES,
  of: (record) => (record as { readonly countyGeoid: string }).countyGeoid,
};

const COUNTY_DATASETS: Readonly<Record<CountyDataset, PublishedUnits>> = {
  // Monitors come and go, and a file of a year has some of the counties.
  airQuality: { ...COUNTY_TABLE, fewest: null, isIssuedAlone: true },
  radon: COUNTY_TABLE,
};

/** Null for what is published at a time: fires of the moment. */
const EVENTS: Readonly<Record<EventKind, PublishedUnits | null>> = {
  earthquake: DAYS,
  hail: DAYS,
  hurricane: BASINS,
  tornado: DAYS,
  'wildfire.current': null,
  'wildfire.historical': DAYS,
  'wildfire.perimeters': DAYS,
};

/** The units of a dataset; null if it is published as a whole. */
export function unitsOf(name: DatasetName): PublishedUnits | null {
  const zones = layerOfDataset(name);
  if (zones !== null) return zones.study === undefined ? FILES : STUDIES;
  if (isLayer(name))
    return name.startsWith('records:') ? EVENTS[name.slice(8) as EventKind] : COUNTY_OF_PLACE;
  switch (name) {
    case 'areas':
    case 'nri':
      return ALL_COUNTIES;
    case 'readings':
      return null;
    default:
      return COUNTY_DATASETS[name as CountyDataset];
  }
}

function firstPosition(geometry: SiteRecord['geometry']): Position | null {
  if (geometry.type === 'GeometryCollection') {
    const [first] = geometry.geometries;
    return first === undefined ? null : firstPosition(first);
  }
  let member: unknown = geometry.coordinates;
  while (Array.isArray(member) && Array.isArray(member[0])) [member] = member;
  return Array.isArray(member) && typeof member[0] === 'number' ? (member as Position) : null;
}
