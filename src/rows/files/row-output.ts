import { createGzip, createZstdCompress } from 'node:zlib';
import type { Compression } from '../../formats/bytes/unpack.ts';
import type { Value } from '../../formats/typed-value.ts';
import type { NewTable, TableTarget, WriteResult } from '../port.ts';
import { inOrder, type Utf16, unfinishedBytes, utf16Of } from '../text-encoding.ts';
import { type ByteBuffer, byteBuffer } from './byte-buffer.ts';
import { compressionOfOutput } from './compression.ts';
import type { InputFile } from './input-file.ts';
import { type InputIdentity, type OutputFile, openOutput, writeWhole } from './output-file.ts';

/** Writes a table as a new file. @param source the file that the rows are from; null for none */
export type WriteNewFile = (
  table: NewTable,
  target: TableTarget,
  source: InputFile | null,
) => Promise<WriteResult>;

/** Writes rows whole or not at all, from small pieces; `writeAll` gives their number. `encoded` compresses or converts them. */
export async function writeRows(
  target: TableTarget,
  input: InputIdentity | null,
  writeAll: (gathered: ByteBuffer) => Promise<number>,
  encoded: (file: OutputFile) => OutputFile = (file) => file,
): Promise<WriteResult> {
  const file = await openOutput(target, input);
  let bytes = 0;
  const write = async (chunk: Buffer) => {
    bytes += chunk.length;
    await file.write(chunk);
  };
  const plain = { ...file, write };
  const output = encoded(plain);
  const { direct } = file;
  const counted = direct && {
    ...direct,
    take(count: number) {
      bytes += count;
      return direct.take(count);
    },
  };
  const rows = await writeWhole(output, target.signal, async () => {
    const gathered = byteBuffer(
      (block) => output.write(block),
      undefined,
      output === plain ? counted : undefined,
    );
    const count = await writeAll(gathered);
    await gathered.finish();
    return count;
  });
  return { rows, bytes };
}

/** Writes text that was read from `input`, in its encoding, compressed as the names say. */
export async function writeTextRows(
  target: TableTarget,
  input: InputFile,
  write: (gathered: ByteBuffer) => Promise<number>,
): Promise<WriteResult> {
  const compression = compressionOfOutput(target.output, input);
  return await writeRows(target, input.identity, write, (file) => {
    const packed = compressedOutput(file, compression);
    return input.utf16 ? utf16Output(packed, input.utf16) : packed;
  });
}

/** Writes a table as new text in UTF-8, compressed as the names say.
 * @param source the file that the rows are from; null for none
 * @param begin writes what comes before the rows, and returns the function that writes a row */
export async function writeNewText(
  { batches }: NewTable,
  target: TableTarget,
  source: InputFile | null,
  begin: (gathered: ByteBuffer) => (values: readonly Value[], row: number) => void,
  end = '',
): Promise<WriteResult> {
  const compression = compressionOfOutput(target.output, source);
  const write = async (gathered: ByteBuffer) => {
    const writeRow = begin(gathered);
    let rows = 0;
    for await (const batch of batches()) {
      for (const values of batch) writeRow(values, rows++);
      await gathered.flushIfFull();
    }
    gathered.addText(end);
    return rows;
  };
  return await writeRows(target, source?.identity ?? null, write, (file) =>
    compressedOutput(file, compression),
  );
}

const BYTES_A_CHUNK = 256 * 1024;
/** A million rows of 570 bytes: level 5 takes 7.4 s for 146 MB, the default 6 takes 9.4 s for 145 MB, 3 takes 6.3 s for 164 MB; zstd at
 * its default level adds no time to the writing (3.5 s, 66 MB). */
const GZIP_LEVEL = 5;

/** An output with compression; null for none. zlib compresses on a thread of its own. */
export function compressedOutput(output: OutputFile, compression: Compression | null): OutputFile {
  if (compression === null) return output;
  const engine =
    compression === 'gzip'
      ? createGzip({ level: GZIP_LEVEL, chunkSize: BYTES_A_CHUNK })
      : createZstdCompress({ chunkSize: BYTES_A_CHUNK });
  const passedOn = passOn(engine, output);
  // The next write or the commit reports a failure; until then it must not count as unhandled.
  passedOn.catch(() => {});
  return {
    async write(bytes) {
      const taken = new Promise<void>((done, fail) => {
        engine.write(bytes, (error) => (error ? fail(error) : done()));
      });
      taken.catch(() => {});
      // An engine that a failed write destroyed never calls back for its chunk.
      await Promise.race([taken, passedOn]);
    },
    async commit() {
      engine.end();
      await passedOn;
      await output.commit();
    },
    async discard() {
      engine.destroy();
      await passedOn.catch(() => {});
      await output.discard();
    },
  };
}

async function passOn(engine: AsyncIterable<Buffer>, output: OutputFile): Promise<void> {
  for await (const chunk of engine) await output.write(chunk);
}

/** An output that converts UTF-8 to UTF-16. */
function utf16Output(output: OutputFile, utf16: Utf16): OutputFile {
  let rest: Buffer = Buffer.alloc(0);
  return {
    ...output,
    async write(bytes) {
      const all = rest.length > 0 ? Buffer.concat([rest, bytes]) : bytes;
      const end = all.length - unfinishedBytes(all);
      // The caller uses its buffer again.
      rest = Buffer.from(all.subarray(end));
      if (end > 0) await output.write(inOrder(utf16Of(all.subarray(0, end)), utf16));
    },
  };
}
