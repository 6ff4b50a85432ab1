import type { RadonRecord } from '../tables/records.ts';
import { type Columns, tableRows } from './agency-table.ts';
import { CONNECTICUT_NOTE, type CodeFinding, countiesServedBy, countyNamed, readGeoid } from './county-codes.ts';
import type { LoadReporter } from './load-report.ts';
import { describeLoad, inTurn, type Loader, publicDomain } from './loader.ts';

const PUBLICATION = {
  source: 'EPA Map of Radon Zones',
  licence: publicDomain('US Environmental Protection Agency'),
};

/** EPA's map of radon zones: its spreadsheet saved as CSV (`County,State` in one column or two) or the table of its map
 * service (`CountyFIPS`, `RadonZone`). */
export const radon: Loader = {
  describe: 'EPA radon zones by county: the spreadsheet saved as CSV, or the table of the map service',
  loads: { name: 'radon', level: '' },
  start(files, options, report) {
    const seen = new Set<string>();
    return {
      kind: 'radon',
      // The map was published once.
      info: describeLoad('radon', files, options, PUBLICATION, () => '1993'),
      records: inTurn(files, report, (file) => zonesIn(file, report, seen)),
    };
  },
};

function zonesIn(
  file: string,
  report: LoadReporter,
  seen: Set<string>,
): AsyncGenerator<readonly RadonRecord[], void, void> {
  return tableRows(file, (columns) => {
    const zoneAt = columns.need('RadonZone', 'Radon Zone', 'Zone');
    const countyOf = countyReader(columns);
    const zonesOf = (cells: readonly string[]): readonly RadonRecord[] | string => {
      const county = countyOf(cells);
      const zone = /^\s*(?:Zone\s*)?([123])(?:\.0)?\s*$/i.exec(cells[zoneAt] ?? '')?.[1];
      if ('problem' in county) return county.problem;
      if (zone === undefined) return 'the zone is not 1, 2 or 3';
      if (seen.has(county.geoid)) return 'the county is listed twice';
      seen.add(county.geoid);
      const counties = countiesServedBy(county.geoid);
      if (counties.length > 1) report.note(CONNECTICUT_NOTE);
      return counties.map((countyGeoid) => ({ countyGeoid, zone: Number(zone) as 1 | 2 | 3 }));
    };
    return ({ line, cells }) => report.take(zonesOf(cells), line, cells);
  });
}

function countyReader(columns: Columns): (cells: readonly string[]) => CodeFinding {
  const fips = columns.find('CountyFIPS', 'FIPS', 'GEOID');
  if (fips >= 0) {
    return (cells) => readGeoid(cells[fips] ?? '', 'county', { stateFips: '', stateAbbreviation: '' });
  }
  const both = columns.find('County,State');
  if (both >= 0) {
    return (cells) => {
      const [, county = '', state = ''] = /^(.*),([^,]*)$/.exec(cells[both] ?? '') ?? [];
      return countyNamed(state, county);
    };
  }
  const [state, county] = [columns.need('State', 'StateName'), columns.need('County', 'CountyName')];
  return (cells) => countyNamed(cells[state] ?? '', cells[county] ?? '');
}
