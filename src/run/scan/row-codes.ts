import { PerilbookError } from '../../base/errors.ts';
import { rowCodesOf, type TopicSlug } from '../../contract/topics.ts';
import { CODE_DIGITS, type CodeLevel, readAreaCode } from '../../data/tables/area-codes.ts';
import { isNoValue } from '../../data/tables/no-values.ts';

/* Codes that stand in the rows: of a county, a tract or a ZIP code, by which a layer is answered in place of the location. They belong to rows,
 * not to places, so no answer of theirs is stored: they are joined where rows are written. */

/** A column of the input with codes, and the layer that they answer. */
export interface CodeColumn {
  readonly topic: TopicSlug;
  readonly level: CodeLevel;
  /** Its number in the file. */
  readonly column: number;
  readonly name: string;
}

/** The columns of codes that the topics of a job read. @throws INPUT_COLUMNS where a topic has no other way to an answer */
export function codeColumns(
  names: readonly string[],
  topics: readonly TopicSlug[],
  file: string,
): CodeColumn[] {
  const keys = names.map((name) => name.trim().toLowerCase());
  return topics.flatMap((topic) => {
    const { level, columns } = rowCodesOf(topic) ?? { level: null, columns: [] };
    const column = columns
      .map((spelling) => keys.indexOf(spelling.trim().toLowerCase()))
      .find((index) => index >= 0);
    if (level === null) return [];
    if (column !== undefined) return [{ topic, level, column, name: names[column]! }];
    if (level !== 'zip') return [];
    const message = `${topic} needs the ZIP code of each row, and the file has no column ${columns.join(', ')}`;
    const hint = `Name the column in the description of ${topic} (area.row), or leave the topic out. The columns are: ${names.join(', ')}.`;
    throw new PerilbookError('INPUT_COLUMNS', message, hint, { file });
  });
}

/** What the user is told of a column of codes. */
export function codeColumnNote({ topic, level, name }: CodeColumn): string {
  const otherwise = level === 'zip' ? '' : ', and by the location of rows without one';
  return `${topic} is answered by the code in column "${name}"${otherwise}.`;
}

/** A text that is no code. Without a text the number is NaN. */
export const UNREADABLE_CODE = -1;

/** A code as a number, so that threads send arrays. */
export function codeNumber(text: string, level: CodeLevel): number {
  if (isNoValue(text)) return Number.NaN;
  const found = readAreaCode(text, level);
  return 'geoid' in found ? Number(found.geoid) : UNREADABLE_CODE;
}

/** The code with this number. */
export function codeOfNumber(number: number, level: CodeLevel): string {
  return String(number).padStart(CODE_DIGITS[level], '0');
}
