import type { TableRecord } from '../../formats/csv/parsed-records.ts';
import { invalidFile } from './agency-file.ts';
import { numberIn, tableRecords } from './agency-table.ts';
import {
  basinOf,
  type Fix,
  type FixOfStorm,
  REPEATED,
  type Storm,
  stormLoader,
  type TrackReading,
} from './storm-tracks.ts';

/** `AL011970,               ALMA,     39,`: basin, number and season; name; the number of lines that follow. */
const HEADER = /^(AL|EP|CP)(\d{2})(\d{4})$/;
/** The header of a storm of any basin: lines after an unknown one do not belong to the storm before it. */
const ANY_HEADER = /^[A-Z]{2}\d{6}$/;

/** Date to pressure, and twelve radii. */
const FEWEST_FIELDS = 20;

/** The best tracks of the National Hurricane Center (HURDAT2 format, 2013 and later). */
export const hurdat2 = stormLoader(
  'NOAA NHC best tracks, HURDAT2 (text), Atlantic or Pacific or both',
  'NOAA National Hurricane Center, HURDAT2',
  'National Oceanic and Atmospheric Administration, National Hurricane Center',
  fixesIn,
);

async function* fixesIn(
  file: string,
  { report, isRepeated }: TrackReading,
): AsyncGenerator<readonly FixOfStorm[], void, void> {
  let storm = null as Storm | null;
  let announced = 0;
  let isShort = false;
  const fixesOf = ({ cells }: TableRecord): readonly FixOfStorm[] | string => {
    const first = cells[0]!.trim();
    if (ANY_HEADER.test(first)) {
      announced = numberIn(cells[2]) ?? 0;
      const header = stormOf(first, cells);
      const isNew = header !== null && !isRepeated(header.sid);
      storm = isNew ? header : null;
      return isNew ? [] : header === null ? 'a storm of an unknown basin' : REPEATED;
    }
    announced -= 1;
    isShort = cells.length < FEWEST_FIELDS;
    if (storm === null) return 'a fix without a storm';
    const fix = isShort ? `the line has fewer than ${FEWEST_FIELDS} fields` : fixOf(cells);
    return typeof fix === 'string' ? fix : [[storm, fix]];
  };
  for await (const records of tableRecords(file)) {
    yield records.flatMap((record) => report.take(fixesOf(record), record.line, record.cells));
  }
  if (announced > 0 || isShort) {
    const missing = announced > 0 ? `${announced} lines of its last storm are missing` : 'its last line is too short';
    throw invalidFile(file, `it is cut: ${missing} (${storm?.name ?? ''})`, 'Download it again.');
  }
}

function stormOf(code: string, cells: readonly string[]): Storm | null {
  const header = HEADER.exec(code);
  if (header === null) return null;
  return { sid: code, name: cells[1]?.trim() ?? '', season: Number(header[3]), basin: basinOf(header[1]!) };
}

/** 20140628, 1800,  , LO, 32.0N,  78.2W,  20, 1017, … */
function fixOf(cells: readonly string[]): Fix | string {
  const [date, time] = [cells[0]!.trim(), cells[1]?.trim() ?? ''];
  const lat = degreesOf(cells[4], 'N', 'S', 90);
  const lng = degreesOf(cells[5], 'E', 'W', 360);
  if (!/^\d{8}$/.test(date) || !/^\d{4}$/.test(time)) return 'the date is not written YYYYMMDD, HHMM';
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

function degreesOf(cell: string | undefined, plus: string, minus: string, bound: number): number | null {
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
