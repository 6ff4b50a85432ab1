import { createGunzip, createZstdDecompress } from 'node:zlib';
import { PerilbookError } from '../../errors.ts';
import type { BytePass } from '../../formats/bytes/byte-source.ts';
import { chunksFrom, throughEngine } from '../../formats/bytes/byte-source.ts';
import { type Compression, compressionOf } from './compression.ts';
import { type InputFile, unreadable } from './input-file.ts';
import { streamedInput } from './streamed-input.ts';

/** The file decompressed while it is read; the file itself when it is not compressed. Nothing is decompressed to memory or disk
 * as a whole: a small file that holds an enormous text takes time and no space. */
export async function unpackedInput(input: InputFile): Promise<InputFile> {
  const compression = compressionOf(input.head);
  if (!compression) return input;
  return await streamedInput(input, (pass) => unpack(pass, input, compression), { compression });
}

const BYTES_A_CHUNK = 256 * 1024;

/**
 * Unpacks member by member. Node's zstd stream ends silently behind the first frame, a skippable one included, when more
 * of them come in one chunk, and both ignore unknown bytes after a member: rows would be lost silently.
 */
async function* unpack(pass: BytePass, input: InputFile, compression: Compression): AsyncGenerator<Buffer, void, void> {
  for (let position = 0; position < input.size; ) {
    const start = Buffer.alloc(4);
    await pass.readInto(start, 0, position);
    if (compressionOf(start) !== compression) {
      if (compression === 'gzip' && (await isPadding(pass, position))) return;
      throw damaged(input.name, compression, 'has something else behind its end');
    }
    const engine =
      compression === 'gzip'
        ? createGunzip({ chunkSize: BYTES_A_CHUNK })
        : createZstdDecompress({ chunkSize: BYTES_A_CHUNK });
    try {
      yield* throughEngine(chunksFrom(pass, position), engine);
    } catch (error) {
      throw asDamaged(input.name, compression, error);
    }
    position += engine.bytesWritten;
  }
}

/** Tapes and some tools fill a gzip file up with zeros. */
async function isPadding(pass: BytePass, from: number): Promise<boolean> {
  for await (const chunk of chunksFrom(pass, from)) if (chunk.some((byte) => byte !== 0)) return false;
  return true;
}

function asDamaged(file: string, compression: Compression, error: unknown): unknown {
  if (error instanceof PerilbookError || !(error instanceof Error)) return error;
  const code = 'code' in error ? String(error.code) : '';
  if (code === 'Z_BUF_ERROR') return damaged(file, compression, 'is cut off', error);
  if (code === 'ZSTD_error_frameParameter_windowTooLarge') {
    const hint = 'Compress it again without --long, or unpack it first (unzstd --long=31 FILE).';
    return unreadable(file, 'needs too much memory to unpack', hint, error);
  }
  return damaged(file, compression, `is damaged (${error.message})`, error);
}

function damaged(file: string, compression: Compression, what: string, cause?: unknown): PerilbookError {
  return unreadable(file, `is compressed with ${compression} and ${what}`, 'Fetch or copy the file again.', cause);
}
