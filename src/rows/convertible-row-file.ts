import type { Writable } from 'node:stream';
import type { Field } from '../contract/answer.ts';
import { type ConvertedTable, convertedTable } from './converted-table.ts';
import { fieldFormatter } from './csv/format-fields.ts';
import type { ByteBuffer } from './files/byte-buffer.ts';
import type { InputFile } from './files/input-file.ts';
import { writeTextRows } from './files/row-output.ts';
import { jsonLine } from './json/json-members.ts';
import { keptIndexes, withKeptColumns } from './kept-columns.ts';
import { formatOfOutput, type TextFormat } from './output-format.ts';
import type { RowFile, WriteRequest, WriteResult } from './port.ts';

/** A row file that writes its own format byte for byte, and other formats when the name of the output asks for one: then all
 * values are converted to text. */
export function convertibleRowFile(rowFile: RowFile, input: InputFile, stdout?: Writable): RowFile {
  return {
    ...rowFile,
    write: (request) =>
      withKeptColumns(rowFile, { ...request, stdout }, async (all) => {
        const format = formatOfOutput(all.output);
        // Tabs, like any delimiter, are kept in a file that is called .csv; one that is called .tsv has nothing else.
        const isOwn =
          format === null ||
          format === rowFile.format ||
          (format === 'csv' && rowFile.format === 'tsv') ||
          // Features on lines of their own are often called .ndjson: as a table they would lose outlines and types.
          (rowFile.format === 'geojson' && format === formatOfOutput(input.name));
        if (isOwn) return await rowFile.write(all);
        const isTyped = format !== 'csv' && format !== 'tsv';
        const hasDistinctNames = format === 'parquet' || format === 'ndjson';
        const table = await convertedTable(rowFile, all, { isTyped, hasDistinctNames });
        if (format === 'parquet') {
          const { writeNewParquet } = await import('./parquet/new-parquet.ts');
          return await writeNewParquet(table, all, input.identity);
        }
        if (format === 'xlsx' || format === 'xlsm') {
          const { writeNewXlsx } = await import('./xlsx/new-xlsx.ts');
          return await writeNewXlsx(table, all, input.identity);
        }
        return await writeText(table, all, input, format);
      }),
  };
}

async function writeText(
  table: ConvertedTable,
  request: WriteRequest,
  input: InputFile,
  format: TextFormat,
): Promise<WriteResult> {
  const names = table.columns.map(({ name }) => name);
  const lineOf = lineFormatter(format, table, request);
  // The UTF-16 of the input is kept only where its bytes are: a new table would have it without a byte order mark.
  const write = async (gathered: ByteBuffer) => {
    if (format !== 'ndjson') gathered.addText(`${delimited(format, () => false)(names)}\n`);
    let count = 0;
    for await (const batch of table.batches()) {
      for (const fields of batch) gathered.addText(`${lineOf(fields)}\n`);
      count += batch.length;
      await gathered.flushIfFull();
    }
    return count;
  };
  // The UTF-16 of the input is kept only where its bytes are: a new table would have it without a byte order mark.
  return await writeTextRows(request, input, write, true);
}

/** Formats a row as a line: a string of one character a byte. */
function lineFormatter(format: TextFormat, { columns, ownColumns }: ConvertedTable, request: WriteRequest) {
  if (format === 'ndjson') {
    const names = columns.map(({ name }) => name);
    return (fields: readonly Field[]) => Buffer.from(jsonLine(names, fields)).toString('latin1');
  }
  const kept = keptIndexes(request.added);
  return delimited(format, (index) => index >= ownColumns && !kept.has(index - ownColumns));
}

const delimited = (format: 'csv' | 'tsv', isAdded: (index: number) => boolean) =>
  fieldFormatter({ delimiter: format === 'csv' ? ',' : '\t', encoding: 'utf-8', isAdded });
