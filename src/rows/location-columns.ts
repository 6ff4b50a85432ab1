import { PerilbookError } from '../errors.ts';
import { nearestNames } from './nearest-names.ts';

/** Where the locations of a file stand. */
export interface LocationColumns {
  readonly lat: number;
  readonly lng: number;
  /** Which columns were chosen and why it was not certain; null when there was no doubt. */
  readonly note: string | null;
}

/** What a user says of the columns; what is left out is looked for. */
export interface NamedColumns {
  readonly lat?: string | undefined;
  readonly lng?: string | undefined;
}

interface Pair {
  readonly lat: number;
  readonly lng: number;
}

/** Finds the latitude and the longitude among the names of a file, or says what stands there instead. */
export function findLocationColumns(names: readonly string[], named: NamedColumns = {}): LocationColumns {
  const plain = names.map(plainName);
  const lat = named.lat === undefined ? undefined : indexOfNamed(names, named.lat, 'latitude');
  const lng = named.lng === undefined ? undefined : indexOfNamed(names, named.lng, 'longitude');
  if (lat !== undefined && lng !== undefined) {
    if (lat === lng) throw columnsError(`Latitude and longitude are both column "${names[lat]}"`, names);
    return { lat, lng, note: null };
  }
  const fits = (pair: Pair) => (lat ?? pair.lat) === pair.lat && (lng ?? pair.lng) === pair.lng;
  for (const pairs of [exactPairs(plain), partnerPairs(plain), prefixPairs(plain), mapPairs(plain)]) {
    const fitting = pairs.filter(fits);
    const [first, ...others] = fitting;
    if (first) return { ...first, note: noteOf(names, plain, first, others) };
  }
  // The named one has an unusual name: the other may still have a usual one.
  if (lat !== undefined || lng !== undefined) {
    const other = plain.findIndex(
      (name, i) => i !== lat && i !== lng && (lat === undefined ? LATITUDES : LONGITUDES).includes(name),
    );
    if (other >= 0) return { lat: lat ?? other, lng: lng ?? other, note: null };
  }
  const missing = lat !== undefined ? 'longitude' : lng !== undefined ? 'latitude' : 'latitude and longitude';
  throw columnsError(`No ${missing} column was found`, names);
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

function exactPairs(plain: readonly string[]): Pair[] {
  return pairsOf(
    plain,
    (name) => LATITUDES.includes(name),
    (_, name) => LONGITUDES.includes(name),
  );
}

/** point_latitude with point_longitude, LATITUDE83, INTPTLAT with INTPTLON or INTPTLONG, slat with slon. Degrees, minutes
 * and seconds (LAT_DMS) are taken only when there is nothing else. */
function partnerPairs(plain: readonly string[]): Pair[] {
  const pairs = pairsOf(
    plain,
    (name) => name.includes('lat'),
    (lat, lng) => isPartner(lat, lng),
  );
  const decimal = pairs.filter(({ lat }) => !plain[lat]!.includes('dms'));
  return decimal.length > 0 ? decimal : pairs;
}

function isPartner(lat: string, lng: string): boolean {
  const words = lat.includes('latitude')
    ? (['latitude', ['longitude']] as const)
    : (['lat', ['lng', 'long', 'lon']] as const);
  const [word, partners] = words;
  const at = lat.lastIndexOf(word);
  return partners.some((partner) => lat.slice(0, at) + partner + lat.slice(at + word.length) === lng);
}

function prefixPairs(plain: readonly string[]): Pair[] {
  return pairsOf(
    plain,
    (name) => /^lat(?:itude)?(?![a-z])/.test(name),
    (_, name) => /^(?:longitude|long|lon|lng)(?![a-z])/.test(name),
  );
}

function mapPairs(plain: readonly string[]): Pair[] {
  return pairsOf(
    plain,
    (name) => name === 'y',
    (_, name) => name === 'x',
  );
}

/** Each latitude with its first longitude, in the order of the file; a longitude is used once where there are enough. */
function pairsOf(
  plain: readonly string[],
  isLat: (name: string) => boolean,
  isLng: (lat: string, name: string) => boolean,
): Pair[] {
  const pairs: Pair[] = [];
  for (const [lat, latName] of plain.entries()) {
    if (!isLat(latName)) continue;
    const fitting = [...plain.keys()].filter((i) => i !== lat && isLng(latName, plain[i]!));
    const lng = fitting.find((i) => pairs.every((pair) => pair.lng !== i)) ?? fitting[0];
    if (lng !== undefined) pairs.push({ lat, lng });
  }
  return pairs;
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

function indexOfNamed(names: readonly string[], wanted: string, role: string): number {
  const exact = names.indexOf(wanted);
  if (exact >= 0) return exact;
  const loose = names.findIndex((name) => name.trim().toLowerCase() === wanted.trim().toLowerCase());
  if (loose >= 0) return loose;
  const near = nearestNames(wanted, names);
  const suggestion = near.length === 0 ? '' : `; did you mean ${near.map((name) => `"${name}"`).join(' or ')}?`;
  throw columnsError(`There is no ${role} column "${wanted}"${suggestion}`, names, wanted);
}

const COLUMNS_SHOWN = 40;

function columnsError(message: string, names: readonly string[], column?: string): PerilbookError {
  const shown = names.slice(0, COLUMNS_SHOWN).map((name) => name || '(no name)');
  const more = names.length > COLUMNS_SHOWN ? `, and ${names.length - COLUMNS_SHOWN} more` : '';
  const filled = names.filter((name) => name !== '');
  const looksLikeData =
    filled.length > 0 && filled.filter((name) => /^[+-]?[\d.:/-]+$/.test(name)).length * 3 >= filled.length;
  const hint = looksLikeData
    ? 'The first line looks like data: add a line with the names of the columns above it.'
    : 'Name the latitude and the longitude column of this file.';
  return new PerilbookError('INPUT_COLUMNS', `${message}. The columns are: ${shown.join(', ')}${more}`, hint, {
    ...(column === undefined ? {} : { column }),
    columns: names,
  });
}
