import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import { resultOrNull } from '../../base/errors.ts';

/** Writes a small file atomically: a kill or a power cut leaves the old file or the new one. */
export function writeWhole(file: string, text: string): void {
  writeFileSync(`${file}.new`, text, { flush: true });
  putInPlace(`${file}.new`, file);
}

/** Renames a synced file and syncs the folder. */
export function putInPlace(temporary: string, file: string): void {
  renameSync(temporary, file);
  try {
    syncFile(dirname(file));
  } catch {
    // Windows cannot open a folder.
  }
}

export function syncFile(file: string): void {
  const descriptor = openSync(file, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

const partState = z.object({
  url: z.string(),
  etag: z.string().optional(),
  lastModified: z.string().optional(),
  total: z.number().optional(),
});
export type PartState = z.infer<typeof partState>;

export const partOf = (target: string): string => `${target}.part`;

/** The partial download of a file if it can be resumed. Only a strong ETag or a date is allowed in If-Range (RFC 9110, 13.1.5). */
export function keptPart(part: string, url: string): (PartState & { readonly bytes: number }) | null {
  const state = readPartState(part, partState);
  const bytes = state === null ? 0 : statSync(part).size;
  if (state === null || state.url !== url || bytes === 0) return null;
  const { etag, lastModified, total } = state;
  const strong = etag?.startsWith('W/') ? undefined : etag;
  if ((strong === undefined && lastModified === undefined) || (total !== undefined && bytes > total)) return null;
  return { ...state, etag: strong, bytes };
}

/** The state file of a partial download; null if either file is missing or unreadable. */
export function readPartState<T>(part: string, schema: z.ZodType<T>): T | null {
  if (!existsSync(part) || !existsSync(`${part}.json`)) return null;
  return resultOrNull(() => schema.parse(JSON.parse(readFileSync(`${part}.json`, 'utf8'))));
}

export function dropPart(part: string): void {
  rmSync(part, { force: true });
  rmSync(`${part}.json`, { force: true });
}
