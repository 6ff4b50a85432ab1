import type { Writable } from 'node:stream';
import type { Field } from '../contract/answer.ts';
import { suffixWriter } from './csv/suffix.ts';
import { distinctNames } from './distinct-names.ts';
import { gatherBytes } from './files/gather-bytes.ts';
import type { InputFile } from './files/input-file.ts';
import { openMatchingOutput } from './files/matching-output.ts';
import { writeWhole } from './files/output-file.ts';
import { filledRows } from './filled-rows.ts';
import { jsonLine } from './json/ndjson-write.ts';
import { keptPlaces, withKeptColumns } from './kept-columns.ts';
import { formatOfOutput, type TextFormat } from './output-format.ts';
import { writeNewParquet } from './parquet/new-parquet.ts';
import type { PartedRowFile, RowFile, WriteRequest, WriteResult } from './port.ts';
import { type TextTable, textTable } from './text-table.ts';
import { writeNewXlsx } from './xlsx/new-xlsx.ts';

/** A book that writes its own format as it can, byte for byte, and the others as the name of the output asks: then all
 * values go through their text form. */
export function mixedRowFile(rowFile: RowFile | PartedRowFile, input: InputFile, stdout?: Writable): RowFile {
  return {
    ...rowFile,
    read: (columns, needed) => rowFile.read(columns, needed),
    write: async (asked) => {
      const request = withKeptColumns(asked, rowFile.columns);
      const format = formatOfOutput(request.output);
      // Tabs, like any delimiter, are kept in a file that is called .csv; one that is called .tsv has nothing else.
      const isOwn =
        format === null ||
        format === rowFile.format ||
        (format === 'csv' && rowFile.format === 'tsv') ||
        // Features on lines of their own are often called .ndjson: as a table they would lose outlines and types.
        (rowFile.format === 'geojson' && format === formatOfOutput(input.name));
      if (isOwn) return await rowFile.write(request);
      const table = await textTable(rowFile, request);
      if (format === 'parquet') return await writeNewParquet(table, request, input.identity, stdout);
      if (format === 'xlsx' || format === 'xlsm') return await writeNewXlsx(table, request, input.identity, stdout);
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
  const own = format === 'ndjson' ? distinctNames(table.names, request.added) : table.names;
  const names = [...own, ...request.added.map(({ name }) => name)];
  // UTF-16 is kept where the bytes are: a table made of JSON would have it without its mark.
  const output = await openMatchingOutput(request.output, input, stdout, request.signal, true);
  const rows = await writeWhole(output, request.signal, async () => {
    const gathered = gatherBytes((bytes) => output.write(bytes));
    const add = lineWriter(format, names, table.names.length, keptPlaces(request, table.names.length));
    const put = (fields: readonly Field[], write = add) => {
      write(fields, gathered);
      gathered.addText('\n');
    };
    if (format !== 'ndjson') put(names, lineWriter(format, names));
    let count = 0;
    for await (const { texts, rows } of table.batches()) {
      request.signal?.throwIfAborted();
      const filled = await filledRows(request, rows);
      for (const [i, fields] of filled.entries())
        put([...(format === 'ndjson' ? numbersOf(texts[i]!, table) : texts[i]!), ...fields]);
      count += rows.length;
      await gathered.flushIfFull();
    }
    await gathered.finish();
    return count;
  });
  return { rows, bytes: output.written() };
}

/** What the run has read as numbers are numbers where a format has them; in a table of texts they stay as they are written. */
const numbersOf = (texts: readonly string[], { isNumber }: TextTable): Field[] =>
  texts.map((text, column) => (isNumber[column] && text.trim() !== '' ? Number(text) : text));

function lineWriter(
  format: TextFormat,
  names: readonly string[],
  harmlessFrom = names.length,
  own: ReadonlySet<number> = new Set(),
): ReturnType<typeof suffixWriter> {
  if (format !== 'ndjson') {
    return suffixWriter({ delimiter: DELIMITERS[format], encoding: 'utf-8', width: names.length, harmlessFrom, own });
  }
  return (fields, to) => to.addText(Buffer.from(jsonLine(names, fields)).toString('latin1'));
}
