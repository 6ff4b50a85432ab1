import { PerilbookError, resultOrNull } from '../base/errors.ts';
import { nearestNames } from '../base/nearest-name.ts';
import { INVISIBLE } from '../base/printable.ts';
import type { OtherShapes } from './port.ts';

export interface LocationColumns {
  readonly lat: number;
  readonly lng: number;
  /** The chosen columns and why the choice is uncertain; null if it is certain. */
  readonly note: string | null;
  /** Names such as y and x may also hold metres or feet: the values decide. */
  readonly isWeak?: true;
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
 * @param mayBeDegrees whether the values of a pair with weak names may be degrees
 * @throws INPUT_COLUMNS with the names of the columns */
export function findLocationColumns(
  names: readonly string[],
  named: NamedColumns = {},
  shapes?: OtherShapes,
  mayBeDegrees: (pair: Pair) => boolean = () => true,
): LocationColumns {
  if (named.column !== undefined) {
    const both = indexOfNamed(names, named.column, 'location');
    if (shapes !== undefined && shapes.column === names[both]) {
      const hint =
        'Name two columns of degrees: --lat COLUMN --lng COLUMN, or a column of points: --location COLUMN.';
      throw columnsError(shapesText(shapes), names, named.column, hint);
    }
    return { lat: both, lng: both, note: null };
  }
  const plain = names.map(plainName);
  const lat = named.lat === undefined ? undefined : indexOfNamed(names, named.lat, 'latitude');
  const lng = named.lng === undefined ? undefined : indexOfNamed(names, named.lng, 'longitude');
  if (lat !== undefined && lng !== undefined) {
    if (lat === lng)
      throw columnsError(`Latitude and longitude are both column "${names[lat]}"`, names);
    return { lat, lng, note: null };
  }
  const fits = (pair: Pair) => (lat ?? pair.lat) === pair.lat && (lng ?? pair.lng) === pair.lng;
  let projected: Pair | undefined;
  for (const kind of PAIR_KINDS) {
    const pairs = findPairs(plain, kind).filter(fits);
    const [first, ...others] = kind.isWeak ? pairs.filter(mayBeDegrees) : pairs;
    if (first === undefined) {
      projected ??= pairs[0];
      continue;
    }
    refuseTwins(names, plain, first, named);
    return {
      ...first,
      note: noteOf(names, first, others, kind.isWeak),
      ...(kind.isWeak && { isWeak: true }),
    };
  }
  // The named column has an unusual name; the other may still have a usual one.
  if (lat !== undefined || lng !== undefined) {
    const other = plain.findIndex(
      (name, i) =>
        i !== lat && i !== lng && (lat === undefined ? LATITUDES : LONGITUDES).includes(name),
    );
    if (other >= 0) return { lat: lat ?? other, lng: lng ?? other, note: null };
  }
  if (projected !== undefined) {
    const hint = `They look like metres or feet: convert them to degrees (EPSG:4326), or name two columns of degrees: --lat COLUMN --lng COLUMN.`;
    const message = `"${names[projected.lat]}" and "${names[projected.lng]}" hold no degrees`;
    throw columnsError(message, names, undefined, hint);
  }
  const hasLat =
    lat !== undefined || plain.some((name, i) => i !== lng && LATITUDES.includes(name));
  const hasLng =
    lng !== undefined || plain.some((name, i) => i !== lat && LONGITUDES.includes(name));
  const missing = hasLat === hasLng ? 'latitude and longitude' : hasLat ? 'longitude' : 'latitude';
  throw columnsError(
    `No ${missing} column was found`,
    names,
    undefined,
    shapes ? shapesHint(shapes) : hintFor(names),
  );
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
) {
  const twinsOf = (chosen: number) => [...plain.keys()].filter((i) => plain[i] === plain[chosen]);
  const [lats, lngs] = [twinsOf(lat), twinsOf(lng)];
  if (lats.length === lngs.length) return;
  if (lats.length > 1 && named.lat === undefined)
    throw ambiguous(names, names[lat]!, 'latitude', lats);
  if (lngs.length > 1 && named.lng === undefined)
    throw ambiguous(names, names[lng]!, 'longitude', lngs);
}

const LATITUDES = ['latitude', 'lat'];
const LONGITUDES = ['longitude', 'lng', 'lon', 'long'];

/** Lower case, without the numbering of EPA's forms ("12. LATITUDE"), and with one kind of gap, also between words as in siteLatitude. */
function plainName(name: string): string {
  return name
    .replace(INVISIBLE, '')
    .replace(/(?<=[a-z])(?=[A-Z][a-z])/g, '_')
    .trim()
    .toLowerCase()
    .replace(/^\d+\.\s*/, '')
    .replace(/[\s._\-/:;,()[\]{}|]+/g, '_')
    .replace(/(?<=.)_$/, '');
}

interface PairKind {
  readonly isLat: (name: string) => boolean;
  readonly isLng: (name: string, lat: string) => boolean;
  readonly isWeak?: true;
}

/** The patterns of pairs, the most certain first. */
const PAIR_KINDS: readonly PairKind[] = [
  { isLat: (name) => LATITUDES.includes(name), isLng: (name) => LONGITUDES.includes(name) },
  // point_latitude with point_longitude, LATITUDE83, INTPTLAT with INTPTLON or INTPTLONG, slat with slon.
  { isLat: (name) => name.includes('lat'), isLng: (name, lat) => isPartner(lat, name) },
  // The same words before, whatever comes after: LATITUDE (N) with LONGITUDE (W), site_lat_deg with site_lon_deg.
  {
    isLat: (name) => LAT_WORD.test(name),
    isLng: (name, lat) => LNG_WORD.exec(name)?.[1] === asLng(LAT_WORD.exec(lat)![1]!),
  },
  { isLat: (name) => name === 'y', isLng: (name) => name === 'x', isWeak: true },
  // POINT_Y with POINT_X, YCOORD with XCOORD, Coord_Y with Coord_X; not the corners of a box.
  {
    isLat: (name) => Y_WORD.test(name) && !/max|min|size|offset|pixel|screen/.test(name),
    isLng: (name, lat) => name === asLng(lat),
    isWeak: true,
  },
];

const LAT_WORD = /^(|.*_)(?:lat|latitude|latitud|lati|latdd)(?![a-z])/;
const LNG_WORD = /^(|.*_)(?:longitude|longitud|long|longi|longdd|londd|lon|lng)(?![a-z])/;
const Y_WORD = /(?<![a-z])y(?![a-z])|^y_?co?o?rd|(?<=coord|coordinate|point)y$/;

/** The words of a latitude as its longitude has them: y becomes x. */
const asLng = (lat: string): string => lat.replace(Y_WORD, (word) => word.replace('y', 'x'));

function isPartner(lat: string, lng: string): boolean {
  const [word, partners] = lat.includes('latitude')
    ? (['latitude', ['longitude']] as const)
    : (['lat', ['lng', 'long', 'lon']] as const);
  const at = lat.lastIndexOf(word);
  return partners.some(
    (partner) => asLng(lat.slice(0, at)) + partner + lat.slice(at + word.length) === lng,
  );
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
  // Not verbatim, not of 1927, and not one part of three.
  const stem = (name: string) => name.replace(/deg(?:rees?)?|min(?:utes?)?|sec(?:onds?)?/, '#');
  const isPart = (name: string) =>
    plain.some((other) => other !== name && /#/.test(stem(name)) && stem(other) === stem(name));
  const whole = pairs.filter(({ lat }) => !isPart(plain[lat]!));
  const choices = [/(?:^|_)(?:dec|dd)(?:_|$)|decimal/, /^(?!.*(?:dms|verbatim|27))/].map((words) =>
    whole.filter(({ lat }) => words.test(plain[lat]!)),
  );
  return choices.find(({ length }) => length > 0) ?? whole;
}

function noteOf(
  names: readonly string[],
  chosen: Pair,
  others: readonly Pair[],
  isWeak = false,
): string | null {
  const text = ({ lat, lng }: Pair) =>
    `"${names[lat]}" (column ${lat + 1}) and "${names[lng]}" (column ${lng + 1})`;
  if (others.length > 0)
    return `Several columns look like locations: ${text(chosen)} were taken, not ${others.map(text).join(', ')}.`;
  return isWeak ? `${text(chosen)} were taken as latitude and longitude.` : null;
}

/** What a column holds, with the option that names it. */
const OPTIONS = { latitude: '--lat', longitude: '--lng', location: '--location' };
type Role = keyof typeof OPTIONS;

/** The exact name comes first, then the name in any case, then the number of a column. */
function indexOfNamed(names: readonly string[], wanted: string, role: Role): number {
  const plain = (name: string) => name.trim().toLowerCase();
  for (const matches of [
    (name: string) => name === wanted,
    (name: string) => plain(name) === plain(wanted),
  ]) {
    const matching = [...names.keys()].filter((i) => matches(names[i]!));
    if (matching.length === 1) return matching[0]!;
    if (matching.length > 1) throw ambiguous(names, wanted, role, matching);
  }
  const number = /^\d+$/.test(wanted.trim()) ? Number(wanted) : 0;
  if (number >= 1 && number <= names.length) return number - 1;
  const near = nearestNames(wanted, names);
  const suggestion =
    near.length === 0 ? '' : `; did you mean ${near.map((name) => `"${name}"`).join(' or ')}?`;
  throw columnsError(`There is no ${role} column "${wanted}"${suggestion}`, names, wanted);
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

/** Properties of these names are taken before the geometries. */
export const POINTS_HINT =
  'Give each feature a point, for instance the centroid, as properties lat and lng';

const COLUMNS_SHOWN = 40;

function columnsError(
  message: string,
  names: readonly string[],
  column?: string,
  hint = hintFor(names),
) {
  const shown = names.slice(0, COLUMNS_SHOWN).map((name) => name || '(no name)');
  const more = names.length > COLUMNS_SHOWN ? `, and ${names.length - COLUMNS_SHOWN} more` : '';
  return new PerilbookError(
    'INPUT_COLUMNS',
    `${message}${message.endsWith('?') ? '' : '.'} The columns are: ${shown.join(', ')}${more}`,
    hint,
    { ...(column === undefined ? {} : { column }), columns: names },
  );
}

/** Words in the names of columns that often hold geometries, or a latitude and a longitude together. */
const GEOMETRY_WORDS = 'wkb|wkt|geom(?:etry)?|geog(?:raphy)?|shape|geo_?point';
const PLACE_WORDS = `(?:geo_?)?(?:location|coordinates?|coords?|point)\\d*|lat_?l(?:o?ng|on)(?:itude)?|latitude_longitude|position|georeferenced?|geocoded`;
const [GEOMETRY_NAME, PLACE_NAME] = [GEOMETRY_WORDS, `${GEOMETRY_WORDS}|${PLACE_WORDS}`].map(
  (words) => new RegExp(`(?:^|_)(?:${words})(?:_|$)`),
) as [RegExp, RegExp];

/** Whether a column of this name usually holds geometries, also in binary. */
export const isGeometryName = (name: string): boolean => GEOMETRY_NAME.test(plainName(name));

/** Whether a column of this name usually holds places in some form. */
export const isPlaceName = (name: string): boolean => PLACE_NAME.test(plainName(name));

/** Whether names may have a location among them. */
export function mayHaveLocation(names: readonly string[], named?: NamedColumns): boolean {
  return resultOrNull(() => findLocationColumns(names, named)) !== null;
}

/** Whether names are certain to have a location among them. */
export function haveLocation(names: readonly string[]): boolean {
  return (resultOrNull(() => findLocationColumns(names)) ?? { isWeak: true }).isWeak !== true;
}

/** Columns of a list of addresses, by the letters of their names. */
const ADDRESS =
  /^(?:street|property|full|site)?address(?:line)?$|^(?:street|zip|zipcode|postalcode|postcode)$/;

function hintFor(names: readonly string[]): string {
  if (names.every((name, i) => name === String(i + 1))) {
    return 'The file has no header line: give the numbers of the latitude and the longitude column.';
  }
  if (names.some((name) => ADDRESS.test(name.toLowerCase().replace(/[^a-z]/g, '')))) {
    return 'Perilbook does not geocode addresses. docs/analyst/addresses.md shows how the free geocoder of the Census Bureau adds the coordinates. If two columns hold them, name them: --lat COLUMN --lng COLUMN.';
  }
  return 'Name the latitude and the longitude column of this file: --lat COLUMN --lng COLUMN, or --location COLUMN if one holds both (location: in the job file).';
}
