import { PerilbookError } from '../base/errors.ts';
import { nearestNames } from '../base/nearest-name.ts';
import type { OtherShapes } from './port.ts';

export interface LocationColumns {
  readonly lat: number;
  readonly lng: number;
  /** The chosen columns and why the choice is uncertain; null if it is certain. */
  readonly note: string | null;
}

/** The columns that the user names, by name or by number from 1; others are detected. */
export interface NamedColumns {
  readonly lat?: string | undefined;
  readonly lng?: string | undefined;
  /** One column that holds both, e.g. `(38.5, -97.2)` or `POINT(-97.2 38.5)`. */
  readonly column?: string | undefined;
}

interface Pair {
  readonly lat: number;
  readonly lng: number;
}

/** Finds the columns of latitude and longitude by their names.
 * @param shapes the geometries that are no points, where the file has such
 * @throws INPUT_COLUMNS with the names of the columns */
export function findLocationColumns(
  names: readonly string[],
  named: NamedColumns = {},
  shapes?: OtherShapes,
): LocationColumns {
  if (named.column !== undefined) {
    const both = indexOfNamed(names, named.column, 'location');
    if (shapes !== undefined && shapes.column === names[both]) {
      const hint = 'Name two columns of degrees: --lat COLUMN --lng COLUMN, or a column of points: --location COLUMN.';
      throw columnsError(shapesText(shapes), names, named.column, hint);
    }
    return { lat: both, lng: both, note: null };
  }
  const plain = names.map(plainName);
  const lat = named.lat === undefined ? undefined : indexOfNamed(names, named.lat, 'latitude');
  const lng = named.lng === undefined ? undefined : indexOfNamed(names, named.lng, 'longitude');
  if (lat !== undefined && lng !== undefined) {
    if (lat === lng) throw columnsError(`Latitude and longitude are both column "${names[lat]}"`, names);
    return { lat, lng, note: null };
  }
  const fits = (pair: Pair) => (lat ?? pair.lat) === pair.lat && (lng ?? pair.lng) === pair.lng;
  for (const kind of PAIR_KINDS) {
    const [first, ...others] = findPairs(plain, kind).filter(fits);
    if (first === undefined) continue;
    refuseTwins(names, plain, first, named);
    return { ...first, note: noteOf(names, plain, first, others) };
  }
  // The named column has an unusual name; the other may still have a usual one.
  if (lat !== undefined || lng !== undefined) {
    const other = plain.findIndex(
      (name, i) => i !== lat && i !== lng && (lat === undefined ? LATITUDES : LONGITUDES).includes(name),
    );
    if (other >= 0) return { lat: lat ?? other, lng: lng ?? other, note: null };
  }
  const hasLat = lat !== undefined || plain.some((name, i) => i !== lng && LATITUDES.includes(name));
  const hasLng = lng !== undefined || plain.some((name, i) => i !== lat && LONGITUDES.includes(name));
  const missing = hasLat === hasLng ? 'latitude and longitude' : hasLat ? 'longitude' : 'latitude';
  throw columnsError(`No ${missing} column was found`, names, undefined, shapes ? shapesHint(shapes) : hintFor(names));
}

function shapesHint(shapes: OtherShapes): string {
  return shapes.column === null
    ? `The geometries are ${shapes.kinds.join(', ')}: points are needed. ${POINTS_HINT}.`
    : `${shapesText(shapes)}. Name two columns of degrees: --lat COLUMN --lng COLUMN.`;
}

/** `Column geometry holds polygons, not points` */
function shapesText({ column, kinds }: OtherShapes): string {
  const plurals = kinds.map((kind) => `${kind.replace(/ .*/, '').toLowerCase()}s`);
  return `Column ${column} holds ${[...new Set(plurals)].join(' and ')}, not points`;
}

/** Of two complete pairs with the same names the first is taken. If only one of the two columns exists twice, it is unclear which is meant. */
function refuseTwins(
  names: readonly string[],
  plain: readonly string[],
  { lat, lng }: Pair,
  named: NamedColumns,
): void {
  const twinsOf = (chosen: number) => [...plain.keys()].filter((i) => plain[i] === plain[chosen]);
  const [lats, lngs] = [twinsOf(lat), twinsOf(lng)];
  if (lats.length === lngs.length) return;
  if (lats.length > 1 && named.lat === undefined) throw ambiguous(names, names[lat]!, 'latitude', lats);
  if (lngs.length > 1 && named.lng === undefined) throw ambiguous(names, names[lng]!, 'longitude', lngs);
}

const LATITUDES = ['latitude', 'lat'];
const LONGITUDES = ['longitude', 'lng', 'lon', 'long'];

/** Lower case, without the numbering of EPA's forms ("12. LATITUDE"), and with one kind of gap. */
function plainName(name: string): string {
  return name
    .trim()
    .toLowerCase()
    .replace(/^\d+\.\s*/, '')
    .replace(/[\s._-]+/g, '_');
}

interface PairKind {
  readonly isLat: (name: string) => boolean;
  readonly isLng: (name: string, lat: string) => boolean;
}

/** The patterns of pairs, the most certain first. */
const PAIR_KINDS: readonly PairKind[] = [
  { isLat: (name) => LATITUDES.includes(name), isLng: (name) => LONGITUDES.includes(name) },
  // point_latitude with point_longitude, LATITUDE83, INTPTLAT with INTPTLON or INTPTLONG, slat with slon.
  { isLat: (name) => name.includes('lat'), isLng: (name, lat) => isPartner(lat, name) },
  {
    isLat: (name) => /^lat(?:itude)?(?![a-z])/.test(name),
    isLng: (name) => /^(?:longitude|long|lon|lng)(?![a-z])/.test(name),
  },
  { isLat: (name) => name === 'y', isLng: (name) => name === 'x' },
];

function isPartner(lat: string, lng: string): boolean {
  const words = lat.includes('latitude')
    ? (['latitude', ['longitude']] as const)
    : (['lat', ['lng', 'long', 'lon']] as const);
  const [word, partners] = words;
  const at = lat.lastIndexOf(word);
  return partners.some((partner) => lat.slice(0, at) + partner + lat.slice(at + word.length) === lng);
}

/** Each latitude with its first longitude, in the order of the file; a longitude is used once if there are enough. Degrees, minutes
 * and seconds (LAT_DMS) are taken only when there is nothing else. */
function findPairs(plain: readonly string[], { isLat, isLng }: PairKind): Pair[] {
  const pairs: Pair[] = [];
  for (const [lat, latName] of plain.entries()) {
    if (!isLat(latName)) continue;
    const fitting = [...plain.keys()].filter((i) => isLng(plain[i]!, latName));
    const unused = fitting.filter((i) => pairs.every((pair) => pair.lng !== i));
    // `latitude` goes with `longitude`, even if there is also a column `long`.
    const lng = unused.find((i) => isPartner(latName, plain[i]!)) ?? unused[0] ?? fitting[0];
    if (lng !== undefined) pairs.push({ lat, lng });
  }
  const decimal = pairs.filter(({ lat }) => !plain[lat]!.includes('dms'));
  return decimal.length > 0 ? decimal : pairs;
}

function noteOf(
  names: readonly string[],
  plain: readonly string[],
  chosen: Pair,
  others: readonly Pair[],
): string | null {
  const text = ({ lat, lng }: Pair) => `"${names[lat]}" (column ${lat + 1}) and "${names[lng]}" (column ${lng + 1})`;
  if (others.length > 0)
    return `Several columns look like locations: ${text(chosen)} were taken, not ${others.map(text).join(', ')}.`;
  return plain[chosen.lat] === 'y' ? `${text(chosen)} were taken as latitude and longitude.` : null;
}

/** What a column holds, with the option that names it. */
const OPTIONS = { latitude: '--lat', longitude: '--lng', location: '--location' };
type Role = keyof typeof OPTIONS;

/** The exact name comes first, then the name in any case, then the number of a column. */
function indexOfNamed(names: readonly string[], wanted: string, role: Role): number {
  const plain = (name: string) => name.trim().toLowerCase();
  for (const matches of [(name: string) => name === wanted, (name: string) => plain(name) === plain(wanted)]) {
    const matching = [...names.keys()].filter((i) => matches(names[i]!));
    if (matching.length === 1) return matching[0]!;
    if (matching.length > 1) throw ambiguous(names, wanted, role, matching);
  }
  const number = /^\d+$/.test(wanted.trim()) ? Number(wanted) : 0;
  if (number >= 1 && number <= names.length) return number - 1;
  const near = nearestNames(wanted, names);
  const suggestion = near.length === 0 ? '' : `; did you mean ${near.map((name) => `"${name}"`).join(' or ')}?`;
  throw columnsError(`There is no ${role} column "${wanted}"${suggestion}`, names, wanted);
}

function ambiguous(names: readonly string[], wanted: string, role: Role, matching: readonly number[]): PerilbookError {
  const candidates = matching.map((i) => `column ${i + 1}`).join(' or ');
  const message = `The ${role} column "${wanted}" may be ${candidates}`;
  const hint = `Name it by its number: ${OPTIONS[role]} ${matching[0]! + 1}.`;
  return new PerilbookError('INPUT_COLUMNS', message, hint, { column: wanted, columns: names });
}

/** Properties of these names are taken before the geometries. */
export const POINTS_HINT = 'Give each feature a point, for instance the centroid, as properties lat and lng';

const COLUMNS_SHOWN = 40;

function columnsError(
  message: string,
  names: readonly string[],
  column?: string,
  hint = hintFor(names),
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

/** Names of columns that often hold a latitude and a longitude together. */
const PAIR_NAMES =
  /^(?:geo_?)?(?:location|coordinates?|coords?|lat_?l(?:o?ng|on)|position|point|wkt|the_geom|geom(?:etry)?)$/;

/** Columns of a list of addresses, by the letters of their names. */
const ADDRESS = /^(?:street|property|full|site)?address(?:line)?$|^(?:street|zip|zipcode|postalcode|postcode)$/;

function hintFor(names: readonly string[]): string {
  if (names.every((name, i) => name === String(i + 1))) {
    return 'The file has no header line: give the numbers of the latitude and the longitude column.';
  }
  // In a file of storms, the line of a storm ("AL012014, ARTHUR, 25,") comes before the lines of its track.
  if (/^(?:AL|EP|CP)\d{6}$/.test(names[0] ?? '')) {
    return 'This is a HURDAT2 file of storm tracks: it has two kinds of lines and no table of locations.';
  }
  const both = names.find((name) => PAIR_NAMES.test(plainName(name)));
  if (both !== undefined) {
    return `If column "${both}" holds both, as in (38.5, -97.2) or POINT(-97.2 38.5): --location ${both}. If not, name them: --lat COLUMN --lng COLUMN.`;
  }
  if (names.some((name) => ADDRESS.test(name.toLowerCase().replace(/[^a-z]/g, '')))) {
    return 'Perilbook does not geocode addresses: add the coordinates with a geocoder first. If two columns hold them, name them: --lat COLUMN --lng COLUMN.';
  }
  const filled = names.filter((name) => name !== '');
  const looksLikeData =
    filled.length > 0 && filled.filter((name) => /^[+-]?[\d.:/-]+$/.test(name)).length * 3 >= filled.length;
  return looksLikeData
    ? 'The first line looks like data: add a line with the names of the columns above it, or give the columns by number: --no-header --lat NUMBER --lng NUMBER.'
    : 'Name the latitude and the longitude column of this file: --lat COLUMN --lng COLUMN, or --location COLUMN if one holds both (location: in the job file).';
}
