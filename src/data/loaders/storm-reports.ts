import type { Geometry, LineString, Point } from 'geojson';
import type { Batches, TableRecord } from '../../formats/csv/parsed-records.ts';
import type { EventRecord } from '../tables/records.ts';
import { numberIn, parsePoint, tableRecords } from './agency-table.ts';
import { earlierFiles, inTurn, type Loader, type LoadReporter, publicDomain } from './loader.ts';
import { newest, yearSpan } from './vintages.ts';

/** The fields of the Storm Prediction Center's files in order (SPC, "Severe Weather Database files"). The oldest files have no header,
 * some have one with other or fewer names. A header that begins with `om` is used: from 2026 on, hail has `edat` in place of `fc`. */
const FIELDS =
  'om yr mo dy date time tz st stf stn mag inj fat loss closs slat slon elat elon len wid ns sn sg f1 f2 f3 f4 fc'.split(
    ' ',
  );
const FEWEST_FIELDS = FIELDS.indexOf('sg') + 1;
const TEXTS = ['date', 'time', 'st', 'stf', 'stn'];
const NUMBERS = new Set(FIELDS.filter((field) => !TEXTS.includes(field)));

/** Hail reports, points; `mag` is the size in inches: the largest on record is 8. Files of wind have the same columns, in knots. */
export const hail: Loader = spcLoader('hail', 'NOAA SPC hail reports (CSV, of any year)', {
  are: 'reports of hail',
  test: (rows) =>
    rows.length > 0 && rows.every(([segment, magnitude]) => segment === '0' && magnitude <= 15),
});

/** Tornado tracks: a line from start to end, a point when no end is known. */
export const tornado: Loader = spcLoader('tornado', 'NOAA SPC tornado reports (CSV, of any year)', {
  are: 'reports of tornadoes',
  test: (rows) => rows.some(([segment]) => segment !== '0'),
});

/** The segment number and the magnitude of the rows that have the agency's columns. */
type OwnRow = readonly [segment: string, magnitude: number];

function ownRows(rows: readonly (readonly string[])[]): OwnRow[] {
  return rows
    .filter(
      (cells) =>
        cells.length >= FEWEST_FIELDS && /^\d{4}$/.test(cells[1]!.trim()) && /\d/.test(cells[4]!),
    )
    .map((cells): OwnRow => [cells[23]!.trim(), Number(cells[10])]);
}

function spcLoader(
  event: 'hail' | 'tornado',
  describe: string,
  { are, test }: { readonly are: string; readonly test: (rows: readonly OwnRow[]) => boolean },
): Loader {
  return {
    describe,
    source: 'NOAA Storm Prediction Center',
    licence: publicDomain(
      'National Oceanic and Atmospheric Administration, Storm Prediction Center',
    ),
    loads: { name: `records:${event}`, level: '' },
    signature: {
      rows: { are, columns: FIELDS.slice(0, FEWEST_FIELDS), test: (rows) => test(ownRows(rows)) },
    },
    read(files, _, report) {
      const years = yearSpan();
      // The agency's files of many years and of single years overlap, and users load both.
      const startFile = earlierFiles();
      const days = newest((row) => {
        const { yr, mo, dy } = row as TornadoRow;
        return [yr, mo, dy].map((part) => (part ?? '').trim().padStart(2, '0')).join('-');
      });
      const see = (row: TornadoRow) => {
        years.see(row.yr);
        days.see(row);
      };
      const reading = { report, event, see };
      return {
        vintage: () => spanTo(years.text(), days.text()),
        records: inTurn(files, report, (file) => {
          const tornadoes = event === 'tornado' ? createTornadoParts() : null;
          return reportsIn(file, tornadoes, startFile(), reading);
        }),
      };
    },
  };
}

/** What identifies a report, besides its positions: a minute, and the size of hail. The agency's own numbers restart each year and were
 * reassigned over time, and a tornado's rating is corrected later. */
function identityOf(row: TornadoRow, event: 'hail' | 'tornado'): string {
  const names = ['yr', 'mo', 'dy', 'time', ...(event === 'hail' ? ['mag'] : [])];
  return names.map((name) => numberIn(row[name] ?? '') ?? row[name]?.trim()).join(' ');
}

interface ReportReading {
  readonly report: LoadReporter;
  readonly event: 'hail' | 'tornado';
  readonly see: (row: TornadoRow) => void;
}

async function* reportsIn(
  file: string,
  tornadoes: ReturnType<typeof createTornadoParts> | null,
  isRepeated: (identity: string, positions?: readonly number[]) => boolean,
  { report, event, see }: ReportReading,
): Batches<EventRecord> {
  function recordsOf(parts: readonly TornadoPart[], hasWhole = false): readonly EventRecord[] {
    const [{ row }] = parts as [TornadoPart];
    const placed = parts.flatMap(({ row: own }) => {
      const start = parsePoint(own.slat, own.slon);
      return typeof start === 'string' ? [] : [{ track: makeTrack(start, own), row: own }];
    });
    const [start, end = start] = placed.length === 0 ? [] : findEnds(placed[0]!.row);
    const problem = hasWhole
      ? 'a part of a tornado that another row has as a whole'
      : placed.length === 0
        ? (parsePoint(row.slat, row.slon) as string)
        : isRepeated(identityOf(row, event), [...start!, ...end!])
          ? 'a report that an earlier file has'
          : null;
    if (problem !== null) {
      for (const part of parts) report.reject(problem, part.line, Object.values(part.row));
      return [];
    }
    see(row);
    for (const _ of parts) report.load();
    return [
      {
        geometry: joined(placed.map(({ track }) => track)),
        properties: propertiesOfRow(placed[0]!.row),
      },
    ];
  }

  let names: readonly string[] | null = null;
  const reportsOf = ({ line, cells }: TableRecord): readonly EventRecord[] => {
    if (names === null) {
      const isHeader = !/^\d{4}$/.test(cells[1]?.trim() ?? '');
      names = isHeader ? namesBy(cells) : FIELDS;
      if (isHeader) return [];
    }
    if (cells.length < FEWEST_FIELDS) {
      report.reject(`the row has fewer than ${FEWEST_FIELDS} fields`, line, cells);
      return [];
    }
    const row = Object.fromEntries(
      cells.map((cell, index) => [names![index] ?? `field ${index + 1}`, cell]),
    );
    return tornadoes !== null && !tornadoes.isWhole({ line, row })
      ? []
      : recordsOf([{ line, row }]);
  };
  for await (const records of tableRecords(file)) yield records.flatMap(reportsOf);
  for (const { parts, hasWhole } of tornadoes?.atEnd() ?? []) yield recordsOf(parts, hasWhole);
}

/** `1950-2025`, with the last day where the last year ends before its December: the file of all years is published early. */
function spanTo(years: string, lastDay: string): string {
  return years === '' || lastDay.slice(5, 7) === '12' ? years : `${years}, to ${lastDay}`;
}

function namesBy(header: readonly string[]): string[] {
  const own = header.map((name) => name.trim().toLowerCase());
  return own[0] === 'om'
    ? [...own, ...FIELDS.slice(own.length)]
    : [...FIELDS, ...own.slice(FIELDS.length)];
}

function joined(tracks: readonly (Point | LineString)[]): Geometry {
  const lines = tracks.filter((track) => track.type === 'LineString');
  if (lines.length < 2) return lines[0] ?? tracks[0]!;
  return { type: 'MultiLineString', coordinates: lines.map(({ coordinates }) => coordinates) };
}

/** An end of 0 and 0 means none, and hail ends where it began. */
function makeTrack(start: [number, number], row: TornadoRow): Point | LineString {
  const end = parsePoint(row.elat, row.elon);
  if (typeof end === 'string' || (end[0] === start[0] && end[1] === start[1])) {
    return { type: 'Point', coordinates: start };
  }
  return { type: 'LineString', coordinates: [start, end] };
}

function propertiesOfRow(row: TornadoRow): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row)
      .filter(([, cell]) => cell.trim() !== '')
      .map(([name, cell]) => [
        name,
        NUMBERS.has(name) ? (numberIn(cell) ?? cell.trim()) : cell.trim(),
      ]),
  );
}

/** A row of the Storm Prediction Center's file by field name. */
type TornadoRow = Readonly<Record<string, string>>;

interface TornadoPart {
  readonly line: number;
  readonly row: TornadoRow;
}

/** The ends of a part are within the box of the whole track; single files differ in the last digits, and some tracks bend. */
const MARGIN_DEGREES = 0.1;

/** A tornado has a row for the whole track (sg 1) and more for the parts in each state (sg 2) and further counties (-9). Parts have the
 * number of the whole or their own. A part outside every whole track of its day is a tornado without another row (number 291657 of 2011
 * is the only one in 6,198 rows of five years). */
function createTornadoParts() {
  const wholes: TornadoRow[] = [];
  const parts: TornadoPart[] = [];
  const numberOf = (row: TornadoRow) => `${row.yr!.trim()} ${row.om!.trim()}`;
  const dayOf = (row: TornadoRow) => `${row.yr!.trim()} ${Number(row.mo)} ${Number(row.dy)}`;
  return {
    /** True for a row with a whole track; the others wait for the end. */
    isWhole(part: TornadoPart): boolean {
      const isWhole = part.row.sg!.trim() === '1';
      if (isWhole) wholes.push(part.row);
      else parts.push(part);
      return isWhole;
    },
    *atEnd(): Generator<{ readonly parts: readonly TornadoPart[]; readonly hasWhole: boolean }> {
      const numbers = new Set(wholes.map(numberOf));
      const tracks = Map.groupBy(wholes, dayOf);
      const isPlaced = ({ row }: TornadoPart) => {
        const ends = findEnds(row);
        return (
          ends.length === 0 ||
          (tracks.get(dayOf(row)) ?? []).some((whole) => holds(findEnds(whole), ends))
        );
      };
      for (const [number, own] of Map.groupBy(parts, ({ row }) => numberOf(row))) {
        yield { parts: own, hasWhole: numbers.has(number) || own.every(isPlaced) };
      }
    },
  };
}

function findEnds(row: TornadoRow): [number, number][] {
  return [parsePoint(row.slat, row.slon), parsePoint(row.elat, row.elon)].filter(
    (end) => typeof end !== 'string',
  );
}

/** Whether the box around some positions, with the margin, holds all others. */
function holds(around: readonly [number, number][], others: readonly [number, number][]): boolean {
  return [0, 1].every((axis) => {
    const values = around.map((position) => position[axis]!);
    const [least, greatest] = [
      Math.min(...values) - MARGIN_DEGREES,
      Math.max(...values) + MARGIN_DEGREES,
    ];
    return others.every((position) => position[axis]! >= least && position[axis]! <= greatest);
  });
}
