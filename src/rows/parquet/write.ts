import type { BytePass } from '../../formats/bytes/byte-source.ts';
import type { ByteBuffer } from '../files/byte-buffer.ts';
import { writeRows } from '../files/row-output.ts';
import { assertPlaceCount, encodedOnce, placeEntries } from '../placed-fields.ts';
import type { AllPlaces, TableColumn, WriteRequest, WriteResult } from '../port.ts';
import { type ChunkFacts, describeChunk, encodedChunks } from './chunk.ts';
import { type BuiltColumns, codedColumns, columnBuilder, columnsAt } from './column-builder.ts';
import { type CopiedGroup, editFooter, keptLeaves } from './edit.ts';
import { numberCodes, reusableArrays } from './encode.ts';
import { columnsInThreads } from './encode-in-threads.ts';
import { type FileColumn, fieldsKept } from './file-columns.ts';
import { type ParquetFile, readAt } from './footer.ts';
import { CHUNK, CHUNK_META, FOOTER, ROW_GROUP } from './format.ts';
import { setGeoMetadata } from './geo-metadata.ts';
import { droppedRanges, movedChunk, movedGroup, movedOffsetIndex, positionsWithout } from './moved-body.ts';
import { type ThriftStruct, writeThrift } from './thrift.ts';

const BYTES_A_COPY = 1024 * 1024;
const ROWS_A_BATCH = 4096;

/** Writes a Parquet file with the added columns: the kept column chunks of the input byte for byte, the added chunks of each row group, then the
 * edited footer. Memory is bounded by the added fields of one row group: 8 bytes a number and 4 a text for each row (350 MB for a
 * million rows of 57 columns), and less where rows share their fields. */
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
    const all = await encodedOnce(request, 'parquet', (places) => columnsOfPlaces(places, request.added));
    if (placed.inThreads && all) {
      for await (const { group, memory, used, chunks } of columnsInThreads(all, placed, request.signal)) {
        addedTo[group]!.push(...sink.describe(chunks));
        await sink.addBlock(Buffer.from(memory, 0, used));
      }
    } else {
      const nextGroup = all
        ? async (rows: number) => columnsAt(all, placed.next(rows))
        : columnsOfNextRows(file, request);
      for (const [group, { rows }] of file.rowGroups.entries()) {
        request.signal?.throwIfAborted();
        addedTo[group] = await sink.addChunks(await nextGroup(rows));
      }
    }
    await sink.finish(editFooter(file, kept, copied, request.added, addedTo), request.added);
    await pass.assertSame();
    return file.rows;
  });
}

/** Copies the body without what only dropped columns use. Answers that are replaced are not kept as unreferenced bytes; what follows them
 * moves, so each position in the footer and in offset indexes is changed.
 *
 * @returns the kept row groups and chunks, as they are described in the output */
async function copyBody(
  file: ParquetFile,
  fieldsKept: number,
  pass: BytePass,
  sink: ReturnType<typeof parquetSink>,
  signal: AbortSignal | undefined,
): Promise<CopiedGroup[]> {
  const leavesKept = keptLeaves(file, file.root.children.slice(0, fieldsKept));
  const dropped = droppedRanges(file, leavesKept);
  for (const [index, start] of [0, ...dropped.map(({ end }) => end)].entries()) {
    const end = dropped[index]?.start ?? file.bodyEnd;
    for (let at = start; at < end; at += BYTES_A_COPY) {
      signal?.throwIfAborted();
      await sink.write(await readAt(pass, at, Math.min(BYTES_A_COPY, end - at)));
    }
  }
  const groups = (FOOTER.rowGroups.read(file.footer) ?? []).map((group) => ({
    group,
    chunks: (ROW_GROUP.chunks.read(group) ?? []).slice(0, leavesKept),
  }));
  // Fields that Perilbook does not need may be damaged. They are read only where they change.
  if (dropped.length === 0) return groups;
  const moved = positionsWithout(dropped);
  const copyChunk = async (chunk: ThriftStruct): Promise<ThriftStruct> => {
    const [at, size] = [CHUNK.offsetIndex.read(chunk) ?? 0, CHUNK.offsetIndexSize.read(chunk) ?? 0];
    const firstPage = CHUNK_META.dataStart.read(CHUNK.meta.read(chunk)!)!;
    if (size <= 0 || moved(firstPage) === firstPage) return movedChunk(chunk, moved);
    const index = at + size > file.bodyEnd ? null : movedOffsetIndex(await readAt(pass, at, size), moved);
    if (index === null) return movedChunk(chunk, moved, null);
    const start = sink.position();
    await sink.write(index);
    return movedChunk(chunk, moved, { start, end: sink.position() });
  };
  const copied: CopiedGroup[] = [];
  for (const { group, chunks } of groups) {
    const movedChunks: ThriftStruct[] = [];
    for (const chunk of chunks) movedChunks.push(await copyChunk(chunk));
    copied.push({ group: movedGroup(group, moved), chunks: movedChunks });
  }
  return copied;
}

/** The columns of all places. The rows of a row group refer to some of them. */
async function columnsOfPlaces(
  { count, give, release }: AllPlaces,
  added: WriteRequest['added'],
): Promise<BuiltColumns> {
  const builder = columnBuilder(added, count);
  await give(builder.sink);
  const built = builder.built();
  assertPlaceCount(count, built.entries);
  release?.();
  const arrays = reusableArrays();
  return codedColumns(built, (values) => numberCodes(values, arrays));
}

/** Makes a function that returns the columns of the next row group, for files with too many places for memory. */
function columnsOfNextRows({ rowGroups }: ParquetFile, request: WriteRequest): (rows: number) => Promise<BuiltColumns> {
  const mostRows = rowGroups.reduce((most, { rows }) => Math.max(most, rows), 0);
  const builder = columnBuilder(request.added, mostRows);
  const entries = placeEntries(request, builder.sink);
  const entryOf = new Int32Array(mostRows);
  return async (rows) => {
    builder.clear();
    entries.clear();
    for (let done = 0; done < rows; done += ROWS_A_BATCH) {
      request.signal?.throwIfAborted();
      entryOf.set(await entries.next(Math.min(ROWS_A_BATCH, rows - done)), done);
    }
    return columnsAt(builder.built(), entryOf.subarray(0, rows));
  };
}

/** The output of a Parquet file, which counts its position. Bytes are copied, so their buffer may be reused at once. */
export function parquetSink(gathered: ByteBuffer) {
  const arrays = reusableArrays();
  let position = 0;
  const write = async (bytes: Buffer) => {
    gathered.addBytes(bytes, 0, bytes.length);
    position += bytes.length;
    await gathered.flushIfFull();
  };
  return {
    position: () => position,
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
    describe: (chunks: readonly ChunkFacts[]) => describeChunks(chunks, position),
    /** Writes a large block without a copy. */
    async addBlock(block: Buffer): Promise<void> {
      position += block.length;
      await gathered.addBlock(block);
    },
    /** Writes the footer and the end of the file. @param columns the written ones */
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
