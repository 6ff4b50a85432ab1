import type { Geometry } from 'geojson';
import type { FeedRecord } from '../data/records.ts';
import { numberIn } from './columns.ts';
import { pointOf } from './csv-features.ts';
import { type CsvRecord, csvRecords } from './csv-records.ts';
import type { OpenReport } from './load-report.ts';
import { describeLoad, inTurn, type Loader, publicDomain, yearSpan } from './loader.ts';

/** The fields of the Storm Prediction Center's files in their order (SPC, "Severe Weather Database files"); the oldest
 * lack a header, some have one of fewer names than fields, so the order counts and not the header. */
const FIELDS =
  'om yr mo dy date time tz st stf stn mag inj fat loss closs slat slon elat elon len wid ns sn sg f1 f2 f3 f4 fc'.split(
    ' ',
  );
const FEWEST_FIELDS = FIELDS.indexOf('sg') + 1;
const NUMBERS = new Set(
  'om yr mo dy tz mag inj fat loss closs slat slon elat elon len wid ns sn sg f1 f2 f3 f4 fc'.split(' '),
);

const SPC = {
  source: 'NOAA Storm Prediction Center',
  licence: publicDomain('National Oceanic and Atmospheric Administration, Storm Prediction Center'),
};

/** Hail reports, points; `mag` is the size in inches. */
export const hail: Loader = spcLoader('hail', 'NOAA SPC hail reports (CSV, of any year)', (row) =>
  pointOf(row.slat, row.slon),
);

/** Tornado tracks: a line from where it began to where it ended, a point where no end is known. */
export const tornado: Loader = spcLoader('tornado', 'NOAA SPC tornado reports (CSV, of any year)', (row) => {
  // A tornado has a row for its whole (sg 1), and more for its parts in each state and county.
  if (row.sg?.trim() !== '1') return 'a part of a tornado that another row gives whole';
  return pointOf(row.slat, row.slon);
});

type Row = Readonly<Record<string, string>>;

function spcLoader(
  feed: 'hail' | 'tornado',
  describe: string,
  startOf: (row: Row) => [lng: number, lat: number] | string,
): Loader {
  return {
    describe,
    start(files, options, report) {
      const years = yearSpan();
      const isRepeated = repeatedReports();
      return {
        kind: 'records',
        feed,
        info: describeLoad(`records:${feed}`, files, options, SPC, years.text),
        records: inTurn(files, report, (file) => reportsIn(csvRecords(file), startOf, isRepeated(), report, years.see)),
      };
    },
  };
}

/** What tells one report from another. The agency's own numbers begin anew each year, and were given anew over time. */
const IDENTITY = 'yr mo dy time mag slat slon elat elon'.split(' ');

/**
 * The agency's files of many years and those of single years overlap, and users load both: a report that an earlier file
 * had is not another one. Within a file two that are alike are two. To be called at each file's beginning.
 */
function repeatedReports(): () => (row: Row) => boolean {
  const earlier = new Set<string>();
  let own: string[] = [];
  return () => {
    for (const identity of own) earlier.add(identity);
    own = [];
    return (row) => {
      // As numbers, because 35.10 became 35.1000.
      const identity = IDENTITY.map((name) => numberIn(row[name] ?? '') ?? row[name]?.trim()).join(' ');
      own.push(identity);
      return earlier.has(identity);
    };
  };
}

function* reportsIn(
  records: Iterable<CsvRecord>,
  startOf: (row: Row) => [lng: number, lat: number] | string,
  isRepeated: (row: Row) => boolean,
  report: OpenReport,
  seeYear: (year: number) => void,
): Generator<FeedRecord> {
  let isFirst = true;
  let more: readonly string[] = [];
  for (const { line, cells } of records) {
    if (isFirst && !/^\d+$/.test(cells[0]!.trim())) {
      // Fields beyond the agency's keep the names that the header gives them.
      more = cells.slice(FIELDS.length);
      isFirst = false;
      continue;
    }
    isFirst = false;
    if (cells.length < FEWEST_FIELDS) {
      report.reject(`the row has fewer than ${FEWEST_FIELDS} fields`, line, cells);
      continue;
    }
    const names = [...FIELDS, ...more];
    const row = Object.fromEntries(cells.map((cell, place) => [names[place] ?? `field ${place + 1}`, cell]));
    const start = startOf(row);
    if (typeof start === 'string') {
      report.reject(start, line, cells);
      continue;
    }
    if (isRepeated(row)) {
      report.reject('a report that an earlier file has', line, cells);
      continue;
    }
    seeYear(Number(row.yr));
    report.load();
    yield { geometry: trackOf(start, row), properties: propertiesOfRow(row) };
  }
}

/** An end of 0 and 0 stands for none, and hail ends where it began. */
function trackOf(start: [number, number], row: Row): Geometry {
  const end = pointOf(row.elat, row.elon);
  if (typeof end === 'string' || (end[0] === start[0] && end[1] === start[1])) {
    return { type: 'Point', coordinates: start };
  }
  return { type: 'LineString', coordinates: [start, end] };
}

function propertiesOfRow(row: Row): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row)
      .filter(([, cell]) => cell.trim() !== '')
      .map(([name, cell]) => [name, NUMBERS.has(name) ? (numberIn(cell) ?? cell.trim()) : cell.trim()]),
  );
}
