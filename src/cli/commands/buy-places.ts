import { NO_OUTPUT } from '../../job/settings/settings.ts';
import { openRowFile } from '../../rows/open-row-file.ts';
import type { Flags } from '../command.ts';
import type { CliContext } from '../context.ts';
import { jobOf } from '../job-options.ts';
import { runCommand } from './run.ts';

/** The column with the weight of a place, as `perilbook sql` names it. */
const WEIGHT = 'weight';

/**
 * `perilbook places`: buys a table of distinct places. It is a run with two other defaults: the heaviest places come first, and
 * without an output the answers only go into the store.
 */
export async function placesCommand(context: CliContext, flags: Flags): Promise<number> {
  const isJobFile = /\.ya?ml$/i.test(String(flags.job));
  const output = flags.output ?? (isJobFile ? undefined : NO_OUTPUT);
  const job = jobOf(context, flags.job as string | undefined, flags);
  const isOrdered = flags['order-by'] !== undefined || job.orderBy.kind !== 'file' || job.input === '-';
  const orderBy = isOrdered ? flags['order-by'] : await weightColumn(job.input, job.reading);
  return await runCommand(context, {
    ...flags,
    ...(output === undefined ? {} : { output }),
    ...(orderBy === undefined ? {} : { 'order-by': orderBy }),
  });
}

async function weightColumn(...opening: Parameters<typeof openRowFile>): Promise<string | undefined> {
  const { columns } = await openRowFile(...opening);
  return columns.find((name) => name.toLowerCase() === WEIGHT);
}
