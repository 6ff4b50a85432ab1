import { counted } from '../../base/format-numbers.ts';
import { commandLine } from '../../base/shell-words.ts';
import type { TopicSlug } from '../../contract/topics.ts';
import { openRun } from '../../host/run-host.ts';
import type { Job } from '../../job/settings.ts';
import { runFacts } from '../../run/estimate.ts';
import { topicsOnlyBefore } from '../../run/frame/earlier-output.ts';
import { outputFiles, rowsOutput, writtenOutputs } from '../../run/frame/job-outputs.ts';
import { type Prepared, prepareAgain } from '../../run/prepare.ts';
import { runJob } from '../../run/run-job.ts';
import type { Store } from '../../store/port.ts';
import { approveSpending, asksToSpend, canAsk } from '../frame/ask-approval.ts';
import { type CliContext, runHost, say, sayJson } from '../frame/context.ts';
import { openFinish } from '../frame/finish.ts';
import { readJob } from '../frame/job-of-options.ts';
import { checkFiles, reportFile, reportOutput, writeReport } from '../frame/output-files.ts';
import { lostMessage, styleOf, tellResult } from '../frame/tell-result.ts';
import { readingMessage, shownPath } from '../messages/format.ts';
import { firstRowMessages } from '../messages/input-messages.ts';
import { runPlanMessages } from '../messages/plan-messages.ts';
import { usageError } from '../options/command.ts';
import type { Flags } from '../options/command-table.ts';
import { exitCodeOfError, exitCodeOfRun } from '../options/exit-codes.ts';
import { showProgress } from '../progress/show.ts';

/** `perilbook run`: scan, plan, approve, fetch, write; then on_finish, also after an error. */
export async function runCommand(
  context: CliContext,
  flags: Flags<'run'>,
  words: readonly string[],
): Promise<number> {
  const job = readJob(context, words, flags);
  const finish = await openFinish(context, job);
  try {
    const outcome = await runAndReport(context, flags, words, job);
    await finish(outcome);
    return outcome.exitCode;
  } catch (error) {
    await finish({ kind: 'error', error, exitCode: exitCodeOfError(error) });
    throw error;
  }
}

async function runAndReport(
  context: CliContext,
  flags: Flags<'run'>,
  words: readonly string[],
  job: Job,
) {
  const messages = { ...context, isQuiet: flags.quiet === true };
  if (context.log === undefined) say(messages, readingMessage(words));
  const report = reportOfRun(context, flags, job);
  // Imported here: its sources and the YAML reader are 80 modules, which a run without a terminal does not need.
  if (canAsk(messages))
    await (await import('../frame/offer-data.ts')).offerData(messages, flags, job);
  // Read before the run replaces it, and only where it is printed.
  const lost = flags.quiet || context.log !== undefined ? [] : await topicsOnlyBefore(job);
  await using owned = new AsyncDisposableStack();
  const { prepared, result } = await planAndRun(
    context,
    flags,
    { words, job, report, lost },
    owned,
  );
  if (report !== null) {
    const { gatherFacts } = await import('../../report/figures/gather-facts.ts');
    const { reportPage } = await import('../../report/html/page.ts');
    const { facts, map } = await gatherFacts(await prepareAgain(prepared), context.clock.now());
    await writeReport(context, report, job.input, reportPage(facts, map));
    say(messages, `Wrote the report to ${shownPath(report, context.workingFolder)}`);
  }
  // After the report, because an error of the report is JSON too and `--json` prints one value.
  if (flags.json) sayJson(context, result.summary);
  await tellResult(
    context,
    { words, flags },
    { prepared, result },
    asksToSpend(context, flags, prepared) ? [] : lost,
  );
  return { kind: 'ended', result, exitCode: exitCodeOfRun(result) } as const;
}

/** The file of `--report`; null: none. @throws USAGE where two outputs would be one */
function reportOfRun(context: CliContext, flags: Flags<'run'>, job: Job): string | null {
  if (flags.json && job.output === '-') {
    throw usageError(
      '--json and -o - both write to stdout',
      'Write the output to a file or leave out --json.',
    );
  }
  const report = reportFile(context, flags.report);
  if (report !== '-') return report;
  throw usageError(
    'run --report needs a file of its own',
    'Name another file, or run perilbook report afterwards.',
  );
}

/** Prices, asks, buys and writes, with the progress shown. `owned` closes the store and the connection. */
async function planAndRun(
  context: CliContext,
  flags: Flags<'run'>,
  { words, job, report, lost }: RunRequest,
  owned: AsyncDisposableStack,
) {
  const messages = { ...context, isQuiet: flags.quiet === true };
  using show = showProgress(context, flags.quiet === true);
  const { progress, say: notice } = show;
  const check = async (store: Store) => {
    const rows = rowsOutput(job.output, job, () => writtenOutputs(store, job));
    const outputs = [
      ...(job.parts === null ? [rows] : []),
      ...(report === null ? [] : [reportOutput(report)]),
    ];
    // No other output of the run may replace the rows.
    const ofParts =
      job.parts === null
        ? []
        : (await outputFiles(job)).map((path) => ({ path, what: 'is an output of the run' }));
    await checkFiles(flags, job, outputs, ofParts);
  };
  const opened = owned.use(
    await openRun(runHost(context, notice), job, {
      progress,
      check,
      interrupt: context.interrupt,
      announce: flags.quiet ? () => {} : notice,
      trace: flags.debug ? notice : undefined,
    }),
  );
  let approved: { readonly text: string; readonly most: number } | null = null;
  const done = await runJob(opened.context, {
    renew: opened.renew,
    force: flags.force === true,
    commandWith: (output) =>
      commandLine('run', words, { ...flags, output: shownPath(output, context.workingFolder) }),
    approve: async (prepared) => {
      show.pause();
      const isAsked = asksToSpend(context, flags, prepared);
      const text =
        context.log === undefined
          ? await planText(context, prepared, isAsked)
          : JSON.stringify(prepared.summary);
      const { credits_limit: most } = prepared.summary;
      // A run that begins again with new data: the same plan is not told, nor asked, again.
      if (text !== approved?.text || most !== approved.most) {
        if (context.log === undefined) say(messages, text);
        else if (!flags.quiet) context.log('info', 'planned', { plan: prepared.summary });
        for (const line of isAsked ? lostMessage({ words, flags }, prepared, lost, false) : [])
          say(messages, line);
        const how = {
          what: 'run',
          spending: `Add --yes or --budget ${most}, or set budget: in the job file.`,
        };
        await approveSpending(context, flags, prepared, how, job.input !== '-');
      }
      approved = { text, most };
      show.resume(runFacts(prepared));
    },
  }).catch((error: unknown) => {
    const { creditsSpent } = progress;
    // With --quiet too: it belongs to the error, which follows.
    if (creditsSpent > 0) say(context, `spent  ${counted(creditsSpent, 'credit')}`);
    throw error;
  });
  return owned.use(done);
}

/** The plan in words, with what is to be said of its first row. */
async function planText(
  context: CliContext,
  prepared: Prepared,
  isAsked: boolean,
): Promise<string> {
  const style = styleOf(context);
  const lines = runPlanMessages(prepared, context.workingFolder, style);
  const first = await firstRowMessages(prepared, style.width);
  // On a terminal the progress goes again, and a blank line comes before the result.
  const isApart =
    first.length === 0 && lines.includes('') && (isAsked || context.stderr.isTTY !== true);
  return [...lines, ...(isApart ? [''] : []), ...first].join('\n');
}

/** A run, and the topics that its earlier output has and the job does not ask for. */
interface RunRequest {
  readonly words: readonly string[];
  readonly job: Job;
  readonly report: string | null;
  readonly lost: readonly TopicSlug[];
}
