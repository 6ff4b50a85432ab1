import { isUtf8 } from 'node:buffer';
import { closeSync, openSync, readSync } from 'node:fs';
import { PerilbookError } from '../../errors.ts';

const BLOCK_BYTES = 1 << 20;

/**
 * The text of a file in blocks of about a megabyte, which may end anywhere. UTF-8; a block that is none is read as Windows-1252, which
 * is what the agencies' spreadsheets write. A mark at the beginning is dropped.
 *
 * @throws PerilbookError SERVICE_DATA when the file cannot be read, or is UTF-16
 */
export function* textBlocks(file: string): Generator<string> {
  const descriptor = open(file);
  try {
    let rest: Buffer = Buffer.alloc(0);
    let isFirst = true;
    for (;;) {
      const bytes = Buffer.allocUnsafe(BLOCK_BYTES);
      const read = readSync(descriptor, bytes, 0, BLOCK_BYTES, null);
      const all = rest.length === 0 ? bytes.subarray(0, read) : Buffer.concat([rest, bytes.subarray(0, read)]);
      if (isFirst) refuseUtf16(all, file);
      const end = read === 0 ? all.length : endOfLastAscii(all);
      if (end > 0) {
        const text = decoded(all.subarray(0, end));
        yield isFirst && text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
        isFirst = false;
      }
      if (read === 0) return;
      rest = all.subarray(end);
    }
  } finally {
    closeSync(descriptor);
  }
}

function open(file: string): number {
  try {
    return openSync(file, 'r');
  } catch (error) {
    throw unreadable(file, error);
  }
}

/** The refusal of a file that cannot be read. */
export function unreadable(file: string, error: unknown): PerilbookError {
  return new PerilbookError(
    'SERVICE_DATA',
    `Cannot read "${file}": ${error instanceof Error ? error.message : String(error)}`,
    'Check the name of the file and that it can be read.',
    { file },
    error,
  );
}

/** No character of UTF-8 is cut in two behind a byte of ASCII. */
function endOfLastAscii(bytes: Buffer): number {
  let end = bytes.length;
  while (end > 0 && bytes[end - 1]! >= 0x80) end -= 1;
  return end;
}

function decoded(bytes: Buffer): string {
  return isUtf8(bytes) ? bytes.toString('utf8') : new TextDecoder('windows-1252').decode(bytes);
}

function refuseUtf16(bytes: Buffer, file: string): void {
  const mark = bytes.length >= 2 ? bytes.readUInt16BE(0) : 0;
  if (mark !== 0xfeff && mark !== 0xfffe) return;
  throw new PerilbookError(
    'SERVICE_DATA',
    `Cannot load "${file}": it is written in UTF-16`,
    'Save it as UTF-8 and load again.',
    { file },
  );
}
