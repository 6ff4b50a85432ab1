import { PerilbookError } from '../../base/errors.ts';
import { POLLUTANTS } from '../../contract/topics.ts';
import type { TableRecord } from '../../formats/csv/parsed-records.ts';
import type { Location } from '../../geo/coordinates.ts';
import type { ReadingRecord } from '../tables/records.ts';
import { ozoneMicrograms } from '../topics/air-quality-index.ts';
import { findColumns, numberIn, parsePoint, tableRecords } from './agency-table.ts';
import { inTurn, type Loader, type LoadReporter, rowsBegin } from './loader.ts';
import { newest } from './vintages.ts';

/** The name of each pollutant in the hourly file, the unit that it must have, and its value in µg/m³. */
const PARAMETERS = {
  ozone: { name: 'OZONE', unit: 'PPB', micrograms: ozoneMicrograms },
  pm25: { name: 'PM2.5', unit: 'UG/M3', micrograms: (value: number) => value },
  pm10: { name: 'PM10', unit: 'UG/M3', micrograms: (value: number) => value },
};

/** Columns of a file without a header: the id first, latitude and longitude ninth and tenth (AirNow API, Monitoring Site Fact Sheet). */
const SITE_COLUMNS = { ids: [0], lat: 8, lng: 9 };

export const airnow: Loader = {
  describe:
    'AirNow hourly data (HourlyData_YYYYMMDDHH.dat), with --sites Monitoring_Site_Locations_V2.dat',
  source: 'EPA AirNow, hourly data',
  licence:
    'AirNow data are preliminary, not fully verified or validated, and not for regulatory use.',
  loads: { name: 'readings', level: '' },
  signature: { rows: { are: 'hours of AirNow', test: rowsBegin(/^\d{2}\/\d{2}\/\d{2}$/, 9) } },
  async read(files, options, report) {
    if (options.sites === undefined) {
      const hint = 'Give the file of the monitoring sites with --sites.';
      throw new PerilbookError('USAGE', 'The hourly data has no locations of monitors', hint);
    }
    const monitors = await monitorsIn(options.sites, report);
    // 2025-11-20 17:00 UTC
    const hours = newest((reading) => {
      const time = new Date((reading as ReadingRecord).measuredAt).toISOString();
      return `${time.slice(0, 13).replace('T', ' ')}:00 UTC`;
    });
    const readingsOf = ({ line, cells }: TableRecord): readonly ReadingRecord[] => {
      const reading = parseReading(cells, monitors);
      if (typeof reading !== 'string') hours.see(reading);
      return report.take(typeof reading === 'string' ? reading : [reading], line, cells.join('|'));
    };
    async function* readingsIn(file: string): AsyncGenerator<readonly ReadingRecord[]> {
      for await (const records of tableRecords(file, { delimiter: '|' }))
        yield records.flatMap(readingsOf);
    }
    return { vintage: hours.text, records: inTurn(files, report, readingsIn) };
  },
};

/** The location of each monitor; the file lists a monitor once per parameter. */
async function monitorsIn(file: string, report: LoadReporter): Promise<Map<string, Location>> {
  const monitors = new Map<string, Location>();
  let siteColumns: { ids: number[]; lat: number; lng: number } = SITE_COLUMNS;
  const read = ({ line, cells }: TableRecord): void => {
    if (line === 1 && cells.some((cell) => /^latitude$/i.test(cell.trim()))) {
      const columns = findColumns(cells, file);
      const ids = [columns.need('AQSID', 'FullAQSID'), columns.find('FullAQSID')];
      siteColumns = { ids, lat: columns.need('Latitude'), lng: columns.need('Longitude') };
      return;
    }
    const point = parsePoint(cells[siteColumns.lat], cells[siteColumns.lng]);
    if (typeof point === 'string') return;
    for (const id of siteColumns.ids.map((column) => cells[column]?.trim() ?? '')) {
      if (id !== '') monitors.set(id, { lng: point[0], lat: point[1] });
    }
  };
  for await (const records of tableRecords(file, { delimiter: '|' })) records.forEach(read);
  if (monitors.size === 0) report.note(`${file} has no location of any monitor`);
  return monitors;
}

/** 11/20/25|17:00|010030010|Fairhope|-6|OZONE|PPB|41|Alabama Department of Environmental Management */
function parseReading(
  cells: readonly string[],
  monitors: ReadonlyMap<string, Location>,
): ReadingRecord | string {
  const [date = '', time = '', id = '', , , name = '', unit = '', value = ''] = cells.map((cell) =>
    cell.trim(),
  );
  if (cells.length < 9) return 'the row has fewer than 9 fields';
  const pollutant = POLLUTANTS.find((slug) => PARAMETERS[slug].name === name);
  if (pollutant === undefined) return 'the parameter belongs to no topic';
  const { unit: expected, micrograms } = PARAMETERS[pollutant];
  if (unit.toUpperCase() !== expected) return `${name} is not in ${expected}`;
  // An id has 9 digits (AQSID), or 12 with the country's (FullAQSID; 840 is the US). Hourly files use either, old lists only the short one.
  const location = monitors.get(id) ?? monitors.get(id.replace(/^\d{3}(\d{9})$/, '$1'));
  if (location === undefined) return 'the file of the sites has no location of the monitor';
  const measured = numberIn(value);
  const measuredAt = parseTime(date, time);
  if (measured === null || measured <= -900) return 'the value is missing';
  if (measuredAt === null) return 'the time is not written MM/DD/YY, HH:MM';
  const concentration = micrograms(measured);
  return { pollutant, monitor: id, ...location, concentration, measuredAt };
}

/** MM/DD/YY and HH:MM in UTC. */
function parseTime(date: string, time: string): number | null {
  const day = /^(\d{2})\/(\d{2})\/(\d{2})$/.exec(date);
  const hour = /^(\d{2}):(\d{2})$/.exec(time);
  if (day === null || hour === null) return null;
  const iso = `20${day[3]}-${day[1]}-${day[2]}T${hour[1]}:${hour[2]}:00.000Z`;
  const moment = Date.parse(iso);
  // 30 February would become 2 March.
  return Number.isNaN(moment) || new Date(moment).toISOString() !== iso ? null : moment;
}
