import { statSync } from 'node:fs';
import { mkdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, matchesGlob, relative, sep } from 'node:path';
import { hasSystemCode, PerilbookError, resultOrNull } from '../../base/errors.ts';
import { readHead } from '../../base/pipes.ts';
import type { PartSettings } from '../../job/input-setting.ts';
import type { Job } from '../../job/settings.ts';
import {
  asUnwritable,
  checkOutput,
  isSameFile,
  type ResolvedPath,
  resolvedPath,
} from '../../rows/files/output-file.ts';
import { hasPerilbookColumns } from '../../rows/kept-columns.ts';
import { checkFormat } from '../../rows/open/file-formats.ts';
import { openRowFile } from '../../rows/open/open-row-file.ts';
import { listParts } from '../../rows/parts/list-parts.ts';
import { EMPTY, isPartFiles, type PartFiles } from '../../rows/parts/part-files.ts';
import type { OpenOptions, RowFile } from '../../rows/port.ts';
import { isSqliteFile } from '../../sql/open-sqlite.ts';
import type { Store } from '../../store/port.ts';
import { filesOfStore } from '../../store/store-address.ts';

/** A file that a command reads or keeps, with a description: `holds an API key of the job`. No output may replace it. */
export interface ProtectedFile {
  readonly path: string;
  readonly what: string;
}

/** A file that a command writes; `-` for standard output. */
export interface Output {
  readonly path: string;
  /** For messages: `the report`. */
  readonly what: string;
  /** Whether Perilbook wrote the existing file. @param path without links */
  readonly isOwn: (path: string) => boolean | Promise<boolean>;
}

/** Refuses outputs that would replace a file that the command reads or keeps, a SQLite database, another output or, without `force`,
 * any other file that Perilbook did not write. Files are compared by device and inode with links resolved; missing files by path.
 * Empty files, devices and pipes may be written.
 * @throws OUTPUT_UNWRITABLE, OUTPUT_EXISTS; USAGE for two outputs that are one file */
export async function refuseReplacement(
  outputs: readonly Output[],
  files: readonly ProtectedFile[],
  force: boolean,
): Promise<void> {
  const kept = await Promise.all(
    files.map(async ({ path, what }) => ({
      what,
      // A file that cannot be looked at is refused, by its own name, where it is read; no output can replace it.
      resolved: await resolvedPath(path).catch(() => ({ target: path, stats: undefined })),
    })),
  );
  const earlier: { readonly what: string; readonly resolved: ResolvedPath }[] = [];
  for (const { path, what, isOwn } of outputs) {
    if (path === '-') continue;
    const resolved = await resolvedPath(path);
    const { target, stats } = resolved;
    if (stats && !stats.isFile()) continue;
    const reason =
      kept.find((file) => isSameFile(file.resolved, resolved))?.what ?? databaseKind(target);
    if (reason !== null)
      throw refused('OUTPUT_UNWRITABLE', path, reason, 'Choose another output file.');
    const other = earlier.find((output) => isSameFile(output.resolved, resolved));
    if (other)
      throw refused('USAGE', path, `is ${other.what} and ${what}`, 'Give each a file of its own.');
    earlier.push({ what, resolved });
    if (force || !stats || stats.size === 0 || (await isOwn(target))) continue;
    const hint =
      'Choose another output file, or replace this one with --force (in a program: force: true).';
    throw refused('OUTPUT_EXISTS', path, 'exists, and Perilbook did not write it', hint);
  }
}

/** A database is never an output; SQLite keeps changes in files beside it. */
function databaseKind(path: string): string | null {
  if (isSqliteFile(path)) return 'is a SQLite database';
  return isSqliteFile(path.replace(/-(?:wal|shm|journal)$/, ''))
    ? 'belongs to a SQLite database'
    : null;
}

function refused(
  code: PerilbookError['code'],
  file: string,
  what: string,
  hint: string,
): PerilbookError {
  return new PerilbookError(code, `${file} ${what}`, hint, { file });
}

/** All files that a job reads or keeps. */
export async function filesOfJob(job: Job): Promise<readonly ProtectedFile[]> {
  const { jobFile, service, onFinish, store, dataFile } = job;
  const paths: readonly (readonly [what: string, paths: readonly (string | null | undefined)[]])[] =
    [
      ['is the input itself', await inputFiles(job)],
      ['is the job file', [jobFile]],
      [
        'holds an API key of the job',
        service.kind === 'remote' ? service.keys.map(({ file }) => file) : [],
      ],
      ['is run by on_finish', onFinish === null ? [] : [onFinish[0]]],
      ['holds the store, with all that was paid for', filesOfStore(store)],
      ["holds the agencies' data", [dataFile]],
    ];
  return paths.flatMap(([what, files]) =>
    files.flatMap((path) => (path == null ? [] : [{ path, what }])),
  );
}

/** The files of an input. None if its parts cannot be listed: reading them later gives the error. */
export async function inputFiles({
  input,
  parts,
}: Pick<Job, 'input' | 'parts'>): Promise<string[]> {
  // Standard input may be a file (`< b.csv`), identified by device and inode.
  if (parts === null) return [input === '-' ? '/dev/stdin' : input];
  const { parts: listed } = await listParts(parts.folder, parts.sources).catch(() => ({
    parts: [],
  }));
  return listed.map(({ path }) => path);
}

/** An output of rows: recognized by Perilbook's columns, or as an output of a run in the store, or in such a folder of parts.
 * @param written gives the outputs of the store's runs, if a file's content does not show that Perilbook wrote it */
export function rowsOutput(
  path: string,
  { reading, parts, output }: Pick<Job, 'reading' | 'parts' | 'output'>,
  written: () => Promise<ReadonlySet<string>>,
): Output {
  const isOwn = async (target: string) =>
    (await isEnriched(target, reading)) ||
    (await written()).has(parts === null ? target : await pathWithoutLinks(output));
  return { path, what: 'the output', isOwn };
}

/** An output that is recognized by its first bytes. */
export function recognizedOutput(path: string, what: string, start: RegExp): Output {
  const isOwn = (target: string) => {
    try {
      return start.test(readHead(target, HEAD_BYTES).toString('utf8'));
    } catch (error) {
      throw asUnwritable(path, error);
    }
  };
  return { path, what, isOwn };
}

/** The path of each output that runs of the store have written. A run that was killed may have written some parts of a folder. */
export async function writtenOutputs(
  store: Store,
  { parts }: Pick<Job, 'parts'>,
): Promise<ReadonlySet<string>> {
  const writers = (await store.runs()).filter(({ summary }) => summary !== null || parts !== null);
  return new Set(
    await Promise.all([...new Set(writers.map(({ output }) => output))].map(pathWithoutLinks)),
  );
}

const pathWithoutLinks = (path: string): Promise<string> => realpath(path).catch(() => path);

async function isEnriched(path: string, reading: OpenOptions): Promise<boolean> {
  // Settings of the input, such as a sheet or no header line, may not suit an output in another format.
  for (const options of [reading, {}]) {
    try {
      if (hasPerilbookColumns((await openRowFile(path, options)).columns)) return true;
    } catch (error) {
      if (!(error instanceof PerilbookError)) throw error;
    }
  }
  return false;
}

/** Whether an output is an earlier file. A pipe or a device has nothing to keep, and opening it would block. */
export function isEarlierFile(output: string): boolean {
  if (output === '-') return false;
  // A folder that may not be entered, a loop of links: the check of the output says so.
  return resultOrNull(() => statSync(output).isFile()) === true;
}

const HEAD_BYTES = 8_192;

/** Before anything is bought, refuses outputs that cannot be written or that would replace a file that must stay. Makes the
 * folders of part files.
 * @param force replace existing files that Perilbook did not write */
export async function checkOutputs(
  job: Job,
  input: RowFile | PartFiles,
  store: Store,
  force: boolean,
): Promise<void> {
  let written: Promise<ReadonlySet<string>> | undefined;
  const protect = async (paths: readonly string[]) => {
    const outputs = paths.map((path) =>
      rowsOutput(path, job, () => (written ??= writtenOutputs(store, job))),
    );
    await refuseReplacement(outputs, await filesOfJob(job), force);
  };
  if (!isPartFiles(input)) {
    checkFormat(job.output, input.format);
    await protect([job.output]);
    return await checkOutput(job.output, job.input);
  }
  await checkPartFolder(job.output, job.parts!);
  const outputs = input.parts.map((part) => ({
    part,
    output: outputOfPart(job.output, part.name),
  }));
  for (const { output } of outputs) refuseMatch(output, job.parts!);
  for (const folder of new Set([job.output, ...outputs.map(({ output }) => dirname(output))]))
    await makeFolder(folder);
  await protect(outputs.map(({ output }) => output));
  for (const { part, output } of outputs) {
    if (part.format !== EMPTY) checkFormat(output, part.format);
    await checkOutput(output, part.path);
  }
}

/** The files that a run of the job writes its rows to. None if the parts of the input cannot be listed. */
export async function outputFiles(job: Job): Promise<string[]> {
  if (job.parts === null) return [job.output];
  const { folder } = job.parts;
  return (await inputFiles(job)).map((path) => join(job.output, relative(folder, path)));
}

/** Refuses a folder for part files that is a file, or that the next run would read as input. Makes nothing. */
export async function checkPartFolder(output: string, { sources }: PartSettings): Promise<void> {
  if ((await stat(output).catch(() => null))?.isDirectory() === false) throw notAFolder(output);
  const real = await resolveRealPath(output);
  for (const source of sources) {
    const below = relative(await resolveRealPath(source), real);
    if (below === '..' || below.startsWith(`..${sep}`)) continue;
    throw insideInput(
      output,
      below === '' ? 'is the input folder' : 'lies inside the input folder',
    );
  }
}

/** The path with the links of its existing part resolved. */
async function resolveRealPath(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    const folder = dirname(path);
    return folder === path ? path : join(await resolveRealPath(folder), basename(path));
  }
}

/** The output of a part has the part's name, and so its format and compression. */
export function outputOfPart(folder: string, name: string): string {
  return join(folder, ...name.split('/'));
}

async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
  } catch (error) {
    if (hasSystemCode(error, 'EEXIST') || hasSystemCode(error, 'ENOTDIR'))
      throw notAFolder(folder, error);
    const hint = 'Check its path and permissions, or choose another output folder.';
    throw new PerilbookError(
      'OUTPUT_UNWRITABLE',
      `The folder ${folder} cannot be made`,
      hint,
      { file: folder },
      error,
    );
  }
}

function notAFolder(path: string, cause?: unknown): PerilbookError {
  const message = `${path} is not a folder, and part files need one`;
  return new PerilbookError(
    'OUTPUT_UNWRITABLE',
    message,
    'Choose another output folder.',
    { file: path },
    cause,
  );
}

function refuseMatch(output: string, { sources }: PartSettings): void {
  const pattern = sources.find((source) => matchesGlob(output, source));
  if (pattern !== undefined)
    throw insideInput(output, 'would be matched by the pattern of the input');
}

function insideInput(output: string, what: string): PerilbookError {
  const hint = 'The next run would read it as input: choose a folder beside the input.';
  return new PerilbookError('OUTPUT_UNWRITABLE', `${output} ${what}`, hint, { file: output });
}
