import type { Location } from '../../geo/coordinates.ts';

/** What the parameters of a request say: a location, or the sentence that tells what is wrong with them. */
export type QueryLocation = { readonly location: Location } | { readonly problem: string };

/** Digits, at most one point: no exponent, no plus, no spaces, no hexadecimal. Longer ones say nothing more. */
const PLAIN_DECIMAL = /^-?\d{1,3}(\.\d{1,20})?$/;

/** Reads `lat` and `lng`, each exactly once, as plain decimal degrees within ±90 and ±180. Others are not looked at. */
export function locationOfQuery(query: Readonly<Record<string, unknown>>): QueryLocation {
  const lat = degreesOf(query, 'lat', 90);
  if (typeof lat === 'string') return { problem: lat };
  const lng = degreesOf(query, 'lng', 180);
  if (typeof lng === 'string') return { problem: lng };
  return { location: { lat, lng } };
}

function degreesOf(query: Readonly<Record<string, unknown>>, name: string, bound: number): number | string {
  const text = query[name];
  if (text === undefined) return `Parameter "${name}" is missing`;
  if (typeof text !== 'string') return `Parameter "${name}" is given more than once`;
  if (!PLAIN_DECIMAL.test(text)) return `Parameter "${name}" must be decimal degrees, like 39.7392`;
  // + 0 turns -0 into 0.
  const degrees = Number(text) + 0;
  return Math.abs(degrees) <= bound ? degrees : `Parameter "${name}" must lie between -${bound} and ${bound}`;
}
