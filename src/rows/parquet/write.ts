import type { ByteBuffer } from '../files/byte-buffer.ts';
import type { InputPass } from '../files/input-file.ts';
import { writeRows } from '../files/row-output.ts';
import { filledRows, type WriteRequest, type WriteResult } from '../port.ts';
import { definitionLevels, encodeChunk } from './chunk.ts';
import { type BuiltColumns, columnBuilder } from './column-builder.ts';
import { type AddedChunks, editFooter, keptBody } from './edit.ts';
import { reusableArrays } from './encode.ts';
import { type FileColumn, fieldsKept } from './file-columns.ts';
import type { ParquetFile } from './footer.ts';
import { readAt } from './footer.ts';
import { type ThriftStruct, writeThrift } from './thrift.ts';

const BYTES_A_COPY = 1024 * 1024;
const ROWS_A_BATCH = 4096;

/**
 * Writes a Parquet file with the added columns: the body of the input byte for byte, behind it the added chunks of each row
 * group, then the edited footer. Memory is bounded by the added fields of one row group: 8 bytes a number and 4 a text for
 * each row (350 MB for a million rows of 57 columns), and less where rows share their fields.
 */
export async function writeParquet(
  file: ParquetFile,
  columns: readonly FileColumn[],
  request: WriteRequest,
): Promise<WriteResult> {
  return await writeRows(request, file.input.identity, async (gathered) => {
    await using pass = await file.input.startPass();
    return await writeParts(file, columns, request, pass, parquetSink(gathered));
  });
}

async function writeParts(
  file: ParquetFile,
  columns: readonly FileColumn[],
  request: WriteRequest,
  pass: InputPass,
  sink: ParquetSink,
): Promise<number> {
  const kept = fieldsKept(columns, request.dropFrom);
  await copyBody(pass, keptBody(file, kept), sink, request.signal);
  const addedTo: AddedChunks[] = [];
  const gathered = columnBuilder(
    request.added,
    file.rowGroups.reduce((most, group) => Math.max(most, group.rows), 0),
  );
  for (const group of file.rowGroups) {
    for (let done = 0; done < group.rows; done += ROWS_A_BATCH) {
      request.signal?.throwIfAborted();
      const filled = await filledRows(request, Math.min(ROWS_A_BATCH, group.rows - done));
      for (const make of filled) gathered.add(make);
    }
    addedTo.push(await sink.addChunks(gathered.take()));
  }
  await sink.finish(editFooter(file, kept, request.added, addedTo));
  await pass.assertSame();
  return file.rows;
}

async function copyBody(pass: InputPass, end: number, sink: ParquetSink, signal?: AbortSignal): Promise<void> {
  for (let at = 0; at < end; at += BYTES_A_COPY) {
    signal?.throwIfAborted();
    await sink.write(await readAt(pass, at, Math.min(BYTES_A_COPY, end - at)));
  }
}

/** The output of a Parquet file, which must know where each of its parts lies. */
export interface ParquetSink {
  readonly position: () => number;
  write(bytes: Buffer): Promise<void>;
  /** Encodes and writes the columns of one row group. */
  addChunks(store: BuiltColumns): Promise<AddedChunks>;
  /** Writes the footer and the end of the file. */
  finish(footer: ThriftStruct): Promise<void>;
}

/** Counts what is written. Bytes are copied, so their buffer may be reused at once. */
export function parquetSink(gathered: ByteBuffer): ParquetSink {
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
    async addChunks(store) {
      const chunks: ThriftStruct[] = [];
      let size = 0;
      let unpackedSize = 0;
      const levelsOf = definitionLevels(store, arrays);
      for (const column of store.columns) {
        const chunk = encodeChunk(store, column, levelsOf(column), arrays);
        chunks.push(chunk.describe(position));
        for (const piece of chunk.pieces) await write(piece);
        size += chunk.size;
        unpackedSize += chunk.unpackedSize;
      }
      return { chunks, size, unpackedSize };
    },
    async finish(footer) {
      const bytes = writeThrift(footer);
      const end = Buffer.alloc(8);
      end.writeUInt32LE(bytes.length);
      end.write('PAR1', 4, 'latin1');
      await write(bytes);
      await write(end);
    },
  };
}
