import type { Readable, Writable } from 'node:stream';
import { PerilbookError } from '../errors.ts';
import { csvBook } from './csv-book.ts';
import type { CsvOptions } from './csv-dialect.ts';
import { refuseOtherFormats } from './file-signature.ts';
import { openInput } from './input-file.ts';
import type { Book } from './port.ts';

/** What a user may say of an input that its content would otherwise decide. */
export type OpenOptions = CsvOptions;

/** The streams that `-` stands for. */
export interface Streams {
  readonly stdin: Readable;
  readonly stdout: Writable;
}

/** Opens an input, `-` for standard input: looks at its content (never at its name), finds its format and its columns. */
export async function openBook(file: string, options: OpenOptions = {}, streams?: Streams): Promise<Book> {
  const input = await openInput(file, streams?.stdin);
  if (input.size === 0) {
    const hint = 'Check that it was written: the first line must name the columns.';
    throw new PerilbookError('INPUT_UNREADABLE', `${input.name} is empty`, hint, { file });
  }
  refuseOtherFormats(input.name, input.head);
  return csvBook(input, options, streams?.stdout);
}
