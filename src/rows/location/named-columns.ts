import { PerilbookError } from '../../base/errors.ts';
import { nearestNames } from '../../base/nearest-name.ts';
import { shellWord } from '../../base/shell-words.ts';
import type { OtherShapes } from '../port.ts';
import { isPartOfDegrees, type PlaceColumns, plainName } from './location-names.ts';

/** The columns that the user names, by name or by number from 1; others are detected. */
export interface NamedColumns {
  readonly lat?: string | undefined;
  readonly lng?: string | undefined;
  /** One column that holds both, e.g. `(38.5, -97.2)` or `POINT(-97.2 38.5)`. */
  readonly column?: string | undefined;
}

/** What a column holds, with the option that names it. */
const OPTIONS = { latitude: '--lat', longitude: '--lng', location: '--location' };
type Role = keyof typeof OPTIONS;

/** The exact name comes first, then the name in any case, then the number of a column; a number that several columns have as their name
 * is the number of one. @throws INPUT_COLUMNS */
export function indexOfNamed(names: readonly string[], wanted: string, role: Role): number {
  const foldCase = (name: string) => name.trim().toLowerCase();
  const number = /^\d+$/.test(wanted.trim()) ? Number(wanted) : 0;
  const isNumber = number >= 1 && number <= names.length;
  for (const matches of [
    (name: string) => name === wanted,
    (name: string) => foldCase(name) === foldCase(wanted),
  ]) {
    const matching = [...names.keys()].filter((i) => matches(names[i]!));
    if (matching.length === 1) return matching[0]!;
    if (matching.length > 1 && !isNumber) throw ambiguous(names, wanted, role, matching);
  }
  if (isNumber) return number - 1;
  const near = nearestNames(wanted, names);
  const suggestion =
    near.length === 0 ? '' : `; did you mean ${near.map((name) => `"${name}"`).join(' or ')}?`;
  throw columnsError(`There is no ${role} column "${wanted}"${suggestion}`, names, {
    column: wanted,
  });
}

/** Of two complete pairs with the same names the values decide. If only one of the two columns exists twice, it is unclear which is meant.
 * @throws INPUT_COLUMNS */
export function refuseTwins(
  names: readonly string[],
  { lat, lng }: PlaceColumns,
  named: NamedColumns,
): void {
  if (lat === lng) return;
  const plain = names.map(plainName);
  const twinsOf = (chosen: number) => [...plain.keys()].filter((i) => plain[i] === plain[chosen]);
  const [lats, lngs] = [twinsOf(lat), twinsOf(lng)];
  if (lats.length === lngs.length) return;
  if (lats.length > 1 && named.lat === undefined)
    throw ambiguous(names, names[lat]!, 'latitude', lats);
  if (lngs.length > 1 && named.lng === undefined)
    throw ambiguous(names, names[lng]!, 'longitude', lngs);
}

function ambiguous(
  names: readonly string[],
  wanted: string,
  role: Role,
  matching: readonly number[],
): PerilbookError {
  const candidates = matching.map((i) => `column ${i + 1}`).join(' or ');
  const message = `The ${role} column "${wanted}" may be ${candidates}`;
  const hint = `Name it by its number: ${OPTIONS[role]} ${matching[0]! + 1}.`;
  return new PerilbookError('INPUT_COLUMNS', message, hint, { column: wanted, columns: names });
}

/** The options that name some columns: `--lat A --lng B`, or `--location A`; by number where a name is empty or not unique. */
export function columnOptions(names: readonly string[], { lat, lng }: PlaceColumns): string {
  const reference = (index: number) => {
    const name = names[index]!;
    const isUnique = name !== '' && names.indexOf(name) === names.lastIndexOf(name);
    return shellWord(isUnique && !/^\d+$/.test(name) ? name : String(index + 1));
  };
  return lat === lng
    ? `--location ${reference(lat)}`
    : `--lat ${reference(lat)} --lng ${reference(lng)}`;
}

/** `"A" (column 1) and "B" (column 2)`, or `"A" (column 1)` */
export function columnsText(names: readonly string[], { lat, lng }: PlaceColumns): string {
  const text = (index: number) => `"${names[index]}" (column ${index + 1})`;
  return lat === lng ? text(lat) : `${text(lat)} and ${text(lng)}`;
}

const COLUMNS_SHOWN = 40;

/** An error of the columns, with their names. */
export function columnsError(
  message: string,
  names: readonly string[],
  { column, hint = hintFor(names) }: { readonly column?: string; readonly hint?: string } = {},
): PerilbookError {
  const shown = names.slice(0, COLUMNS_SHOWN).map((name) => name || '(no name)');
  const more = names.length > COLUMNS_SHOWN ? `, and ${names.length - COLUMNS_SHOWN} more` : '';
  return new PerilbookError(
    'INPUT_COLUMNS',
    `${message}${message.endsWith('?') ? '' : '.'} The columns are: ${shown.join(', ')}${more}`,
    hint,
    { ...(column === undefined ? {} : { column }), columns: names },
  );
}

/** Properties of these names are taken before the geometries. */
export const POINTS_HINT =
  'Give each feature a point, for instance the centroid, as properties lat and lng';

/** What to do with geometries that are no points. */
export function shapesHint(shapes: OtherShapes): string {
  return shapes.column === null
    ? `The geometries are ${shapes.kinds.join(', ')}: points are needed. ${POINTS_HINT}.`
    : `${shapesText(shapes)}. Name two columns of degrees: --lat COLUMN --lng COLUMN.`;
}

/** `Column geometry holds polygons, not points` */
export function shapesText({ column, kinds }: OtherShapes): string {
  const plurals = kinds.map((kind) => `${kind.replace(/ .*/, '').toLowerCase()}s`);
  return `Column ${column} holds ${[...new Set(plurals)].join(' and ')}, not points`;
}

/** Columns of a list of addresses, by the letters of their names. */
const ADDRESS =
  /^(?:street|property|full|site)?address(?:line)?$|^(?:street|zip|zipcode|postalcode|postcode)$/;

function hintFor(names: readonly string[]): string {
  const parts = partsOfDegrees(names);
  if (parts !== null) return parts;
  if (names.every((name, i) => name === String(i + 1))) {
    return 'The file has no header line: give the numbers of the latitude and the longitude column.';
  }
  if (names.some((name) => ADDRESS.test(name.toLowerCase().replace(/[^a-z]/g, '')))) {
    return 'Perilbook does not geocode addresses. docs/analyst/addresses.md shows how the free geocoder of the Census Bureau adds the coordinates. If two columns hold them, name them: --lat COLUMN --lng COLUMN.';
  }
  return 'Name the latitude and the longitude column of this file: --lat COLUMN --lng COLUMN, or --location COLUMN if one holds both (location: in the job file).';
}

/** What to do with degrees, minutes and seconds in columns of their own, as the FCC has them. */
function partsOfDegrees(names: readonly string[]): string | null {
  const plain = names.map(plainName);
  const parts = names.filter(
    (_, i) => /lat|breite|y/.test(plain[i]!) && isPartOfDegrees(plain, plain[i]!),
  );
  if (parts.length < 2) return null;
  return `The latitude is in parts (${parts.join(', ')}), and so is the longitude: make one column of each, degrees + minutes / 60 + seconds / 3600, negative in the South and the West.`;
}

/** The places of the named columns of latitude and longitude; undefined for one that is not named. @throws INPUT_COLUMNS */
export function namedPair(
  names: readonly string[],
  named: NamedColumns,
): { readonly lat: number | undefined; readonly lng: number | undefined } {
  return {
    lat: named.lat === undefined ? undefined : indexOfNamed(names, named.lat, 'latitude'),
    lng: named.lng === undefined ? undefined : indexOfNamed(names, named.lng, 'longitude'),
  };
}
