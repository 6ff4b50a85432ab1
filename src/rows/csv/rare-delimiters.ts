import { fieldText } from '../../formats/csv/scan-records.ts';
import { mayHaveLocation } from '../location-columns.ts';
import { type Head, recordsOf } from './head-records.ts';
import { guessQuoting } from './quoting.ts';

/** Marks that separate fields in some files, and stand in texts and names too: Hive writes \x01, ASCII has \x1c to \x1f for it. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const RARE = /[\x01-\x08\x0b\x0c\x0e-\x1f^~`!#$%&*:;=?@/\\<>{} ]/g;

/** The delimiter of a file without a usual one: read where all records have one width and the names are those of a location; else a hint
 * names it. Null if there is none. */
export function otherDelimiter(head: Head): { readonly delimiter: string | null; readonly hint: string | null } | null {
  const lines = firstLines(head);
  const [header = ''] = lines;
  const isAligned = lines.some((line) => /^ | {2}/.test(line));
  const marks = [...new Set(header.match(RARE))].filter((mark) => mark !== ' ' || !isAligned);
  const candidates = marks.flatMap((delimiter) => {
    const names = namesIn(head, delimiter);
    return names === null ? [] : [{ delimiter, names }];
  });
  const certain = candidates.filter(({ names }) => mayHaveLocation(names));
  if (certain.length === 1) return { delimiter: certain[0]!.delimiter, hint: null };
  if (isAligned && mayHaveLocation(header.trim().split(/ +/))) return { delimiter: null, hint: alignedHint(header) };
  const [likely] = [...certain, ...candidates].filter(({ delimiter }) => delimiter !== ' ' || certain.length > 0);
  if (likely === undefined) return null;
  const given = typed(likely.delimiter);
  return {
    delimiter: null,
    hint: `If ${given.name} separates its columns, add --delimiter ${given.option} (delimiter: ${given.yaml} in the job file).`,
  };
}

function firstLines({ bytes, from }: Head): string[] {
  const text = bytes.toString('latin1', from, from + 64 * 1024);
  return text
    .split(/[\r\n]+/)
    .filter(Boolean)
    .slice(0, 20);
}

/** The names of the columns that a delimiter makes; null unless all records have as many fields. */
function namesIn(head: Head, delimiter: string): string[] | null {
  const quoting = guessQuoting(head, delimiter);
  let names: string[] | null = null;
  for (const span of recordsOf(head, delimiter, quoting)) {
    names ??= Array.from({ length: span.fields }, (_, index) => fieldText(head.bytes, span, index, 'utf-8').trim());
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
function typed(delimiter: string): { name: string; option: string; yaml: string } {
  const code = delimiter.charCodeAt(0);
  if (code > 32)
    return { name: delimiter, option: delimiter === '\\' ? "'\\'" : `'${delimiter}'`, yaml: `'${delimiter}'` };
  if (code === 32) return { name: 'a space', option: "' '", yaml: "' '" };
  const written = `\\x${code.toString(16).padStart(2, '0')}`;
  return { name: `the character ${written}`, option: `$'${written}'`, yaml: `"${written}"` };
}
