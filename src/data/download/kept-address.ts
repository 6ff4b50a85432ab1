import { createHmac, hash, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { resultOrNull } from '../../base/errors.ts';
import { shownAddress } from '../../base/shown-address.ts';

/* What the list of downloaded files keeps of an address. It must tell whether a later address is the same, and hold no token. A plain digest
 * would: a reader of the list could try all short tokens. So the digest needs a key, which has a file of its own beside the list. */

/** An address as it may be written to the disk: the shown form, and a digest of the whole where that hides something. */
export type KeptAddress = string & { readonly isKept: true };

/** `sha256`: by an earlier version, without a key. */
const KEPT = /^(.*)#(sha256|hmac)=[0-9a-f]{64}$/s;

/** The address for the list of a folder; one that is kept already stays as it is. */
export function keptAddress(address: string, folder: string): KeptAddress {
  const shown = shownAddress(address);
  const isKept = shown === address || KEPT.exec(address)?.[1] === shown;
  return (
    isKept ? address : withDigest(address, readKey(folder) ?? makeKey(folder))
  ) as KeptAddress;
}

/** Whether what the list of a folder keeps is of this address. */
export function isKeptOf(kept: string, address: string, folder: string): boolean {
  if (kept === address) return true;
  if (KEPT.exec(kept)?.[2] === 'sha256')
    return kept === `${shownAddress(address)}#sha256=${hash('sha256', address)}`;
  const key = readKey(folder);
  return key !== null && kept === withDigest(address, key);
}

const withDigest = (address: string, key: Buffer): string =>
  `${shownAddress(address)}#hmac=${createHmac('sha256', key).update(address).digest('hex')}`;

const KEY_FILE = 'address-key';
const KEY_BYTES = 32;

/** Null where there is none, or one that was not written to its end: then the addresses count as others. */
function readKey(folder: string): Buffer | null {
  const key = resultOrNull(() => readFileSync(join(folder, KEY_FILE)));
  return key?.length === KEY_BYTES ? key : null;
}

function makeKey(folder: string): Buffer {
  const key = randomBytes(KEY_BYTES);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, KEY_FILE), key, { mode: 0o600, flush: true });
  return key;
}
