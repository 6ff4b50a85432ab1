import { mkdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { resultOrNull } from '../../base/errors.ts';
import { writeWhole } from './whole-file.ts';

/** The record of a downloaded file, used to detect changes. */
const fileEntry = z.object({
  file: z.string().regex(/^[^/\\]+$/),
  /** The agency's address, without a key. */
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
  /** When it was loaded, and as which dataset. */
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

/** @param outcome what the manifest says of a file that was downloaded now */
export function fetchedFile(
  url: string,
  target: string,
  earlier: FileEntry | undefined,
  outcome: Omit<FileEntry, 'file' | 'url' | 'fetchedAt' | 'checkedAt'> | 'unchanged',
  now: number,
): FetchedFile {
  if (outcome === 'unchanged') return { entry: { ...earlier!, checkedAt: now }, isNew: false };
  return { entry: { file: basename(target), url, fetchedAt: now, checkedAt: now, ...outcome }, isNew: true };
}

const MANIFEST_FILE = 'manifest.json';

/** Reads a manifest; an unreadable one counts as empty, and the files are downloaded again. */
export function readManifest(folder: string): Map<string, FileEntry> {
  const file = join(folder, MANIFEST_FILE);
  const manifest = resultOrNull(() => manifestFile.parse(JSON.parse(readFileSync(file, 'utf8'))));
  return new Map(Object.entries(manifest?.files ?? {}));
}

export function writeManifest(folder: string, manifest: Manifest): void {
  const file = join(folder, MANIFEST_FILE);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeWhole(file, `${JSON.stringify({ version: 1, files: Object.fromEntries(manifest) }, null, 2)}\n`);
}
