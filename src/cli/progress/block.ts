import { counted, grouped } from '../../base/format-numbers.ts';
import { textWidth } from '../../base/printable.ts';
import { estimate, reachedCells } from '../../run/estimate.ts';
import type { Color } from '../messages/color.ts';
import { wrapped } from '../messages/format.ts';
import {
  cellParts,
  creditParts,
  failureParts,
  laterParts,
  leftParts,
  type ProgressView,
  paceParts,
  pauseParts,
  rateParts,
  stopwatch,
  valueParts,
} from './progress-parts.ts';

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
  const { progress, facts } = view;
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
      const places = reachedCells(progress, facts);
      const end = estimate(progress, facts, view.last, view);
      const failures = failureParts(progress).map((part) => style.color('red', part));
      return [
        ...line('buying', [
          `${bar(places.done, places.of, style)}  ${cellParts(view).join(' · ')}`,
          ...valueParts(view),
          `${stopwatch(view.steady - facts.startedAt)} so far`,
        ]),
        ...line('credits', creditParts(view)),
        ...line('rate', rateParts(view, style.color)),
        ...(facts.cellsCached > 0
          ? line('store', [`${counted(facts.cellsCached, 'place')} already in the store`])
          : []),
        ...(failures.length > 0 ? line('failures', failures) : []),
        ...line('left', leftParts(end, style.color)),
        ...(places.of < progress.cells ? line('later', laterParts(view, places.of)) : []),
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

/** The same in one line, for output that is no terminal. */
export function progressLine(view: ProgressView): string {
  const { progress, facts } = view;
  const { phase, rows } = progress;
  switch (phase) {
    case 'reading':
      return `reading: ${counted(rows, 'row')}`;
    case 'pricing':
      return 'pricing';
    case 'writing':
      return `writing: ${grouped(rows)} of ${counted(facts?.rows ?? rows, 'row')}`;
    case 'looking_up':
      return `looking up: ${[...cellParts(view).slice(0, 1), ...(facts === null ? [] : paceParts(view, facts))].join(' · ')}`;
    case 'buying': {
      const plain: Color = (_, text) => text;
      const failures = failureParts(progress);
      const parts = [
        cellParts(view)[0]!,
        creditParts(view)[0]!.replace('planned', 'credits'),
        ...(facts === null ? [] : pauseParts(view, facts)),
        ...(progress.retries > 0 ? [counted(progress.retries, 'retry', 'retries')] : []),
        ...(progress.slowedDown > 0 ? [`asked to slow down ${counted(progress.slowedDown, 'time')}`] : []),
        ...(failures.length > 0 ? [`failures: ${failures.join(', ')}`] : []),
        ...(facts === null ? [] : [`left: ${leftParts(estimate(progress, facts, view.last, view), plain).join(', ')}`]),
      ];
      return `buying: ${parts.join(' · ')}`;
    }
  }
}

/** One line for a change of phase, for output that is no terminal; null for phases that need none. */
export function changeLine({ progress, facts }: ProgressView): string | null {
  switch (progress.phase) {
    case 'buying':
      return facts === null
        ? 'buying'
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

/** How many rows of a terminal the lines take: a narrow terminal wraps them. */
export function rowsTaken(lines: readonly string[], width: number): number {
  return lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(textWidth(line) / width)), 0);
}
