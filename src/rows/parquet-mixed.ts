import { extname } from 'node:path';
import type { Writable } from 'node:stream';
import type { Field } from '../contract/answer.ts';
import { PerilbookError } from '../errors.ts';
import { extensionOf } from './compression.ts';
import { suffixWriter } from './csv-suffix.ts';
import { filledRows } from './filled-rows.ts';
import { gatherBytes } from './gather-bytes.ts';
import type { InputFile } from './input-file.ts';
import { openMatchingOutput } from './matching-output.ts';
import { jsonLine } from './ndjson-write.ts';
import { writeWhole } from './output-file.ts';
import type { PartedBook } from './parquet-book.ts';
import { writeNewParquet } from './parquet-new.ts';
import type { Book, WriteRequest, WriteResult } from './port.ts';
import { type TextTable, textTable } from './text-table.ts';

type TextFormat = 'csv' | 'tsv' | 'ndjson';

const BY_EXTENSION: Readonly<Record<string, TextFormat | 'parquet'>> = {
  '.parquet': 'parquet',
  '.pq': 'parquet',
  '.csv': 'csv',
  '.tsv': 'tsv',
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
};

/** The format that the name of an output asks for; null when it says nothing: then it is the input's. */
export function formatOfOutput(output: string): TextFormat | 'parquet' | null {
  const name = output.toLowerCase().replace(/\.(?:gz|zst|zstd)$/, '');
  return output === '-' ? null : (BY_EXTENSION[extname(name)] ?? null);
}

/** Formats that are known by these names, and by which books are read in them; none can be made from another. */
const NOT_MADE: Readonly<Record<string, readonly string[]>> = {
  '.geojson': ['geojson'],
  '.json': ['geojson', 'ndjson'],
  ...Object.fromEntries(
    ['.xlsx', '.xls', '.ods', '.shp', '.gpkg', '.kml', '.feather', '.arrow', '.orc', '.avro', '.html', '.pdf'].map(
      (extension) => [extension, []],
    ),
  ),
};

/** Refuses an output whose name promises a format that would not stand in it. @throws OUTPUT_UNWRITABLE */
export function checkFormat(output: string, format: string): void {
  if (output === '-') return;
  const ending = extensionOf(output).toLowerCase();
  const extension = ending.replace(/\.(?:gz|zst|zstd)$/, '');
  const isPacked = ending !== extension && (formatOfOutput(output) ?? format) === 'parquet';
  if (!isPacked && (NOT_MADE[extension]?.includes(format) ?? true)) return;
  throw new PerilbookError(
    'OUTPUT_UNWRITABLE',
    isPacked
      ? `Cannot write ${output}: a Parquet file is compressed inside`
      : `Cannot write ${output}: this input gives no ${extension} file`,
    'Name it .csv, .tsv, .ndjson or .parquet, or as the input is called.',
    { file: output },
  );
}

/** A book that writes its own format as it can, byte for byte, and the others as the name of the output asks: then all
 * values go through their text form. */
export function mixedBook(book: Book | PartedBook, input: InputFile, stdout?: Writable): Book {
  return {
    format: book.format,
    columns: book.columns,
    read: (columns, needed) => book.read(columns, needed),
    write: async (request) => {
      const format = formatOfOutput(request.output);
      // The delimiter of a CSV file is kept, whatever the output is called.
      const isOwn = format === null || format === book.format || (format === 'tsv' && book.format === 'csv');
      if (isOwn) return await book.write(request);
      const table = textTable(book, request);
      if (format === 'parquet') return await writeNewParquet(table, request, input.identity, stdout);
      return await writeText(table, request, input, format, stdout);
    },
  };
}

const DELIMITERS = { csv: ',', tsv: '\t' } as const;

async function writeText(
  table: TextTable,
  request: WriteRequest,
  input: InputFile,
  format: TextFormat,
  stdout?: Writable,
): Promise<WriteResult> {
  const names = [...table.names, ...request.added.map(({ name }) => name)];
  const output = await openMatchingOutput(request.output, input, stdout, request.signal, format === 'ndjson');
  const rows = await writeWhole(output, request.signal, async () => {
    const gathered = gatherBytes((bytes) => output.write(bytes));
    const add = lineWriter(format, names, table.names.length);
    const put = (fields: readonly Field[], write = add) => {
      write(fields, gathered);
      gathered.addText('\n');
    };
    if (format !== 'ndjson') put(names, lineWriter(format, names));
    let count = 0;
    for await (const { texts, rows } of table.batches()) {
      request.signal?.throwIfAborted();
      const filled = await filledRows(request, rows);
      for (const [i, fields] of filled.entries()) put([...texts[i]!, ...fields]);
      count += rows.length;
      await gathered.flushIfFull();
    }
    await gathered.finish();
    return count;
  });
  return { rows, bytes: output.written() };
}

function lineWriter(
  format: TextFormat,
  names: readonly string[],
  harmlessFrom = names.length,
): ReturnType<typeof suffixWriter> {
  if (format !== 'ndjson') {
    return suffixWriter({ delimiter: DELIMITERS[format], encoding: 'utf-8', width: names.length, harmlessFrom });
  }
  return (fields, to) => to.addText(Buffer.from(jsonLine(names, fields)).toString('latin1'));
}
