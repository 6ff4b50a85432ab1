import { existsSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { resolveInput } from '../../job/input-setting.ts';
import { type Job, NO_OUTPUT } from '../../job/settings.ts';
import { unopenedConnection } from '../../library/connection.ts';
import { makeEffects } from '../../library/run-host.ts';
import { compareWithOutput, type EarlierOutput } from '../../report/compare/compare-outputs.ts';
import type { CellClasses } from '../../report/figures/cell-classes.ts';
import { factsJson } from '../../report/figures/facts.ts';
import { reportOfLatestRun } from '../../report/figures/gather-facts.ts';
import { reportPage } from '../../report/html/page.ts';
import { extensionOf } from '../../rows/files/compression.ts';
import type { Prepared } from '../../run/prepare.ts';
import { inputFiles } from '../../run/protected-files.ts';
import type { Store } from '../../store/port.ts';
import type { RunRecord } from '../../store/runs/port.ts';
import { type RunCommand, usageError } from '../command.ts';
import type { Flags } from '../command-table.ts';
import { type CliContext, runHost, say, sayJson } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { jobOfReport } from '../job-of-options.ts';
import { shownPath } from '../messages/format.ts';
import { openExistingStore } from '../open-store.ts';
import { checkFiles, reportFile, reportOutput, writeReport } from '../output-files.ts';

/** `perilbook report`: writes the report of a job's latest run. Makes no calls, spends nothing. */
export const reportCommand: RunCommand<Flags<'report'>> = async (context, given, words) => {
  const flags = withPageNamed(given);
  const job = await jobOfReport(context, words, flags);
  const file = reportFile(context, flags.report) ?? besideOutput(job, context.workingFolder);
  if (flags.json && file === '-') {
    throw usageError('--json and --report - both write to stdout', 'Write the report to a file or leave out --json.');
  }
  await using store = await openExistingStore(context, job, flags);
  const host = runHost(context);
  const earlier = flags.compare === undefined ? null : await earlierOutput(context, flags.compare, store);
  const rows = [job.output, ...(earlier === null ? [] : await inputFiles(earlier))];
  const ofRows = rows.map((path) => ({ path, what: 'is an output with rows' }));
  await checkFiles(flags, job, [reportOutput(file)], ofRows);
  const compare =
    earlier === null
      ? undefined
      : (prepared: Prepared, complete: CellClasses) => compareWithOutput(earlier, prepared, complete);
  const connection = await unopenedConnection(host, job);
  const { facts, map } = await reportOfLatestRun(job, connection, store, makeEffects(host), compare);
  const on = job.input === '-' ? 'standard input' : shownPath(job.input, context.workingFolder);
  if (facts.runAt === null) {
    const what = `perilbook: Job "${job.name}" has not run on ${on}: the report shows only answers that the store already has.`;
    const hint = 'Run it first (perilbook run), or see perilbook status for the runs of the store.';
    say(context, `${what}\n  ${hint}`, 'warning');
  }
  if (facts.changes !== null && facts.changes.gone.rows === facts.changes.before.rows) {
    say(context, await noMatchMessage(job, on, earlier!, store), 'warning');
  }
  if (earlier !== null && (earlier.parts?.folder ?? earlier.input) === job.output) {
    const only = 'only what changed since its run can be shown';
    say(context, `perilbook: ${earlier.name} is the output that is reported on: ${only}.`, 'warning');
  }
  await writeReport(context, file, job.input, reportPage(facts, map));
  if (file !== '-') say(context, `Wrote the report to ${shownPath(file, context.workingFolder)}`);
  if (flags.json) sayJson(context, { report: file, ...factsJson(facts) });
  return EXIT.complete;
};

/** No row of the earlier output is in the input: probably another input's output was named. */
async function noMatchMessage({ input }: Job, on: string, { name, run }: NamedOutput, store: Store): Promise<string> {
  const runs = await store.runs({});
  const own = runs.filter((record) => record.input === input && hasFile(record) && !findReplacing(record, runs));
  const numbers = own.filter((record) => record.run !== run).map((record) => record.run);
  const others = numbers.length === 0 ? '' : `\n  Runs of ${on} to compare with: ${numbers.join(', ')}.`;
  return `perilbook: No row of ${name}${run === null ? '' : ` (run ${run})`} is in ${on}.${others}`;
}

function hasFile({ output }: RunRecord): boolean {
  return output !== '-' && output !== NO_OUTPUT;
}

/** An earlier output, and the number of its run if `--compare` named a run. */
interface NamedOutput extends EarlierOutput {
  readonly run: number | null;
}

/** The output that `--compare` names: a file, a folder or a pattern; else that of a run, by its number or by the name of its job. @throws USAGE */
async function earlierOutput(context: CliContext, named: string, store: Store): Promise<NamedOutput> {
  const folder = context.workingFolder;
  const run = existsSync(resolve(folder, named)) ? null : await findRun(context, named, store);
  const { input, parts } = resolveInput(run?.output ?? named, undefined, folder);
  return { name: basename(input), input, parts, run: run?.run ?? null };
}

/** The run `named`, by its number or by the name of its job; null if `named` is neither. @throws USAGE */
async function findRun(context: CliContext, named: string, store: Store): Promise<RunRecord | null> {
  const runs = await store.runs({});
  const isNumber = /^\d+$/.test(named);
  const wanted = runs.find(({ run, job }) => (isNumber ? run === Number(named) : job === named));
  if (wanted === undefined && !isNumber) return null;
  if (wanted === undefined || !hasFile(wanted)) {
    const where = wanted?.output === '-' ? 'to standard output' : 'no file';
    const what = wanted === undefined ? `There is no run ${named} in the store` : `Run ${named} wrote ${where}`;
    throw usageError(what, 'See perilbook status for the runs, or name an earlier output file.');
  }
  const later = findReplacing(wanted, runs);
  if (later !== undefined) {
    throw usageError(
      `The output of run ${wanted.run} was replaced by run ${later.run}: ${shownPath(wanted.output, context.workingFolder)}`,
      'Name a copy of the earlier output: --compare FILE.',
    );
  }
  return wanted;
}

/** A later run with the same output. */
function findReplacing(wanted: RunRecord, runs: readonly RunRecord[]): RunRecord | undefined {
  return runs.find(({ run, output }) => run > wanted.run && output === wanted.output);
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
