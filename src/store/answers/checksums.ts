import { crc32 } from 'node:zlib';
import { PerilbookError } from '../../base/errors.ts';

/** A stored row with the checksum of the rest of it; null where an earlier version wrote it. */
export interface Checked {
  readonly checksum: number | null;
}

/** The CRC-32 of a row's parts, as the signed number that takes four bytes in both databases. It finds a changed bit, not a forgery. The
 * key is a part: an answer that came under another place is found, too. */
export function checksumOf(key: readonly number[], ...parts: readonly (Buffer | string | null)[]): number {
  // Numbers are mixed, not joined as text, which would take as long as the checksum of a cell.
  let mixed = 0;
  for (let at = 0; at < key.length; at++) mixed = (Math.imul(mixed, 31) + key[at]!) | 0;
  let sum = mixed >>> 0;
  for (const part of parts) if (part !== null) sum = crc32(part, sum);
  return sum | 0;
}

/** The error for stored answers that have changed since they were written. @param store its file or address, where it is known */
export function damagedStore(what: string, store = ''): PerilbookError {
  const message = `The store ${store === '' ? '' : `${store} `}is damaged: ${what} changed since it was written`;
  const hint =
    'Put back a copy of the store. Without one, perilbook cache prune --damaged deletes what is damaged, and the next plan prices it.';
  return new PerilbookError('STORE_UNUSABLE', message, hint);
}
