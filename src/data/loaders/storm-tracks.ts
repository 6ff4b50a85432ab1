import type { Geometry } from 'geojson';
import type { Batches, TableRecord } from '../../formats/csv/parsed-records.ts';
import type { EventRecord } from '../tables/records.ts';
import { invalidFile } from './agency-file.ts';
import { numberIn, parsePoint, tableRecords, tableRows } from './agency-table.ts';
import {
  earlierFiles,
  type FileRecords,
  inTurn,
  type Loader,
  type LoadReporter,
  publicDomain,
  rowsBegin,
} from './loader.ts';
import { yearSpan } from './vintages.ts';

/** A storm at one time. */
interface Fix {
  readonly lng: number;
  readonly lat: number;
  /** ISO 8601 UTC. */
  readonly time: string;
  readonly windKnots: number | null;
  readonly pressureMb: number | null;
}

interface Storm {
  readonly sid: string;
  readonly name: string;
  readonly season: number;
  readonly basin: string;
}

/** The basins by the codes of HURDAT2 (AL) and IBTrACS (NA): a basin has one spelling whatever the file. */
const BASINS: Readonly<Record<string, string>> = {
  AL: 'North Atlantic',
  NA: 'North Atlantic',
  EP: 'Eastern Pacific',
  CP: 'Central Pacific',
  WP: 'Western Pacific',
  SP: 'South Pacific',
  NI: 'North Indian',
  SI: 'South Indian',
  SA: 'South Atlantic',
};

interface TrackReading {
  readonly report: LoadReporter;
  /** Whether an earlier file has the storm: one that crosses basins is in the files of both, and editions overlap. */
  readonly isRepeated: (sid: string) => boolean;
}

type FixOfStorm = readonly [Storm, Fix];

type FixesIn = (file: string, reading: TrackReading) => AsyncIterable<readonly FixOfStorm[]>;

const REPEATED = 'a storm that an earlier file has';

/** The world's best tracks, collected by NOAA (IBTrACS v04). */
export const ibtracs: Loader = {
  describe: 'NOAA IBTrACS tropical cyclone tracks (CSV)',
  source: 'NOAA IBTrACS',
  licence: publicDomain('National Oceanic and Atmospheric Administration, IBTrACS'),
  loads: { name: 'records:hurricane', level: '' },
  signature: { columns: [['SID'], ['ISO_TIME'], ['LAT'], ['LON']] },
  read: (files, _, report) => readStorms(files, report, ibtracsFixes),
};

/** The best tracks of the National Hurricane Center (HURDAT2 format, 2013 and later). */
export const hurdat2: Loader = {
  describe: 'NOAA NHC best tracks, HURDAT2 (text), Atlantic or Pacific or both',
  source: 'NOAA National Hurricane Center, HURDAT2',
  licence: publicDomain(
    'National Oceanic and Atmospheric Administration, National Hurricane Center',
  ),
  loads: { name: 'records:hurricane', level: '' },
  signature: { rows: { are: 'headers of storms', test: rowsBegin(/^[A-Z]{2}\d{6}$/, 3) } },
  read: (files, _, report) => readStorms(files, report, hurdat2Fixes),
};

function readStorms(files: readonly string[], report: LoadReporter, fixesIn: FixesIn): FileRecords {
  const years = yearSpan();
  const startFile = earlierFiles();
  return {
    vintage: years.text,
    records: inTurn(files, report, (file) =>
      stormRecords(fixesIn(file, { report, isRepeated: startFile() }), years.see),
    ),
  };
}

async function* stormRecords(
  batches: AsyncIterable<readonly FixOfStorm[]>,
  seeYear: (year: number) => void,
): Batches<EventRecord> {
  let current: Storm | null = null;
  let track: Fix[] = [];
  for await (const fixes of batches) {
    const records: EventRecord[] = [];
    for (const [storm, fix] of fixes) {
      if (storm.sid !== current?.sid) {
        if (current !== null) records.push(stormRecord(current, track));
        current = storm;
        track = [];
        seeYear(storm.season);
      }
      track.push(fix);
    }
    yield records;
  }
  if (current !== null) yield [stormRecord(current, track)];
}

/** The least wind in knots of categories 1 to 5 (Saffir-Simpson Hurricane Wind Scale, National Hurricane Center). */
const CATEGORY_KNOTS = [64, 83, 96, 113, 137];

/** A storm as one record: its track as a line, cut at the 180th meridian. */
function stormRecord(storm: Storm, fixes: readonly Fix[]): EventRecord {
  const winds = fixes.map(({ windKnots }) => windKnots).filter((wind) => wind !== null);
  const pressures = fixes
    .map(({ pressureMb }) => pressureMb)
    .filter((pressure) => pressure !== null);
  const wind = winds.length === 0 ? null : Math.max(...winds);
  return {
    geometry: makeTrack(fixes),
    properties: {
      ...storm,
      max_wind_kt: wind,
      min_pressure_mb: pressures.length === 0 ? null : Math.min(...pressures),
      category: wind === null ? null : CATEGORY_KNOTS.filter((knots) => wind >= knots).length,
      start: fixes[0]!.time,
      end: fixes.at(-1)!.time,
    },
  };
}

function makeTrack(fixes: readonly Fix[]): Geometry {
  const parts: [number, number][][] = [[]];
  let before: Fix | undefined;
  for (const fix of fixes) {
    if (before !== undefined && Math.abs(fix.lng - before.lng) > 180) cutAt180(parts, before, fix);
    parts.at(-1)!.push([fix.lng, fix.lat]);
    before = fix;
  }
  const lines = parts.filter((part) => part.length > 1);
  if (lines.length === 0) return { type: 'Point', coordinates: parts[0]![0]! };
  return lines.length === 1
    ? { type: 'LineString', coordinates: lines[0]! }
    : { type: 'MultiLineString', coordinates: lines };
}

/** RFC 7946, 3.1.9: a line that crosses the meridian is cut into two that end on it. */
function cutAt180(parts: [number, number][][], from: Fix, to: Fix): void {
  const side = from.lng > 0 ? 180 : -180;
  const toUnwrapped = to.lng + 2 * side;
  const along = (side - from.lng) / (toUnwrapped - from.lng);
  const lat = from.lat + along * (to.lat - from.lat);
  parts.at(-1)!.push([side, lat]);
  parts.push([[-side, lat]]);
}

function ibtracsFixes(file: string, { report, isRepeated }: TrackReading): Batches<FixOfStorm> {
  return tableRows(file, (columns) => {
    const indexes = new Map<string, number>();
    for (const name of ['SID', 'SEASON', 'BASIN', 'NAME', 'ISO_TIME', 'LAT', 'LON'])
      indexes.set(name, columns.need(name));
    for (const name of ['TRACK_TYPE', 'WMO_WIND', 'USA_WIND', 'WMO_PRES', 'USA_PRES'])
      indexes.set(name, columns.find(name));
    const fixesOf = (cells: readonly string[]): readonly FixOfStorm[] | string => {
      const cell = (column: string) => cells[indexes.get(column)!]?.trim() ?? '';
      if (cell('LAT') === 'degrees_north') return 'the row of units';
      // Also PROVISIONAL_spur and US-PROVISIONAL_spur.
      if (/spur/i.test(cell('TRACK_TYPE'))) return 'a spur beside the main track';
      const point = parsePoint(cell('LAT'), within180(cell('LON')));
      if (typeof point === 'string') return point;
      if (isRepeated(cell('SID'))) return REPEATED;
      const [sid, name, season] = [cell('SID'), cell('NAME'), Number(cell('SEASON'))];
      const fix = {
        lng: point[0],
        lat: point[1],
        // 2019-08-24 06:00:00, in UTC.
        time: `${cell('ISO_TIME').replace(' ', 'T')}Z`,
        windKnots: numberIn(cell('WMO_WIND')) ?? numberIn(cell('USA_WIND')),
        pressureMb: numberIn(cell('WMO_PRES')) ?? numberIn(cell('USA_PRES')),
      };
      return [[{ sid, name, season, basin: BASINS[cell('BASIN')] ?? cell('BASIN') }, fix]];
    };
    return ({ line, cells }) => report.take(fixesOf(cells), line, cells);
  });
}

/** Longitudes continue beyond the 180th meridian: 204.3 is -155.7. */
function within180(cell: string | undefined): string | undefined {
  const degrees = numberIn(cell);
  if (degrees === null || Math.abs(degrees) <= 180 || Math.abs(degrees) > 360) return cell;
  return String(Math.round((degrees - Math.sign(degrees) * 360) * 1e6) / 1e6);
}

/** `AL011970,               ALMA,     39,`: basin, number and season; name; the number of lines that follow. */
const HEADER = /^(AL|EP|CP)(\d{2})(\d{4})$/;
/** The header of a storm of any basin: lines after an unknown one do not belong to the storm before it. */
const ANY_HEADER = /^[A-Z]{2}\d{6}$/;

/** Date to pressure, and twelve radii. */
const FEWEST_FIELDS = 20;

async function* hurdat2Fixes(
  file: string,
  { report, isRepeated }: TrackReading,
): Batches<FixOfStorm> {
  let storm = null as Storm | null;
  let announced = 0;
  let isShort = false;
  const fixesOf = ({ cells }: TableRecord): readonly FixOfStorm[] | string => {
    const first = cells[0]!.trim();
    if (ANY_HEADER.test(first)) {
      announced = numberIn(cells[2]) ?? 0;
      const header = parseStorm(first, cells);
      const isNew = header !== null && !isRepeated(header.sid);
      storm = isNew ? header : null;
      return isNew ? [] : header === null ? 'a storm of an unknown basin' : REPEATED;
    }
    announced -= 1;
    isShort = cells.length < FEWEST_FIELDS;
    if (storm === null) return 'a fix without a storm';
    const fix = isShort ? `the line has fewer than ${FEWEST_FIELDS} fields` : parseFix(cells);
    return typeof fix === 'string' ? fix : [[storm, fix]];
  };
  for await (const records of tableRecords(file)) {
    yield records.flatMap((record) => report.take(fixesOf(record), record.line, record.cells));
  }
  if (announced > 0 || isShort) {
    const missing =
      announced > 0
        ? `${announced} lines of its last storm are missing`
        : 'its last line is too short';
    throw invalidFile(file, `it is cut: ${missing} (${storm?.name ?? ''})`, 'Download it again.');
  }
}

function parseStorm(code: string, cells: readonly string[]): Storm | null {
  const header = HEADER.exec(code);
  if (header === null) return null;
  return {
    sid: code,
    name: cells[1]?.trim() ?? '',
    season: Number(header[3]),
    basin: BASINS[header[1]!]!,
  };
}

/** 20140628, 1800,  , LO, 32.0N,  78.2W,  20, 1017, … */
function parseFix(cells: readonly string[]): Fix | string {
  const [date, time] = [cells[0]!.trim(), cells[1]?.trim() ?? ''];
  const lat = parseDegrees(cells[4], 'N', 'S', 90);
  const lng = parseDegrees(cells[5], 'E', 'W', 360);
  if (!/^\d{8}$/.test(date) || !/^\d{4}$/.test(time))
    return 'the date is not written YYYYMMDD, HHMM';
  if (lat === null || lng === null) return 'the position is not written like 32.0N, 78.2W';
  return {
    lat,
    // Longitudes continue beyond the 180th meridian: 189.5W is 170.5E.
    lng: lng < -180 ? lng + 360 : lng > 180 ? lng - 360 : lng,
    time: `${date.slice(0, 4)}-${date.slice(4, 6)}-${date.slice(6)}T${time.slice(0, 2)}:${time.slice(2)}:00Z`,
    windKnots: numberOrNull(cells[6]),
    pressureMb: numberOrNull(cells[7]),
  };
}

function parseDegrees(
  cell: string | undefined,
  plus: string,
  minus: string,
  bound: number,
): number | null {
  const parts = /^(\d+(?:\.\d+)?)([NSEW])$/.exec(cell?.trim() ?? '');
  if (parts === null || (parts[2] !== plus && parts[2] !== minus)) return null;
  const degrees = Number(parts[1]) * (parts[2] === minus ? -1 : 1);
  return Math.abs(degrees) <= bound ? degrees + 0 : null;
}

/** -999 means no pressure, -99 no wind. */
function numberOrNull(cell: string | undefined): number | null {
  const number = numberIn(cell);
  return number === null || number < 0 ? null : number;
}
