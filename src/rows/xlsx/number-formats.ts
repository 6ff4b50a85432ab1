import type { Entry } from 'yauzl';
import type { InputFile } from '../files/input-file.ts';
import { readElements } from './workbook.ts';

/** How a style shows numbers, where not as plain numbers. `zeros`: with leading zeros, `digits` digits in all. */
export type NumberFormat =
  | { readonly kind: 'date' | 'time' | 'date and time' }
  | { readonly kind: 'zeros'; digits: number };

/** The formats of the cell styles, by the number that a cell names. */
export async function readNumberFormats(
  input: InputFile,
  styles: Entry | undefined,
): Promise<readonly (NumberFormat | null)[]> {
  const elements = await readElements(input, styles);
  const codes = new Map<number, string>();
  const formats: (NumberFormat | null)[] = [];
  let isOfCells = false;
  for (const { name, attributes } of elements) {
    if (name === 'numFmt') codes.set(Number(attributes.numFmtId), attributes.formatCode ?? '');
    // `xf` also stands in cellStyleXfs, which cells do not name.
    else if (name === 'cellXfs') isOfCells = true;
    else if (name === 'cellStyles' || name === 'dxfs') isOfCells = false;
    else if (name === 'xf' && isOfCells) {
      const id = Number(attributes.numFmtId ?? 0);
      formats.push(codes.has(id) ? formatOfCode(codes.get(id)!) : builtIn(id));
    }
  }
  return formats;
}

/** The formats that have numbers of their own (ECMA-376 part 1, 18.8.30). */
function builtIn(id: number): NumberFormat | null {
  if ((id >= 14 && id <= 17) || (id >= 27 && id <= 31) || (id >= 50 && id <= 58) || id === 36) return { kind: 'date' };
  if ((id >= 18 && id <= 21) || (id >= 32 && id <= 35) || (id >= 45 && id <= 47)) return { kind: 'time' };
  return id === 22 ? { kind: 'date and time' } : null;
}

/** What a format code such as `yyyy\-mm\-dd` or `00000` shows; only its first section counts. */
function formatOfCode(code: string): NumberFormat | null {
  const letters = code
    .replace(/"[^"]*"|\\.|_.|\*.|\[(?!h+\]|m+\]|s+\])[^\]]*\]/gi, '')
    .split(';')[0]!
    .toLowerCase();
  if (/^0{2,}$/.test(letters)) return { kind: 'zeros', digits: letters.length };
  if (/general|[0#?]\.?[0#?]*e[+-]/.test(letters)) return null;
  const hasTime = /[hs]/.test(letters);
  const hasDate = /[yd]/.test(letters) || (/m/.test(letters) && !hasTime);
  if (hasDate) return { kind: hasTime ? 'date and time' : 'date' };
  return hasTime ? { kind: 'time' } : null;
}

const DAY_MS = 86_400_000;

/** A number of days as ISO 8601 text. Day 60 of 1900 does not exist, and counts all the same. */
export function dateText(days: number, kind: 'date' | 'time' | 'date and time', counts1904: boolean): string | null {
  const start = counts1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, days < 60 ? 31 : 30);
  const at = new Date(Math.round((start + days * DAY_MS) / 1_000) * 1_000);
  if (Number.isNaN(at.getTime()) || at.getUTCFullYear() > 9999 || days < 0) return null;
  const [day, time] = at.toISOString().slice(0, 19).split('T') as [string, string];
  if (kind === 'time' && days < 1) return time;
  return kind === 'date' && time === '00:00:00' ? day : `${day}T${time}`;
}
