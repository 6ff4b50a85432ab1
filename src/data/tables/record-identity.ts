import { hash } from 'node:crypto';
import type { SiteRecord } from './records.ts';

/** Columns in which a server numbers its rows: it may number them anew with each publication. */
const ROW_NUMBERS = /^(objectid(_\d+)?|fid|oid|esri_oid|globalid)$/i;

const IDENTITY_BYTES = 16;

/**
 * What tells a record from every other one of its dataset: the agency's own id where the loader knows one, else a digest of geometry and
 * properties. Equal for the same record in two files, also where one is a CSV and has texts in place of numbers. 128 bits: two of a million
 * records agree by chance once in 10^26.
 */
export function identityOf({ key, geometry, properties }: SiteRecord): Buffer {
  const text = key === undefined ? JSON.stringify([geometry, plainValues(properties)]) : `key ${key}`;
  return hash('sha1', text, 'buffer').subarray(0, IDENTITY_BYTES);
}

function plainValues(properties: SiteRecord['properties']): unknown[] {
  const values: unknown[] = [];
  for (const [name, value] of Object.entries(properties)) {
    const plain = plainValue(value);
    if (plain !== '' && !ROW_NUMBERS.test(name)) values.push(name, plain);
  }
  return values;
}

/** A CSV has an empty text where GeoJSON has null, and a code may have lost its zeros. */
function plainValue(value: unknown): unknown {
  if (value === null) return '';
  if (typeof value === 'object') return value;
  return String(value)
    .trim()
    .replace(/^0+(?=\d)/, '');
}
