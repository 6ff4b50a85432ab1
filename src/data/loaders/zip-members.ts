import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { Inflate } from 'fflate';
import { PerilbookError } from '../../errors.ts';
import { invalidFile, unreadable } from './load-errors.ts';

/** A file in a zip, from the zip's directory. */
export interface ZipMember {
  readonly name: string;
  /** 0 stored, 8 deflated. */
  readonly method: number;
  readonly checksum: number;
  readonly packedBytes: number;
  /** The offset of its own header. */
  readonly offset: number;
}

const DIRECTORY_END = Buffer.from([0x50, 0x4b, 0x05, 0x06]);
const DIRECTORY_END_BYTES = 22;
/** The longest comment after the directory's end. */
const LONGEST_COMMENT = 0xffff;
const ENTRY = 0x02014b50;
const ENTRY_BYTES = 46;
const HEADER = 0x04034b50;
const HEADER_BYTES = 30;
const ENCRYPTED = 1;
const BLOCK_BYTES = 1 << 16;

/**
 * The files in a zip (APPNOTE 4.3). The directory is at the end, so a zip that was cut has none and is refused.
 *
 * @throws PerilbookError SERVICE_DATA when it is no zip, was cut, or is unsupported (zip64, encrypted)
 */
export function zipMembers(file: string): ZipMember[] {
  const size = sizeOf(file);
  const tail = bytesAt(file, Math.max(0, size - DIRECTORY_END_BYTES - LONGEST_COMMENT), size);
  const end = tail.lastIndexOf(DIRECTORY_END);
  if (end < 0 || end + DIRECTORY_END_BYTES > tail.length) {
    throw invalidFile(file, 'it is not a zip, or its end is missing', 'Download it again.');
  }
  const start = tail.readUInt32LE(end + 16);
  const directory = bytesAt(file, start, start + tail.readUInt32LE(end + 12));
  const members: ZipMember[] = [];
  let at = 0;
  for (let left = tail.readUInt16LE(end + 10); left > 0; left--) {
    if (at + ENTRY_BYTES > directory.length || directory.readUInt32LE(at) !== ENTRY) {
      throw invalidFile(file, 'the directory of the zip cannot be read', 'Download it again, or unpack it.');
    }
    const nameBytes = directory.readUInt16LE(at + 28);
    const name = directory.toString('utf8', at + ENTRY_BYTES, at + ENTRY_BYTES + nameBytes);
    const method = directory.readUInt16LE(at + 10);
    if (directory.readUInt16LE(at + 8) & ENCRYPTED) throw invalidFile(file, `${name} in it is encrypted`, 'Unpack it.');
    members.push({
      ...{ name, method, checksum: directory.readUInt32LE(at + 16) },
      ...{ packedBytes: directory.readUInt32LE(at + 20), offset: directory.readUInt32LE(at + 42) },
    });
    at += ENTRY_BYTES + nameBytes + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32);
  }
  return members.filter(({ name }) => !name.endsWith('/') && !name.includes('__MACOSX'));
}

/**
 * The bytes of a file in a zip, unpacked block by block: EPA's national file of facilities has 1.3 GB.
 *
 * @throws PerilbookError SERVICE_DATA when the bytes do not match the checksum in the directory
 */
export function* memberBlocks(file: string, member: ZipMember): Generator<Buffer> {
  const damaged = (error?: unknown) =>
    invalidFile(file, `${member.name} in it is damaged`, 'Download it again.', error);
  const header = bytesAt(file, member.offset, member.offset + HEADER_BYTES);
  if (header.length < HEADER_BYTES || header.readUInt32LE(0) !== HEADER) throw damaged();
  if (member.method !== 0 && member.method !== 8) {
    throw invalidFile(file, `${member.name} in it is compressed by an unsupported method`, 'Unpack it.');
  }
  const start = member.offset + HEADER_BYTES + header.readUInt16LE(26) + header.readUInt16LE(28);
  const packed = blocksOf(file, start, start + member.packedBytes);
  let checksum = 0;
  try {
    for (const block of member.method === 0 ? packed : inflated(packed, new Inflate())) {
      checksum = crc32(block, checksum);
      yield block;
    }
  } catch (error) {
    throw error instanceof PerilbookError ? error : damaged(error);
  }
  if (checksum !== member.checksum) throw damaged();
}

/** The interface that fflate's Inflate and Gunzip share. */
interface Unpacker {
  ondata: (chunk: Uint8Array<ArrayBuffer>, final: boolean) => void;
  push(chunk: Uint8Array<ArrayBuffer>, final?: boolean): void;
}

/** Unpacks blocks. Node's own zlib unpacks streams only asynchronously, and the loaders await nothing. */
export function* inflated(blocks: Iterable<Buffer>, unpacker: Unpacker): Generator<Buffer> {
  let ready: Buffer[] = [];
  unpacker.ondata = (chunk) => {
    ready.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
  };
  for (const block of blocks) {
    unpacker.push(block as Buffer<ArrayBuffer>);
    yield* ready;
    ready = [];
  }
  unpacker.push(new Uint8Array(0), true);
  yield* ready;
}

/** The bytes of a file between two offsets, block by block. */
export function* blocksOf(file: string, start = 0, end: number = Number.POSITIVE_INFINITY): Generator<Buffer> {
  const descriptor = opened(file);
  try {
    for (let at = start; at < end; ) {
      const block = Buffer.allocUnsafe(Math.min(BLOCK_BYTES, end - at));
      const read = readSync(descriptor, block, 0, block.length, at);
      if (read === 0) return;
      yield block.subarray(0, read);
      at += read;
    }
  } catch (error) {
    // Opening a folder succeeds, and the first read fails.
    throw error instanceof Error && 'syscall' in error ? unreadable(file, error) : error;
  } finally {
    closeSync(descriptor);
  }
}

function bytesAt(file: string, start: number, end: number): Buffer {
  return Buffer.concat([...blocksOf(file, start, end)]);
}

function opened(file: string): number {
  try {
    return openSync(file, 'r');
  } catch (error) {
    throw unreadable(file, error);
  }
}

function sizeOf(file: string): number {
  try {
    return statSync(file).size;
  } catch (error) {
    throw unreadable(file, error);
  }
}
