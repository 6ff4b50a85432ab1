import { basename } from 'node:path';
import { PerilbookError } from '../../base/errors.ts';
import type { AIR_QUALITY_DAYS } from '../../contract/topic-values.ts';
import type { Batches, TableRecord } from '../../formats/csv/parsed-records.ts';
import { type CodeFinding, countiesServedBy, readGeoid } from '../tables/area-codes.ts';
import type { AirQualityRecord, RadonRecord } from '../tables/records.ts';
import { agencyZip } from './agency-file.ts';
import { type Columns, findColumns, numberIn, tableRecords, tableRows } from './agency-table.ts';
import { CONNECTICUT_NOTE, countyNamed } from './county-codes.ts';
import { inTurn, type Loader, type LoadReporter, publicDomain } from './loader.ts';
import { yearSpan } from './vintages.ts';

const AQI_COLUMNS = {
  daysWithAqi: 'Days with AQI',
  goodDays: 'Good Days',
  moderateDays: 'Moderate Days',
  unhealthyForSensitiveGroupsDays: 'Unhealthy for Sensitive Groups Days',
  unhealthyDays: 'Unhealthy Days',
  veryUnhealthyDays: 'Very Unhealthy Days',
  hazardousDays: 'Hazardous Days',
  maxAqi: 'Max AQI',
  medianAqi: 'Median AQI',
} as const satisfies Record<(typeof AIR_QUALITY_DAYS)[number], string>;

type YearFigures = Omit<AirQualityRecord, 'countyGeoid' | 'year'>;

/** The yearly summary of the counties with monitors, about a third of all: of each the newest year; an incomplete one is rejected. */
const airQuality: Loader = {
  describe: 'EPA annual AQI by county (annual_aqi_by_county_YYYY.csv)',
  source: 'EPA Air Quality System, annual AQI by county',
  licence: publicDomain('US Environmental Protection Agency'),
  loads: { name: 'airQuality', level: '' },
  signature: { columns: [['Days with AQI'], ['State'], ['County']] },
  read(files, options, report) {
    const years = yearSpan();
    return {
      vintage: years.text,
      records: newestYears(files, report, years.see, options.force === true),
    };
  },
};

interface YearRow {
  readonly geoid: string;
  readonly summary: Omit<AirQualityRecord, 'countyGeoid'>;
  readonly file: string;
  readonly line: number;
  readonly cells: readonly string[];
}

/** Held in memory: a file has about a thousand rows. */
async function* newestYears(
  files: readonly string[],
  report: LoadReporter,
  seeYear: (year: number) => void,
  anyYear: boolean,
): Batches<AirQualityRecord> {
  const newest = new Map<string, YearRow>();
  const see = (row: YearRow): void => {
    const earlier = newest.get(row.geoid);
    const isNewer = earlier === undefined || row.summary.year > earlier.summary.year;
    if (isNewer) newest.set(row.geoid, row);
    if (earlier === undefined) return;
    const { file, line, cells, summary } = isNewer ? earlier : row;
    const isTwice = summary.year === newest.get(row.geoid)!.summary.year;
    const why = isTwice
      ? 'the county is listed twice'
      : 'a newer year of the county is in the load';
    report.reject(why, line, cells, file);
  };
  for await (const rows of inTurn(files, report, (file) => yearsIn(file, report, anyYear)))
    rows.forEach(see);
  for (const { geoid, summary } of newest.values()) {
    seeYear(summary.year);
    report.load();
    const counties = countiesServedBy(geoid);
    if (counties[1]?.startsWith('09')) report.note(CONNECTICUT_NOTE);
    yield counties.map((countyGeoid) => ({ countyGeoid, ...summary }));
  }
}

/** Monitors measure all year: if no county has this many days, the year is not over or the file is incomplete. */
const FEWEST_DAYS_OF_A_YEAR = 350;

/** Whether a file, or the first file of a zip, has a whole year; also true for a file that the loader would refuse. */
export async function isWholeYear(file: string): Promise<boolean> {
  try {
    const path = /\.zip$/i.test(file)
      ? `${file}/${(await agencyZip(file)).entries[0]?.fileName}`
      : file;
    const { columns, rows } = await wholeTable(path);
    return Math.max(0, ...mostDays(columns, rows).values()) >= FEWEST_DAYS_OF_A_YEAR;
  } catch (error) {
    if (error instanceof PerilbookError) return true;
    throw error;
  }
}

async function wholeTable(
  file: string,
): Promise<{ readonly columns: Columns; readonly rows: readonly TableRecord[] }> {
  const rows: TableRecord[] = [];
  for await (const batch of tableRecords(file)) rows.push(...batch);
  return { columns: findColumns(rows[0]?.cells ?? [], file), rows: rows.slice(1) };
}

function mostDays(columns: Columns, rows: readonly TableRecord[]): ReadonlyMap<string, number> {
  const [year, measured] = [columns.need('Year'), columns.need(AQI_COLUMNS.daysWithAqi)];
  const most = new Map<string, number>();
  for (const { cells } of rows) {
    most.set(cells[year]!, Math.max(numberIn(cells[measured]) ?? 0, most.get(cells[year]!) ?? 0));
  }
  return most;
}

async function* yearsIn(file: string, report: LoadReporter, anyYear: boolean): Batches<YearRow> {
  const { columns, rows } = await wholeTable(file);
  const [state, county, year] = [
    columns.need('State'),
    columns.need('County'),
    columns.need('Year'),
  ];
  const fields = Object.entries(AQI_COLUMNS).map(
    ([field, name]) => [field, columns.need(name)] as const,
  );
  const days = mostDays(columns, rows);
  const yearOf = ({ line, cells }: TableRecord): YearRow | string => {
    const named = countyNamed(cells[state] ?? '', cells[county] ?? '');
    if ('problem' in named) return named.problem;
    const figures = fields.map(([field, column]) => [field, numberIn(cells[column])] as const);
    const summary = { year: Number(cells[year]), ...(Object.fromEntries(figures) as YearFigures) };
    const missing = [...figures, ['year', numberIn(cells[year])] as const].find(
      ([, figure]) => figure === null,
    );
    if (missing !== undefined) return `the figure ${missing[0]} is missing`;
    const most = days.get(cells[year]!)!;
    if (most < FEWEST_DAYS_OF_A_YEAR && !anyYear) {
      return `the year ${summary.year} is not over: no county has more than ${most} days of it`;
    }
    if (!isPlausible(summary)) return 'the figures are out of range';
    return { geoid: named.geoid, summary, file: basename(file), line, cells };
  };
  yield rows.flatMap((record) => {
    const row = yearOf(record);
    // A usable row is counted when the newest year of its county is known.
    if (typeof row !== 'string') return [row];
    report.reject(row, record.line, record.cells);
    return [];
  });
}

function isPlausible({
  year,
  maxAqi,
  medianAqi,
  ...days
}: YearFigures & { readonly year: number }): boolean {
  const isCount = (count: number) => Number.isInteger(count) && count >= 0 && count <= 366;
  return (
    Number.isInteger(year) && maxAqi >= 0 && medianAqi >= 0 && Object.values(days).every(isCount)
  );
}

/** EPA's map of radon zones: its spreadsheet saved as CSV (`County,State` in one column or two) or the table of its map
 * service (`CountyFIPS`, `RadonZone`). */
const radon: Loader = {
  describe:
    'EPA radon zones by county: the spreadsheet saved as CSV, or the table of the map service',
  source: 'EPA Map of Radon Zones',
  licence: publicDomain('US Environmental Protection Agency'),
  loads: { name: 'radon', level: '' },
  signature: {
    columns: [
      ['RadonZone', 'Radon Zone', 'Zone'],
      ['CountyFIPS', 'FIPS', 'GEOID', 'County,State', 'County', 'CountyName'],
    ],
  },
  read(files, _, report) {
    const seen = new Set<string>();
    const zonesIn = (file: string) =>
      tableRows(file, (columns) => {
        const zoneAt = columns.need('RadonZone', 'Radon Zone', 'Zone');
        const countyOf = countyReader(columns);
        const zonesOf = (cells: readonly string[]): readonly RadonRecord[] | string => {
          const county = countyOf(cells);
          const zone = /^\s*(?:Zone\s*)?([123])(?:\.0)?\s*$/i.exec(cells[zoneAt] ?? '')?.[1];
          if ('problem' in county) return county.problem;
          if (zone === undefined) return 'the zone is not 1, 2 or 3';
          const counties = countiesServedBy(county.geoid);
          if (counties.some((code) => seen.has(code))) return 'the county is listed twice';
          for (const code of counties) seen.add(code);
          if (counties[1]?.startsWith('09')) report.note(CONNECTICUT_NOTE);
          return counties.map((countyGeoid) => ({ countyGeoid, zone: Number(zone) as 1 | 2 | 3 }));
        };
        return ({ line, cells }) => report.take(zonesOf(cells), line, cells);
      });
    // The map was published once.
    return { vintage: () => '1993', records: inTurn(files, report, zonesIn) };
  },
};

function countyReader(columns: Columns): (cells: readonly string[]) => CodeFinding {
  const fips = columns.find('CountyFIPS', 'FIPS', 'GEOID');
  if (fips >= 0) return (cells) => readGeoid(cells[fips] ?? '', 'county');
  const both = columns.find('County,State');
  if (both >= 0) {
    return (cells) => {
      const [, county = '', state = ''] = /^(.*),([^,]*)$/.exec(cells[both] ?? '') ?? [];
      return countyNamed(state, county);
    };
  }
  const [state, county] = [
    columns.need('State', 'StateName'),
    columns.need('County', 'CountyName'),
  ];
  return (cells) => countyNamed(cells[state] ?? '', cells[county] ?? '');
}

export const COUNTY_LOADERS = { 'air-quality': airQuality, radon };
