import type { LineString } from 'geojson';
import { AIR_QUALITY_DAYS } from '../../contract/topic-values.ts';
import { AQI_COLUMNS } from '../loaders/air-quality.ts';
import { namesOfCounty } from '../loaders/county-names.ts';
import { NRI_PREFIXES } from '../loaders/nri.ts';
import type {
  AirQualityRecord,
  EventRecord,
  NaturalRatingRecord,
  RadonRecord,
  ReadingRecord,
} from '../tables/records.ts';
import { stateOf } from '../tables/states.ts';
import { ozonePpb } from '../topics/air-quality-index.ts';

/** Ratings as a table of the National Risk Index: a row per county, three columns per hazard. */
export function* ratingTable(ratings: Iterable<NaturalRatingRecord>): Generator<string> {
  const columns = NRI_PREFIXES.flatMap(([, prefix]) => ['AFREQ', 'RISKS', 'RISKR'].map((end) => `${prefix}_${end}`));
  yield csvLine(['STATEABBRV', 'STCOFIPS', ...columns, 'NRI_VER']);
  let geoid = '';
  let county = new Map<string, NaturalRatingRecord>();
  const row = () => {
    const cells = NRI_PREFIXES.flatMap(([topic]) => {
      const rating = county.get(topic);
      return [rating?.frequency, rating?.score, rating?.rating];
    });
    return csvLine([stateOf(geoid), geoid, ...cells, 'Sample']);
  };
  for (const rating of ratings) {
    if (rating.geoid !== geoid && geoid !== '') {
      yield row();
      county = new Map();
    }
    geoid = rating.geoid;
    county.set(rating.topic, rating);
  }
  if (geoid !== '') yield row();
}

/** A year of air quality as EPA's annual file: with names, without codes. */
export function* airQualityTable(years: Iterable<AirQualityRecord>): Generator<string> {
  yield csvLine(['State', 'County', 'Year', ...AIR_QUALITY_DAYS.map((field) => AQI_COLUMNS[field])]);
  for (const summary of years) {
    const names = namesOfCounty(summary.countyGeoid)!;
    yield csvLine([...names, summary.year, ...AIR_QUALITY_DAYS.map((field) => summary[field])]);
  }
}

/** Radon zones as the table of EPA's map service. */
export function* radonTable(zones: Iterable<RadonRecord>): Generator<string> {
  yield csvLine(['CountyFIPS', 'CountyName', 'StateName', 'RadonZone']);
  for (const { countyGeoid, zone } of zones) {
    const [state, county] = namesOfCounty(countyGeoid)!;
    yield csvLine([countyGeoid, county, state, zone]);
  }
}

const AGENCY = 'Sample agency';

/** Readings as AirNow's hourly file, and the file of its monitors. */
export function readingTables(readings: Iterable<ReadingRecord>): { hourly: string[]; sites: string[] } {
  const hourly: string[] = [];
  const sites = ['StationID|AQSID|Parameter|SiteName|Latitude|Longitude|AgencyName\n'];
  for (const { pollutant, monitor, lat, lng, concentration, measuredAt } of readings) {
    const iso = new Date(measuredAt).toISOString();
    const date = `${iso.slice(5, 7)}/${iso.slice(8, 10)}/${iso.slice(2, 4)}`;
    const [name, unit, value] = {
      ozone: ['OZONE', 'PPB', ozonePpb(concentration)],
      pm25: ['PM2.5', 'UG/M3', concentration],
      pm10: ['PM10', 'UG/M3', concentration],
    }[pollutant];
    hourly.push(`${[date, iso.slice(11, 16), monitor, monitor, 0, name, unit, value, AGENCY].join('|')}\n`);
    sites.push(`${[monitor, monitor, name, monitor, lat, lng, AGENCY].join('|')}\n`);
  }
  return { hourly, sites };
}

/** The fields of the Storm Prediction Center, and one that marks the sample. */
const SPC_FIELDS = [
  ...'om yr mo dy date time tz st stf stn mag inj fat loss closs slat slon elat elon len wid ns sn sg'.split(' '),
  ...'f1 f2 f3 f4 fc source'.split(' '),
];

/** Hail reports as the Storm Prediction Center's file: each ends where it began. */
export function* hailTable(records: Iterable<EventRecord>): Generator<string> {
  yield csvLine(SPC_FIELDS);
  for (const { properties } of records) {
    yield spcLine({ ...properties, elat: properties.slat, elon: properties.slon });
  }
}

/** Tornado tracks as the Storm Prediction Center's file: one row for the whole of each (sg 1). */
export function* tornadoTable(records: Iterable<EventRecord>): Generator<string> {
  yield csvLine(SPC_FIELDS);
  for (const { properties } of records) yield spcLine({ ...properties, ns: 1, sn: 1, sg: 1 });
}

function spcLine(properties: Readonly<Record<string, unknown>>): string {
  return csvLine(SPC_FIELDS.map((field) => properties[field] ?? (field === 'stf' ? '' : 0)));
}

const TRACK_COLUMNS = 'SID SEASON BASIN NAME ISO_TIME LAT LON WMO_WIND WMO_PRES TRACK_TYPE'.split(' ');
const HALF_A_DAY_MS = 43_200_000;

/** Storm tracks as IBTrACS: a row per fix, and a second header row with the units. */
export function* trackTable(records: Iterable<EventRecord>): Generator<string> {
  yield csvLine(TRACK_COLUMNS);
  yield csvLine([' ', 'Year', ' ', ' ', ' ', 'degrees_north', 'degrees_east', 'kts', 'mb', ' ']);
  for (const { geometry, properties } of records) {
    const { sid, season, basin, name, max_wind_kt: wind, min_pressure_mb: pressure, start } = properties;
    const { coordinates } = geometry as LineString;
    for (const [fix, [lng, lat]] of coordinates.entries()) {
      const iso = new Date(Date.parse(String(start)) + fix * HALF_A_DAY_MS).toISOString();
      const time = iso.slice(0, 19).replace('T', ' ');
      yield csvLine([sid, season, basin, name, time, lat, lng, wind, pressure, 'main']);
    }
  }
}

/** Values as a line of CSV; null is a blank cell. */
export function csvLine(values: readonly unknown[]): string {
  return `${values.map(csvCell).join(',')}\n`;
}

function csvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = String(value);
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
