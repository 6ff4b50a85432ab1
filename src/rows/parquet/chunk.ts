import { constants, zstdCompressSync } from 'node:zlib';
import type { BuiltColumns, StoredColumn } from './column-builder.ts';
import {
  type FilledRows,
  numberValues,
  type ReusableArrays,
  textValues,
  type Values,
} from './encode.ts';
import {
  CHUNK,
  CHUNK_META,
  CODECS,
  DATA_PAGE,
  DICTIONARY_PAGE,
  ENCODINGS,
  PAGE,
  PAGE_KINDS,
  type PageCodec,
  PHYSICAL_TYPES,
  STATISTICS,
} from './format.ts';
import { encodeHybrid, encodeRun } from './hybrid.ts';
import { makeStruct, type ThriftField, type ThriftStruct, writeThrift } from './thrift.ts';

/** A column of a row group as bytes, with its description for the footer. */
export interface EncodedChunk {
  readonly pieces: readonly Buffer[];
  readonly facts: ChunkFacts;
}

/** The description of a chunk for the footer, without its position: plain data, which threads can send. */
export interface ChunkFacts {
  readonly name: string;
  readonly type: Values['type'];
  readonly codec: PageCodec;
  readonly rows: number;
  readonly nulls: number;
  readonly size: number;
  readonly unpackedSize: number;
  /** The offset of its first data page, after the dictionary; 0 without a dictionary. */
  readonly dataStart: number;
  readonly least: Uint8Array | null;
  readonly greatest: Uint8Array | null;
}

/** Encodes one column of a row group: nulls as levels, the values with a dictionary if that is shorter. The result is
 * valid until the next column is encoded with the same arrays. */
function encodeChunk(
  store: BuiltColumns,
  column: StoredColumn,
  presence: DefinitionLevels,
  arrays: ReusableArrays,
) {
  const { filled } = presence;
  const values =
    column.kind === 'text'
      ? textValues(column, filled, arrays)
      : numberValues(column, filled, arrays);
  const pages: EncodedPage[] = [];
  if (values.dictionary) {
    const { bytes, count } = values.dictionary;
    const detail = makeStruct(
      DICTIONARY_PAGE.values.make(count),
      DICTIONARY_PAGE.encoding.make(ENCODINGS.plain),
    );
    pages.push({
      kind: PAGE_KINDS.dictionary,
      body: [bytes],
      detail: PAGE.dictionary.make(detail),
    });
  }
  const encoding = values.dictionary ? ENCODINGS.indexes : ENCODINGS.plain;
  let next = 0;
  for (const { rows, values: count, levels } of presence.pages) {
    const body = [...levels, ...values.encode(next, next + count)];
    const detail = makeStruct(
      DATA_PAGE.values.make(rows),
      DATA_PAGE.encoding.make(encoding),
      DATA_PAGE.definitions.make(ENCODINGS.runs),
      DATA_PAGE.repetitions.make(ENCODINGS.runs),
    );
    pages.push({ kind: PAGE_KINDS.data, body, detail: PAGE.data.make(detail) });
    next += count;
  }
  const isText = column.kind === 'text';
  return assemble(
    column.name,
    { rows: store.rows, nulls: store.rows - filled.count },
    values,
    pages,
    isText,
  );
}

interface EncodedPage {
  readonly kind: number;
  readonly body: readonly Buffer[];
  /** The part of the header that describes a page of this kind. */
  readonly detail: ThriftField;
}

function assemble(
  name: string,
  { rows, nulls }: { rows: number; nulls: number },
  values: Values,
  pages: readonly EncodedPage[],
  isText: boolean,
): EncodedChunk {
  // Packed indexes and numbers hardly shrink, and compressing them takes longer than everything else.
  const codec = isText && pages.some(({ body }) => isWorthPacking(body)) ? 'ZSTD' : 'UNCOMPRESSED';
  const pieces: Buffer[] = [];
  let size = 0;
  let unpackedSize = 0;
  let dataStart = 0;
  for (const { kind, body, detail } of pages) {
    const packed = codec === 'ZSTD' ? [compressed(Buffer.concat(body))] : body;
    const [packedLength, length] = [lengthOf(packed), lengthOf(body)];
    const head = writeThrift(
      makeStruct(
        PAGE.kind.make(kind),
        PAGE.unpackedSize.make(length),
        PAGE.size.make(packedLength),
        detail,
      ),
    );
    pieces.push(head, ...packed);
    size += head.length + packedLength;
    unpackedSize += head.length + length;
    if (kind === PAGE_KINDS.dictionary) dataStart = size;
  }
  const { type, least, greatest } = values;
  return {
    pieces,
    facts: { name, type, codec, rows, nulls, size, unpackedSize, dataStart, least, greatest },
  };
}

/** The entry of a chunk in the footer. */
export function describeChunk(chunk: ChunkFacts, start: number): ThriftStruct {
  const { name, type, codec, rows, nulls, size, unpackedSize, dataStart, least, greatest } = chunk;
  const { plain, runs, indexes } = ENCODINGS;
  const hasDictionary = dataStart > 0;
  const statistics = [STATISTICS.nulls.make(nulls)];
  if (greatest) statistics.push(STATISTICS.greatest.make(greatest));
  if (least) statistics.push(STATISTICS.least.make(least));
  const meta = makeStruct(
    CHUNK_META.type.make(PHYSICAL_TYPES.indexOf(type)),
    CHUNK_META.encodings.make(hasDictionary ? [plain, runs, indexes] : [plain, runs]),
    CHUNK_META.path.make([Buffer.from(name)]),
    CHUNK_META.codec.make(CODECS.indexOf(codec)),
    CHUNK_META.values.make(rows),
    CHUNK_META.unpackedSize.make(unpackedSize),
    CHUNK_META.size.make(size),
    CHUNK_META.dataStart.make(start + dataStart),
    ...(hasDictionary ? [CHUNK_META.dictionaryStart.make(start)] : []),
    CHUNK_META.statistics.make(makeStruct(...statistics)),
  );
  return makeStruct(CHUNK.start.make(start), CHUNK.meta.make(meta));
}

/** Encodes the columns of a row group. A chunk is valid until the next one is asked for. */
export function* encodedChunks(
  store: BuiltColumns,
  arrays: ReusableArrays,
): Generator<EncodedChunk> {
  const readLevels = definitionLevels(store, arrays);
  for (const column of store.columns) {
    arrays.bytes.clear();
    yield encodeChunk(store, column, readLevels(column), arrays);
  }
}

/** Level 1: texts of few words shrink to a fifth at 400 MB a second; every reader since 2019 has the codec. */
const compressed = (bytes: Buffer): Buffer =>
  zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: 1 } });

const lengthOf = (pieces: readonly Buffer[]): number =>
  pieces.reduce((sum, piece) => sum + piece.length, 0);

const SAMPLE_BYTES = 16 * 1024;

function isWorthPacking(body: readonly Buffer[]): boolean {
  const longest = body.reduce((a, b) => (b.length > a.length ? b : a));
  if (longest.length < 1024) return false;
  const from = Math.max(0, (longest.length - SAMPLE_BYTES) >> 1);
  const sample = longest.subarray(from, from + SAMPLE_BYTES);
  return compressed(sample).length < sample.length * 0.8;
}

const ROWS_A_PAGE = 131_072;

type DefinitionLevels = ReturnType<typeof readLevels>;

/** Makes a function that returns the definition levels of the columns of a row group. Most columns have nulls in the same rows (those
 * that were not looked up). A column with the same nulls as the previous one shares its levels, which saves a quarter of the time of a
 * write. Valid until the next different column. */
function definitionLevels(
  store: BuiltColumns,
  arrays: ReusableArrays,
): (column: StoredColumn) => DefinitionLevels {
  const full = readLevels(store, null, arrays);
  let last: { readonly present: Uint8Array; readonly presence: DefinitionLevels } | null = null;
  return ({ nulls, present: all }) => {
    if (nulls === 0 || all === null) return full;
    const present = all.subarray(0, store.rows);
    if (last === null || Buffer.compare(present, last.present) !== 0) {
      last = { present, presence: readLevels(store, present, arrays) };
    }
    return last.presence;
  };
}

/** Which rows of a row group have a value in a column, and the definition levels of each page, after their length. */
function readLevels(
  { rows }: BuiltColumns,
  present: Uint8Array | null,
  arrays: ReusableArrays,
): { readonly filled: FilledRows; readonly pages: readonly LevelsOfPage[] } {
  const levels = present === null ? null : arrays.levels(rows);
  const filled = present === null ? null : arrays.filled(rows);
  const pages: LevelsOfPage[] = [];
  let count = 0;
  for (let from = 0; from < rows; from += ROWS_A_PAGE) {
    const to = Math.min(rows, from + ROWS_A_PAGE);
    const before = count;
    if (levels === null) count += to - from;
    else {
      for (let row = from; row < to; row++) {
        const level = present![row]!;
        levels[row] = level;
        filled![count] = row;
        count += level;
      }
    }
    const bytes =
      levels === null ? encodeRun(1, to - from, 1) : encodeHybrid(levels.subarray(from, to), 1);
    const length = Buffer.alloc(4);
    length.writeUInt32LE(bytes.length);
    pages.push({ rows: to - from, values: count - before, levels: [length, bytes] });
  }
  return { filled: { count, rows: filled?.subarray(0, count) ?? null }, pages };
}

interface LevelsOfPage {
  readonly rows: number;
  readonly values: number;
  readonly levels: readonly Buffer[];
}
