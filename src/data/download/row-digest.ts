import { hash } from 'node:crypto';

/** The digest of no rows. */
export const NO_ROWS = '0'.repeat(32);

/** The digest of a row of a layer: of its id, and of the fields where the layer is asked for some. Of all fields it would take a download. */
export function rowDigest(
  fields: readonly string[] | null,
  id: number,
  values: Readonly<Record<string, unknown>>,
): string {
  const row = [id, ...(fields ?? []).map((name) => String(values[name] ?? ''))];
  return hash('sha256', JSON.stringify(row)).slice(0, NO_ROWS.length);
}

/** The digest of rows in any order: an "exclusive or" of their own. */
export function joinedDigests(a: string, b: string): string {
  const both = BigInt(`0x${a}`) ^ BigInt(`0x${b}`);
  return both.toString(16).padStart(NO_ROWS.length, '0');
}
