import { amount, counted, dateTime, grouped, percent } from '../../base/format-numbers.ts';
import { commandLine, type OptionValues } from '../../base/shell-words.ts';
import { ROW_STATUSES } from '../../columns/row-status.ts';
import { topicOf } from '../../contract/topics.ts';
import { type Job, NO_OUTPUT } from '../../job/settings.ts';
import type { RatingFinding } from '../../report/figures/story.ts';
import { otherFormat } from '../../rows/open/open-row-file.ts';
import { verificationText } from '../../run/areas/area-verification.ts';
import { periodLimit } from '../../run/frame/account-state.ts';
import { STOPS, type Stop } from '../../run/frame/stop.ts';
import type { KeptBecause } from '../../run/output-decision.ts';
import type { Plan } from '../../run/plan/planning.ts';
import type { Prepared } from '../../run/prepare.ts';
import { allLocationsRejected, type RunResult } from '../../run/run-job.ts';
import { lackingRows, locatedIn } from '../../run/summary.ts';
import type { LossSummary } from '../../run/summary-shapes.ts';
import { COMMAND_TABLE } from '../options/command-table.ts';
import { shownPath } from './format.ts';
import { invalidRowsMessage, type OutputStyle } from './input-messages.ts';
import { savingsMessage } from './plan-places.ts';

/** The lines of a result: how the run ended, its facts, and what to do next. */
interface RunMessages {
  readonly headline: string;
  readonly facts: readonly string[];
  readonly next: readonly string[];
}

/** The result of a run: how it ended; what it wrote and spent; what to do next.
 * @param before whether nobody is charged (`isFree`), and whether the plan was printed, with what is wrong with rows */
export function runMessages(
  { summary, stop }: RunResult,
  again: string,
  folder: string,
  { color }: OutputStyle,
  { isFree, isPlanShown }: { readonly isFree: boolean; readonly isPlanShown: boolean },
): RunMessages {
  const { saved } = summary;
  const isLocal = summary.source.kind === 'local';
  // Made-up answers save nobody's credits.
  const savings = summary.source.kind === 'service' ? savingsMessage(saved) : '';
  const parts = [
    writtenMessage(summary, folder),
    isLocal ? '' : spentMessage(summary, isFree),
    savings === '' ? '' : `Saved: ${savings}.`,
  ];
  const facts = [parts.filter(Boolean).join(' ')];
  if (summary.credits_unknown > 0) {
    const unknown = counted(summary.credits_unknown, 'credit');
    facts.push(
      `Unknown: ${unknown} of calls without a usable answer; the provider may have charged them.`,
    );
  }
  if (summary.areas) {
    const { areas_verified: verified, areas_differed: differed } = summary.areas;
    const each = summary.areas.each_place ? '; each place is bought for itself' : '';
    // A run that ends early has written rows of areas that it has not verified.
    const soFar = stop === null ? '' : ' so far';
    facts.push(`Areas: ${verificationText({ verified, differed })}${soFar}${each}.`);
  }
  // Of the sample the plan has said it before the run.
  if (summary.sample_data && summary.source.kind !== 'sample')
    facts.push('Sample data is made up: do not base decisions on it.');
  const { head, next } = describeEnd(stop, summary, again);
  const nexts = [
    ...(isPlanShown ? [] : invalidRowsMessage(summary)),
    ...(next === null ? [] : [next]),
  ];
  return { headline: color('bold', head), facts, next: nexts.map((line) => color('bold', line)) };
}

function writtenMessage(summary: RunResult['summary'], folder: string): string {
  const { status, output } = summary;
  const { output_kept_because: because } = summary;
  if (because !== null)
    return `Kept: ${outputName(output, folder)} as it was, because ${KEPT_BECAUSE[because]}.`;
  const statuses = ROW_STATUSES.filter((name) => status[name] > 0).map(
    (name) => `${grouped(status[name])} ${name}`,
  );
  const parts = summary.parts === null ? '' : `${counted(summary.parts.total, 'part')}, `;
  const rows = `${parts}${counted(summary.rows, 'row')}${statuses.length === 0 ? '' : ` (${statuses.join(', ')})`}`;
  return `Written: ${outputName(output, folder)}, ${rows}.`;
}

const KEPT_BECAUSE: Readonly<Record<KeptBecause, string>> = {
  no_rows: 'the input has no rows',
  no_answer: 'this run got no answer',
  fewer_answers:
    'it has more rows with answers than this run. What was bought is in the store; to write it all the same: --force',
};

/** Rows with more fields than columns: their new fields are not under the names of the header. */
export function longRowsMessage({ job, plan, summary }: Prepared, folder: string): string[] {
  const found = summary.findings.find(({ finding }) => finding === 'too_many_fields');
  if (found === undefined || job.output === NO_OUTPUT) return [];
  const { rows, first_line, part } = found;
  const isKept = otherFormat(plan.scan.rowFile, job.input, job.output) === null;
  const name = outputName(job.output, folder);
  const [have, their] = rows === 1 ? ['has', 'its'] : ['have', 'their'];
  const fate = isKept
    ? `${their} new fields stand farther right in ${name}`
    : `${their} extra fields are not in ${name}`;
  const where = `first: line ${first_line}${part === undefined ? '' : ` of ${part}`}`;
  return [
    `${counted(rows, 'row')} ${have} more fields than there are columns (${where}): ${fate}.`,
  ];
}

function outputName(output: string, folder: string): string {
  if (output === NO_OUTPUT) return 'no file';
  return output === '-' ? 'stdout' : shownPath(output, folder);
}

/** Planned is the price of all that is missing, as in `status`. A run may spend more: a call may cost more, or lack a topic that the plan
 * expects. */
function spentMessage(summary: RunResult['summary'], isFree: boolean): string {
  const { credits_spent: spent, credits_limit: limit, credits: planned, this_run } = summary;
  const {
    credits_by_others: byOthers,
    calls_above_price: dearer,
    credits_above_price: above,
  } = summary;
  if (spent === 0 && this_run.credits === 0) return 'Spent: nothing.';
  if (summary.source.kind === 'sample') {
    // A free run has said it before.
    if (isFree && spent === planned) return '';
    const price = counted(Math.max(spent, planned), 'credit');
    return `A paid service would charge ${spent < planned ? `${grouped(spent)} of ${price} planned` : price}.`;
  }
  const others = byOthers > 0 ? `; other runs bought ${grouped(byOthers)} meanwhile` : '';
  if (spent <= planned)
    return `Spent: ${grouped(spent)} of ${counted(planned, 'credit')} planned${others}.`;
  const within = spent <= limit ? `, within the ${grouped(limit)} allowed` : '';
  const reasons = [
    ...(dearer > 0
      ? [`the service charged more than the plan's price for ${counted(dearer, 'call')}`]
      : []),
    ...(spent - above > planned
      ? ['topics were asked again or in bundles, or more places bought']
      : []),
  ];
  return `Spent: ${counted(spent, 'credit')}, ${grouped(spent - planned)} more than planned${within}: ${reasons.join('; ')}.`;
}

/** The most important ratings in one line; none without a finding. */
export function findingMessages(
  findings: readonly RatingFinding[],
  currency: string | null,
): string[] {
  const texts = findings.map(({ title, rating, rated, answered }) => {
    const worth = rated.value ? `, ${amount(rated.value, currency)} of value` : '';
    return `${title}, ${grouped(rated.locations)} of ${grouped(answered.locations)} answered ${rating}${worth}`;
  });
  return texts.length === 0 ? [] : [`Highest: ${texts.join('; ')}`];
}

/** `Expected annual loss: $1.40 M a year, 0.033 % of the value; Hurricane 91 %`, a line for each currency; none where it is unknown.
 * @param currency that of a file that names none */
export function lossMessages(
  { losses = [], columns }: RunResult['summary'],
  currency: string | null,
): string[] {
  const of = columns.loss_value?.join(' + ') ?? '';
  return losses
    .filter(({ value }) => value !== 0)
    .map((own) => lossMessage(own, of, losses.length === 1 ? currency : own.currency));
}

function lossMessage(
  { annual_loss: loss, value, all_value: all, topics }: LossSummary,
  of: string,
  currency: string | null,
): string {
  const share = Number(((100 * loss) / value).toPrecision(2));
  const [first] = topics;
  const most =
    first === undefined || loss <= 0
      ? ''
      : `; ${topicOf(first.topic).title} ${percent(first.annual_loss / loss)}`;
  const rated = value < all ? `; ${percent(value / all)} of the value has a rate` : '';
  return `Expected annual loss: ${amount(loss, currency)} a year, ${share} % of the value (${of})${most}${rated}`;
}

/** `3,333 of 36,540 locations are complete (9 %; 87 % of the value).` */
function completeMessage({ status, complete }: RunResult['summary']): string {
  const located = locatedIn(status);
  const value = complete.value === null ? '' : `; ${percent(complete.value)} of the value`;
  return `${grouped(status.ok)} of ${counted(located, 'location')} ${located === 1 ? 'is' : 'are'} complete (${percent(complete.rows)}${value}).`;
}

interface EndWords {
  /** How the run ended. */
  readonly head: string;
  /** The next step; null for none. */
  readonly next: string | null;
}

function describeEnd(
  stop: RunResult['stop'],
  summary: RunResult['summary'],
  again: string,
): EndWords {
  return stop === null ? describeFinish(summary, again) : describeStop(stop, summary, again);
}

function describeStop(
  { reason, message, resumeAfter }: Stop,
  summary: RunResult['summary'],
  again: string,
): EndWords {
  const { credits_spent, credits_unknown, credits_limit, source } = summary;
  const complete = completeMessage(summary);
  const row = STOPS[reason];
  if (row.state === 'interrupted') {
    const how = source.kind === 'local' ? 'looked up' : 'bought';
    return {
      head: `Interrupted. Answers that were ${how} are kept. ${complete}`,
      next: `${row.next}: ${again}`,
    };
  }
  const stopped = (more: string, next: string | null) => ({
    head: `Stopped. ${more} ${complete}`,
    next,
  });
  // Its message says what to do.
  if (reason === 'store_moved') return stopped(`${message} [${STOPS.store_moved.code}]`, null);
  if (row.state === 'stopped') return stopped(message, `${row.remedy}, then: ${again}`);
  const when =
    resumeAfter !== null ? ` after ${dateTime(resumeAfter)}` : row.isFailure ? ' later' : '';
  if (reason !== 'budget') return stopped(message, `${row.next}${when}: ${again}`);
  const spent = credits_spent + credits_unknown;
  if (spent === 0) return stopped(message, `To resume with a larger budget: ${again}`);
  const left = counted(credits_limit - spent, 'credit');
  const unspent = spent < credits_limit ? ` It leaves ${left}, too little for the next place.` : '';
  return stopped(`${message}${unspent}`, `${row.next}: ${again}`);
}

function describeFinish(summary: RunResult['summary'], again: string): EndWords {
  const { status, partial_kept, credits_spent, source, last_failure } = summary;
  const ok = status.ok + partial_kept;
  const lacking = lackingRows(summary);
  const located = locatedIn(status);
  if (located === 0) return { head: 'Ended: no row can be looked up.', next: null };
  if (source.kind !== 'local' && allLocationsRejected(status)) {
    const rows =
      status.rejected === 1 ? 'the one location' : `all ${grouped(status.rejected)} locations`;
    return {
      head: `Ended: the service rejected ${rows}; see hazard_note.`,
      next: `If that is wrong, check base_url, run perilbook cache prune --rejected, then: ${again}`,
    };
  }
  if (lacking === 0) {
    const rejected =
      status.rejected > 0 ? `, ${grouped(status.rejected)} rejected by the service` : '';
    const some =
      located === ok ? `all ${grouped(located)}` : `${grouped(ok)} of ${grouped(located)}`;
    const who = located === 1 && ok === 1 ? 'the one location has' : `${some} locations have`;
    return { head: `Complete: ${who} answers${rejected}.`, next: null };
  }
  if (source.kind === 'local') {
    const rows = lacking === 1 ? 'row lacks' : 'rows lack';
    return {
      head: `Ended: ${grouped(lacking)} ${rows} answers; hazard_note says which data to get.`,
      next: null,
    };
  }
  // A wrong address answers 404 to every call: to retry alone would never help.
  if (status.failed === lacking && ok === 0 && credits_spent === 0) {
    return {
      head: `Ended: no row got an answer${last_failure === null ? '' : `. ${last_failure}`}.`,
      next: `Check base_url, then: ${again}`,
    };
  }
  const rows = lacking === 1 ? 'row is' : 'rows are';
  const why = last_failure === null ? '' : ` The last failure: ${last_failure}.`;
  return {
    head: `Ended: ${grouped(lacking)} ${rows} not complete.${why}`,
    next: `To retry: ${again}`,
  };
}

/** What the command that resumes a run names of the rest. */
export interface RestOfRun {
  /** Of `costOfRest`; 0: nothing known is missing, or no budget is to be named. */
  readonly credits: number;
  /** The price to accept, because the service refused a cheaper way; null where it did not. */
  readonly acceptedPrice: number | null;
}

/** The command line that resumes a run. With a budget it names another, because the same one could be spent twice. People read it, so it
 * leaves `--json` out.
 * @param rest what is missing */
export function resumeCommand(
  words: readonly string[],
  flags: OptionValues,
  job: Pick<Job, 'budget'>,
  result: RunResult,
  { credits, acceptedPrice }: RestOfRun,
): string {
  const budget = resumeBudget(job, result, credits);
  const others = {
    ...flags,
    json: undefined,
    'accept-price': acceptedPrice ?? undefined,
    ...(result.stop?.reason === 'rows' && { limit: undefined }),
  };
  return commandLine(
    'run',
    words,
    budget === null || budget === job.budget ? others : { ...others, budget },
  );
}

/** The command line that writes the report of a run; null where its rows were not written to a file. A report of a job file takes the
 * options of the run, one of an input file remembers them. */
export function reportCommand(
  words: readonly string[],
  flags: OptionValues,
  { input, output, jobFile }: Pick<Job, 'input' | 'output' | 'jobFile'>,
): string | null {
  if (input === '-' || output === '-' || output === NO_OUTPUT) return null;
  if (jobFile === null) return commandLine('report', words, { store: flags.store });
  const shared = Object.entries(flags).filter(
    ([name]) => name in COMMAND_TABLE.report.options && !OF_RUN.includes(name),
  );
  return commandLine('report', words, Object.fromEntries(shared));
}

/** Options of a report that a run has too, and that concern the run alone. */
const OF_RUN: readonly string[] = ['budget', 'force', 'json', 'limit', 'report'];

/** The price of the missing answers, at most what the billing period that pays has: this one, or the next if this one has nothing left.
 * @param plan made after the run, which may have learned that bundles return more */
export function costOfRest({ price, bounds, account }: Plan, stop: RunResult['stop']): number {
  const isSpent = bounds.quota === 0 || stop?.reason === 'quota';
  return Math.min(
    price.credits,
    isSpent && account !== null ? periodLimit(account.account) : bounds.quota,
  );
}

/** The budget that a run needs to go on: what is still missing, but where the run's own budget did not end it, no more than what is left of
 * that. Null: the run had none. */
function resumeBudget(
  { budget }: Pick<Job, 'budget'>,
  { stop, summary }: RunResult,
  rest: number,
): number | null {
  if (budget === null) return null;
  const left = budget - summary.credits_spent - summary.credits_unknown;
  if (rest === 0) return left > 0 ? left : budget;
  // The budget of a trial with the first rows is not meant for all.
  const isOver = left <= 0 || ['budget', 'price', 'rows'].includes(stop?.reason ?? '');
  return isOver ? rest : Math.min(left, rest);
}
