import { existsSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { PerilbookError, resultOrNull } from '../base/errors.ts';
import { extensionOf } from '../rows/files/compression.ts';
import { formatOfOutput } from '../rows/open/file-formats.ts';
import { isPattern, patternFolder } from '../rows/parts/list-parts.ts';

/** An input of several files, its parts. */
export interface PartSettings {
  /** The folder that the names of the parts are relative to. */
  readonly folder: string;
  /** Files, folders and patterns, as absolute paths. */
  readonly sources: readonly string[];
}

export interface InputSettings {
  /** A file, a folder or a pattern; for several of them, their common folder. `-` for standard input. */
  readonly input: string;
  /** The file to write, or the folder of the written parts. */
  readonly output: string;
  /** Null for one file. */
  readonly parts: PartSettings | null;
}

/** Decides whether an input is one file or parts, and the path of the output. @throws USAGE */
export function resolveInput(
  given: string | readonly string[],
  output: string | undefined,
  workingFolder: string,
): InputSettings {
  const list = [given].flat();
  if (list.includes('-')) {
    if (list.length === 1)
      return { input: '-', output: singleOutput('-', output, workingFolder), parts: null };
    const hint = 'Name files only.';
    throw new PerilbookError(
      'USAGE',
      'Standard input (-) cannot be combined with other input files',
      hint,
    );
  }
  const sources = list.map((path) => resolve(workingFolder, path));
  const [first] = sources as [string];
  const isSingleFile =
    sources.length === 1 &&
    !isPatternOfFiles(first) &&
    !isFolder(first) &&
    !/[/\\]$/.test(output ?? '');
  if (isSingleFile)
    return { input: first, output: singleOutput(first, output, workingFolder), parts: null };
  const folder = commonFolder(sources.map(folderOf));
  if (output === '-') {
    const hint = 'Name a folder: -o enriched/.';
    throw new PerilbookError(
      'USAGE',
      'Several input files cannot be written to standard output',
      hint,
    );
  }
  // Spark names folders so: one that exists, or is named as a folder, is meant.
  const isFileName =
    output !== undefined && !/[/\\]$/.test(output) && formatOfOutput(output) !== null;
  if (isFileName && !isFolder(resolve(workingFolder, output))) {
    const message = `${output} is the name of a file, and the output of several files is a folder`;
    const hint = `Name a folder: -o enriched/. To make one with this name: -o ${output}/.`;
    throw new PerilbookError('USAGE', message, hint);
  }
  return {
    input: sources.length === 1 ? first : folder,
    output: output === undefined ? besideFolder(folder) : resolve(workingFolder, output),
    parts: { folder, sources },
  };
}

/** The name of a job that has none. */
export function nameOfInput({ input, parts }: InputSettings): string {
  if (input === '-') return 'stdin';
  const named = parts?.folder ?? input;
  return basename(named, extensionOf(named)) || 'parts';
}

function singleOutput(input: string, output: string | undefined, folder: string): string {
  if (output === '-') return '-';
  if (output !== undefined) return resolve(folder, output);
  return input === '-' ? '-' : besideFolder(input);
}

/** `portfolio.csv.gz` becomes `portfolio.hazards.csv.gz`, the folder `portfolio` becomes `portfolio.hazards`. */
function besideFolder(path: string): string {
  const extension = extensionOf(path);
  const stem = basename(path, extension);
  if (stem === '')
    throw new PerilbookError('USAGE', 'Missing output folder', 'Name one: -o enriched/.');
  return join(dirname(path), `${stem}.hazards${extension}`);
}

function isFolder(path: string): boolean {
  // Missing or not accessible: opening it later reports the error.
  return resultOrNull(() => statSync(path).isDirectory()) === true;
}

/** A file may be called `a[1].csv`. */
const isPatternOfFiles = (path: string) => isPattern(path) && !existsSync(path);

function folderOf(source: string): string {
  if (isPatternOfFiles(source)) return patternFolder(source);
  return isFolder(source) ? source : dirname(source);
}

function commonFolder(folders: readonly string[]): string {
  const split = folders.map((folder) => folder.split(sep));
  const [first, ...others] = split as [string[], ...string[][]];
  let length = first.length;
  for (const other of others) {
    while (first.slice(0, length).some((segment, index) => segment !== other[index])) length--;
  }
  return first.slice(0, length).join(sep) || sep;
}
