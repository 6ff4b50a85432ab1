import type { Location } from '../../geo/coordinates.ts';

/** The location of a request, or what is wrong with its parameters. */
export type QueryLocation = { readonly location: Location } | { readonly problem: string };

/** A decimal number as programs write it: `39.7392`, `+37.5`, `.5`, `1e1`. More digits add nothing. */
const DECIMAL = /^[-+]?(\d{1,20}\.?\d{0,20}|\.\d{1,20})(e[-+]?\d{1,3})?$/i;

/** Reads `lat` and `lng`, each exactly once, as decimal degrees within ±90 and ±180; ignores other parameters. */
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
  // In a query, a plus sign means a space.
  const number = text.replaceAll(' ', '+');
  if (!DECIMAL.test(number)) return `Parameter "${name}" must be decimal degrees, like 39.7392`;
  // + 0 turns -0 into 0.
  const degrees = Number(number) + 0;
  return Math.abs(degrees) <= bound ? degrees : `Parameter "${name}" must lie between -${bound} and ${bound}`;
}
