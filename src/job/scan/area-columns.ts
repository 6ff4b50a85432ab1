import { PerilbookError } from '../../errors.ts';
import { countyCode, countyOfTract, tractCode } from '../../geo/area-codes.ts';
import { nearestName } from '../../nearest-name.ts';
import type { AreaSettings } from '../settings/settings.ts';

/** Where a row says its areas: positions among the fields that are read. OED names an area by a scheme and a name. */
export interface AreaColumns {
  readonly tract: number | null;
  readonly county: number | null;
  readonly pairs: readonly { readonly scheme: number; readonly name: number }[];
}

export interface RowAreas {
  readonly tract: string | null;
  readonly county: string | null;
  /** A code is there and cannot be read. */
  readonly unreadable: boolean;
}

/** OED's codes of geographic schemes: CNTY is a county; there is none for census tracts, and user-defined ones begin with X. */
const TRACT_SCHEMES = ['XTRCT', 'XTRACT', 'XCT'];
const COUNTY_SCHEMES = ['CNTY', 'XCNTY', 'XFIPS'];

/**
 * Finds the columns that hold area codes. `base` is the position that the first of them gets among the read fields.
 * @throws INPUT_COLUMNS
 */
export function findAreaColumns(
  names: readonly string[],
  areas: AreaSettings | null,
  base: number,
  file: string,
): { readonly read: readonly number[]; readonly columns: AreaColumns } {
  const read: number[] = [];
  const take = (index: number): number => base + read.push(index) - 1;
  const named = (column: string | null): number | null => {
    if (column === null) return null;
    const index = names.findIndex((name) => name.toLowerCase() === column.toLowerCase());
    if (index >= 0) return take(index);
    const near = nearestName(column, names);
    throw new PerilbookError(
      'INPUT_COLUMNS',
      `areas: there is no column ${column}${near ? `; did you mean ${near}?` : ''}`,
      `The columns are: ${names.join(', ')}`,
      { file, column },
    );
  };
  if (areas === null) return { read, columns: { tract: null, county: null, pairs: [] } };
  const columns = {
    tract: named(areas.tract),
    county: named(areas.county),
    pairs: areas.oed
      ? oedPairs(names, file).map(({ scheme, name }) => ({ scheme: take(scheme), name: take(name) }))
      : [],
  };
  return { read, columns };
}

/** The areas that a row names. A tract tells its county. */
export function areasOfRow(fields: readonly string[], columns: AreaColumns): RowAreas {
  let tractText = columns.tract === null ? '' : (fields[columns.tract] ?? '');
  let countyText = columns.county === null ? '' : (fields[columns.county] ?? '');
  for (const { scheme, name } of columns.pairs) {
    const code = (fields[scheme] ?? '').trim().toUpperCase();
    if (TRACT_SCHEMES.includes(code)) tractText = fields[name] ?? '';
    if (COUNTY_SCHEMES.includes(code)) countyText = fields[name] ?? '';
  }
  const tract = tractCode(tractText);
  const county = countyCode(countyText) ?? (tract === null ? null : countyOfTract(tract));
  const unreadable = (tract === null && tractText.trim() !== '') || (county === null && countyText.trim() !== '');
  return { tract, county, unreadable };
}

function oedPairs(names: readonly string[], file: string): { scheme: number; name: number }[] {
  const lower = names.map((name) => name.toLowerCase());
  const pairs = lower.flatMap((scheme, index) => {
    const name = lower.indexOf(scheme.replace('geogscheme', 'geogname'));
    return scheme.startsWith('geogscheme') && name >= 0 ? [{ scheme: index, name }] : [];
  });
  if (pairs.length > 0) return pairs;
  throw new PerilbookError(
    'INPUT_COLUMNS',
    'areas: oed needs the columns GeogScheme1 and GeogName1 (or 2, 3, …)',
    'Name the column that holds the tract code instead: areas: {tract: …}.',
    { file },
  );
}
