/* The address of a download may hold a token: in its query, in its fragment, before an @. What is shown of it is decided here, for messages,
 * plans, JSON and the list of downloaded files. */

/** An address as it may be shown. */
export type ShownAddress = string & { readonly isShown: true };

/** What stands in place of a hidden text. `new URL` leaves the brackets as they are. */
const HIDDEN = '[hidden]';

/** The parameters that our own sources and requests have. The value of any other may be a token. */
const SHOWN_PARAMETERS: ReadonlySet<string> = new Set(
  [
    // ArcGIS
    'f geometry geometryPrecision geometryType inSR maxAllowableOffset objectIds orderByFields outFields outSR',
    'resultOffset resultRecordCount returnCountOnly returnDistinctValues returnExtentOnly returnGeometry returnIdsOnly',
    'spatialRel tiles where',
    // USGS earthquakes
    'endtime eventtype format maxlatitude maxlongitude minlatitude minlongitude minmagnitude orderby starttime updatedafter',
    // AFDC
    'country limit state status',
  ].flatMap((names) => names.split(' ')),
);

/** The parts of an address: up to its query, and its query. Placeholders such as {year} may stand in both. */
function partsOf(address: string): readonly [path: string, query: string | undefined] {
  const [, path = '', query] = /^([^?#]*)(?:\?([^#]*))?/s.exec(address)!;
  return [path, query];
}

/** An address without what may be a secret: user and password, fragment, and the values of parameters. Their names stay. */
export function shownAddress(address: string): ShownAddress {
  const [path, query] = partsOf(address);
  // An @ in the path, too: a password with a slash in it looks like a path.
  const place = path.replace(/^(\w+:\/\/)?.*@/s, (_, scheme = '') => `${scheme}${HIDDEN}@`);
  const shown =
    query === undefined ? place : `${place}?${query.replace(/[^&;]+/g, shownParameter)}`;
  return shown as ShownAddress;
}

function shownParameter(parameter: string): string {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(parameter) ?? [];
  // A token in base64 may end in =.
  if (name === undefined || /^=*$/.test(value!)) return HIDDEN;
  return SHOWN_PARAMETERS.has(name) || value === HIDDEN ? parameter : `${name}=${HIDDEN}`;
}

/** A text whose addresses are as they may be shown. */
export function withShownAddresses(text: string): string {
  return text.replace(/https?:\/\/[^\s"]+?(?=[.,:;)]*(?:[\s"]|$))/gi, (address) =>
    shownAddress(address),
  );
}

/** The values that an address hides, to find them in what its server says. */
function hiddenValues(address: string): string[] {
  const [, query = ''] = partsOf(address);
  const values = query.split(/[&;]/).flatMap((parameter) => {
    const [name, ...rest] = parameter.split('=');
    return SHOWN_PARAMETERS.has(name!) ? [] : [rest.length === 0 ? name! : rest.join('=')];
  });
  return values.filter((value) => value.length >= SHORTEST_SECRET);
}

/** Shorter values would match ordinary words. */
const SHORTEST_SECRET = 4;

/** What the server of an address said, without what the address hides: some repeat a token that they refuse. */
export function saidOf(address: string, text: string): string {
  return hiddenValues(address)
    .flatMap((value) => [value, decoded(value)])
    .reduce((said, value) => said.replaceAll(value, HIDDEN), text);
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
