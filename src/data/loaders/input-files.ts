import { statSync } from 'node:fs';
import { PerilbookError } from '../../errors.ts';
import { type FileProfile, profileOf } from './file-profile.ts';
import { invalidFile, unreadable } from './load-errors.ts';
import type { LoaderOptions } from './loader.ts';
import { loadersFor, mismatch } from './signatures.ts';
import { zipMembers } from './zip-members.ts';

const TABLES = /\.(csv|txt|dat|json|geojson)$/i;

/**
 * The files that a loader reads: as named, or in a zip without a shapefile the one that the loader is for
 * (`hail.csv.zip/hail.csv`).
 *
 * @throws PerilbookError SERVICE_DATA for a folder, an unreadable file, or one of another loader unless `force` is set
 */
export function inputFiles(loader: string, files: readonly string[], options: LoaderOptions): string[] {
  return files.map((file) => {
    if (isFolder(file)) throw invalidFile(file, 'it is a folder', 'Give the files in it.');
    const path = /\.zip$/i.test(file) ? pathInZip(loader, file, options) : file;
    if (options.force === true) return path;
    const profile = profileOf(path, options.lat);
    const problem = mismatch(loader, profile);
    if (problem !== null) throw wrongFile(loader, path, problem, profile);
    return path;
  });
}

/** A path that does not exist is left to the reader: it may continue into a zip. */
function isFolder(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false })?.isDirectory() ?? false;
  } catch (error) {
    // A path below a file is no folder.
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return false;
    throw unreadable(file, error);
  }
}

/** FEMA's zips also hold the data dictionary, EPA's other tables: the loader's own is read. */
function pathInZip(loader: string, file: string, options: LoaderOptions): string {
  const names = zipMembers(file).map(({ name }) => name);
  if (names.some((name) => /\.shp$/i.test(name))) return file;
  const paths = names.filter((name) => TABLES.test(name)).map((name) => `${file}/${name}`);
  const own =
    paths.length < 2 ? paths : paths.filter((path) => mismatch(loader, profileOf(path, options.lat)) === null);
  if (own.length === 1) return own[0]!;
  const hint = `It holds: ${names.slice(0, 10).join(', ')}. Give the path of the file in it, or unpack it.`;
  throw invalidFile(
    file,
    `${own.length === 0 ? 'no file' : `${own.length} files`} in the zip could be for ${loader}`,
    hint,
  );
}

function wrongFile(loader: string, file: string, problem: string, profile: FileProfile): PerilbookError {
  const others = loadersFor(profile).filter((name) => name !== loader);
  const commands = others.map((name) => `perilbook data load ${name} FILE`);
  const fits = others.length === 0 ? '' : `Load it with: ${commands.join(', or: ')}. `;
  return new PerilbookError(
    'SERVICE_DATA',
    `Cannot load "${file}" as ${loader}: ${problem}`,
    `${fits}To load it anyway, add --force. The stored data is unchanged.`,
    { file },
  );
}
