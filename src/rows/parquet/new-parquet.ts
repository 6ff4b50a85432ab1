import { fieldOf } from '../../formats/typed-value.ts';
import { type WriteNewFile, writeRows } from '../files/row-output.ts';
import type { TableColumn } from '../port.ts';
import { columnBuilder, columnsAt } from './column-builder.ts';
import { type AddedChunks, schemaElement } from './edit.ts';
import { binary, i32, i64, list, struct, THRIFT, type ThriftStruct } from './thrift.ts';
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
      const built = group.built();
      sink.extendBounds(built);
      const chunks = await sink.addChunks(
        columnsAt(
          built,
          Int32Array.from({ length: rows }, (_, row) => row),
        ),
      );
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
    await sink.finish(newFooter(columns, rowsInAll, groups));
    return rowsInAll;
  });
};

function rowGroup({ chunks, size, unpackedSize }: AddedChunks, rows: number, start: number, ordinal: number) {
  return {
    fields: [
      list(1, THRIFT.STRUCT, [...chunks]),
      i64(2, unpackedSize),
      i64(3, rows),
      i64(5, start),
      i64(6, size),
      { id: 7, type: THRIFT.I16, value: ordinal % 32_768 },
    ],
  };
}

function newFooter(columns: readonly TableColumn[], rows: number, groups: ThriftStruct[]): ThriftStruct {
  const root: ThriftStruct = { fields: [binary(4, 'schema'), i32(5, columns.length)] };
  const orders = columns.map((): ThriftStruct => ({ fields: [struct(1)] }));
  return {
    fields: [
      i32(1, 1),
      list(2, THRIFT.STRUCT, [root, ...columns.map(schemaElement)]),
      i64(3, rows),
      list(4, THRIFT.STRUCT, groups),
      binary(6, 'Perilbook'),
      list(7, THRIFT.STRUCT, orders),
    ],
  };
}
