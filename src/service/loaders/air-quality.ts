import { airQualityRecord } from '../data/record-checks.ts';
import type { AirQualityRecord } from '../data/records.ts';
import { columnsOf, numberIn } from './columns.ts';
import { answeringFor, CONNECTICUT_NOTE } from './connecticut.ts';
import { countyNamed } from './county-names.ts';
import { csvRecords } from './csv-records.ts';
import type { OpenReport } from './load-report.ts';
import { describeLoad, inTurn, type Loader, publicDomain, yearSpan } from './loader.ts';

const DAYS = {
  daysWithAqi: 'Days with AQI',
  goodDays: 'Good Days',
  moderateDays: 'Moderate Days',
  unhealthyForSensitiveGroupsDays: 'Unhealthy for Sensitive Groups Days',
  unhealthyDays: 'Unhealthy Days',
  veryUnhealthyDays: 'Very Unhealthy Days',
  hazardousDays: 'Hazardous Days',
  maxAqi: 'Max AQI',
  medianAqi: 'Median AQI',
} as const;

type Figures = Omit<AirQualityRecord, 'countyGeoid' | 'year'>;

/** The year's summary of each county that has monitors, about a third of all. Of several years the newest counts. */
export const airQuality: Loader = {
  describe: 'EPA annual AQI by county (annual_aqi_by_county_YYYY.csv)',
  start(files, options, report) {
    const years = yearSpan();
    return {
      kind: 'airQuality',
      info: describeLoad(
        'airQuality',
        files,
        options,
        {
          source: 'EPA Air Quality System, annual AQI by county',
          licence: publicDomain('US Environmental Protection Agency'),
        },
        years.text,
      ),
      records: inTurn(files, report, (file) => summariesIn(file, report, years.see)),
    };
  },
};

function* summariesIn(file: string, report: OpenReport, seeYear: (year: number) => void): Generator<AirQualityRecord> {
  const records = csvRecords(file);
  const header = records.next();
  const columns = columnsOf(header.done ? [] : header.value.cells, file);
  const [state, county, year] = [columns.need('State'), columns.need('County'), columns.need('Year')];
  const fields = Object.entries(DAYS).map(([field, name]) => [field, columns.need(name)] as const);
  for (const { line, cells } of records) {
    const found = countyNamed(cells[state] ?? '', cells[county] ?? '');
    const figures = fields.map(([field, place]) => [field, numberIn(cells[place])] as const);
    const missing = [...figures, ['year', numberIn(cells[year])] as const].find(([, figure]) => figure === null);
    const summary = { year: Number(cells[year]), ...(Object.fromEntries(figures) as Figures) };
    if ('problem' in found) {
      report.reject(found.problem, line, cells);
      continue;
    }
    if (missing !== undefined) {
      report.reject(`the figure of ${missing[0]} is missing`, line, cells);
      continue;
    }
    if (!airQualityRecord.safeParse({ countyGeoid: found.geoid, ...summary }).success) {
      report.reject('figures that cannot be', line, cells);
      continue;
    }
    seeYear(summary.year);
    report.load();
    const counties = answeringFor(found.geoid);
    if (counties.length > 1) report.note(CONNECTICUT_NOTE);
    for (const countyGeoid of counties) yield { countyGeoid, ...summary };
  }
}
