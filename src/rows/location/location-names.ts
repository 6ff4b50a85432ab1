import { INVISIBLE } from '../../base/printable.ts';

/* Names propose: which columns may hold the location, by their names alone. The values decide (decide-location.ts). */

/** Two columns, or one that holds both: then `lat` and `lng` are equal. */
export interface PlaceColumns {
  readonly lat: number;
  readonly lng: number;
}

/** What the names of columns say, the best first: `exact` are latitude and longitude alone; `qualified` have other words beside, or are the
 * usual name of one column with both; `weak` may also hold metres, feet or sizes; `notation` is verbatim, of 1927, or degrees and minutes;
 * `other_place` speaks of a corner, a former place, or another one than the row's own (mailing, origin). */
export const NAME_CLASSES = ['exact', 'qualified', 'weak', 'notation', 'other_place'] as const;
type NameClass = (typeof NAME_CLASSES)[number];

export interface PlaceCandidate extends PlaceColumns {
  readonly nameClass: NameClass;
}

const LATITUDES: readonly string[] = ['latitude', 'lat'];
const LONGITUDES: readonly string[] = ['longitude', 'lng', 'lon', 'long'];

/** Lower case, without accents and the numbering of EPA's forms ("12. LATITUDE"), and with one kind of gap, also between words as in
 * siteLatitude. */
export function plainName(name: string): string {
  return name
    .replace(INVISIBLE, '')
    .replace(/(?<=[a-z])(?=[A-Z][a-z])/g, '_')
    .normalize('NFKD')
    .replace(/\p{Mn}/gu, '')
    .normalize('NFC')
    .trim()
    .toLowerCase()
    .replace(/^\d+\.\s*/, '')
    .replace(/[\s._\-/:;,()[\]{}|$]+/g, '_')
    .replace(/(?<=.)_$/, '');
}

/** Latitude and longitude in other languages. `weak`: the words also mean width and length. */
const FOREIGN_WORDS: readonly (readonly [lat: string, lng: string, weak?: 'weak' | undefined])[] = (
  [
    // German, Dutch, the Nordic languages.
    ['Breitengrad', 'Längengrad'],
    ['Breitengrad', 'Laengengrad'],
    ['Breite', 'Länge', 'weak'],
    ['Breite', 'Laenge', 'weak'],
    ['Breedtegraad', 'Lengtegraad'],
    ['Noorderbreedte', 'Oosterlengte'],
    ['Breedte', 'Lengte', 'weak'],
    ['Breddegrad', 'Længdegrad'],
    ['Breddegrad', 'Lengdegrad'],
    ['Breddgrad', 'Längdgrad'],
    ['Leveysaste', 'Pituusaste'],
    // Spanish, Portuguese, Italian, Romanian and French mostly have `lat` and `long` in their words.
    ['Latitudine', 'Longitudine'],
    // Slavic languages, Hungarian, Greek, Turkish.
    ['Широта', 'Долгота'],
    ['Широта', 'Довгота'],
    ['Szerokość', 'Długość', 'weak'],
    ['Zeměpisná šířka', 'Zeměpisná délka'],
    ['Šířka', 'Délka', 'weak'],
    ['Szélesség', 'Hosszúság', 'weak'],
    ['Πλάτος', 'Μήκος', 'weak'],
    ['Enlem', 'Boylam'],
    // East and South Asia.
    ['纬度', '经度'],
    ['緯度', '經度'],
    ['緯度', '経度'],
    ['北緯', '東経'],
    ['北緯', '西経'],
    ['北纬', '西经'],
    ['위도', '경도'],
    ['Vĩ độ', 'Kinh độ'],
    ['ละติจูด', 'ลองจิจูด'],
    ['अक्षांश', 'देशांतर'],
    ['Lintang', 'Bujur'],
    // Arabic, Persian, Hebrew.
    ['خط العرض', 'خط الطول'],
    ['دائرة العرض', 'خط الطول'],
    ['العرض', 'الطول', 'weak'],
    ['عرض جغرافیایی', 'طول جغرافیایی'],
    ['קו רוחב', 'קו אורך'],
  ] as const
).map(([lat, lng, weak]) => [plainName(lat), plainName(lng), weak]);

const FOREIGN_NAMES: readonly string[] = [
  ...FOREIGN_WORDS.map(([lat]) => lat),
  ...FOREIGN_WORDS.map(([, lng]) => lng),
];

/** Whether a name alone is a latitude, or a longitude, in any language. */
export const isAxisName = (plain: string, axis: 'lat' | 'lng'): boolean =>
  (axis === 'lat' ? LATITUDES : LONGITUDES).includes(plain) ||
  FOREIGN_WORDS.some(([lat, lng]) => plain === (axis === 'lat' ? lat : lng));

interface PairKind {
  readonly isLat: (name: string) => boolean;
  readonly isLng: (name: string, lat: string) => boolean;
  readonly nameClass: (lat: string) => NameClass;
}

const qualified = (): NameClass => 'qualified';
const weak = (): NameClass => 'weak';

/** The patterns of pairs, the most certain first. */
const PAIR_KINDS: readonly PairKind[] = [
  {
    isLat: (name) => LATITUDES.includes(name),
    isLng: (name) => LONGITUDES.includes(name),
    nameClass: () => 'exact',
  },
  ...FOREIGN_WORDS.map(
    ([lat, lng, isWeak]): PairKind => ({
      isLat: (name) => name.includes(lat),
      isLng: (name, other) => name === other.replace(lat, lng),
      nameClass: (name) => isWeak ?? (name === lat ? 'exact' : 'qualified'),
    }),
  ),
  // point_latitude with point_longitude, LATITUDE83, INTPTLAT with INTPTLON or INTPTLONG, slat with slon.
  {
    isLat: (name) => name.includes('lat'),
    isLng: (name, lat) => isPartner(lat, name),
    nameClass: qualified,
  },
  // The same words before, whatever comes after: LATITUDE (N) with LONGITUDE (W), site_lat_deg with site_lon_deg.
  {
    isLat: (name) => LAT_WORD.test(name),
    isLng: (name, lat) => LNG_WORD.exec(name)?.[1] === asLng(LAT_WORD.exec(lat)![1]!),
    nameClass: qualified,
  },
  { isLat: (name) => name === 'y', isLng: (name) => name === 'x', nameClass: weak },
  // POINT_Y with POINT_X, YCOORD with XCOORD, Coord_Y with Coord_X; not the corners of a box.
  {
    isLat: (name) => Y_WORD.test(name) && !/max|min|size|offset|pixel|screen/.test(name),
    isLng: (name, lat) => name === asLng(lat),
    nameClass: weak,
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

const listed = (words: string): ReadonlySet<string> =>
  new Set(words.split(/\s+/).map(plainName).filter(Boolean));

/** Words beside a coordinate that speak of another place than the row's own. */
const OTHER_PLACE = listed(`
  min minimum max maximum ne nw se sw northeast northwest southeast southwest north south east west top bottom left right upper lower
  ul ll ur lr corner bbox bounds bound bounding boundingbox box extent envelope viewport
  previous prev old former formerly prior past original orig historic historical before earlier superseded obsolete legacy retired
  alt alternate alternative secondary second backup private last
  mail mailing post postal bill billing ship shipping owner agent broker contact hq headquarter headquarters office sender recipient
  receiver registrant applicant correspondence remit return
  origin source src from to destination dest target pickup pick dropoff drop start begin end finish departure arrival depart arrive s e
  vorherige vorheriger vorherig frühere früherer alte ancien ancienne précédent précédente anterior antiguo antigua antigo vecchio
  vecchia precedente oud oude vorige 旧 原 이전 старая старый
  postanschrift versand rechnung facturation livraison facturación envío correspondencia cobrança entrega spedizione fatturazione
  départ arrivée destino origen origem partenza arrivo vertrek aankomst bestemming abfahrt ankunft ziel
`);

/** Words that make a column no coordinate, wherever they stand. */
const NO_COORDINATE = listed(`
  accuracy acc precision uncertainty error err updated update modified created timestamp status confidence quality delta offset
  hemisphere genauigkeit précision precisión precisão precisione nauwkeurigheid exactitude
`);

/** The same, after the word for the coordinate: `lat_source` says where a latitude is from, `source_lat` is that of a source. */
const NO_COORDINATE_AFTER = listed(`
  ref reference source src state time date datetime sigma std stddev sd variance qual flag code type method meth provider datum unit units
  note notes comment comments desc description label name hemi dir direction ind indicator id count rank score hash zone altitude elevation
  valid check edited by user shift diff speed bearing heading distance dist scale radius quelle statut estado stato
`);

const AXIS_WORD = /lat(?:itud(?:e|ine)?|i|dd)?|lo?ng?(?:itud(?:e|ine)?|i|dd)?|y|x/;

/** The words beside the coordinate in a name, before and after it. */
function wordsBeside(plain: string): { readonly before: string[]; readonly after: string[] } {
  const foreign = FOREIGN_NAMES.find((name) => plain.includes(name));
  const parts = plain.split('_');
  const own = LAT_WORD.test(plain) || LNG_WORD.test(plain);
  const word =
    foreign ??
    (own
      ? parts.findLast((part) => new RegExp(`^(?:${AXIS_WORD.source})\\d*$`).test(part))
      : undefined) ??
    /latitude|longitude|lat|long|lng|lon/.exec(plain)?.[0] ??
    parts.find((part) => part === 'y' || part === 'x') ??
    '';
  const at = word === '' ? plain.length : plain.lastIndexOf(word);
  const split = (text: string) => text.split(/[_\d]+/).filter(Boolean);
  return { before: split(plain.slice(0, at)), after: split(plain.slice(at + word.length)) };
}

/** What the words beside the coordinates of two names say; null where one of them is no coordinate. */
function classOfWords(lat: string, lng: string): NameClass | 'none' | null {
  const [first, second] = [wordsBeside(lat), wordsBeside(lng)];
  const before = [...first.before, ...second.before];
  const after = [...first.after, ...second.after];
  const all = [...before, ...after];
  if (all.some((word) => NO_COORDINATE.has(word))) return null;
  if (after.some((word) => NO_COORDINATE_AFTER.has(word))) return null;
  // A letter after the word is a hemisphere or a unit: LATITUDE (S).
  const places = [...before, ...after.filter((word) => word.length > 1)];
  if (places.some((word) => OTHER_PLACE.has(word))) return 'other_place';
  return /dms|verbatim|27/.test(lat) ? 'notation' : 'none';
}

/** Each latitude with its first longitude, in the order of the file; a longitude is used once if there are enough. One part of three
 * (degrees, minutes, seconds) is no latitude. */
function findPairs(plain: readonly string[], { isLat, isLng }: PairKind): PlaceColumns[] {
  const pairs: PlaceColumns[] = [];
  for (const [lat, latName] of plain.entries()) {
    if (!isLat(latName) || isPartOfDegrees(plain, latName)) continue;
    const fitting = [...plain.keys()].filter((i) => i !== lat && isLng(plain[i]!, latName));
    const unused = fitting.filter((i) => pairs.every((pair) => pair.lng !== i));
    // `latitude` goes with `longitude`, even if there is also a column `long`.
    const lng = unused.find((i) => isPartner(latName, plain[i]!)) ?? unused[0] ?? fitting[0];
    if (lng !== undefined) pairs.push({ lat, lng });
  }
  return pairs;
}

const PART_OF_DEGREES = /deg(?:rees?)?|min(?:utes?)?|sec(?:onds?)?|_[dms]$/;

/** Whether a name is that of the degrees, the minutes or the seconds of a place in columns of their own. */
export function isPartOfDegrees(plain: readonly string[], name: string): boolean {
  const stem = (text: string) => text.replace(PART_OF_DEGREES, '#');
  const own = stem(name);
  return own.includes('#') && plain.some((other) => other !== name && stem(other) === own);
}

/** All columns that may hold the location by their names, the best first.
 * @param fits selects the pairs that the user's own choice leaves */
export function proposeLocations(
  names: readonly string[],
  fits: (columns: PlaceColumns) => boolean = () => true,
): PlaceCandidate[] {
  const plain = names.map(plainName);
  const candidates: (PlaceCandidate & { readonly isDecimal: boolean })[] = [];
  for (const kind of PAIR_KINDS) {
    for (const pair of findPairs(plain, kind)) {
      const lat = plain[pair.lat]!;
      if (!fits(pair) || candidates.some((other) => other.lat === pair.lat)) continue;
      const words = classOfWords(lat, plain[pair.lng]!);
      if (words === null) continue;
      const isDecimal = /(?:^|_)(?:dec|dd)(?:_|$)|decimal/.test(lat);
      const nameClass = words === 'none' ? kind.nameClass(lat) : words;
      candidates.push({ ...pair, nameClass, isDecimal });
    }
  }
  const inPairs = new Set(candidates.flatMap(({ lat, lng }) => [lat, lng]));
  for (const [index, name] of plain.entries()) {
    if (!PLACE_NAME.test(name) || inPairs.has(index) || !fits({ lat: index, lng: index })) continue;
    const nameClass = classOfWords(name, name);
    if (nameClass === null) continue;
    const column = { lat: index, lng: index, isDecimal: false };
    candidates.push({ ...column, nameClass: nameClass === 'none' ? 'qualified' : nameClass });
  }
  const order = ({ nameClass }: PlaceCandidate) => NAME_CLASSES.indexOf(nameClass);
  return candidates.sort(
    (a, b) => order(a) - order(b) || Number(b.isDecimal) - Number(a.isDecimal),
  );
}

/** Words in the names of columns that often hold geometries, or a latitude and a longitude together. */
const GEOMETRY_WORDS = 'wkb|wkt|geom(?:etry)?|geog(?:raphy)?|shape|geo_?point';
const PLACE_WORDS = `(?:geo_?|gps_?)?(?:location|coordinates?|coords?|point)\\d*|lat_?l(?:o?ng|on)(?:itude)?|lo?ng?_?lat|latitude_longitude|position|georeferenced?|geocoded|koordinaten?|coordonnees|coordenadas?|coordinat[ei]n?|ubicacion|localizacao|posizione|posicion|standort|locatie|座標|坐标|座標|位置|좌표|위치|координаты|الاحداثيات|الموقع`;
const [GEOMETRY_NAME, PLACE_NAME] = [GEOMETRY_WORDS, `${GEOMETRY_WORDS}|${PLACE_WORDS}`].map(
  (words) => new RegExp(`(?:^|_)(?:${words})(?:_|$)`),
) as [RegExp, RegExp];

/** Whether a column of this name usually holds geometries, also in binary. */
export const isGeometryName = (name: string): boolean => GEOMETRY_NAME.test(plainName(name));

/** Whether names may have a pair of coordinates among them. */
export function mayHaveLocation(names: readonly string[]): boolean {
  return proposeLocations(names).some(({ lat, lng }) => lat !== lng);
}

/** Whether names are certain to have a pair of coordinates among them. */
export function haveLocation(names: readonly string[]): boolean {
  return proposeLocations(names).some(
    ({ lat, lng, nameClass }) => lat !== lng && nameClass !== 'weak',
  );
}
