import { resultOrNull } from '../../base/errors.ts';
import type { AddedColumn, TableColumn } from '../port.ts';
import { extendArrowSchema } from './arrow-schema.ts';
import type { ParquetFile } from './footer.ts';
import {
  CHUNK,
  CHUNK_META,
  CONVERTED,
  ELEMENT,
  FOOTER,
  KEY_VALUE,
  LOGICAL,
  MOMENT,
  makeChoice,
  ordersOf,
  PHYSICAL_TYPES,
  type PhysicalType,
  REPETITIONS,
  ROW_GROUP,
  SORTING,
  UNITS,
} from './format.ts';
import type { SchemaNode } from './schema.ts';
import { makeStruct, setField, type ThriftField, type ThriftStruct } from './thrift.ts';

/** The footer of the output: all fields of the input's footer, known or not, with columns at the end dropped and others added.
 *
 * @param copied the kept row groups and chunks, as they are described in the output */
export function editFooter(
  file: ParquetFile,
  fieldsKept: number,
  copied: readonly CopiedGroup[],
  added: readonly AddedColumn[],
  addedTo: readonly (readonly ThriftStruct[])[],
): ThriftStruct {
  const kept = file.root.children.slice(0, fieldsKept);
  const leavesKept = keptLeaves(file, kept);
  const edited: Readonly<Record<number, () => ThriftField>> = {
    [FOOTER.schema.id]: () => editSchema(file, kept, added),
    [FOOTER.rowGroups.id]: () => editRowGroups(file, leavesKept, copied, addedTo),
    [FOOTER.keyValues.id]: () => editSchemaCopies(file, kept, added),
    [FOOTER.columnOrders.id]: () => {
      const orders = FOOTER.columnOrders.read(file.footer)!.slice(0, leavesKept);
      return FOOTER.columnOrders.make([...orders, ...ordersOf(added.length)]);
    },
  };
  return makeStruct(...file.footer.fields.map((field) => edited[field.id]?.() ?? field));
}

export interface CopiedGroup {
  readonly group: ThriftStruct;
  readonly chunks: readonly ThriftStruct[];
}

/** The number of leaves of the kept fields. */
export function keptLeaves(file: ParquetFile, kept: readonly SchemaNode[]): number {
  const end = kept.at(-1)?.to ?? 1;
  return file.leaves.filter((leaf) => leaf.to <= end).length;
}

function editSchema(
  file: ParquetFile,
  kept: readonly SchemaNode[],
  added: readonly AddedColumn[],
): ThriftField {
  const elements = FOOTER.schema.read(file.footer)!;
  const root: ThriftStruct = { fields: [...elements[0]!.fields] };
  setField(root, ELEMENT.children.make(kept.length + added.length));
  const end = kept.at(-1)?.to ?? 1;
  return FOOTER.schema.make([root, ...elements.slice(1, end), ...added.map(schemaElement)]);
}

const momentOf = (isUtc: boolean): ThriftStruct =>
  makeChoice(
    LOGICAL.timestamp,
    makeStruct(MOMENT.isUtc.make(isUtc), MOMENT.unit.make(makeChoice(UNITS.millis))),
  );

const [CONVERTED_TO, LOGICALLY] = [ELEMENT.converted.make, ELEMENT.logical.make];

/** The type of a written column. Both kinds of annotation are given: older readers know only the first. */
const WRITTEN_TYPES: Readonly<
  Record<TableColumn['type'], readonly [PhysicalType, ...ThriftField[]]>
> = {
  text: ['BYTE_ARRAY', CONVERTED_TO(CONVERTED.text), LOGICALLY(makeChoice(LOGICAL.text))],
  point: ['BYTE_ARRAY'],
  number: ['DOUBLE'],
  count: ['INT32'],
  integer: ['INT64'],
  boolean: ['BOOLEAN'],
  date: ['INT32', CONVERTED_TO(CONVERTED.date), LOGICALLY(makeChoice(LOGICAL.date))],
  // Readers of the older annotation would assume UTC.
  timestamp: ['INT64', LOGICALLY(momentOf(false))],
  time: ['INT64', CONVERTED_TO(CONVERTED.timestampMillis), LOGICALLY(momentOf(true))],
};

/** The schema element of a column that is written. */
export function schemaElement({ name, type }: TableColumn): ThriftStruct {
  const [physical, ...annotations] = WRITTEN_TYPES[type];
  return makeStruct(
    ELEMENT.type.make(PHYSICAL_TYPES.indexOf(physical)),
    ELEMENT.repetition.make(REPETITIONS.indexOf('optional')),
    ELEMENT.name.make(name),
    ...annotations,
  );
}

/** Makes a schema with the added columns; null if it describes other columns than the kept ones. */
type ExtendSchema = (
  value: string,
  kept: readonly string[],
  added: readonly AddedColumn[],
) => string | null;

/** The keys under which programs store the schema in their own form. If the added columns are missing there, they do not see them or
 * refuse the file (fastparquet). GeoParquet describes only points. */
const SCHEMA_COPIES: Readonly<Record<string, ExtendSchema>> = {
  'ARROW:schema': (value, kept, added) =>
    extendArrowSchema(value, kept, added, (metadata) => extendPandas(metadata, kept, added)),
  'org.apache.spark.sql.parquet.row.metadata': extendRecord((name, type) => {
    const types = {
      text: 'string',
      point: 'binary',
      number: 'double',
      count: 'integer',
      time: 'timestamp',
    } as const;
    return { name, type: types[type], nullable: true, metadata: {} };
  }),
  pandas: extendPandas,
  'parquet.avro.schema': extendRecord((name, type) => {
    const time = { type: 'long', logicalType: 'timestamp-millis' };
    const types = { text: 'string', point: 'bytes', number: 'double', count: 'int', time } as const;
    return { name, type: ['null', types[type]], default: null };
  }),
};

/** Extends a schema in JSON; null if it is none. */
function extendJson<Schema>(
  extend: (schema: Schema, kept: readonly string[], added: readonly AddedColumn[]) => object | null,
): ExtendSchema {
  return (value, kept, added) => {
    const schema = resultOrNull(() => extend(JSON.parse(value) as Schema, kept, added));
    return schema && JSON.stringify(schema);
  };
}

/** Extends a schema that lists its columns as `fields`. */
function extendRecord(describe: (name: string, type: AddedColumn['type']) => object): ExtendSchema {
  return extendJson<{ fields: { name: string }[] }>((schema, kept, added) => {
    const fields = schema.fields.slice(0, kept.length);
    if (fields.length < kept.length || fields.some(({ name }, index) => name !== kept[index]))
      return null;
    return {
      ...schema,
      fields: [...fields, ...added.map(({ name, type }) => describe(name, type))],
    };
  });
}

/** How pandas names the types of the added columns (pandas developer guide, "Storing pandas DataFrame objects in Apache Parquet
 * format"). Pandas' own integers (`Int32`) may be null; NumPy's may not. */
const PANDAS_TYPES: Readonly<
  Record<AddedColumn['type'], readonly [pandas: string, numpy: string]>
> = {
  text: ['unicode', 'object'],
  point: ['bytes', 'object'],
  number: ['float64', 'float64'],
  count: ['int32', 'Int32'],
  time: ['datetimetz', 'datetime64[ms]'],
};

/** Extends the columns in the metadata of pandas. They are in any order, and an index may have no name. */
function extendPandas(
  value: string,
  kept: readonly string[],
  added: readonly AddedColumn[],
): string | null {
  type Metadata = { columns: { name: string | null; field_name?: string }[] };
  return extendJson<Metadata>((metadata) => {
    const columns = metadata.columns.filter(({ name, field_name }) =>
      kept.includes(field_name ?? name ?? ''),
    );
    const own = added.map(({ name, type }) => {
      const [pandas_type, numpy_type] = PANDAS_TYPES[type];
      const zone = type === 'time' ? { timezone: 'UTC' } : null;
      return { name, field_name: name, pandas_type, numpy_type, metadata: zone };
    });
    return { ...metadata, columns: [...columns, ...own] };
  })(value, kept, added);
}

/** Extends the other programs' copies of the schema. A copy that cannot be read is dropped: the programs then read Parquet's own. */
function editSchemaCopies(
  file: ParquetFile,
  kept: readonly SchemaNode[],
  added: readonly AddedColumn[],
): ThriftField {
  const names = kept.map(({ name }) => name);
  const entries = FOOTER.keyValues.read(file.footer)!.flatMap((entry): ThriftStruct[] => {
    const key = KEY_VALUE.key.read(entry) ?? '';
    const extend = SCHEMA_COPIES[key];
    if (extend === undefined) return [entry];
    const value = extend(KEY_VALUE.value.read(entry) ?? '', names, added);
    return value === null ? [] : [makeStruct(KEY_VALUE.key.make(key), KEY_VALUE.value.make(value))];
  });
  return FOOTER.keyValues.make(entries);
}

function editRowGroups(
  file: ParquetFile,
  leavesKept: number,
  copied: readonly CopiedGroup[],
  addedTo: readonly (readonly ThriftStruct[])[],
): ThriftField {
  const groups = FOOTER.rowGroups.read(file.footer)!.map((group, index): ThriftStruct => {
    const edited: ThriftStruct = { fields: [...copied[index]!.group.fields] };
    const own = ROW_GROUP.chunks.read(group) ?? [];
    const dropped = sumSizes(own.slice(leavesKept));
    const chunks = addedTo[index]!;
    const added = sumSizes(chunks);
    setField(edited, ROW_GROUP.chunks.make([...copied[index]!.chunks, ...chunks]));
    const unpacked =
      (ROW_GROUP.unpackedSize.read(group) ?? 0) + added.unpackedSize - dropped.unpackedSize;
    setField(edited, ROW_GROUP.unpackedSize.make(Math.max(0, unpacked)));
    const packed = ROW_GROUP.size.read(group);
    if (packed !== undefined)
      setField(edited, ROW_GROUP.size.make(Math.max(0, packed + added.size - dropped.size)));
    const sorting = ROW_GROUP.sorting.read(group);
    if (sorting && leavesKept < own.length) {
      const left = sorting.filter((column) => (SORTING.leaf.read(column) ?? 0) < leavesKept);
      setField(edited, ROW_GROUP.sorting.make(left));
    }
    return edited;
  });
  return FOOTER.rowGroups.make(groups);
}

/** The sizes of some chunks together. */
export function sumSizes(chunks: readonly ThriftStruct[]): { size: number; unpackedSize: number } {
  let [size, unpackedSize] = [0, 0];
  for (const chunk of chunks) {
    const meta = CHUNK.meta.read(chunk)!;
    size += CHUNK_META.size.read(meta) ?? 0;
    unpackedSize += CHUNK_META.unpackedSize.read(meta) ?? 0;
  }
  return { size, unpackedSize };
}

/** The key of the GeoParquet metadata in a footer. */
const GEO = 'geo';

interface GeoMetadata {
  readonly version: string;
  readonly primary_column: string;
  readonly columns: Readonly<Record<string, object>>;
}

/** Puts the metadata of the point columns into a footer (GeoParquet 1.1.0). Columns of the input keep theirs, and its primary column
 * stays the primary one. Metadata of dropped columns is removed: it would make the file invalid. */
export function setGeoMetadata(footer: ThriftStruct, points: readonly string[]): void {
  const entries = FOOTER.keyValues.read(footer) ?? [];
  const before = entries.find((entry) => KEY_VALUE.key.read(entry) === GEO);
  if (before === undefined && points.length === 0) return;
  const geo = before === undefined ? null : parsed(KEY_VALUE.value.read(before));
  // Metadata in an unknown form stays unchanged.
  if (before !== undefined && geo === null) return;
  const names = new Set(
    (FOOTER.schema.read(footer) ?? []).map((element) => ELEMENT.name.read(element)),
  );
  const kept = Object.entries(geo?.columns ?? {}).filter(
    ([name]) => names.has(name) && !points.includes(name),
  );
  // Without a `crs` the coordinates are OGC:CRS84: longitude and latitude on WGS 84.
  const own = points.map((name) => [name, { encoding: 'WKB', geometry_types: ['Point'] }] as const);
  const columns = Object.fromEntries([...kept, ...own]);
  const [first] = Object.keys(columns);
  const others = entries.filter((entry) => entry !== before);
  if (first === undefined) {
    setField(footer, FOOTER.keyValues.make(others));
    return;
  }
  const primary = geo !== null && geo.primary_column in columns ? geo.primary_column : first;
  const value: GeoMetadata = { version: '1.1.0', ...geo, primary_column: primary, columns };
  const entry = makeStruct(KEY_VALUE.key.make(GEO), KEY_VALUE.value.make(JSON.stringify(value)));
  setField(footer, FOOTER.keyValues.make([...others, entry]));
}

function parsed(text: string | undefined): GeoMetadata | null {
  const value: Partial<GeoMetadata> | null = resultOrNull(() => JSON.parse(text ?? ''));
  const isValid =
    typeof value?.primary_column === 'string' &&
    typeof value.columns === 'object' &&
    value.columns !== null;
  return isValid ? (value as GeoMetadata) : null;
}
