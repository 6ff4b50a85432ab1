import { resolve } from 'node:path';
import type { Job } from '../../job/settings.ts';
import {
  checkOutput,
  identityOfInput,
  openOutput,
  writeWhole,
} from '../../rows/files/output-file.ts';
import {
  filesOfJob,
  type Output,
  type ProtectedFile,
  recognizedOutput,
  refuseReplacement,
} from '../../run/frame/job-outputs.ts';
import { pathGiven } from '../options/command.ts';
import type { CliContext } from './context.ts';

/** Checks all files that a command writes before it does anything: they can be written, and no file that must stay is replaced.
 * @param more files that the command reads besides those of the job
 * @throws OUTPUT_UNWRITABLE, OUTPUT_EXISTS, USAGE */
export async function checkFiles(
  { force }: { readonly force?: boolean | undefined },
  job: Job,
  outputs: readonly Output[],
  more: readonly ProtectedFile[] = [],
): Promise<void> {
  await refuseReplacement(outputs, [...(await filesOfJob(job)), ...more], force === true);
  for (const { path } of outputs) await checkOutput(path, job.input);
}

/** The file that `--report` names, from the working folder; null if it is not given. */
export function reportFile(context: CliContext, report: string | undefined): string | null {
  return report === undefined || report === '-'
    ? (report ?? null)
    : resolve(context.workingFolder, pathGiven('--report', report));
}

/** The file of the report, which replaces an earlier report alone. */
export function reportOutput(file: string): Output {
  return recognizedOutput(file, 'the report', /<meta name="generator" content="Perilbook">/);
}

/** Writes the page of an input whole or not at all. @throws OUTPUT_UNWRITABLE */
export async function writeReport(
  context: CliContext,
  file: string,
  input: string,
  page: string,
): Promise<void> {
  const output = await openOutput(
    { output: file, stdout: context.stdout },
    await identityOfInput(input),
  );
  await writeWhole(output, undefined, () => output.write(Buffer.from(page)));
}
