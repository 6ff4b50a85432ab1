/* What is shown on a terminal may hold texts of files, of servers and of other people. Their control characters could clear the
 * screen, write into the clipboard or show another name than the real one. Imports next to nothing: main.ts needs it before anything
 * is loaded. */
import { createRequire } from 'node:module';
import { relative } from 'node:path';

/** Control characters (C0, C1), direction overrides, and the line ends that only Unicode knows; not tabs and line ends. */
const CONTROL = /(?![\t\n])[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/** Characters of no width, which copying from web pages and documents leaves in texts. */
export const INVISIBLE = /[\u00ad\u200b-\u200d\u2060\ufeff]/g;

/** The program's own colors (`messages/format.ts`): bold, dim, red, green, yellow and their ends. They move and hide nothing. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const COLOR = /(\u001b\[(?:1|2|22|31|32|33|39)m)/;

/** A text for a terminal: what could control it is shown as an escape of JSON. @param isColored colors stay */
export function printable(text: string, isColored = false): string {
  const lines = text.replaceAll('\r\n', '\n');
  if (!isColored) return escaped(lines);
  return lines
    .split(COLOR)
    .map((part, index) => (index % 2 === 0 ? escaped(part) : part))
    .join('');
}

/** A value as JSON that a terminal can show as well; a parser reads the same. */
export function printableJson(value: unknown, indent?: number): string {
  return escaped(JSON.stringify(value, null, indent));
}

function escaped(text: string): string {
  return text.replace(
    CONTROL,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

const load = createRequire(import.meta.url);

/** The columns that a text takes on a terminal. The library's Unicode tables take 40 ms to load, and most texts need none of them. */
export function textWidth(text: string): number {
  if (/^[ -~\u{a1}-\u{ac}\u{ae}-\u{24f}–—‘’“”…−≥≤█░]*$/u.test(text)) return text.length;
  const { default: stringWidth } = load('string-width') as typeof import('string-width');
  return stringWidth(text);
}

/** A path as the user would type it: relative if it is inside the working folder. A name with a line end cannot make a line of its own. */
export function shownPath(path: string, folder: string): string {
  if (path === '-') return 'stdin';
  const inside = relative(folder, path);
  return printable(inside.startsWith('..') ? path : inside).replaceAll('\n', '\\n');
}
