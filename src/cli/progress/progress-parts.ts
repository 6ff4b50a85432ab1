import { counted, dateTime, grouped, shareOf } from '../../base/format-numbers.ts';
import {
  type Estimate,
  type LastMinute,
  pauseReason,
  quotaLeft,
  type RunFacts,
  reachedCells,
  reachedCredits,
  spentOf,
  type Timestamp,
} from '../../run/estimate.ts';
import type { Progress } from '../../run/progress.ts';
import type { Color } from '../messages/color.ts';
import { percent, timeSpan } from '../messages/format.ts';

/** The data of a block or a line of progress. */
export interface ProgressView extends Timestamp {
  readonly progress: Progress;
  /** Null until the input is priced. */
  readonly facts: RunFacts | null;
  readonly last: LastMinute;
}

/** `2:05`, `1:02:05` */
export function stopwatch(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  const [h, m, s] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  const two = (value: number) => String(value).padStart(2, '0');
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

/** How many of the places that this run can buy are done. */
export function cellParts({ progress, facts }: ProgressView): string[] {
  const { done, of } =
    facts === null ? { done: progress.cellsDone, of: progress.cells } : reachedCells(progress, facts);
  return [`${grouped(done)} of ${counted(of, 'place')}`, percent(shareOf(done, of) ?? 1)];
}

export function valueParts({ progress, facts }: ProgressView): string[] {
  const share = facts && shareOf(progress.valueDone, facts.value);
  return share === null ? [] : [`${percent(share)} of the value`];
}

/** The places beyond this run's budget, quota or time. */
export function laterParts({ progress, facts }: ProgressView, reached: number): string[] {
  const credits = Math.max(0, progress.creditsPlanned - facts!.reach.credits);
  return [`${counted(progress.cells - reached, 'place')} beyond this run`, counted(credits, 'credit')];
}

/** How fast local data is looked up, and the time left at this pace. */
export function paceParts({ progress: { cells, cellsDone }, steady }: ProgressView, facts: RunFacts): string[] {
  const seconds = (steady - facts.startedAt) / 1_000;
  if (cellsDone === 0 || seconds <= 0) return [];
  const perSecond = cellsDone / seconds;
  return [`${grouped(Math.round(perSecond))} a second`, `${timeSpan((cells - cellsDone) / perSecond / 60)} left`];
}

/** Credits spent, of this run, the budget and the period. */
export function creditParts({ progress, facts }: ProgressView): string[] {
  const { spent, of } =
    facts === null ? { spent: spentOf(progress), of: progress.creditsPlanned } : reachedCredits(progress, facts);
  const left = quotaLeft(progress);
  return [
    `${grouped(spent)} of ${grouped(of)} planned`,
    facts?.budget == null
      ? ''
      : `budget: ${grouped(Math.max(0, facts.budget - spent))} left of ${grouped(facts.budget)}`,
    left === null || facts === null ? '' : `period: ${grouped(left)} left of ${grouped(facts.allowance)}`,
    progress.creditsUnknown > 0 ? `${grouped(progress.creditsUnknown)} unknown` : '',
  ].filter(Boolean);
}

const PAUSES = {
  minute_limit: 'minute limit reached, waiting',
  minute_used: 'other runs have used this minute, waiting',
  service_limit: 'the service allows no more calls now, waiting',
} as const;

/** Why no call is sent and, if known, for how long. */
function pauseText(pause: keyof typeof PAUSES, { minuteUsedUntil }: Progress, steady: number): string {
  return pause === 'minute_used'
    ? `${PAUSES[pause]} ${Math.ceil((minuteUsedUntil - steady) / 1_000)} s`
    : PAUSES[pause];
}

/** For one line, which names a wait in place of the calls in flight. */
export function pauseParts({ progress, last, steady }: ProgressView, facts: RunFacts): string[] {
  const pause = pauseReason(progress, facts, last, steady);
  return pause === null || pause === 'slowed_down' ? [] : [pauseText(pause, progress, steady)];
}

export function rateParts({ progress, facts, last, steady }: ProgressView, color: Color): string[] {
  const { callsInFlight, retries, slowedDown, slowedUntil } = progress;
  const limit = facts!.creditsPerMinute;
  const pause = pauseReason(progress, facts!, last, steady);
  const slowed = slowedUntil > steady ? `; resuming in ${Math.ceil((slowedUntil - steady) / 1_000)} s` : '';
  return [
    `${grouped(Math.min(last.credits, limit))}${Number.isFinite(limit) ? ` of ${grouped(limit)}` : ''} credits in the last minute`,
    pause === null || pause === 'slowed_down' ? `${callsInFlight} in flight` : pauseText(pause, progress, steady),
    retries > 0 ? counted(retries, 'retry', 'retries') : '',
    slowedDown > 0 ? color('yellow', `asked to slow down ${counted(slowedDown, 'time')}${slowed}`) : '',
  ].filter(Boolean);
}

/** Failures by the kind of the verdict. */
const FAILURE_NAMES: Readonly<Record<string, string>> = {
  upstream: 'service failed',
  transport: 'network failed',
  malformed: 'unreadable answer',
  rejected: 'location rejected',
  unexplained: 'request refused',
  rate: 'rate limited',
};

export function failureParts({ failuresByKind }: Progress): string[] {
  return Object.entries(failuresByKind).map(([kind, count]) => `${FAILURE_NAMES[kind] ?? kind}: ${grouped(count)}`);
}

export function leftParts(end: Estimate, color: Color): string[] {
  const minutes = end.minutes === null ? 'unknown' : timeSpan(end.minutes);
  const after = `after ${counted(end.credits, 'more credit')}`;
  switch (end.endedBy) {
    case 'done':
      return [minutes];
    case 'budget':
      return [minutes, color('yellow', `budget reached ${after}`)];
    case 'time':
      return [minutes, color('yellow', `time limit reached ${after} or so`)];
    case 'quota':
      return [
        minutes,
        color('yellow', `quota used up ${after}`),
        color('yellow', `resume after ${dateTime(end.resets)}`),
      ];
  }
}
