import type { BytePass } from '../../formats/bytes/byte-source.ts';
import type { OutputPlaces } from '../../formats/packed/output-places.ts';
import { fieldOf } from '../../formats/typed-value.ts';
import { type ByteBuffer, byteBuffer } from '../files/byte-buffer.ts';
import type { MakePiece } from '../files/piece-writer.ts';
import { type WriteNewFile, writeRows } from '../files/row-output.ts';
import { nextPlaces } from '../placed-fields.ts';
import type { TableColumn, WriteRequest, WriteResult } from '../port.ts';
import { type ChunkFacts, describeChunk, encodedChunks } from './chunk.ts';
import { type BuiltColumns, columnBuilder } from './column-builder.ts';
import {
  type CopiedGroup,
  editFooter,
  keptLeaves,
  schemaElement,
  setGeoMetadata,
  sumSizes,
} from './edit.ts';
import { reusableArrays } from './encode.ts';
import { type FileColumn, fieldsKept } from './file-columns.ts';
import { chunkRange, MAGIC, type ParquetFile, readAt } from './footer.ts';
import { CHUNK, CHUNK_META, ELEMENT, FOOTER, ordersOf, ROW_GROUP } from './format.ts';
import {
  columnSpans,
  type OwnTexts,
  type PlacesToFill,
  type PlaceValues,
  placeFiller,
  roomForValues,
} from './place-columns.ts';
import { writePlacedColumns } from './placed-columns.ts';
import { type ColumnsToWrite, columnMaker } from './row-columns.ts';
import { type RowSection, sectionMaker } from './sections.ts';
import { makeStruct, type ThriftField, type ThriftStruct, writeThrift } from './thrift.ts';

const BYTES_A_COPY = 1024 * 1024;

/** Writes a Parquet file with the added columns: the kept column chunks of the input byte for byte, the added chunks of each row group, then the
 * edited footer. Memory: six added columns of a row group at a time in each thread, 8 bytes a number and 4 a text for each row, and the
 * values of the places of a million rows in some columns. */
export async function writeParquet(
  file: ParquetFile,
  columns: readonly FileColumn[],
  request: WriteRequest,
): Promise<WriteResult> {
  return await writeRows(request, file.input.identity, async (gathered) => {
    await using pass = await file.input.startPass();
    const sink = parquetSink(gathered);
    const kept = fieldsKept(columns, request.dropFrom);
    const copied = await copyBody(file, kept, pass, sink, request.signal);
    const addedTo: ThriftStruct[][] = file.rowGroups.map(() => []);
    const { placed } = request;
    if (placed.inThreads) {
      const written = writePlacedColumns(gathered, request);
      for await (const { group, size, chunks } of written) {
        addedTo[group]!.push(...sink.describe(chunks));
        sink.skip(size);
      }
    } else {
      const writeGroup = groupWriter(sink, request);
      for (const [group, { rows }] of file.rowGroups.entries()) {
        request.signal?.throwIfAborted();
        addedTo[group] = await writeGroup(rows);
      }
    }
    await sink.finish(editFooter(file, kept, copied, request.added, addedTo), request.added);
    await pass.assertSame();
    return file.rows;
  });
}

/** Copies the body. Where columns are dropped, only the chunks of the kept ones: answers that are replaced are not kept as unreferenced
 * bytes. Page indexes and bloom filters, which readers can do without, are then left out, because they have positions of their own.
 *
 * @returns the kept row groups and chunks, as they are described in the output */
async function copyBody(
  file: ParquetFile,
  fieldsKept: number,
  pass: BytePass,
  sink: ParquetSink,
  signal: AbortSignal | undefined,
): Promise<CopiedGroup[]> {
  const leaves = file.leaves.slice(0, keptLeaves(file, file.root.children.slice(0, fieldsKept)));
  const groups = FOOTER.rowGroups.read(file.footer) ?? [];
  // One block for all: new ones stay until V8 frees them.
  const block = Buffer.allocUnsafeSlow(BYTES_A_COPY);
  const copy = async (start: number, end: number) => {
    for (let at = start; at < end; at += BYTES_A_COPY) {
      signal?.throwIfAborted();
      await sink.write(await readAt(pass, at, Math.min(BYTES_A_COPY, end - at), block));
    }
  };
  // Fields that Perilbook does not need may be damaged. They are read only where they change.
  if (leaves.length === file.leaves.length) {
    await copy(0, file.bodyEnd);
    return groups.map((group) => ({ group, chunks: ROW_GROUP.chunks.read(group) ?? [] }));
  }
  await copy(0, MAGIC.length);
  const copied: CopiedGroup[] = [];
  for (const [index, group] of groups.entries()) {
    const from = sink.position();
    const chunks: ThriftStruct[] = [];
    for (const leaf of leaves) {
      const { start, end } = chunkRange(file, file.rowGroups[index]!, leaf);
      chunks.push(movedChunk(file.rowGroups[index]!.chunks[leaf.leaf!.index]!, sink.position()));
      await copy(start, end);
    }
    copied.push({ group: editStruct(group, [], [ROW_GROUP.start.make(from)]), chunks });
  }
  return copied;
}

/** The description of a chunk at another position, without its indexes. */
function movedChunk(chunk: ThriftStruct, to: number): ThriftStruct {
  const meta = CHUNK.meta.read(chunk)!;
  // Some writers give position 0 for a missing dictionary.
  const parts = [CHUNK_META.dataStart, CHUNK_META.dictionaryStart].filter((field) =>
    field.read(meta),
  );
  const start = Math.min(...parts.map((field) => field.read(meta)!));
  const positions = parts.map((field) => field.make(field.read(meta)! - start + to));
  const { indexStart, bloomFilter, bloomFilterSize } = CHUNK_META;
  const moved = editStruct(meta, [indexStart, bloomFilter, bloomFilterSize], positions);
  const { offsetIndex, offsetIndexSize, columnIndex, columnIndexSize } = CHUNK;
  return editStruct(
    chunk,
    [offsetIndex, offsetIndexSize, columnIndex, columnIndexSize],
    // The format's own advice for a field that no reader should use.
    [CHUNK.start.make(0), CHUNK.meta.make(moved)],
  );
}

/** A copy without some fields, and with other values of fields that it has. */
function editStruct(
  { fields }: ThriftStruct,
  without: readonly { readonly id: number }[],
  changed: readonly ThriftField[],
): ThriftStruct {
  const kept = fields.filter(({ id }) => without.every((field) => field.id !== id));
  return makeStruct(...kept.map((field) => changed.find(({ id }) => id === field.id) ?? field));
}

/** Makes a function that writes the added columns of the next row group. */
function groupWriter(
  sink: ParquetSink,
  request: WriteRequest,
): (rows: number) => Promise<ThriftStruct[]> {
  const { added } = request;
  let made = null as {
    readonly of: OutputPlaces;
    readonly find: (groups: readonly Int32Array[]) => RowSection;
    readonly fill: (task: PlacesToFill) => readonly OwnTexts[];
    readonly make: MakePiece<ColumnsToWrite, ChunkFacts[]>;
  } | null;
  let memory = new ArrayBuffer(0);
  let free: readonly PlaceValues[] = [];
  return async (rowCount) => {
    const { places: of, numbers, values: amounts } = await nextPlaces(request, rowCount);
    if (made?.of !== of) {
      const setup = { places: of, added };
      const find = sectionMaker(of.kindOf.length);
      made = { of, find, fill: placeFiller(setup), make: columnMaker(setup) };
    }
    const { places, rows } = made.find([numbers]);
    const to = places.length;
    const offsets = of.tables.map(() => new Uint32Array(new SharedArrayBuffer(4 * to)));
    const described: ThriftStruct[] = [];
    for (const span of columnSpans(added.length, of, to)) {
      const ranges = span.map((range, at) => roomForValues(range, of, to, free[at]));
      free = ranges;
      const own = made.fill({ places, from: 0, to, ranges, offsets });
      for (const range of ranges) {
        // Never flushed: the columns are passed on as a whole.
        const piece = byteBuffer(async () => {}, memory);
        const chunks = await made.make({ ...range, places, rows: rows[0]!, amounts, own }, piece);
        described.push(...sink.describe(chunks));
        await sink.addBlock(piece.bytes.subarray(0, piece.used));
        memory = piece.bytes.buffer as ArrayBuffer;
      }
    }
    return described;
  };
}

/** Writes the parts of a Parquet file, and counts its position. */
interface ParquetSink {
  position(): number;
  readonly write: (bytes: Buffer) => Promise<void>;
  addChunks(store: BuiltColumns): Promise<ThriftStruct[]>;
  /** Bytes were written past it. */
  skip(bytes: number): void;
  describe(chunks: readonly ChunkFacts[]): ThriftStruct[];
  /** Writes a large block without a copy. */
  addBlock(block: Buffer): Promise<void>;
  /** Writes the footer and the end of the file. @param columns the written ones */
  finish(footer: ThriftStruct, columns: readonly TableColumn[]): Promise<void>;
}

/** The output of a Parquet file, which counts its position. Bytes are copied, so their buffer may be reused at once. */
export function parquetSink(gathered: ByteBuffer): ParquetSink {
  const arrays = reusableArrays();
  let position = 0;
  const write = async (bytes: Buffer) => {
    gathered.addBytes(bytes, 0, bytes.length);
    position += bytes.length;
    await gathered.flushIfFull();
  };
  return {
    position: (): number => position,
    write,
    async addChunks(store: BuiltColumns): Promise<ThriftStruct[]> {
      const start = position;
      const chunks: ChunkFacts[] = [];
      for (const { pieces, facts } of encodedChunks(store, arrays)) {
        chunks.push(facts);
        for (const piece of pieces) await write(piece);
      }
      return describeChunks(chunks, start);
    },
    skip(bytes: number): void {
      position += bytes;
    },
    describe: (chunks: readonly ChunkFacts[]) => describeChunks(chunks, position),
    async addBlock(block: Buffer): Promise<void> {
      position += block.length;
      await gathered.addBlock(block);
    },
    async finish(footer: ThriftStruct, columns: readonly TableColumn[]): Promise<void> {
      const points = columns.flatMap(({ name, type }) => (type === 'point' ? [name] : []));
      setGeoMetadata(footer, points);
      const bytes = writeThrift(footer);
      const end = Buffer.alloc(8);
      end.writeUInt32LE(bytes.length);
      end.write('PAR1', 4, 'latin1');
      await write(bytes);
      await write(end);
    },
  };
}

/** @param start the position of the first chunk */
function describeChunks(chunks: readonly ChunkFacts[], start: number): ThriftStruct[] {
  let position = start;
  return chunks.map((chunk) => {
    position += chunk.size;
    return describeChunk(chunk, position - chunk.size);
  });
}

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
      const chunks = await sink.addChunks(group.built());
      groups.push(rowGroup(chunks, rows, start, groups.length));
      group.clear();
      rowsInAll += rows;
      [rows, characters] = [0, 0];
    };
    for await (const batch of batches()) {
      if (rows + batch.length > MOST_ROWS_A_GROUP) await endGroup();
      for (const fields of batch) {
        for (const value of fields) {
          group.put(value);
          const field = fieldOf(value);
          if (typeof field === 'string') characters += field.length;
        }
        group.endRow();
      }
      rows += batch.length;
      if (rows >= ROWS_A_GROUP || characters > CHARACTERS_A_GROUP) await endGroup();
    }
    await endGroup();
    await sink.finish(newFooter(columns, rowsInAll, groups), columns);
    return rowsInAll;
  });
};

function rowGroup(
  chunks: ThriftStruct[],
  rows: number,
  start: number,
  ordinal: number,
): ThriftStruct {
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

function newFooter(
  columns: readonly TableColumn[],
  rows: number,
  groups: ThriftStruct[],
): ThriftStruct {
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
