import { fieldOf } from '../../formats/typed-value.ts';
import { type WriteNewFile, writeRows } from '../files/row-output.ts';
import type { TableColumn } from '../port.ts';
import { columnBuilder, columnsAt } from './column-builder.ts';
import { schemaElement, sumSizes } from './edit.ts';
import { ELEMENT, FOOTER, ordersOf, ROW_GROUP } from './format.ts';
import { makeStruct, type ThriftStruct } from './thrift.ts';
import { parquetSink } from './write.ts';

const ROWS_A_GROUP = 65_536;
/** The last batch of a row group is added whole. */
const MOST_ROWS_A_GROUP = ROWS_A_GROUP + 65_536;
/** A row group is gathered in memory; long texts end it earlier. */
const CHARACTERS_A_GROUP = 64 * 1024 * 1024;

/** Writes a table as a new Parquet file. */
export const writeNewParquet: WriteNewFile = async ({ columns, batches }, target, source) => {
  return await writeRows(target, source?.identity ?? null, async (gathered) => {
    const sink = parquetSink(gathered);
    await sink.write(Buffer.from('PAR1'));
    const group = columnBuilder(columns, MOST_ROWS_A_GROUP);
    const groups: ThriftStruct[] = [];
    let [rows, rowsInAll, characters] = [0, 0, 0];
    const endGroup = async () => {
      if (rows === 0) return;
      const start = sink.position();
      const entries = Int32Array.from({ length: rows }, (_, row) => row);
      const chunks = await sink.addChunks(columnsAt(group.built(), entries));
      groups.push(rowGroup(chunks, rows, start, groups.length));
      group.clear();
      rowsInAll += rows;
      [rows, characters] = [0, 0];
    };
    for await (const batch of batches()) {
      if (rows + batch.length > MOST_ROWS_A_GROUP) await endGroup();
      for (const fields of batch) {
        for (const value of fields) {
          group.sink.put(value);
          const field = fieldOf(value);
          if (typeof field === 'string') characters += field.length;
        }
        group.sink.endPlace();
      }
      rows += batch.length;
      if (rows >= ROWS_A_GROUP || characters > CHARACTERS_A_GROUP) await endGroup();
    }
    await endGroup();
    await sink.finish(newFooter(columns, rowsInAll, groups), columns);
    return rowsInAll;
  });
};

function rowGroup(chunks: ThriftStruct[], rows: number, start: number, ordinal: number): ThriftStruct {
  const { size, unpackedSize } = sumSizes(chunks);
  return makeStruct(
    ROW_GROUP.chunks.make(chunks),
    ROW_GROUP.unpackedSize.make(unpackedSize),
    ROW_GROUP.rows.make(rows),
    ROW_GROUP.start.make(start),
    ROW_GROUP.size.make(size),
    ROW_GROUP.ordinal.make(ordinal % 32_768),
  );
}

function newFooter(columns: readonly TableColumn[], rows: number, groups: ThriftStruct[]): ThriftStruct {
  const root = makeStruct(ELEMENT.name.make('schema'), ELEMENT.children.make(columns.length));
  return makeStruct(
    FOOTER.version.make(1),
    FOOTER.schema.make([root, ...columns.map(schemaElement)]),
    FOOTER.rows.make(rows),
    FOOTER.rowGroups.make(groups),
    FOOTER.createdBy.make('Perilbook'),
    FOOTER.columnOrders.make(ordersOf(columns.length)),
  );
}
