import stringWidth from 'string-width';
import { CREDITS } from '../../contract/credits.ts';
import { counted, dateTime, grouped } from '../../format-numbers.ts';
import type { Progress } from '../../job/buying/progress.ts';
import {
  type Estimate,
  estimate,
  type LastMinute,
  limitNow,
  quotaLeft,
  type RunFacts,
  spentOf,
  type Timestamp,
} from '../../job/estimate.ts';
import type { Color } from '../messages/color.ts';
import { percent, timeSpan, wrapped } from '../messages/format.ts';

/** What a block or a line of progress shows. */
export interface ProgressView extends Timestamp {
  readonly progress: Progress;
  /** Null until the input is priced. */
  readonly facts: RunFacts | null;
  readonly last: LastMinute;
}

export interface BlockStyle {
  readonly width: number;
  readonly color: Color;
  /** Draw the bar with block characters, not with ASCII. */
  readonly unicode: boolean;
}

const NAME_WIDTH = 'failures'.length;
const BAR_WIDTH = 30;

/** The lines that a terminal redraws; none is wider than the terminal. */
export function progressBlock(view: ProgressView, style: BlockStyle): string[] {
  const { progress, facts, now } = view;
  const line = (name: string, parts: readonly string[]): string[] =>
    wrapped(parts, style.width - NAME_WIDTH - 2).map(
      (text, index) =>
        `${index === 0 ? style.color('bold', name.padEnd(NAME_WIDTH)) : ' '.repeat(NAME_WIDTH)}  ${text}`,
    );
  switch (progress.phase) {
    case 'reading':
      return line('reading', [progress.rows === 0 ? '…' : counted(progress.rows, 'row')]);
    case 'pricing':
      return line('pricing', ['reading the store …']);
    case 'writing': {
      const rows = facts?.rows ?? 0;
      const amount = `${grouped(Math.min(progress.rows, rows))} of ${counted(rows, 'row')}`;
      return line('writing', [`${bar(progress.rows, rows, style)}  ${amount}`]);
    }
    case 'waiting': {
      const left = timeSpan((progress.waitingUntil - now) / 60_000);
      return [
        ...line('waiting', [
          style.color('yellow', `for the quota, until ${dateTime(progress.waitingUntil)}`),
          `${left} left`,
        ]),
        ...line('places', cellParts(view)),
        ...line('credits', creditParts(view)),
      ];
    }
    case 'looking_up':
      if (facts === null) return [];
      return [
        ...line('looking', [
          `${bar(progress.cellsDone, progress.cells, style)}  ${cellParts(view).join(' · ')}`,
          ...paceParts(view, facts),
        ]),
        ...(facts.cellsCached > 0
          ? line('store', [`${counted(facts.cellsCached, 'place')} already in the store`])
          : []),
      ];
    case 'buying': {
      if (facts === null) return [];
      const { cells, cellsDone } = progress;
      const end = estimate(progress, facts, view.last, view);
      const failures = failureParts(progress).map((part) => style.color('red', part));
      return [
        ...line('buying', [
          `${bar(cellsDone, cells, style)}  ${cellParts(view).join(' · ')}`,
          `${stopwatch(view.steady - facts.startedAt)} so far`,
        ]),
        ...line('credits', creditParts(view)),
        ...line('rate', rateParts(view, style.color)),
        ...(facts.cellsCached > 0
          ? line('store', [`${counted(facts.cellsCached, 'place')} already in the store`])
          : []),
        ...(failures.length > 0 ? line('failures', failures) : []),
        ...line('left', leftParts(end, facts, style.color)),
      ];
    }
  }
}

function bar(done: number, all: number, { width, unicode, color }: BlockStyle): string {
  const length = Math.max(8, Math.min(BAR_WIDTH, width - 48));
  const filled = all === 0 ? length : Math.min(length, Math.floor((done / all) * length));
  const [full, empty] = unicode ? ['█', '░'] : ['#', '.'];
  return color('green', full!.repeat(filled)) + color('dim', empty!.repeat(length - filled));
}

/** `2:05`, `1:02:05` */
function stopwatch(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  const [h, m, s] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  const two = (value: number) => String(value).padStart(2, '0');
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

function cellParts({ progress: { cells, cellsDone } }: ProgressView): string[] {
  return [`${grouped(cellsDone)} of ${counted(cells, 'place')}`, percent(cells === 0 ? 1 : cellsDone / cells)];
}

/** How fast local data is looked up, and the time left at this pace. */
function paceParts({ progress: { cells, cellsDone }, steady }: ProgressView, facts: RunFacts): string[] {
  const seconds = (steady - facts.startedAt) / 1_000;
  if (cellsDone === 0 || seconds <= 0) return [];
  const perSecond = cellsDone / seconds;
  return [`${grouped(Math.round(perSecond))} a second`, `${timeSpan((cells - cellsDone) / perSecond / 60)} left`];
}

/** Credits spent, of the plan, the budget and the period. */
function creditParts({ progress, facts }: ProgressView): string[] {
  const spent = spentOf(progress);
  const left = quotaLeft(progress);
  return [
    `${grouped(spent)} of ${grouped(progress.creditsPlanned)} planned`,
    facts?.budget == null
      ? ''
      : `budget: ${grouped(Math.max(0, facts.budget - spent))} left of ${grouped(facts.budget)}`,
    left === null || facts === null ? '' : `period: ${grouped(left)} left of ${grouped(facts.allowance)}`,
    progress.creditsUnknown > 0 ? `${grouped(progress.creditsUnknown)} unknown` : '',
  ].filter(Boolean);
}

function rateParts({ progress, facts, last, steady }: ProgressView, color: Color): string[] {
  const { callsInFlight, retries, slowedDown, slowedUntil } = progress;
  const limit = facts!.creditsPerMinute;
  // The next call may cost more than the minute has left.
  const isFull = last.credits > limitNow(progress, facts!, last) - CREDITS.enterprise;
  const isOurs = last.credits > limit - CREDITS.enterprise;
  const why = isOurs ? 'minute limit reached, waiting' : 'the service allows no more calls now, waiting';
  const slowed = slowedUntil > steady ? `; resuming in ${Math.ceil((slowedUntil - steady) / 1_000)} s` : '';
  return [
    `${grouped(Math.min(last.credits, limit))} of ${grouped(limit)} credits in the last minute`,
    callsInFlight > 0 || !isFull ? `${callsInFlight} in flight` : why,
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

function failureParts({ failuresByKind }: Progress): string[] {
  return Object.entries(failuresByKind).map(([kind, count]) => `${FAILURE_NAMES[kind] ?? kind}: ${grouped(count)}`);
}

function leftParts(end: Estimate, facts: RunFacts, color: Color): string[] {
  const minutes = end.minutes === null ? 'unknown' : timeSpan(end.minutes);
  const after = `after ${counted(end.credits, 'more credit')}`;
  switch (end.endedBy) {
    case 'done':
      return [minutes];
    case 'budget':
      return [minutes, color('yellow', `budget reached ${after}`)];
    case 'time':
      return [minutes, color('yellow', `time limit reached ${after} or so`)];
    case 'quota': {
      const then = facts.waitsForQuota ? 'waits until' : 'resume after';
      return [minutes, color('yellow', `quota used up ${after}`), color('yellow', `${then} ${dateTime(end.resets)}`)];
    }
  }
}

/** The same in one line, for output that is no terminal. */
export function progressLine(view: ProgressView): string {
  const { progress, facts } = view;
  const { phase, rows, waitingUntil } = progress;
  switch (phase) {
    case 'reading':
      return `reading: ${counted(rows, 'row')}`;
    case 'pricing':
      return 'pricing';
    case 'waiting':
      return `waiting for the quota, until ${dateTime(waitingUntil)}`;
    case 'writing':
      return `writing: ${grouped(rows)} of ${counted(facts?.rows ?? rows, 'row')}`;
    case 'looking_up':
      return `looking up: ${[...cellParts(view).slice(0, 1), ...(facts === null ? [] : paceParts(view, facts))].join(' · ')}`;
    case 'buying': {
      const plain: Color = (_, text) => text;
      const failures = failureParts(progress);
      const parts = [
        `${grouped(progress.cellsDone)} of ${counted(progress.cells, 'place')}`,
        `${grouped(spentOf(progress))} of ${counted(progress.creditsPlanned, 'credit')}`,
        ...(progress.retries > 0 ? [counted(progress.retries, 'retry', 'retries')] : []),
        ...(progress.slowedDown > 0 ? [`asked to slow down ${counted(progress.slowedDown, 'time')}`] : []),
        ...(failures.length > 0 ? [`failures: ${failures.join(', ')}`] : []),
        ...(facts === null
          ? []
          : [`left: ${leftParts(estimate(progress, facts, view.last, view), facts, plain).join(', ')}`]),
      ];
      return `buying: ${parts.join(' · ')}`;
    }
  }
}

/** One line for a change of phase, for output that is no terminal; null for phases that need none. */
export function changeLine({ progress, facts }: ProgressView): string | null {
  switch (progress.phase) {
    case 'buying':
      return `buying: ${counted(progress.cells, 'place')} for ${counted(progress.creditsPlanned, 'credit')}`;
    case 'looking_up':
      return `looking up: ${counted(progress.cells, 'place')}`;
    case 'writing':
      return `writing: ${counted(facts?.rows ?? 0, 'row')}`;
    // The run itself prints a notice when it waits for the quota.
    default:
      return null;
  }
}

/** How many rows of a terminal the lines take: a narrow terminal wraps them. */
export function rowsTaken(lines: readonly string[], width: number): number {
  return lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(stringWidth(line) / width)), 0);
}
