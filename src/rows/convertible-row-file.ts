import type { Writable } from 'node:stream';
import { convertedTable } from './converted-table.ts';
import type { InputFile } from './files/input-file.ts';
import { writeTextRows } from './files/row-output.ts';
import { withKeptColumns } from './kept-columns.ts';
import { formatOfOutput } from './output-format.ts';
import type { RowFile } from './port.ts';
import { addTextTable } from './write-table.ts';

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
        // The UTF-16 of the input is kept only where its bytes are: a new table would have it without a byte order mark.
        return await writeTextRows(all, input, (gathered) => addTextTable(gathered, table, format), true);
      }),
  };
}
