import { PerilbookError } from '../../base/errors.ts';
import { decodeText, guessEncoding } from '../../formats/bytes/decode-text.ts';
import { fieldText } from '../../formats/csv/scan-records.ts';
import { unreadable } from '../files/input-file.ts';
import { mayHaveLocation } from '../location/location-names.ts';
import { type CsvHead, firstWidths, guessQuoting, recordsOf } from './head-records.ts';

/** Commas last: if two delimiters fit equally well, commas are probably in texts or decimals. */
const DELIMITERS = ['\t', ';', '|', ','] as const;

/** The delimiter that gives the most header fields, weighted by the records that agree. */
export function findDelimiter(
  head: CsvHead,
  given: string | undefined,
): { delimiter: string; hint: string | null } {
  if (given !== undefined) return { delimiter: checkedDelimiter(given), hint: null };
  refuseLongDelimiter(head);
  let best: { delimiter: string; score: number } = { delimiter: ',', score: 0 };
  for (const delimiter of DELIMITERS) {
    const score = scoreDelimiter(head, delimiter);
    if (score > best.score) best = { delimiter, score };
  }
  const other = best.score > 0 ? null : otherDelimiter(head);
  return { delimiter: other?.delimiter ?? best.delimiter, hint: other?.hint ?? null };
}

function scoreDelimiter(head: CsvHead, delimiter: string): number {
  const [width, ...others] = firstWidths(head, delimiter, guessQuoting(head, delimiter));
  if (width === undefined || width < 2) return 0;
  const agreeing = others.filter((other) => other === width).length;
  // Ragged files have a delimiter too: disagreement weakens a candidate but does not exclude it.
  return width * (others.length === 0 ? 1 : 0.1 + agreeing / others.length);
}

function checkedDelimiter(delimiter: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they may be delimiters
  const isCharacter = /^[\x01-\x09\x0b\x0c\x0e-\x7e]$/.test(delimiter);
  // A letter, digit or sign would split the numbers that are added.
  if (isCharacter && !/[\w"'.+-]/.test(delimiter)) return delimiter;
  const hint =
    delimiter.length > 1 || delimiter > '\x7e'
      ? replaceHint(delimiter)
      : 'Give one character, for instance a comma, a semicolon, a tab or a bar.';
  throw new PerilbookError('USAGE', `${JSON.stringify(delimiter)} cannot be a delimiter`, hint);
}

/** Several characters, or one beyond ASCII, between fields: `||`, `|~|`, `::`, `¦`, `§`. */
const LONG_DELIMITER =
  /[^\p{L}\p{N}\p{M}\s"'_.,()[\]+-]{2,4}|[^\p{ASCII}\p{L}\p{N}\p{M}\s°º˚#"'’“”″′]/gu;

/** Refuses a file whose fields are separated by several characters, or by one that is not ASCII: added fields could not be. Its mark is in
 * each line as often as in the first, and makes the names of a location. @throws INPUT_UNREADABLE */
function refuseLongDelimiter({ name, bytes, from }: CsvHead): void {
  const start = bytes.subarray(from, from + 64 * 1024);
  const lines = decodeText(start, 0, start.length, guessEncoding(start))
    .split(/[\r\n]+/)
    .filter(Boolean)
    .slice(0, 20);
  const [header = '', ...rows] = lines;
  for (const mark of new Set(header.match(LONG_DELIMITER))) {
    const names = header.split(mark);
    const isRegular = rows.slice(0, -1).every((row) => row.split(mark).length === names.length);
    // Names that other delimiters separate have these around the mark.
    const isName = (text: string) => !/[,;\t|]/.test(text);
    if (isRegular && names.every(isName) && mayHaveLocation(names)) {
      const what = `separates its columns with ${JSON.stringify(mark)}, which is not one ASCII character`;
      throw unreadable(name, what, replaceHint(mark));
    }
  }
}

function replaceHint(mark: string): string {
  const pattern = mark.replace(/[|$^*.\\/[\]&]/g, (sign) => (sign === '|' ? sign : `\\${sign}`));
  return `Write a tab there, for instance with: sed 's/${pattern}/\\t/g' FILE > rows.tsv.`;
}

/** Marks that separate fields in some files, and stand in texts and names too: Hive writes \x01, ASCII has \x1c to \x1f for it. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const RARE = /[\x01-\x08\x0b\x0c\x0e-\x1f^~`!#$%&*:;=?@/\\<>{} ]/g;

/** The delimiter of a file without a usual one: read where all records have one width and the names are those of a location; else a hint, or null. */
function otherDelimiter(
  head: CsvHead,
): { readonly delimiter: string | null; readonly hint: string | null } | null {
  const lines = firstLines(head);
  const [header = ''] = lines;
  const isAligned = lines.some((line) => /^ | {2}/.test(line));
  if (!isAligned && hasRowNames(head)) return { delimiter: null, hint: ROW_NAMES };
  const marks = [...new Set(header.match(RARE))].filter((mark) => mark !== ' ' || !isAligned);
  const candidates = marks.flatMap((delimiter) => {
    const names = namesIn(head, delimiter);
    return names === null ? [] : [{ delimiter, names }];
  });
  const certain = candidates.filter(({ names }) => mayHaveLocation(names));
  if (certain.length === 1) return { delimiter: certain[0]!.delimiter, hint: null };
  if (isAligned && mayHaveLocation(header.trim().split(/ +/)))
    return { delimiter: null, hint: alignedHint(header) };
  const [likely] = [...certain, ...candidates].filter(
    ({ delimiter }) => delimiter !== ' ' || certain.length > 0,
  );
  if (likely === undefined) return null;
  const given = formatDelimiter(likely.delimiter);
  const hint = `If ${given.name} separates its columns, add --delimiter ${given.option} (delimiter: ${given.yaml} in the job file).`;
  return { delimiter: null, hint };
}

/** Whether the rows have a name each and the names of the columns lack one for these, with spaces between: R writes tables so
 * (`write.table`). */
function hasRowNames(head: CsvHead): boolean {
  const quoting = guessQuoting(head, ' ');
  const [named = 0, ...widths] = firstWidths(head, ' ', quoting);
  const isShorter = widths.length > 0 && widths.every((width) => width === named + 1);
  if (!isShorter) return false;
  const [header] = recordsOf(head, ' ', quoting);
  const names = Array.from({ length: named }, (_, index) =>
    fieldText(head.bytes, header!, index, 'utf-8'),
  );
  return mayHaveLocation(names);
}

const ROW_NAMES =
  'This looks like a table of R: spaces between the columns, and no name for the first one. Write it as CSV: write.csv(TABLE, "rows.csv", row.names = FALSE). Or put a name before the others in the first line, for instance with: sed \'1s/^/row /\' FILE > rows.txt.';

function firstLines({ bytes, from }: CsvHead): string[] {
  const text = bytes.toString('latin1', from, from + 64 * 1024);
  return text
    .split(/[\r\n]+/)
    .filter(Boolean)
    .slice(0, 20);
}

/** The names of the columns that a delimiter makes; null unless all records have as many fields. */
function namesIn(head: CsvHead, delimiter: string): string[] | null {
  const quoting = guessQuoting(head, delimiter);
  let names: string[] | null = null;
  for (const span of recordsOf(head, delimiter, quoting)) {
    names ??= Array.from({ length: span.fields }, (_, index) =>
      fieldText(head.bytes, span, index, 'utf-8').trim(),
    );
    if (span.fields !== names.length) return null;
  }
  return names !== null && names.length > 1 ? names : null;
}

/** Names may have single spaces in them, where columns have more between them. */
function alignedHint(header: string): string {
  const gap = /\S {2}/.test(header) ? ' {2,}' : ' +';
  return `If spaces align its columns, put a comma in each gap, for instance with: sed -E 's/^ +//; s/ +$//; s/${gap}/,/g'.`;
}

/** A delimiter as it is typed in a shell and in YAML. */
function formatDelimiter(delimiter: string): { name: string; option: string; yaml: string } {
  const code = delimiter.charCodeAt(0);
  if (code > 32)
    return {
      name: delimiter,
      option: delimiter === '\\' ? "'\\'" : `'${delimiter}'`,
      yaml: `'${delimiter}'`,
    };
  if (code === 32) return { name: 'a space', option: "' '", yaml: "' '" };
  const written = `\\x${code.toString(16).padStart(2, '0')}`;
  return { name: `the character ${written}`, option: `$'${written}'`, yaml: `"${written}"` };
}
