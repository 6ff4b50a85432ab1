import type { AddedColumn, TableColumn } from '../port.ts';
import { extendArrowSchema } from './arrow-schema.ts';
import { chunkRange, type ParquetFile } from './footer.ts';
import { PHYSICAL_TYPES, type SchemaNode } from './schema.ts';
import {
  binary,
  flag,
  i32,
  i64,
  list,
  numberAt,
  setField,
  struct,
  structAt,
  structsAt,
  THRIFT,
  type ThriftField,
  type ThriftStruct,
  textAt,
} from './thrift.ts';

/** The chunks that were added to a row group, as the footer describes them. */
export interface AddedChunks {
  readonly chunks: readonly ThriftStruct[];
  readonly size: number;
  readonly unpackedSize: number;
}

/** The footer of the output: all fields of the input's footer, known or not, with columns at the end dropped and others added. The body
 * of the input is copied unchanged, so page indexes, bloom filters and all other offsets stay valid. */
export function editFooter(
  file: ParquetFile,
  fieldsKept: number,
  added: readonly AddedColumn[],
  addedTo: readonly AddedChunks[],
): ThriftStruct {
  const kept = file.root.children.slice(0, fieldsKept);
  const leavesKept = keptLeaves(file, kept);
  const fields = file.footer.fields.map((field): ThriftField => {
    if (field.id === 2) return editSchema(file, kept, added);
    if (field.id === 4) return editRowGroups(file, leavesKept, addedTo);
    if (field.id === 5) return editSchemaCopies(file, kept, added);
    if (field.id === 7) return editOrders(field, leavesKept, added.length);
    return field;
  });
  return { fields };
}

/** The number of leaves of the kept fields. */
function keptLeaves(file: ParquetFile, kept: readonly SchemaNode[]): number {
  const end = kept.at(-1)?.to ?? 1;
  return file.leaves.filter((leaf) => leaf.to <= end).length;
}

function editSchema(file: ParquetFile, kept: readonly SchemaNode[], added: readonly AddedColumn[]): ThriftField {
  const elements = structsAt(file.footer, 2)!;
  const root: ThriftStruct = { fields: [...elements[0]!.fields] };
  setField(root, i32(5, kept.length + added.length));
  const end = kept.at(-1)?.to ?? 1;
  return list(2, THRIFT.STRUCT, [root, ...elements.slice(1, end), ...added.map(schemaElement)]);
}

/** The schema element of a column that is written. Both kinds of annotation are given: older readers know only the second. */
export function schemaElement({ name, type }: TableColumn): ThriftStruct {
  const OPTIONAL = 1;
  const common = (physical: (typeof PHYSICAL_TYPES)[number], ...rest: ThriftField[]): ThriftStruct => ({
    fields: [i32(1, PHYSICAL_TYPES.indexOf(physical)), i32(3, OPTIONAL), binary(4, name), ...rest],
  });
  switch (type) {
    case 'text':
      return common('BYTE_ARRAY', i32(6, 0), struct(10, struct(1)));
    case 'point':
      return common('BYTE_ARRAY');
    case 'number':
      return common('DOUBLE');
    case 'count':
      return common('INT32');
    case 'integer':
      return common('INT64');
    case 'boolean':
      return common('BOOLEAN');
    case 'date':
      return common('INT32', i32(6, 6), struct(10, struct(6)));
    case 'timestamp':
      // Readers of the older annotation would assume UTC.
      return common('INT64', struct(10, struct(8, flag(1, false), struct(2, struct(1)))));
    case 'time':
      return common('INT64', i32(6, 9), struct(10, struct(8, flag(1, true), struct(2, struct(1)))));
  }
}

type ExtendSchema = (value: string, kept: readonly string[], added: readonly AddedColumn[]) => string | null;

/** The keys under which programs store the schema in their own form. If the added columns are missing there, they do not see them or
 * refuse the file (fastparquet). GeoParquet describes only points. */
const SCHEMA_COPIES: Readonly<Record<string, ExtendSchema>> = {
  'ARROW:schema': extendArrowSchema,
  'org.apache.spark.sql.parquet.row.metadata': extendRecord((name, type) => {
    const types = { text: 'string', point: 'binary', number: 'double', count: 'integer', time: 'timestamp' } as const;
    return { name, type: types[type], nullable: true, metadata: {} };
  }),
  pandas: extendPandas,
  'parquet.avro.schema': extendRecord((name, type) => {
    const time = { type: 'long', logicalType: 'timestamp-millis' };
    const types = { text: 'string', point: 'bytes', number: 'double', count: 'int', time } as const;
    return { name, type: ['null', types[type]], default: null };
  }),
};

/** Extends a schema in JSON that lists its columns as `fields`; null if it describes other columns. */
function extendRecord(describe: (name: string, type: AddedColumn['type']) => object): ExtendSchema {
  return (value, kept, added) => {
    try {
      const schema = JSON.parse(value) as { fields: { name: string }[] };
      const fields = schema.fields.slice(0, kept.length);
      if (fields.length < kept.length || fields.some(({ name }, index) => name !== kept[index])) return null;
      return JSON.stringify({ ...schema, fields: [...fields, ...added.map(({ name, type }) => describe(name, type))] });
    } catch {
      return null;
    }
  };
}

/** How pandas names the types of the added columns (pandas developer guide, "Storing pandas DataFrame objects in Apache Parquet
 * format"). Pandas' own integers (`Int32`) may be null; NumPy's may not. */
const PANDAS_TYPES: Readonly<Record<AddedColumn['type'], readonly [pandas: string, numpy: string]>> = {
  text: ['unicode', 'object'],
  point: ['bytes', 'object'],
  number: ['float64', 'float64'],
  count: ['int32', 'Int32'],
  time: ['datetimetz', 'datetime64[ms]'],
};

/** Extends the columns in the metadata of pandas. They are in any order, and an index may have no name. */
function extendPandas(value: string, kept: readonly string[], added: readonly AddedColumn[]): string | null {
  try {
    const metadata = JSON.parse(value) as { columns: { name: string | null; field_name?: string }[] };
    const columns = metadata.columns.filter(({ name, field_name }) => kept.includes(field_name ?? name ?? ''));
    const own = added.map(({ name, type }) => {
      const [pandas_type, numpy_type] = PANDAS_TYPES[type];
      return {
        name,
        field_name: name,
        pandas_type,
        numpy_type,
        metadata: type === 'time' ? { timezone: 'UTC' } : null,
      };
    });
    return JSON.stringify({ ...metadata, columns: [...columns, ...own] });
  } catch {
    return null;
  }
}

/** Extends the other programs' copies of the schema. A copy that cannot be read is dropped: the programs then read Parquet's own. */
function editSchemaCopies(file: ParquetFile, kept: readonly SchemaNode[], added: readonly AddedColumn[]): ThriftField {
  const names = kept.map(({ name }) => name);
  const entries = structsAt(file.footer, 5)!.flatMap((entry): ThriftStruct[] => {
    const key = textAt(entry, 1) ?? '';
    const extend = SCHEMA_COPIES[key];
    if (extend === undefined) return [entry];
    const value = extend(textAt(entry, 2) ?? '', names, added);
    return value === null ? [] : [{ fields: [binary(1, key), binary(2, value)] }];
  });
  return list(5, THRIFT.STRUCT, entries);
}

function editRowGroups(file: ParquetFile, leavesKept: number, addedTo: readonly AddedChunks[]): ThriftField {
  const groups = structsAt(file.footer, 4)!.map((group, index): ThriftStruct => {
    const edited: ThriftStruct = { fields: [...group.fields] };
    const { chunks, size, unpackedSize } = addedTo[index]!;
    const own = structsAt(group, 1) ?? [];
    const dropped = sizesOf(own.slice(leavesKept));
    setField(edited, list(1, THRIFT.STRUCT, [...own.slice(0, leavesKept), ...chunks]));
    setField(edited, i64(2, Math.max(0, (numberAt(group, 2) ?? 0) + unpackedSize - dropped.unpackedSize)));
    const packed = numberAt(group, 6);
    if (packed !== undefined) setField(edited, i64(6, Math.max(0, packed + size - dropped.size)));
    const sorting = structsAt(group, 4);
    if (sorting && chunks.length + leavesKept < own.length + chunks.length) {
      const left = sorting.filter((column) => (numberAt(column, 1) ?? 0) < leavesKept);
      setField(edited, list(4, THRIFT.STRUCT, left));
    }
    return edited;
  });
  return list(4, THRIFT.STRUCT, groups);
}

function sizesOf(chunks: readonly ThriftStruct[]): { size: number; unpackedSize: number } {
  let [size, unpackedSize] = [0, 0];
  for (const chunk of chunks) {
    const meta = structAt(chunk, 3);
    size += (meta && numberAt(meta, 7)) ?? 0;
    unpackedSize += (meta && numberAt(meta, 6)) ?? 0;
  }
  return { size, unpackedSize };
}

/** Without column orders, readers ignore the minimum and maximum of the added columns. */
function editOrders(field: ThriftField, leavesKept: number, added: number): ThriftField {
  const { items } = field.value as { items: ThriftStruct[] };
  const orders = Array.from({ length: added }, (): ThriftStruct => ({ fields: [struct(1)] }));
  return list(7, THRIFT.STRUCT, [...items.slice(0, leavesKept), ...orders]);
}

/** The end of the part of the body that is copied. Chunks of dropped columns are left out at the end of the body, as in every file that
 * Perilbook wrote. Elsewhere they stay as unreferenced bytes, because moving the bytes after them would make page indexes and other
 * offsets wrong. */
export function keptBody(file: ParquetFile, fieldsKept: number): number {
  const leavesKept = keptLeaves(file, file.root.children.slice(0, fieldsKept));
  const dropped = file.rowGroups
    .flatMap((group) => file.leaves.slice(leavesKept).map((leaf) => chunkRange(file, group, leaf)))
    .filter(({ start, end }) => end > start)
    .sort((a, b) => b.end - a.end);
  let end = file.bodyEnd;
  for (const range of dropped) {
    if (range.end !== end) break;
    end = range.start;
  }
  const isPointedAt = file.rowGroups.some((group) =>
    file.leaves.slice(0, leavesKept).some((leaf) => chunkRange(file, group, leaf).end > end),
  );
  return isPointedAt ? file.bodyEnd : end;
}
