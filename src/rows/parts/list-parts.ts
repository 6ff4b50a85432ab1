import { existsSync, globSync, statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { PerilbookError } from '../../base/errors.ts';
import { didYouMeanFile, unreadable } from '../files/input-file.ts';

/** One of several files that are one input. */
export interface ListedPart {
  /** Its path below the folder of all parts, separated by `/`: its name in messages and in the output. */
  readonly name: string;
  readonly path: string;
  readonly size: number;
  readonly mtimeMs: number;
}

/** Characters that make a path a pattern: `portfolio/*.csv`, `20[12]?/{a,b}.csv`. */
const MAGIC = /[*?[\]{}]/;

/** Whether a path names several files by wildcards. */
export const isPattern = (path: string): boolean => MAGIC.test(path);

/** The folder above the first segment of a pattern that is not a plain name. */
export function patternFolder(pattern: string): string {
  const segments = pattern.split(sep);
  return segments.slice(0, segments.findIndex(isPattern)).join(sep) || sep;
}

/** Endings of files that a program is still writing or fetching: of Hadoop's `-put`, of browsers, rsync, FTP clients and others. */
const UNFINISHED =
  /(?:\.(?:tmp|temp|part|partial|filepart|crdownload|download|inprogress|swp)|\._COPYING_)$/i;

/** Files that Spark, Hadoop and macOS put beside the data: `_SUCCESS`, `_temporary/`, `.part-0.csv.crc`, `.DS_Store`. */
const isHidden = (segment: string) =>
  /^[._]/.test(segment) || /\.crc$/i.test(segment) || segment === 'Thumbs.db';

/** Lists the files of an input, sorted by name, and the names of temporary files that other programs seem to be writing, which are skipped. A folder stands for all files in it and below it; a pattern for files only. In both, hidden files and names
 * that begin with `_` are skipped, as in Spark, Hive and DuckDB. Other files are not skipped: rows would be lost silently.
 * @param folder the folder for relative names
 * @throws INPUT_UNREADABLE if a source has no files */
export async function listParts(
  folder: string,
  sources: readonly string[],
): Promise<{ readonly parts: ListedPart[]; readonly unfinished: string[] }> {
  const byName = new Map<string, ListedPart>();
  const unfinished = new Set<string>();
  for (const source of sources) {
    const before = byName.size + unfinished.size;
    const stats = statSync(source, { throwIfNoEntry: false });
    const isNamed = stats !== undefined && !stats.isDirectory();
    if (stats === undefined && !isPattern(source)) throw missingError(source);
    const paths = isNamed ? [source] : stats ? await filesBelow(source) : globSync(source);
    for (const path of paths) {
      const name = relative(folder, path).split(sep).join('/');
      if (byName.has(name)) continue;
      const own = relative(stats ? source : patternFolder(source), path);
      if (!isNamed && own.split(sep).some(isHidden)) continue;
      const file = isNamed ? stats : statSync(path, { throwIfNoEntry: false });
      if (!file?.isFile()) continue;
      if (!isNamed && UNFINISHED.test(path)) unfinished.add(name);
      else byName.set(name, { name, path, size: file.size, mtimeMs: Math.floor(file.mtimeMs) });
    }
    if (isNamed && !stats.isFile())
      throw unreadable(source, 'is not a regular file', 'Copy it to a file first.');
    if (!isNamed && byName.size + unfinished.size === before)
      throw nothingIn(source, stats !== undefined);
  }
  const parts = [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  if (parts.length === 0) {
    const what = `has only temporary files (${[...unfinished][0]})`;
    throw unreadable(folder, what, 'Run again when they are complete.');
  }
  refuseSameNames(parts);
  return { parts, unfinished: [...unfinished].sort() };
}

async function filesBelow(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => !entry.isDirectory())
      .map((entry) => join(entry.parentPath, entry.name));
  } catch (error) {
    throw unreadable(folder, 'cannot be listed', 'Check the permissions of the folder.', error);
  }
}

/** A file system that ignores case would write two such parts into one file. */
function refuseSameNames(parts: readonly ListedPart[]): void {
  const names = new Map<string, string>();
  for (const { name } of parts) {
    const plain = name.normalize('NFC').toLowerCase();
    const other = names.get(plain);
    if (other !== undefined) {
      const message = `The parts ${other} and ${name} differ only in case or accents`;
      const hint = 'Rename one part: some file systems would write both to one file.';
      throw new PerilbookError('INPUT_UNREADABLE', message, hint, { file: name });
    }
    names.set(plain, name);
  }
}

function missingError(path: string): PerilbookError {
  const hint = existsSync(dirname(path))
    ? 'Check the name of the file.'
    : 'Check the name of its folder.';
  return unreadable(path, `does not exist${didYouMeanFile(path)}`, hint);
}

function nothingIn(source: string, isFolder: boolean): PerilbookError {
  return isFolder
    ? unreadable(source, 'has no files', 'Hidden files, and files that begin with _, do not count.')
    : unreadable(
        source,
        'matches no file',
        `Check the pattern; ** stands for any folders: **/${basename(source)}.`,
      );
}
