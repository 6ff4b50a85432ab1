import { counted } from '../../base/format-numbers.ts';
import { commandLine } from '../../base/shell-words.ts';
import type { TopicSlug } from '../../contract/topics.ts';
import { type Job, NO_OUTPUT } from '../../job/settings.ts';
import { parseTopics, topicsInGroups } from '../../job/topic-choice.ts';
import { type Prepared, prepareAgain } from '../../run/prepare.ts';
import type { RunResult } from '../../run/run-job.ts';
import { colorFor, noColor } from '../messages/format.ts';
import type { OutputStyle } from '../messages/input-messages.ts';
import { isFree } from '../messages/plan-messages.ts';
import { topicsMessage } from '../messages/plan-places.ts';
import {
  costOfRest,
  findingMessages,
  longRowsMessage,
  lossMessages,
  type RestOfRun,
  reportCommand,
  resumeCommand,
  runMessages,
} from '../messages/run-messages.ts';
import type { Flags } from '../options/command-table.ts';
import { EXIT, exitCodeOfRun } from '../options/exit-codes.ts';
import { type CliContext, lineWidth, say } from './context.ts';

/** The command line of a run: its words and its options. */
export interface RunLine {
  readonly words: readonly string[];
  readonly flags: Flags<'run'>;
}

/** Prints the result of a run: as lines, as an event of `--log json`, or with --quiet what went wrong alone.
 * @param lost topics of the earlier output that the new one lacks */
export async function tellResult(
  context: CliContext,
  line: RunLine,
  { prepared, result }: { readonly prepared: Prepared; readonly result: RunResult },
  lost: readonly TopicSlug[],
): Promise<void> {
  const { words, flags } = line;
  const { job } = prepared;
  const exitCode = exitCodeOfRun(result);
  const isWrong = WRONG.has(exitCode);
  // The exit code and `status` tell of a pause.
  if (flags.quiet && !isWrong) return;
  const style = styleOf(context);
  const again = resumeCommand(words, flags, job, result, await priceRest(prepared, result));
  const isPlanShown = context.log === undefined && !flags.quiet;
  const { headline, facts, next } = runMessages(result, again, context.workingFolder, style, {
    isFree: isFree(prepared),
    isPlanShown,
  });
  if (context.log !== undefined) {
    const level = exitCode === EXIT.complete ? 'info' : isWrong ? 'error' : 'warning';
    const message = [headline, ...next].join(' ');
    context.log(level, 'finished', {
      exit_code: exitCode,
      state: result.state,
      message,
      summary: result.summary,
    });
    return;
  }
  if (flags.quiet) return say(context, [headline, ...next].join('\n'), 'error');
  const { findingsOfRun, sentenceOfTopic } = await import('../../report/figures/story.ts');
  const { findings: rowFindings, currency } = findingsOfRun(prepared, result.ratings);
  const findings = findingMessages(rowFindings, currency);
  const sentence = await sentenceOfTopic(prepared);
  const hasReport =
    flags.report !== undefined || job.output === NO_OUTPUT || result.summary.status.ok === 0;
  const reported = hasReport ? null : reportCommand(words, flags, job);
  const lines = [
    headline,
    ...facts,
    ...(result.summary.output_kept
      ? []
      : [
          ...longRowsMessage(prepared, context.workingFolder),
          ...lostMessage(line, prepared, lost),
          ...keptMessage(line, prepared, result),
        ]),
    ...findings,
    ...lossMessages(result.summary, currency),
    ...(sentence === null ? [] : [sentence]),
    ...(reported === null ? [] : [`Report: ${reported}`]),
    ...next,
  ];
  // Apart from the progress above it, where a person reads.
  say(context, `${context.stderr.isTTY === true ? '\n' : ''}${lines.join('\n')}`);
}

/** The width and colour of messages; a log has no colour. */
export function styleOf(context: CliContext): OutputStyle {
  const color = context.log === undefined ? colorFor(context, context.stderr) : noColor;
  return { width: lineWidth(context.stderr), color };
}

/** Says what an earlier version of the output has besides, and how to write both: the answers are still in the store. Columns that the input
 * brings are in the new output, too. */
export function lostMessage(
  line: RunLine,
  prepared: Prepared,
  before: readonly TopicSlug[],
  isWritten = true,
): string[] {
  const kept = keptTopics(prepared);
  const lost = before.filter((topic) => !kept.includes(topic));
  if (lost.length === 0) return [];
  const fate = isWritten ? 'was replaced: it had' : 'will be replaced: it has';
  const both = commandWith(line, prepared.job, lost);
  return [`The output ${fate} ${topicsMessage(lost)} too. To write both: ${both}`];
}

/** Says that kept columns of an earlier run lack answers, which this job does not ask for. */
function keptMessage(
  line: RunLine,
  prepared: Prepared,
  { summary: { partial_kept: rows } }: RunResult,
): string[] {
  if (rows === 0) return [];
  const kept = keptTopics(prepared);
  const what = `${counted(rows, 'row')} ${rows === 1 ? 'lacks' : 'lack'} answers in columns of an earlier run (${topicsMessage(kept)})`;
  return [
    `${what}; hazard_note says why. To ask for them too: ${commandWith(line, prepared.job, kept)}`,
  ];
}

/** The topics of the columns that the input has of an earlier run, and that stay. */
function keptTopics({ plan }: Prepared): TopicSlug[] {
  return [...new Set(plan.scan.layout.kept.map(({ topic }) => topic))];
}

/** The command that asks for other topics too. */
function commandWith({ words, flags }: RunLine, job: Job, others: readonly TopicSlug[]): string {
  const topics = [...job.topics, ...others];
  const all = parseTopics('all', topicsInGroups(job.service.kind));
  const isAll = topics.length === all.length && all.every((topic) => topics.includes(topic));
  const named = isAll ? 'all' : topics.join(',');
  return commandLine('run', words, { ...flags, topics: named });
}

/** What the next command names of the missing answers after the run. */
async function priceRest(prepared: Prepared, { state, stop }: RunResult): Promise<RestOfRun> {
  const { job, connection } = prepared;
  const isBudgeted = job.budget !== null;
  const isOver =
    connection.kind === 'local' || state === 'complete' || stop?.reason === 'store_moved';
  // A refusal that made the rest dearer stopped this run, or was known before.
  const mayBeDearer = stop?.reason === 'price' || prepared.plan.refusedWay !== null;
  if (isOver || !(isBudgeted || mayBeDearer)) return { credits: 0, acceptedPrice: null };
  // The next run is of all rows.
  const all = stop?.reason === 'rows' ? { ...prepared, job: { ...job, limit: null } } : prepared;
  const { plan } = await prepareAgain(all);
  return {
    credits: isBudgeted ? costOfRest(plan, stop) : 0,
    acceptedPrice: plan.refusedWay === null ? null : plan.price.credits,
  };
}

const WRONG: ReadonlySet<number> = new Set([
  EXIT.someFailed,
  EXIT.keyRefused,
  EXIT.serviceDown,
  EXIT.usage,
]);
