import { counted, grouped, percent, shareOf, timeSpan } from '../../base/format-numbers.ts';
import { textWidth } from '../../base/printable.ts';
import { LONGEST_ASKED_MS } from '../../net/waits.ts';
import {
  type LastMinute,
  minutesLeft,
  pauseReason,
  type RunFacts,
  rateOf,
  reachedCells,
  reachedCredits,
  reachedValue,
} from '../../run/estimate.ts';
import type { Progress } from '../../run/frame/progress.ts';

export interface ProgressView {
  /** On the monotonic clock, which nobody sets. */
  readonly steady: number;
  readonly progress: Progress;
  /** Null until the input is priced. */
  readonly facts: RunFacts | null;
  readonly last: LastMinute;
}

/** What a run does and how far it is, the most important first. With a width, what does not fit is left out. */
export function progressLine(view: ProgressView, width = Number.POSITIVE_INFINITY): string {
  const parts = progressParts(view);
  const withMore = (line: string, more: readonly string[]) =>
    more.reduce((shorter, part) => {
      const longer = `${shorter} · ${part}`;
      return textWidth(longer) <= width ? longer : shorter;
    }, line);
  const line = withMore(parts[0]!, parts.slice(1, WITHOUT_BAR));
  const share = width >= LEAST_FOR_BAR && Number.isFinite(width) ? shareDone(view) : null;
  const drawn = share === null ? line : `${bar(share)} ${line}`;
  return withMore(textWidth(drawn) <= width ? drawn : line, parts.slice(WITHOUT_BAR));
}

/** The share, the time left and the credits tell more than a bar. */
const WITHOUT_BAR = 3;

/** A narrower terminal needs its columns for the words. One column of a terminal stays free. */
const LEAST_FOR_BAR = 79;
const BAR_COLUMNS = 8;

function bar(share: number): string {
  const full = Math.round(share * BAR_COLUMNS);
  return '█'.repeat(full) + '░'.repeat(BAR_COLUMNS - full);
}

/** The share of the present phase that is done; null where its end is unknown. */
function shareDone({ progress, facts }: ProgressView): number | null {
  switch (progress.phase) {
    case 'reading':
    case 'pricing':
      return null;
    case 'writing':
      return facts === null ? null : shareOf(progress.rows, facts.rows);
    case 'looking_up':
    case 'buying': {
      const value = facts && reachedValue(progress, facts);
      if (value !== null) return value;
      const { done, of } =
        facts === null
          ? { done: progress.cellsDone, of: progress.cells }
          : reachedCells(progress, facts);
      return shareOf(Math.min(done, of), of);
    }
  }
}

function progressParts(view: ProgressView): string[] {
  const { progress, facts } = view;
  switch (progress.phase) {
    case 'reading':
      return [progress.rows === 0 ? 'reading …' : `reading: ${counted(progress.rows, 'row')}`];
    case 'pricing':
      return ['pricing'];
    case 'writing':
      return [
        `writing: ${grouped(progress.rows)} of ${counted(facts?.rows ?? progress.rows, 'row')}`,
      ];
    case 'looking_up':
      return [`looking up: ${placesDone(view)}`, ...(facts === null ? [] : paceParts(view, facts))];
    case 'buying':
      return facts === null ? [`buying: ${placesDone(view)}`] : buyingParts(view, facts);
  }
}

/** Of the places that this run can buy. */
function placesDone({ progress, facts }: ProgressView): string {
  const { done, of } =
    facts === null
      ? { done: progress.cellsDone, of: progress.cells }
      : reachedCells(progress, facts);
  // The share of the value tells more than that of the places, and both would push the credits off a narrow line.
  const share = progress.phase === 'buying' ? '' : ` (${percent(shareOf(done, of) ?? 1)})`;
  return `${grouped(done)} of ${counted(of, 'place')}${share}`;
}

/** How fast local data is looked up, and the time left at this pace. */
function paceParts(
  { progress: { cells, cellsDone: done }, steady }: ProgressView,
  facts: RunFacts,
): string[] {
  const seconds = (steady - facts.startedAt) / 1_000;
  if (done === 0 || seconds <= 0) return [];
  const perSecond = done / seconds;
  return [
    `${timeSpan((cells - done) / perSecond / 60)} left`,
    `${grouped(Math.round(perSecond))} a second`,
  ];
}

function buyingParts(view: ProgressView, facts: RunFacts): string[] {
  const { progress, last } = view;
  const { retries, slowedDown, creditsUnknown, failuresByKind } = progress;
  const { spent, of } = reachedCredits(progress, facts);
  const value = reachedValue(progress, facts);
  const minutes = minutesLeft(progress, facts, last, view.steady);
  const rate = rateOf(last);
  return [
    `buying: ${value === null ? placesDone(view) : `${percent(value)} of the value`}`,
    minutes === null ? 'time left unknown' : `${timeSpan(minutes)} left`,
    `${grouped(spent)} of ${counted(of, 'credit')}`,
    value === null ? '' : placesDone(view),
    pauseText(view, facts),
    silenceText(view),
    rate === null ? '' : `${counted(Math.round(rate), 'credit')} a minute`,
    ...Object.entries(failuresByKind).map(
      ([kind, count]) => `${FAILURE_NAMES[kind] ?? kind}: ${grouped(count)}`,
    ),
    creditsUnknown > 0 ? `${counted(creditsUnknown, 'credit')} without an answer` : '',
    retries > 0 ? counted(retries, 'retry', 'retries') : '',
    slowedDown > 0 ? `asked to slow down ${counted(slowedDown, 'time')}` : '',
  ].filter(Boolean);
}

const FAILURE_NAMES: Readonly<Record<string, string>> = {
  upstream: 'service failed',
  transport: 'network failed',
  malformed: 'unreadable answer',
  rejected: 'location rejected',
  unexplained: 'request refused',
  rate: 'rate limited',
};

/** Why no call is sent and, if known, for how long; '' if calls are. */
function pauseText({ progress, last, steady }: ProgressView, facts: RunFacts): string {
  const seconds = (until: number) => `${Math.ceil((until - steady) / 1_000)} s`;
  switch (pauseReason(progress, facts, last, steady)) {
    case null:
      return '';
    case 'minute_limit':
      return 'waiting for the minute limit';
    case 'minute_used':
      return `other runs have used this minute, waiting ${seconds(progress.minuteUsedUntil)}`;
    case 'service_limit':
      return 'the service allows no more calls now, waiting';
    case 'slowed_down':
      return `the service asks to slow down, waiting ${seconds(progress.slowedUntil)}`;
  }
}

/** How long the service has answered nothing, and when the run ends for that; '' for less than a minute. */
export function silenceText({ progress: { unansweredSince }, steady }: ProgressView): string {
  const minutes = unansweredSince === null ? 0 : Math.floor((steady - unansweredSince) / 60_000);
  if (minutes === 0) return '';
  return `no answer for ${timeSpan(minutes)}, the run ends after ${timeSpan(LONGEST_ASKED_MS / 60_000)}`;
}

/** One line for a change of phase, for output that is no terminal; null for phases that need none. */
export function changeLine({ progress, facts }: ProgressView): string | null {
  switch (progress.phase) {
    case 'buying':
      if (facts === null) return 'buying';
      // At the end of the quota nothing is bought, and the plan has said so.
      return facts.reach.cells === 0
        ? null
        : `buying: ${counted(facts.reach.cells, 'place')} for ${counted(facts.reach.credits, 'credit')}`;
    case 'looking_up':
      return `looking up: ${counted(progress.cells, 'place')}`;
    case 'writing':
      return `writing: ${counted(facts?.rows ?? 0, 'row')}`;
    // The run itself prints a notice when it waits for the quota.
    default:
      return null;
  }
}
