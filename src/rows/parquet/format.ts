import {
  flag,
  i16,
  i32,
  i64,
  makeStruct,
  numbers,
  struct,
  structs,
  type ThriftStruct,
  text,
  texts,
} from './thrift.ts';

/* The Parquet format by names (parquet.thrift of Apache Parquet): the fields of its descriptions, and the numbers that stand for types,
 * encodings, codecs and kinds of pages. Reading and writing use this table. Fields that are neither read nor written are left out. */

export const FOOTER = {
  version: i32(1),
  schema: structs(2),
  rows: i64(3),
  rowGroups: structs(4),
  keyValues: structs(5),
  createdBy: text(6),
  columnOrders: structs(7),
  encryption: struct(8),
};

export const KEY_VALUE = { key: text(1), value: text(2) };

export const ELEMENT = {
  type: i32(1),
  typeLength: i32(2),
  repetition: i32(3),
  name: text(4),
  children: i32(5),
  converted: i32(6),
  scale: i32(7),
  logical: struct(10),
};

export const ROW_GROUP = {
  chunks: structs(1),
  unpackedSize: i64(2),
  rows: i64(3),
  sorting: structs(4),
  start: i64(5),
  size: i64(6),
  ordinal: i16(7),
};

export const SORTING = { leaf: i32(1) };

export const CHUNK = {
  otherFile: text(1),
  start: i64(2),
  meta: struct(3),
  offsetIndex: i64(4),
  offsetIndexSize: i32(5),
  columnIndex: i64(6),
  columnIndexSize: i32(7),
  encryption: struct(8),
};

export const CHUNK_META = {
  type: i32(1),
  encodings: numbers(2),
  path: texts(3),
  codec: i32(4),
  values: i64(5),
  unpackedSize: i64(6),
  size: i64(7),
  dataStart: i64(9),
  indexStart: i64(10),
  dictionaryStart: i64(11),
  statistics: struct(12),
  bloomFilter: i64(14),
  bloomFilterSize: i32(15),
};

export const STATISTICS = { nulls: i64(3), greatest: text(5), least: text(6) };

export const PAGE = {
  kind: i32(1),
  unpackedSize: i32(2),
  size: i32(3),
  checksum: i32(4),
  data: struct(5),
  dictionary: struct(7),
  data2: struct(8),
};

export const DATA_PAGE = {
  values: i32(1),
  encoding: i32(2),
  definitions: i32(3),
  repetitions: i32(4),
};

export const DICTIONARY_PAGE = { values: i32(1), encoding: i32(2) };

/** In pages of version 2 the levels are not compressed, and their sizes are known. */
export const DATA_PAGE_2 = {
  values: i32(1),
  encoding: i32(4),
  definitionsSize: i32(5),
  repetitionsSize: i32(6),
  isCompressed: flag(7),
};

export const PAGE_KINDS = { data: 0, dictionary: 2, data2: 3 } as const;

export const ENCODINGS = {
  plain: 0,
  /** Indexes into a dictionary, in files of version 1. */
  oldIndexes: 2,
  runs: 3,
  differences: 5,
  textLengths: 6,
  sharedTexts: 7,
  indexes: 8,
  splitBytes: 9,
} as const;

export const CODECS = [
  'UNCOMPRESSED',
  'SNAPPY',
  'GZIP',
  'LZO',
  'BROTLI',
  'LZ4',
  'ZSTD',
  'LZ4_RAW',
] as const;
export type PageCodec = (typeof CODECS)[number];

export const PHYSICAL_TYPES = [
  'BOOLEAN',
  'INT32',
  'INT64',
  'INT96',
  'FLOAT',
  'DOUBLE',
  'BYTE_ARRAY',
  'FIXED_LEN_BYTE_ARRAY',
] as const;
export type PhysicalType = (typeof PHYSICAL_TYPES)[number];

export const REPETITIONS = ['required', 'optional', 'repeated'] as const;

/** The older annotations of a type. */
export const CONVERTED = {
  text: 0,
  map: 1,
  mapEntries: 2,
  list: 3,
  enum: 4,
  decimal: 5,
  date: 6,
  timeMillis: 7,
  timeMicros: 8,
  timestampMillis: 9,
  timestampMicros: 10,
  uint8: 11,
  uint16: 12,
  uint32: 13,
  uint64: 14,
  json: 19,
  interval: 21,
} as const;

/** The newer annotations: the struct of one of these fields has the parameters. */
export const LOGICAL = {
  text: 1,
  map: 2,
  list: 3,
  enum: 4,
  decimal: 5,
  date: 6,
  time: 7,
  timestamp: 8,
  integer: 10,
  json: 12,
  uuid: 14,
  float16: 15,
  geometry: 17,
  geography: 18,
} as const;

export const DECIMAL = { scale: i32(1) };
export const MOMENT = { isUtc: flag(1), unit: struct(2) };
export const UNITS = { millis: 1, micros: 2, nanos: 3 } as const;
export const INTEGER = { isSigned: flag(2) };
export const GEOMETRY = { crs: text(1) };

/** The order of values by which the bounds of a column are the least and the greatest: that of its type. */
const ORDER_OF_TYPE = 1;

/** A struct with one field, which is a struct: how the format stores a choice. */
export const makeChoice = (id: number, content = makeStruct()): ThriftStruct =>
  makeStruct(struct(id).make(content));

/** The orders of added columns. Without them, readers ignore the least and the greatest value. */
export const ordersOf = (columns: number): ThriftStruct[] =>
  Array.from({ length: columns }, () => makeChoice(ORDER_OF_TYPE));
