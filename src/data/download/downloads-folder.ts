import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { hasSystemCode, PerilbookError, resultOrNull } from '../../base/errors.ts';
import { isKeptOf, keptAddress } from './kept-address.ts';

const fileEntry = z.object({
  file: z.string().regex(/^[^/\\]+$/),
  /** As `keptAddress` gives it; whole in what the first version wrote. */
  url: z.string(),
  bytes: z.number(),
  /** In hexadecimal. */
  sha256: z.string().optional(),
  fetchedAt: z.number(),
  /** When the server was last asked for changes. */
  checkedAt: z.number(),
  etag: z.string().optional(),
  lastModified: z.string().optional(),
  /** The edit date of a layer. */
  edited: z.number().optional(),
  /** Of a layer without an edit date: the digest of its ids and fields (layer-digest.ts). */
  digest: z.string().optional(),
  /** The server's count of rows or events. */
  count: z.number().optional(),
  /** The states of a file at the user's own address (`Source.covers`): another machine may take the file without its `sources.yaml`. */
  covers: z.array(z.string()).readonly().nullable().optional(),
  /** The boxes that it covers, if not its whole state: west, south, east, north. */
  tiles: z
    .array(z.tuple([z.number(), z.number(), z.number(), z.number()]))
    .readonly()
    .optional(),
  /** The second address that it comes from (`Source.from`). */
  from: z.string().optional(),
  loadedAt: z.number().optional(),
  dataset: z.string().optional(),
  level: z.string().optional(),
  /** The file was refused by its loader: it is downloaded again, even if the server reports no change. */
  refused: z.boolean().optional(),
});

const manifestFile = z.object({ version: z.literal(1), files: z.record(z.string(), fileEntry) });

export type FileEntry = z.infer<typeof fileEntry>;

/** The files of one source by slice and number: `US`, `VA`, `US/2`. */
export type Manifest = ReadonlyMap<string, FileEntry>;

export interface FetchedFile {
  readonly entry: FileEntry;
  readonly isNew: boolean;
}

/** Whether a file of a folder comes from an address. */
export const isFrom = (
  { url: kept }: Pick<FileEntry, 'url'>,
  url: string,
  folder: string,
): boolean => isKeptOf(kept, url, folder);

/** @param outcome what the manifest says of a file that was downloaded now */
export function findFetchedFile(
  url: string,
  target: string,
  earlier: FileEntry | undefined,
  outcome: Omit<FileEntry, 'file' | 'url' | 'fetchedAt' | 'checkedAt'> | 'unchanged',
  now: number,
): FetchedFile {
  const kept = keptAddress(url, dirname(target));
  if (outcome === 'unchanged')
    return { entry: { ...earlier!, url: kept, checkedAt: now }, isNew: false };
  return {
    entry: {
      file: basename(target),
      url: kept,
      fetchedAt: now,
      checkedAt: now,
      ...outcome,
    },
    isNew: true,
  };
}

const MANIFEST_FILE = 'manifest.json';

/** Reads a manifest; an unreadable one counts as empty, and the files are downloaded again. */
export function readManifest(folder: string): Map<string, FileEntry> {
  const file = join(folder, MANIFEST_FILE);
  const manifest = resultOrNull(() => manifestFile.parse(JSON.parse(readFileSync(file, 'utf8'))));
  return new Map(Object.entries(manifest?.files ?? {}));
}

/** Writes the list of downloaded files, whole or not at all. */
export function writeManifest(folder: string, manifest: Manifest): void {
  const file = join(folder, MANIFEST_FILE);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const files = Object.fromEntries(
    Array.from(manifest, ([key, entry]) => [
      key,
      { ...entry, url: keptAddress(entry.url, folder) },
    ]),
  );
  writeWhole(file, `${JSON.stringify({ version: 1, files }, null, 2)}\n`);
}

/** Locks a downloads folder; the lock of a process that no longer runs is removed.
 * @param owner the name of this process, and whether another one is still running
 * @returns the function that unlocks the folder
 * @throws PerilbookError USAGE when another process downloads into it */
export function lockDownloads(
  folder: string,
  { name, isAlive }: { readonly name: string; readonly isAlive: (other: string) => boolean },
): () => void {
  const file = join(folder, 'lock');
  for (let attempt = 0; ; attempt++) {
    try {
      writeFileSync(file, name, { flag: 'wx' });
      return () => rmSync(file, { force: true });
    } catch (error) {
      if (!hasSystemCode(error, 'EEXIST')) throw error;
    }
    const other = resultOrNull(() => readFileSync(file, 'utf8'));
    // The lock was released meanwhile, or its process no longer runs.
    if (attempt < 2 && (other === null || !isAlive(other))) {
      rmSync(file, { force: true });
      continue;
    }
    const hint = `Wait until it has ended. If there is none, remove the file ${file}.`;
    throw new PerilbookError(
      'USAGE',
      `Another perilbook data command downloads into "${folder}" (${other})`,
      hint,
    );
  }
}

/** Writes a small file atomically: a kill or a power cut leaves the old file or the new one. */
export function writeWhole(file: string, text: string): void {
  writeFileSync(`${file}.new`, text, { flush: true });
  putInPlace(`${file}.new`, file);
}

/** Renames a synced file and syncs the folder. */
export function putInPlace(temporary: string, file: string): void {
  renameSync(temporary, file);
  try {
    sync(dirname(file), 'r');
  } catch {
    // Windows cannot open a folder.
  }
}

/** Brings a file to the disk. Windows syncs only what is open for writing. */
export function syncFile(file: string): void {
  sync(file, 'r+');
}

function sync(path: string, mode: 'r' | 'r+'): void {
  const descriptor = openSync(path, mode);
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

/** The name of a file's partial download. */
export const partOf = (target: string): string => `${target}.part`;

/** The partial download of a file if it can be resumed. Only a strong ETag or a date is allowed in If-Range (RFC 9110, 13.1.5). */
export function keptPart(
  part: string,
  url: string,
): (PartState & { readonly bytes: number }) | null {
  const state = readPartState(part, partState);
  const bytes = state === null ? 0 : statSync(part).size;
  if (state === null || !isKeptOf(state.url, url, dirname(part)) || bytes === 0) return null;
  const { etag, lastModified, total } = state;
  const strong = etag?.startsWith('W/') ? undefined : etag;
  if (
    (strong === undefined && lastModified === undefined) ||
    (total !== undefined && bytes > total)
  )
    return null;
  return { ...state, etag: strong, bytes };
}

/** The state file of a partial download; null if either file is missing or unreadable. */
export function readPartState<T>(part: string, schema: z.ZodType<T>): T | null {
  if (!existsSync(part) || !existsSync(`${part}.json`)) return null;
  return resultOrNull(() => schema.parse(JSON.parse(readFileSync(`${part}.json`, 'utf8'))));
}

/** Removes a partial download and what was noted of it. */
export function dropPart(part: string): void {
  rmSync(part, { force: true });
  rmSync(`${part}.json`, { force: true });
}
