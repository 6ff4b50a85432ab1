import { createGzip, createZstdCompress } from 'node:zlib';
import type { Compression } from '../../formats/bytes/unpack.ts';
import type { TableTarget, WriteResult } from '../port.ts';
import { type ByteBuffer, byteBuffer } from './byte-buffer.ts';
import { compressionOfOutput } from './compression.ts';
import type { InputFile } from './input-file.ts';
import { type InputIdentity, type OutputFile, openOutput, writeWhole } from './output-file.ts';
import { utf16Output } from './utf16-files.ts';

/** Writes rows whole or not at all, from small pieces; `write` gives their number. `encoded` compresses or converts them. */
export async function writeRows(
  { output: name, stdout, signal }: TableTarget,
  input: InputIdentity | null,
  write: (gathered: ByteBuffer) => Promise<number>,
  encoded = (file: OutputFile) => file,
): Promise<WriteResult> {
  const output = encoded(await openOutput(name, input, stdout, signal));
  const rows = await writeWhole(output, signal, async () => {
    const gathered = byteBuffer((bytes) => output.write(bytes));
    const count = await write(gathered);
    await gathered.finish();
    return count;
  });
  return { rows, bytes: output.written() };
}

/**
 * Writes text that was read from `input`, compressed as the names say.
 *
 * @param input null for text that comes from no file
 * @param isUtf8 for text of another format than the input's; a copy of it keeps its UTF-16
 */
export async function writeTextRows(
  target: TableTarget,
  input: InputFile | null,
  write: (gathered: ByteBuffer) => Promise<number>,
  isUtf8 = false,
): Promise<WriteResult> {
  const compression = compressionOfOutput(target.output, input);
  return await writeRows(target, input?.identity ?? null, write, (file) => {
    const packed = compression ? compressedOutput(file, compression) : file;
    return input?.utf16 && !isUtf8 ? utf16Output(packed, input.utf16) : packed;
  });
}

const BYTES_A_CHUNK = 256 * 1024;
/** Of a million rows of 570 bytes: level 5 takes 7.4 s and gives 146 MB, the usual 6 takes 9.4 s for 145 MB, 3 takes 6.3 s for
 * 164 MB; zstd at its usual level takes no time of its own beside the writing (3.5 s, 66 MB). */
const GZIP_LEVEL = 5;

/** An output that compresses what it is given; zlib does so on a thread of its own. */
export function compressedOutput(output: OutputFile, compression: Compression): OutputFile {
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
      // An engine that was destroyed by a failed write forgets the chunk that it was given.
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
    written: output.written,
  };
}

async function passOn(engine: AsyncIterable<Buffer>, output: OutputFile): Promise<void> {
  for await (const chunk of engine) await output.write(chunk);
}
