import { createGunzip, createZstdDecompress } from 'node:zlib';
import { PerilbookError } from '../../base/errors.ts';
import {
  type BytePass,
  type ByteSource,
  type Chunks,
  chunksFrom,
  throughEngine,
} from './byte-source.ts';

/** How a file is compressed, by its content and not by its name. */
export type Compression = 'gzip' | 'zstd';

/** The compression by the first bytes. A zstd file may begin with skippable frames (pzstd, seekable zstd). */
export function detectCompression(head: Buffer): Compression | null {
  const start = head.toString('latin1', 0, 4);
  if (start.startsWith('\x1f\x8b\x08')) return 'gzip';
  const isSkipped = start >= 'P' && start <= '_\xff' && start.endsWith('*M\x18');
  return start === '(\xb5/\xfd' || isSkipped ? 'zstd' : null;
}

/** Whether the first bytes are those of a zip. */
export function isZip(head: Buffer): boolean {
  return head.toString('latin1', 0, 4) === 'PK\x03\x04';
}

const IN_CHUNKS = { chunkSize: 256 * 1024 };

/** Unpacks member by member. Node's zstd stream ends silently after the first frame, a skippable one included, when more of them come in
 * one chunk, and both ignore unknown bytes after a member: rows would be lost silently. */
export async function* unpackedBytes(
  pass: BytePass,
  source: ByteSource,
  compression: Compression,
): Chunks {
  for (let position = 0; position < source.size; ) {
    const start = Buffer.alloc(4);
    await pass.readInto(start, 0, position);
    if (detectCompression(start) !== compression) {
      if (compression === 'gzip' && (await isPadding(pass, position))) return;
      throw damaged(source, compression, 'has other bytes after its end');
    }
    const engine =
      compression === 'gzip' ? createGunzip(IN_CHUNKS) : createZstdDecompress(IN_CHUNKS);
    try {
      yield* throughEngine(chunksFrom(pass, position), engine);
    } catch (error) {
      throw asDamaged(source, compression, error);
    }
    position += engine.bytesWritten;
  }
}

/** Tapes and some tools pad a gzip file with zeros. */
async function isPadding(pass: BytePass, from: number): Promise<boolean> {
  for await (const chunk of chunksFrom(pass, from))
    if (chunk.some((byte) => byte !== 0)) return false;
  return true;
}

function asDamaged(source: ByteSource, compression: Compression, error: unknown): unknown {
  if (error instanceof PerilbookError || !(error instanceof Error)) return error;
  const code = 'code' in error ? String(error.code) : '';
  if (code === 'Z_BUF_ERROR') return damaged(source, compression, 'is cut off', error);
  if (code === 'ZSTD_error_frameParameter_windowTooLarge') {
    const hint = 'Compress it again without --long, or unpack it first (unzstd --long=31 FILE).';
    return source.refused('needs too much memory to unpack', hint, error);
  }
  return damaged(source, compression, `is damaged (${error.message})`, error);
}

function damaged(
  source: ByteSource,
  compression: Compression,
  what: string,
  cause?: unknown,
): PerilbookError {
  return source.refused(
    `is compressed with ${compression} and ${what}`,
    'Fetch or copy the file again.',
    cause,
  );
}
