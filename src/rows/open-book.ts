import type { Readable, Writable } from 'node:stream';
import { PerilbookError } from '../errors.ts';
import { csvBook } from './csv-book.ts';
import type { CsvOptions } from './csv-dialect.ts';
import { isParquet, refuseOtherFormats } from './file-signature.ts';
import { geojsonBook, isGeojson } from './geojson-book.ts';
import { type InputFile, openInput } from './input-file.ts';
import { isNdjson, ndjsonBook } from './ndjson-book.ts';
import { parquetBook } from './parquet-book.ts';
import { mixedBook } from './parquet-mixed.ts';
import type { Book } from './port.ts';
import { unpackedInput } from './unpacked-input.ts';
import { utf8Input } from './utf16-files.ts';

/** What a user may say of an input that its content would otherwise decide. */
export type OpenOptions = CsvOptions;

/** The streams that `-` stands for. */
export interface Streams {
  readonly stdin: Readable;
  readonly stdout: Writable;
}

/** Opens an input, `-` for standard input: looks at its content (never at its name), finds its format and its columns. */
export async function openBook(file: string, options: OpenOptions = {}, streams?: Streams): Promise<Book> {
  const raw = await openInput(file, streams?.stdin);
  if (isParquet(raw.head)) return mixedBook(await parquetBook(raw, streams?.stdout), raw, streams?.stdout);
  const unpacked = await unpackedInput(raw);
  const input = await utf8Input(unpacked, options.encoding);
  if (input.head.length === 0) {
    const hint = 'Check that it was written: the first line must name the columns.';
    throw new PerilbookError('INPUT_UNREADABLE', `${input.name} is empty`, hint, { file });
  }
  return mixedBook(await textBook(input, options, streams?.stdout), input, streams?.stdout);
}

async function textBook(input: InputFile, options: OpenOptions, stdout?: Writable): Promise<Book> {
  if (isGeojson(input.head)) return await geojsonBook(input, stdout);
  if (isNdjson(input)) return ndjsonBook(input, stdout);
  refuseOtherFormats(input.name, input.head);
  return csvBook(input, options, stdout);
}
