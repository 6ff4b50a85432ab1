import { type Quoting, type RecordSpan, RFC_QUOTING } from '../../formats/csv/scan-records.ts';
import { type Head, recordsOf } from './head-records.ts';

const SINGLE: Quoting = { quote: "'", escape: "'" };
const BACKSLASHED: Quoting = { quote: '"', escape: '\\' };

/** How the head of a file quotes. Single quotes and backslashes are also letters: they are taken only where all records then have one
 * width, and each record is in single quotes, or a backslash stands before a quote within a field. */
export function guessQuoting(head: Head, delimiter: string): Quoting {
  const text = head.bytes.toString('latin1', head.from);
  if (text.includes('\\"') && isRegular(head, delimiter, BACKSLASHED)) {
    if (hasQuoteWithin(text, delimiter) || !isRegular(head, delimiter, RFC_QUOTING)) return BACKSLASHED;
  }
  const isSingle = text.includes("'") && isRegular(head, delimiter, SINGLE, hasSingleQuotes);
  return isSingle ? SINGLE : RFC_QUOTING;
}

/** Whether an escaped quote has text after it, so that it does not end its field. */
function hasQuoteWithin(text: string, delimiter: string): boolean {
  for (let at = text.indexOf('\\"'); at >= 0; at = text.indexOf('\\"', at + 2)) {
    const follower = text[at + 2] ?? '\n';
    if (follower !== delimiter && follower !== '\n' && follower !== '\r' && follower !== '"') return true;
  }
  return false;
}

function isRegular(
  head: Head,
  delimiter: string,
  quoting: Quoting,
  fits: (bytes: Buffer, span: RecordSpan) => boolean = () => true,
): boolean {
  let [width, records] = [0, 0];
  for (const span of recordsOf(head, delimiter, quoting)) {
    width ||= span.fields;
    // Names often have no quotes.
    if (span.fields !== width || (records++ > 0 && !fits(head.bytes, span))) return false;
  }
  return width > 1 && records > 1;
}

/** Whether a field of a record is in single quotes, and none in double ones. */
function hasSingleQuotes(bytes: Buffer, span: RecordSpan): boolean {
  const fields = Array.from({ length: span.fields }, (_, index) => {
    const end = index + 1 < span.fields ? span.starts[index + 1]! - 1 : span.end;
    return bytes.toString('latin1', span.starts[index]!, end).trim();
  });
  return fields.some((text) => /^'[\s\S]*'$/.test(text)) && !fields.some((text) => text.startsWith('"'));
}
