import { copyFileSync, existsSync, mkdirSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { PerilbookError } from '../../base/errors.ts';
import { readHead } from '../../base/pipes.ts';
import { hashFile } from '../loaders/agency-file.ts';
import type { Source } from '../sources/source.ts';
import { downloadFailed, HEAD_BYTES, unexpectedStart } from './download-errors.ts';
import { isWhole } from './download-file.ts';
import {
  type FileEntry,
  isFrom,
  putInPlace,
  readManifest,
  syncFile,
  writeManifest,
} from './downloads-folder.ts';
import { type Slice, sliceOfKey } from './source-requests.ts';

/** The slices of a source in a copy of a downloads folder; the error where it has none. */
export function copiedSlices(
  source: Source,
  mirror: string,
  states: readonly string[] | null,
): Slice[] | PerilbookError {
  const slices = new Set([...readManifest(join(mirror, source.name)).keys()].map(sliceOfKey));
  if (slices.has('US')) return ['US'];
  const wanted = states === null ? [...slices] : states.filter((state) => slices.has(state));
  if (wanted.length > 0) return wanted;
  return downloadFailed(
    `The folder "${mirror}" has no ${source.name}${states === null || slices.size === 0 ? '' : ` of ${states.join(', ')}`}`,
    'Name a copy of the downloads folder of a machine that ran perilbook data get (docs/operator/downloads.md, Machines without a network).',
  );
}

const identityOf = ({ fetchedAt, sha256, covers }: FileEntry) => [fetchedAt, sha256, covers];

/** Copies one slice of a source from a copy of another machine's downloads folder.
 * @returns the number of files that are new */
export async function copySlice(
  source: Source,
  slice: Slice,
  mirror: string,
  folder: string,
): Promise<number> {
  const from = join(mirror, source.name);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const before = readManifest(folder);
  // An update asks for what is here: without this, what the copy lacks would be forgotten.
  const lacking = copiedSlices(source, mirror, slice === 'US' ? null : [slice]);
  if (!Array.isArray(lacking)) throw lacking;
  const after = new Map([...before].filter(([key]) => sliceOfKey(key) !== slice));
  let copied = 0;
  for (const [key, theirs] of readManifest(from)) {
    if (sliceOfKey(key) !== slice) continue;
    const { loadedAt: _loaded, dataset: _dataset, level: _level, refused, ...entry } = theirs;
    const [source_, target] = [join(from, entry.file), join(folder, entry.file)];
    const own = before.get(key);
    if (
      own !== undefined &&
      isDeepStrictEqual(identityOf(own), identityOf(entry)) &&
      isFrom(own, entry.url, folder) &&
      isWhole(own, target)
    ) {
      after.set(key, own);
      continue;
    }
    const problem = refused
      ? 'was refused on the machine that it comes from'
      : !existsSync(source_)
        ? 'is not there'
        : !isWhole(entry, source_) ||
            (entry.sha256 !== undefined && (await hashFile(source_)) !== entry.sha256)
          ? 'does not match its manifest'
          : unexpectedStart(entry.file, readHead(source_, HEAD_BYTES));
    if (problem !== null) {
      throw downloadFailed(
        `${source_}: ${problem}`,
        'Copy the downloads folder again; the stored data is unchanged.',
      );
    }
    copyFileSync(source_, `${target}.part`);
    const { atime, mtime } = statSync(source_);
    utimesSync(`${target}.part`, atime, mtime);
    syncFile(`${target}.part`);
    putInPlace(`${target}.part`, target);
    after.set(key, entry);
    copied += 1;
  }
  writeManifest(folder, after);
  return copied;
}
