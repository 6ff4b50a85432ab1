import { styleText } from 'node:util';
import type { PerilbookError } from '../../base/errors.ts';
import { counted, percent } from '../../base/format-numbers.ts';
import { textWidth } from '../../base/printable.ts';
import type { PlanSummary } from '../../run/summary-shapes.ts';

export { shownPath } from '../../base/printable.ts';

/** The spaces that pad a text to a width on the screen, where a wide character takes two columns. */
function gap(text: string, width: number): string {
  return ' '.repeat(Math.max(0, width - textWidth(text)));
}

/** Joins parts into as few lines as fit the width. A part is never cut. */
export function wrapParts(parts: readonly string[], width: number, between = ' · '): string[] {
  const lines: string[] = [];
  for (const part of parts) {
    const last = lines.at(-1);
    const longer = last === undefined ? part : last + between + part;
    if (last !== undefined && textWidth(longer) <= width) lines[lines.length - 1] = longer;
    else lines.push(part);
  }
  return lines;
}

/** Wraps a text to the width. A continuation is indented a little more than its indented line. Words are never broken. */
export function fitText(text: string, width: number): string {
  const lines = text.split('\n').flatMap((line) => {
    if (textWidth(line) <= width) return [line];
    const indent = /^ */.exec(line)![0];
    const more = indent === '' ? '' : `${indent}  `;
    const [first, ...others] = wrapParts(line.trim().split(' '), width - more.length, ' ');
    return [indent + first!.trimEnd(), ...others.map((rest) => more + rest.trim())];
  });
  return lines.join('\n');
}

/** A line of a list: a name and its text. */
export type NamedWords = readonly [name: string, words: string];

/** Names and values in two columns; a long value continues below itself. */
export function listed(
  pairs: readonly NamedWords[],
  indent = '  ',
  screen = Number.POSITIVE_INFINITY,
): string[] {
  const width = Math.max(...pairs.map(([name]) => textWidth(name)));
  const room = screen - textWidth(indent) - width - 2;
  return pairs.flatMap(([name, value]) => {
    const lines = room < LEAST_ROOM ? [value] : wrapParts(value.split(' '), room, ' ');
    return lines.map((line, index) => {
      const before = index === 0 ? name : '';
      return `${indent}${before}${gap(before, width)}  ${line}`;
    });
  });
}

/** A narrower column is harder to read than a line that the terminal wraps. */
const LEAST_ROOM = 20;

/** A table with right-aligned numbers; a long text in the last column continues below itself. */
export function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  indent = '  ',
  screen = Number.POSITIVE_INFINITY,
): string[] {
  const last = head.length - 1;
  const widthOf = (column: number) =>
    Math.max(textWidth(head[column]!), ...rows.map((row) => textWidth(row[column]!)));
  const widths = head.map((_, column) => widthOf(column));
  const isNumber = head.map((_, column) =>
    rows.every((row) => /^[-+$<]?[\d,.]* ?%?$/.test(row[column]!)),
  );
  const before = widths.slice(0, last).reduce((sum, width) => sum + width + 2, textWidth(indent));
  const line = (cells: readonly string[]) =>
    indent +
    cells
      .map((cell, column) => {
        const space = gap(cell, widths[column]!);
        return isNumber[column] ? space + cell : cell + space;
      })
      .join('  ')
      .trimEnd();
  const folded = (cells: readonly string[]): string[] => {
    const text = cells[last]!;
    const room = screen - before;
    if (isNumber[last] || room < LEAST_ROOM || textWidth(text) <= room) return [line(cells)];
    const [first, ...more] = wrapParts(text.split(' '), room, ' ');
    return [
      line([...cells.slice(0, last), first!]),
      ...more.map((rest) => ' '.repeat(before) + rest),
    ];
  };
  return [line(head), ...rows.flatMap(folded)];
}

/** A table that drops columns, in the order of `dispensable`, until it fits. */
export function fittingTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  dispensable: readonly string[],
  indent: string,
  screen: number,
): string[] {
  const lines = table(head, rows, indent, screen);
  const next = dispensable.find((name) => head.includes(name));
  if (next === undefined || lines.every((line) => textWidth(line) <= screen)) return lines;
  const without = (cells: readonly string[]) => cells.filter((_, column) => head[column] !== next);
  return fittingTable(without(head), rows.map(without), dispensable, indent, screen);
}

/** `38 % of the places, 91 % of the value` */
export function sharePhrase({ share_of_cells, share_of_value }: PlanSummary['after_run']): string {
  const cells = `${percent(share_of_cells)} of the places`;
  return share_of_value === null ? cells : `${cells}, ${percent(share_of_value)} of the value`;
}

/** The first line of a run or plan: the input, or the job file, as it was typed. */
export function readingMessage([first, ...others]: readonly string[]): string {
  const more = others.length === 0 ? '' : ` and ${counted(others.length, 'other file')}`;
  return `perilbook: reading ${first === undefined || first === '-' ? 'stdin' : `${first}${more}`}`;
}

interface Environment {
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The line below an error: what to do, and its code. */
export function hintLine(
  { hint, code }: Pick<PerilbookError, 'hint' | 'code'>,
  color: Color,
): string {
  return `  ${color('bold', 'hint:')} ${hint} [${code}]`;
}

type Format = Parameters<typeof styleText>[0];

export type Color = (format: Format, text: string) => string;

/** Text as it is, where nothing is coloured. */
export const noColor: Color = (_, text) => text;

/** Whether the terminal can only print plain lines. */
export function isDumb({ env }: Environment): boolean {
  return env.TERM === 'dumb';
}

/** The help of yargs without the types of values, its headings and commands in bold. */
export function styledHelp(text: string, color: Color): string {
  const lines = text.split('\n').flatMap((line) => {
    const plain = line.replace(/ *\[(?:string|number|boolean|array)\]$/, '');
    return plain === '' && line !== '' ? [] : [plain];
  });
  return lines
    .join('\n')
    .replace(/^\S.*:$/gm, (heading) => color('bold', heading))
    .replace(
      /^( {2})(perilbook(?: [a-z]+(?=\s))+)/gm,
      (_, indent, command) => indent + color('bold', command),
    );
}

/** Colors on a terminal, unless NO_COLOR is set or the terminal is dumb. FORCE_COLOR overrides all: 0 is off, else on. */
export function colorFor(context: Environment, stream: { readonly isTTY?: boolean }): Color {
  const { NO_COLOR, FORCE_COLOR } = context.env;
  const isForced = FORCE_COLOR !== undefined && FORCE_COLOR !== '';
  const isOn = isForced
    ? FORCE_COLOR !== '0'
    : !NO_COLOR && !isDumb(context) && stream.isTTY === true;
  return isOn ? (format, text) => styleText(format, text, { validateStream: false }) : noColor;
}

/** Printed as given: `counted` would round half a minute. */
export function timeLimit(minutes: number): string {
  return `${minutes} ${minutes === 1 ? 'minute' : 'minutes'}`;
}
