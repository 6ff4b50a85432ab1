import { PerilbookError } from '../../base/errors.ts';
import { composedTract, countyCode, countyOfTract, isTractAlone, tractCode } from '../../geo/area-codes.ts';
import type { AreaSettings } from '../../job/settings.ts';
import { columnByName } from './column-by-name.ts';

/** The positions of area codes among the fields read. OED names an area by a scheme and a name. */
export interface AreaColumns {
  /** One column with the whole code, or three: state, county and the tract's own. */
  readonly tract: number | readonly [state: number, county: number, tract: number] | null;
  readonly county: number | null;
  readonly pairs: readonly { readonly scheme: number; readonly name: number }[];
}

export interface RowAreas {
  readonly tract: string | null;
  readonly county: string | null;
  /** A code is present but cannot be parsed. */
  readonly unreadable: boolean;
  /** The tract code lacks its state and county. */
  readonly isTractAlone?: boolean;
}

/** OED's codes of geographic schemes. CNTY is a county; census tracts have none, and user-defined codes begin with X. */
const TRACT_SCHEMES = ['XTRCT', 'XTRACT', 'XCT'];
const COUNTY_SCHEMES = ['CNTY', 'XCNTY', 'XFIPS'];

/** Finds the columns with area codes. `base` is the position of the first of them among the read fields. @throws INPUT_COLUMNS */
export function findAreaColumns(
  names: readonly string[],
  areas: AreaSettings | null,
  base: number,
  file: string,
): { readonly read: readonly number[]; readonly columns: AreaColumns } {
  const read: number[] = [];
  const take = (index: number): number => base + read.push(index) - 1;
  const named = (column: string | null) => (column === null ? null : take(columnByName(names, column, 'areas', file)));
  if (areas === null) return { read, columns: { tract: null, county: null, pairs: [] } };
  const columns = {
    tract: tractColumns(areas.tract, names, named),
    county: named(areas.county),
    pairs: areas.oed
      ? oedPairs(names, file).map(({ scheme, name }) => ({ scheme: take(scheme), name: take(name) }))
      : [],
  };
  return { read, columns };
}

/** `STATE,COUNTY,TRACT` names three columns, unless a column has that name. */
function tractColumns(
  setting: string | null,
  names: readonly string[],
  named: (column: string | null) => number | null,
): AreaColumns['tract'] {
  const parts = setting?.split(',').map((part) => part.trim()) ?? [];
  const isColumn = names.some((name) => name.toLowerCase() === setting?.toLowerCase());
  if (parts.length !== 3 || isColumn) return named(setting);
  return [named(parts[0]!)!, named(parts[1]!)!, named(parts[2]!)!];
}

/** The areas that a row names. A tract code contains its county. */
export function areasOfRow(fields: readonly string[], columns: AreaColumns): RowAreas {
  const textAt = (position: number | null) => (position === null ? '' : (fields[position] ?? ''));
  const parts = Array.isArray(columns.tract) ? (columns.tract as readonly number[]).map(textAt) : null;
  let tractText = parts ? parts.join('') : textAt(columns.tract as number | null);
  let countyText = textAt(columns.county);
  for (const { scheme, name } of columns.pairs) {
    const code = textAt(scheme).trim().toUpperCase();
    if (TRACT_SCHEMES.includes(code)) tractText = textAt(name);
    if (COUNTY_SCHEMES.includes(code)) countyText = textAt(name);
  }
  const tract = parts ? composedTract(parts[0]!, parts[1]!, parts[2]!) : tractCode(tractText);
  const county = countyCode(countyText) ?? (tract === null ? null : countyOfTract(tract));
  const unreadable = (tract === null && tractText.trim() !== '') || (county === null && countyText.trim() !== '');
  const isAlone = tract === null && parts === null && isTractAlone(tractText);
  return { tract, county, unreadable, ...(isAlone ? { isTractAlone: true } : {}) };
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
    'Or name the column with the tract code: areas: {tract: …}.',
    { file },
  );
}
