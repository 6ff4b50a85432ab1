import { statSync } from 'node:fs';
import { PerilbookError } from '../../base/errors.ts';
import { agencyZip, invalidFile, unreadable } from './agency-file.ts';
import { type FileProfile, profileOf } from './file-profile.ts';
import type { LoaderOptions } from './loader.ts';
import { loadersFor, mismatch } from './signatures.ts';

const TABLES = /\.(csv|txt|dat|json|geojson)$/i;

/**
 * The files that a loader reads: as named, or, in a zip without a shapefile, the file that fits the loader (`hail.csv.zip/hail.csv`).
 *
 * @throws PerilbookError SERVICE_DATA for a folder, an unreadable file, or one of another loader unless `force` is set
 */
export async function inputFiles(loader: string, files: readonly string[], options: LoaderOptions): Promise<string[]> {
  const paths: string[] = [];
  for (const file of files) {
    if (isFolder(file)) throw invalidFile(file, 'it is a folder', 'Give the files in it.');
    const path = /\.zip$/i.test(file) ? await pathInZip(loader, file, options) : file;
    paths.push(path);
    if (options.force === true) continue;
    const profile = await profileOf(path, options.lat);
    const problem = mismatch(loader, profile);
    if (problem !== null) throw wrongFile(loader, path, problem, profile);
  }
  return paths;
}

/** False for a missing path: it may continue into a zip, which the reader checks. */
function isFolder(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false })?.isDirectory() ?? false;
  } catch (error) {
    // A path below a file is not a folder.
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return false;
    throw unreadable(file, error);
  }
}

/** FEMA's zips also hold the data dictionary, EPA's other tables: the loader's own is read. */
async function pathInZip(loader: string, file: string, options: LoaderOptions): Promise<string> {
  const names = (await agencyZip(file)).files.map(({ fileName }) => fileName);
  if (names.some((name) => /\.shp$/i.test(name))) return file;
  const paths = names.filter((name) => TABLES.test(name)).map((name) => `${file}/${name}`);
  const own: string[] = [];
  for (const path of paths) {
    if (paths.length === 1 || mismatch(loader, await profileOf(path, options.lat)) === null) own.push(path);
  }
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
