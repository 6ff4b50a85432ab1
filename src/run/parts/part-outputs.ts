import { mkdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, matchesGlob, relative, sep } from 'node:path';
import { hasSystemCode, PerilbookError } from '../../base/errors.ts';
import type { PartSettings } from '../../job/input-setting.ts';
import type { Job } from '../../job/settings.ts';
import { checkFormat } from '../../rows/file-formats.ts';
import { checkOutput } from '../../rows/files/output-file.ts';
import { EMPTY, isPartFiles, type PartFiles } from '../../rows/parts/part-files.ts';
import type { RowFile } from '../../rows/port.ts';
import type { Store } from '../../store/port.ts';
import { filesOfJob, inputFiles, refuseReplacement, rowsOutput, writtenOutputs } from '../protected-files.ts';

/** Before anything is bought, refuses outputs that cannot be written or that would replace a file that must stay. Makes the
 * folders of part files.
 * @param force replace existing files that Perilbook did not write */
export async function checkOutputs(job: Job, input: RowFile | PartFiles, store: Store, force: boolean): Promise<void> {
  let written: Promise<ReadonlySet<string>> | undefined;
  const protect = async (paths: readonly string[]) => {
    const outputs = paths.map((path) => rowsOutput(path, job, () => (written ??= writtenOutputs(store, job))));
    await refuseReplacement(outputs, await filesOfJob(job), force);
  };
  if (!isPartFiles(input)) {
    checkFormat(job.output, input.format);
    await protect([job.output]);
    return await checkOutput(job.output, job.input);
  }
  await checkPartFolder(job.output, job.parts!);
  const outputs = input.parts.map((part) => ({ part, output: outputOfPart(job.output, part.name) }));
  for (const { output } of outputs) refuseMatch(output, job.parts!);
  for (const folder of new Set([job.output, ...outputs.map(({ output }) => dirname(output))])) await makeFolder(folder);
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
    throw insideInput(output, below === '' ? 'is the input folder' : 'lies inside the input folder');
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
    if (hasSystemCode(error, 'EEXIST') || hasSystemCode(error, 'ENOTDIR')) throw notAFolder(folder, error);
    const hint = 'Check its path and permissions, or choose another output folder.';
    throw new PerilbookError('OUTPUT_UNWRITABLE', `The folder ${folder} cannot be made`, hint, { file: folder }, error);
  }
}

function notAFolder(path: string, cause?: unknown): PerilbookError {
  const message = `${path} is not a folder, and part files need one`;
  return new PerilbookError('OUTPUT_UNWRITABLE', message, 'Choose another output folder.', { file: path }, cause);
}

function refuseMatch(output: string, { sources }: PartSettings): void {
  const pattern = sources.find((source) => matchesGlob(output, source));
  if (pattern !== undefined) throw insideInput(output, 'would be matched by the pattern of the input');
}

function insideInput(output: string, what: string): PerilbookError {
  const hint = 'The next run would read it as input: choose a folder beside the input.';
  return new PerilbookError('OUTPUT_UNWRITABLE', `${output} ${what}`, hint, { file: output });
}
