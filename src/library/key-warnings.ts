import { statSync } from 'node:fs';
import { platform } from 'node:os';
import { PerilbookError, resultOrNull } from '../base/errors.ts';
import { shellWord } from '../base/shell-words.ts';
import { makeRedactor } from '../client/redact.ts';
import { isLoopback } from '../contract/service-address.ts';

/** Bits of a file's mode that let the group or others read or change it. */
const FOR_OTHERS = 0o077;

/** A sentence for each key file that other users of this machine can read, with the command that protects it. */
export function exposedKeyFiles(keys: readonly { readonly file?: string }[]): string[] {
  // Windows has no such bits.
  if (platform() === 'win32') return [];
  return keys.flatMap(({ file }) => {
    // Reading the key says why a file has none.
    const stats = file === undefined ? null : resultOrNull(() => statSync(file));
    // A device is for others, and must stay so.
    if (!stats?.isFile() || (stats.mode & FOR_OTHERS) === 0) return [];
    const { mode } = stats;
    const octal = (mode & 0o777).toString(8).padStart(3, '0');
    return [
      `Others on this machine can read the key file (mode ${octal}). To protect it: chmod 600 ${shellWord(file!)}`,
    ];
  });
}

/** The address of a service is kept in the store and shown; a key in it would be too. @throws USAGE */
export function refuseKeyInAddress(baseUrl: string, keys: readonly { readonly secret: string }[]): void {
  const secrets = keys.map(({ secret }) => secret).filter(Boolean);
  if (makeRedactor(secrets).text(baseUrl) === baseUrl) return;
  const hint = 'Leave the key out of base_url: it is sent in a request header.';
  throw new PerilbookError('USAGE', "The service's address has the API key in it, and is not shown", hint);
}

/** A sentence where keys are sent to another machine without encryption. */
export function unencryptedKeys(baseUrl: string): string[] {
  if (!URL.canParse(baseUrl)) return [];
  const { protocol, hostname } = new URL(baseUrl);
  if (protocol !== 'http:' || isLoopback(hostname)) return [];
  return [`The key is sent to ${hostname} unencrypted: use https:// if the service supports it.`];
}
