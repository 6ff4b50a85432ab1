import type { LineString } from 'geojson';
import type { EventRecord } from '../tables/records.ts';
import { csvLine } from './csv-line.ts';

/** The fields of the Storm Prediction Center, and one that says that it is a sample. */
const SPC_FIELDS = [
  ...'om yr mo dy date time tz st stf stn mag inj fat loss closs slat slon elat elon len wid ns sn sg'.split(' '),
  ...'f1 f2 f3 f4 fc source'.split(' '),
];

/** Hail reports as the Storm Prediction Center's file: they end where they began. */
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

const TRACK_COLUMNS = [
  'SID',
  'SEASON',
  'BASIN',
  'NAME',
  'ISO_TIME',
  'LAT',
  'LON',
  'WMO_WIND',
  'WMO_PRES',
  'TRACK_TYPE',
];
const HALF_A_DAY_MS = 43_200_000;

/** Storm tracks as IBTrACS lists them: a row for every fix, the second row for the units. */
export function* trackTable(records: Iterable<EventRecord>): Generator<string> {
  yield csvLine(TRACK_COLUMNS);
  yield csvLine([' ', 'Year', ' ', ' ', ' ', 'degrees_north', 'degrees_east', 'kts', 'mb', ' ']);
  for (const { geometry, properties } of records) {
    const { sid, season, basin, name, max_wind_kt: wind, min_pressure_mb: pressure, start } = properties;
    const { coordinates } = geometry as LineString;
    for (const [fix, [lng, lat]] of coordinates.entries()) {
      const time = new Date(Date.parse(String(start)) + fix * HALF_A_DAY_MS)
        .toISOString()
        .slice(0, 19)
        .replace('T', ' ');
      yield csvLine([sid, season, basin, name, time, lat, lng, wind, pressure, 'main']);
    }
  }
}
