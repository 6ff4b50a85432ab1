import { basename, dirname, join, resolve } from 'node:path';
import type { Job } from '../../job/settings/settings.ts';
import { reportOfLatestRun } from '../../report/make-report.ts';
import { extensionOf } from '../../rows/files/compression.ts';
import { checkOutput, openOutput, writeWhole } from '../../rows/files/output-file.ts';
import { filesOfStore } from '../../store/store-address.ts';
import type { Flags } from '../command.ts';
import { unopenedConnection } from '../connection.ts';
import { type CliContext, say } from '../context.ts';
import { runEffects } from '../effects.ts';
import { EXIT } from '../exit-codes.ts';
import { jobOf, jobWords } from '../job-options.ts';
import { shownPath } from '../messages/format.ts';
import { openStore } from '../open-store.ts';

/** `perilbook report`: writes the report of a job's latest run. Makes no calls, spends nothing. */
export async function reportCommand(context: CliContext, given: Flags): Promise<number> {
  const flags = withPageNamed(given);
  const job = jobOf(context, jobWords(flags), flags);
  const file = reportFile(context, flags) ?? besideOutput(job, context.workingFolder);
  await checkOutput(file, job.input, filesOfStore(job.store));
  await using store = await openStore(context, job);
  const page = await reportOfLatestRun(job, unopenedConnection(context, job), store, runEffects(context));
  await writeReport(context, file, page);
  if (file !== '-') say(context, `Wrote the report to ${shownPath(file, context.workingFolder)}`);
  return EXIT.complete;
}

/** `-o x.html` means the report: this command writes no rows, and no row file is called `.html`. */
function withPageNamed(flags: Flags): Flags {
  const { output, report, ...others } = flags;
  const isPage = report === undefined && typeof output === 'string' && /\.html?$/i.test(output);
  return isPage ? { ...others, report: output } : flags;
}

/** The file that `--report` names, from the working folder; null if it is not given. */
export function reportFile(context: CliContext, flags: Flags): string | null {
  const said = flags.report as string | undefined;
  return said === undefined || said === '-' ? (said ?? null) : resolve(context.workingFolder, said);
}

/** Writes the page whole or not at all. @throws OUTPUT_UNWRITABLE */
export async function writeReport(context: CliContext, file: string, page: string): Promise<void> {
  const output = await openOutput(file, null, context.stdout);
  await writeWhole(output, undefined, () => output.write(Buffer.from(page)));
}

function besideOutput({ output, name }: Job, folder: string): string {
  if (output === '-') return join(folder, `${name.replace(/[^\w.-]+/g, '-')}.report.html`);
  return join(dirname(output), `${basename(output, extensionOf(output))}.report.html`);
}
