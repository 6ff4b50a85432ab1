import type { Writable } from 'node:stream';
import type { InputFile } from '../files/input-file.ts';
import type { Row, RowFile } from '../port.ts';
import { type FileColumn, fileColumns } from './file-columns.ts';
import { openParquet, type ParquetFile } from './footer.ts';
import { rowsOfGroup } from './read.ts';
import { writeParquet } from './write.ts';

/**
 * Opens a Parquet file. Its columns are the fields of the schema by name, lists and structs as JSON; behind
 * a struct come its values (`address.zip`), behind a column of points `<name>.latitude` and `<name>.longitude`. `stdout`
 * takes an output named `-`.
 */
export async function parquetRowFile(input: InputFile, stdout?: Writable): Promise<RowFile> {
  const file = await openParquet(input);
  const columns = fileColumns(file);
  return {
    format: 'parquet',
    unit: 'row',
    columns: columns.map(({ name }) => name),
    wholeColumns: [...columns.keys()].filter((index) => columns[index]!.kind === 'whole'),
    read: (wanted) =>
      readRows(
        file,
        wanted.map((index) => columns[index]!),
      ),
    write: (request) => writeParquet(file, columns, request, stdout),
  };
}

async function* readRows(file: ParquetFile, wanted: readonly FileColumn[]): AsyncGenerator<readonly Row[]> {
  await using pass = await file.input.startPass();
  let firstRow = 0;
  for (const group of file.rowGroups) {
    yield* rowsOfGroup(file, pass, group, firstRow, wanted);
    firstRow += group.rows;
  }
  await pass.assertSame();
}
