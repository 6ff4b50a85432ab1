import { PerilbookError } from '../../errors.ts';
import type { TextEncoding } from '../../formats/bytes/decode-text.ts';
import type { Utf16 } from './utf16.ts';

/** The encodings of text files that are read. */
export type FileEncoding = TextEncoding | Utf16;

/** The encoding that a user names, by any of its usual names (`latin1`, `cp1252`, `utf8`). @throws USAGE */
export function encodingNamed(name: string): FileEncoding {
  const encodings: readonly FileEncoding[] = ['utf-8', 'windows-1252', 'utf-16le', 'utf-16be'];
  const named = encodings.find((encoding) => encoding === standardName(name));
  if (named) return named;
  const hint = `Give one of ${encodings.join(', ')}, or convert the file to UTF-8 first.`;
  throw new PerilbookError('USAGE', `${JSON.stringify(name)} is not an encoding that is read`, hint);
}

function standardName(name: string): string | null {
  try {
    return new TextDecoder(name).encoding;
  } catch {
    return null;
  }
}
