import type { Batches, TableRecord } from '../../formats/csv/parsed-records.ts';
import { agencyZip, isNamed } from './agency-file.ts';
import { numberIn, tableRecords } from './agency-table.ts';
import type { FileFeature } from './file-feature.ts';
import type { LoadReporter } from './loader.ts';

/* The FCC's Antenna Structure Registration (r_tower.zip): files without a header, fields divided by bars, joined by the registration
 * number and the unique system identifier (FCC, "Public access database definitions, Antenna Structure Registration"). */

/** The files of the zip: registrations, coordinates, entities. */
export const ASR_FILES = ['RA.dat', 'CO.dat', 'EN.dat'];

const STATUSES: Readonly<Record<string, string>> = {
  A: 'cancelled',
  G: 'granted',
  I: 'dismantled',
  T: 'terminated',
};

/** The properties of a registration by their fields, in the names of the FCC's older list of towers. */
const PROPERTIES: Readonly<Record<string, number>> = {
  TowReg: 3,
  LocAdd: 23,
  LocCity: 24,
  LocState: 25,
  /** Overall height above ground, in metres. */
  AllStruc: 30,
  StrucType: 32,
};
const [STATUS, CONSTRUCTED, ACTION] = [8, 12, 14];

/** The constructed structures; the others are rejected with their status. */
export async function* antennaStructures(file: string, report: LoadReporter): Batches<FileFeature> {
  const { entries } = await agencyZip(file);
  const recordsOf = (name: string) => {
    const entry = entries.find(({ fileName }) => isNamed(fileName, name));
    return tableRecords(`${file}/${entry!.fileName}`, { delimiter: '|' });
  };
  const [registrations, coordinates, entities] = ASR_FILES.map(recordsOf);
  const places = new Map<string, [number, number] | string>();
  // An array of towers is one registration: its first tower counts.
  for await (const records of coordinates!) {
    for (const { cells } of records)
      if (!places.has(idOf(cells))) places.set(idOf(cells), placeOf(cells));
  }
  const owners = new Map<string, string>();
  for await (const records of entities!) {
    for (const { cells } of records)
      if (cells[5] === 'O' && cells[9]) owners.set(idOf(cells), cells[9]);
  }
  const seen = new Set<string>();
  const featureOf = ({ line, cells }: TableRecord): readonly FileFeature[] => {
    const id = idOf(cells);
    const place = places.get(id) ?? 'the registration has no coordinates';
    const status = cells[STATUS]?.trim() ?? '';
    const unlisted = seen.has(id) ? 'the registration is listed twice' : place;
    const problem =
      status === 'C' ? unlisted : `not constructed: ${STATUSES[status] ?? `status "${status}"`}`;
    if (typeof problem === 'string') {
      report.reject(problem, line, cells.join('|'));
      return [];
    }
    seen.add(id);
    const given = Object.entries(PROPERTIES).map(([name, at]) => [name, cells[at]?.trim() ?? '']);
    const dates = {
      Constructed: dayOf(cells[CONSTRUCTED]),
      Changed: dayOf(cells[ACTION]),
      Owner: owners.get(id),
    };
    const all = [...given, ...Object.entries(dates)].filter(([, value]) => value);
    return [
      {
        line,
        geometry: { type: 'Point', coordinates: problem },
        properties: Object.fromEntries(all),
      },
    ];
  };
  for await (const records of registrations!) yield records.flatMap(featureOf);
}

// Copied: a slice of a file's text would keep the whole block in memory.
const idOf = (cells: readonly string[]): string =>
  Buffer.from(`${cells[3]} ${cells[4]}`).toString();

/** [lng, lat] in NAD83, which is within two metres of WGS84. Longitude follows the latitude's total of seconds. */
function placeOf(cells: readonly string[]): [number, number] | string {
  const lat = degreesIn(cells.slice(6, 10), 'N', 'S', 90);
  const lng = degreesIn(cells.slice(11, 15), 'E', 'W', 180);
  return lat === null || lng === null
    ? 'the coordinates are not degrees, minutes and seconds'
    : [lng, lat];
}

function degreesIn(
  cells: readonly string[],
  plus: string,
  minus: string,
  most: number,
): number | null {
  const [degrees = null, minutes = null, seconds = null] = cells.slice(0, 3).map(numberIn);
  const side = cells[3]?.trim();
  if (degrees === null || minutes === null || seconds === null || (side !== plus && side !== minus))
    return null;
  if (Math.min(degrees, minutes, seconds) < 0 || minutes >= 60 || seconds >= 60) return null;
  const value = degrees + minutes / 60 + seconds / 3_600;
  if (value === 0 || value > most) return null;
  return Math.round((side === minus ? -value : value) * 1e7) / 1e7;
}

/** 10/28/1996 becomes 1996-10-28. */
function dayOf(cell: string | undefined): string {
  const [, month, day, year] = /^(\d\d)\/(\d\d)\/(\d{4})$/.exec(cell?.trim() ?? '') ?? [];
  return year === undefined ? '' : `${year}-${month}-${day}`;
}
