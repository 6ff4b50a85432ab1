import { openJobInput } from '../../run/parts/job-input.ts';
import { type Job, NO_OUTPUT } from '../../run/settings/settings.ts';
import type { Flags } from '../command.ts';
import type { CliContext } from '../context.ts';
import { jobOf } from '../job-of-options.ts';
import { WEIGHT } from '../messages/value-name.ts';
import { runCommand } from './run.ts';

/**
 * `perilbook places`: buys a table of distinct places. It is a run with two other defaults: the heaviest places come first, and
 * without an output the answers only go into the store. Part files are written as by a run: their output is a folder.
 */
export async function placesCommand(context: CliContext, flags: Flags): Promise<number> {
  const job = jobOf(context, flags.job as string | undefined, flags);
  const isJobFile = /\.ya?ml$/i.test(String(flags.job));
  const isOnlyStored = flags.output === undefined && !isJobFile && job.parts === null;
  const isOrdered = flags['order-by'] !== undefined || job.orderBy.kind !== 'file' || job.input === '-';
  const weight = isOrdered ? undefined : await weightColumn(context, job);
  return await runCommand(context, {
    ...flags,
    ...(isOnlyStored ? { output: NO_OUTPUT } : {}),
    ...(weight === undefined ? {} : { 'order-by': weight }),
  });
}

async function weightColumn({ stdin, stdout }: CliContext, job: Job): Promise<string | undefined> {
  const { columns } = await openJobInput(job, { stdin, stdout });
  return columns.find((name) => name.toLowerCase() === WEIGHT);
}
