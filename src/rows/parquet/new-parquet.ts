import type { Writable } from 'node:stream';
import type { Field } from '../../contract/answer.ts';
import { distinctNames } from '../distinct-names.ts';
import { type InputIdentity, openOutput, writeWhole } from '../files/output-file.ts';
import { checkCount, filledRows } from '../filled-rows.ts';
import type { AddedColumn, KeyedRows, WriteRequest, WriteResult } from '../port.ts';
import type { TextTable } from '../text-table.ts';
import { type AddedChunks, schemaElement } from './edit.ts';
import { binary, i32, i64, list, struct } from './fields.ts';
import { gatherFields } from './gathered-fields.ts';
import { THRIFT, type ThriftStruct } from './thrift.ts';
import { type ParquetSink, parquetSink } from './write.ts';

const ROWS_A_GROUP = 65_536;
/** The batch that fills a row group goes into it whole. */
const MOST_ROWS_A_GROUP = ROWS_A_GROUP + 65_536;
/** A row group is gathered in memory; long texts end it earlier. */
const CHARACTERS_A_GROUP = 64 * 1024 * 1024;

/** Writes a table of texts as a new Parquet file. The original columns stay texts, an empty one null, but for those that the
 * run has read as numbers; the added columns have their types. */
export async function writeNewParquet(
  table: TextTable,
  request: WriteRequest,
  identity: InputIdentity | null,
  stdout?: Writable,
): Promise<WriteResult> {
  const output = await openOutput(request.output, identity, stdout, request.signal);
  return writeWhole(output, request.signal, async () => {
    const sink = parquetSink(output);
    await sink.write(Buffer.from('PAR1'));
    const columns = distinctNames(table.names, request.added).map(
      (name, index): AddedColumn => ({ name, type: table.isNumber[index] ? 'number' : 'text' }),
    );
    const groups: ThriftStruct[] = [];
    let rowsInAll = 0;
    const group = rowGroup(columns, request.added);
    const endGroup = async () => {
      if (group.rows() > 0) groups.push(await group.write(sink, groups.length));
    };
    for await (const { texts, rows } of table.batches()) {
      request.signal?.throwIfAborted();
      if (group.rows() + rows.length > MOST_ROWS_A_GROUP) await endGroup();
      if (request.fillKeyed) {
        const filled = await request.fillKeyed(rows.length);
        checkCount(rows.length, filled.keys);
        group.addKeyed(texts, filled);
      } else group.add(texts, await filledRows(request, rows));
      if (group.isFull()) await endGroup();
      rowsInAll += rows.length;
    }
    await endGroup();
    await sink.finish(newFooter([...columns, ...request.added], rowsInAll, groups));
    return { rows: rowsInAll, bytes: sink.position() };
  });
}

/** Gathers one row group after the other. */
function rowGroup(columns: readonly AddedColumn[], added: readonly AddedColumn[]) {
  const originals = gatherFields(columns, MOST_ROWS_A_GROUP);
  const extras = gatherFields(added, MOST_ROWS_A_GROUP);
  let rows = 0;
  let characters = 0;
  const addTexts = (batch: readonly (readonly string[])[]) => {
    for (const texts of batch) {
      originals.add(texts.map((text, index) => typedField(text, columns[index]!)));
      for (const text of texts) characters += text.length;
    }
    rows += batch.length;
  };
  return {
    rows: () => rows,
    isFull: () => rows >= ROWS_A_GROUP || characters > CHARACTERS_A_GROUP,
    add(batch: readonly (readonly string[])[], filled: readonly (readonly Field[])[]) {
      addTexts(batch);
      for (const fields of filled) extras.add(fields);
    },
    addKeyed(batch: readonly (readonly string[])[], filled: KeyedRows) {
      addTexts(batch);
      extras.addKeyed(filled);
    },
    async write(sink: ParquetSink, ordinal: number): Promise<ThriftStruct> {
      const rowsHere = rows;
      [rows, characters] = [0, 0];
      const start = sink.position();
      const parts = [await sink.addChunks(originals.take()), await sink.addChunks(extras.take())];
      const sum = (of: (part: AddedChunks) => number) => parts.reduce((total, part) => total + of(part), 0);
      const chunks = parts.flatMap((part) => [...part.chunks]);
      return {
        fields: [
          list(1, THRIFT.STRUCT, chunks),
          i64(
            2,
            sum((part) => part.unpackedSize),
          ),
          i64(3, rowsHere),
          i64(5, start),
          i64(
            6,
            sum((part) => part.size),
          ),
          { id: 7, type: THRIFT.I16, value: ordinal % 32_768 },
        ],
      };
    },
  };
}

function typedField(text: string, { type }: AddedColumn): Field {
  if (text.trim() === '') return text === '' || type === 'number' ? null : text;
  return type === 'number' ? Number(text) : text;
}

function newFooter(columns: readonly AddedColumn[], rows: number, groups: ThriftStruct[]): ThriftStruct {
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
