import { checkOutput } from '../rows/files/output-file.ts';
import { filesOfJob, type Output, type ProtectedFile, refuseReplacement } from '../run/protected-files.ts';
import type { Job } from '../run/settings/settings.ts';
import type { Flags } from './command.ts';

/**
 * Checks all files that a command writes before it does anything: they can be written, and replace nothing that must not be lost.
 *
 * @param more files that the command reads besides those of the job
 * @throws OUTPUT_UNWRITABLE, OUTPUT_EXISTS, USAGE
 */
export async function checkFiles(
  { force }: Flags,
  job: Job,
  outputs: readonly Output[],
  more: readonly ProtectedFile[] = [],
): Promise<void> {
  await refuseReplacement(outputs, [...(await filesOfJob(job)), ...more], force === true);
  for (const { path } of outputs) await checkOutput(path, job.input);
}
