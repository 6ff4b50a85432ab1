import { basename, dirname, join } from 'node:path';
import { unopenedConnection } from '../../host/connection.ts';
import { makeEffects } from '../../host/run-host.ts';
import { resolveInput } from '../../job/input-setting.ts';
import type { Job } from '../../job/settings.ts';
import { compareWithOutput, type EarlierOutput } from '../../report/compare/compare-outputs.ts';
import type { CellClasses } from '../../report/figures/cell-classes.ts';
import { factsJson } from '../../report/figures/facts.ts';
import { reportOfLatestRun } from '../../report/figures/gather-facts.ts';
import { reportPage } from '../../report/html/page.ts';
import { extensionOf } from '../../rows/files/compression.ts';
import { inputFiles } from '../../run/frame/job-outputs.ts';
import type { Prepared } from '../../run/prepare.ts';
import { type CliContext, printJson, runHost, say } from '../frame/context.ts';
import { jobOfReport } from '../frame/job-of-options.ts';
import { openExistingStore } from '../frame/open-store.ts';
import { checkFiles, reportFile, reportOutput, writeReport } from '../frame/output-files.ts';
import { shownPath } from '../messages/format.ts';
import { type RunCommand, usageError } from '../options/command.ts';
import type { Flags } from '../options/command-table.ts';

/** `perilbook report`: writes the report of a job's latest run. Makes no calls, spends nothing. */
export const reportCommand: RunCommand<Flags<'report'>> = async (context, given, words) => {
  const flags = withPageNamed(given);
  const job = await jobOfReport(context, words, flags);
  const file = reportFile(context, flags.report) ?? besideOutput(job, context.workingFolder);
  if (flags.json && file === '-') {
    throw usageError(
      '--json and --report - both write to stdout',
      'Write the report to a file or leave out --json.',
    );
  }
  await using store = await openExistingStore(context, job, flags);
  const host = runHost(context);
  const earlier = flags.compare === undefined ? null : earlierOutput(context, flags.compare);
  const rows = [job.output, ...(earlier === null ? [] : await inputFiles(earlier))];
  const ofRows = rows.map((path) => ({ path, what: 'is an output with rows' }));
  await checkFiles(flags, job, [reportOutput(file)], ofRows);
  const compare =
    earlier === null
      ? undefined
      : (prepared: Prepared, complete: CellClasses) =>
          compareWithOutput(earlier, prepared, complete);
  const connection = await unopenedConnection(host, job);
  const { facts, map } = await reportOfLatestRun(
    job,
    connection,
    store,
    makeEffects(host),
    compare,
  );
  const on = job.input === '-' ? 'standard input' : shownPath(job.input, context.workingFolder);
  if (facts.runAt === null) {
    const what = `Job "${job.name}" has not run on ${on}: the report shows only answers that the store already has.`;
    const hint = 'Run it first (perilbook run), or see perilbook status for the runs of the store.';
    say(context, `${what}\n  hint: ${hint}`, 'warning');
  }
  if (facts.changes !== null && facts.changes.gone.rows === facts.changes.before.rows) {
    // Probably another input's output was named.
    say(context, `No row of ${earlier!.name} is in ${on}.`, 'warning');
  }
  if (earlier !== null && (earlier.parts?.folder ?? earlier.input) === job.output) {
    const only = 'only what changed since its run can be shown';
    say(context, `${earlier.name} is the output that is reported on: ${only}.`, 'warning');
  }
  await writeReport(context, file, job.input, reportPage(facts, map));
  if (file !== '-') say(context, `Wrote the report to ${shownPath(file, context.workingFolder)}`);
  if (flags.json) printJson(context, { report: file, ...factsJson(facts) });
};

/** The output that `--compare` names: a file, a folder or a pattern. */
function earlierOutput({ workingFolder }: CliContext, named: string): EarlierOutput {
  const { input, parts } = resolveInput(named, undefined, workingFolder);
  return { name: basename(input), input, parts };
}

/** `-o x.html` means the report: this command writes no rows, and no row file is called `.html`. */
function withPageNamed(flags: Flags<'report'>): Flags<'report'> {
  const { output, report, ...others } = flags;
  const isPage = report === undefined && typeof output === 'string' && /\.html?$/i.test(output);
  return isPage ? { ...others, report: output } : flags;
}

function besideOutput({ output, name }: Job, folder: string): string {
  if (output === '-') return join(folder, `${name.replace(/[^\w.-]+/g, '-')}.report.html`);
  return join(dirname(output), `${basename(output, extensionOf(output))}.report.html`);
}
