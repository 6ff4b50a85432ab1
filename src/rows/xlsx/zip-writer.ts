import { crc32, createDeflateRaw } from 'node:zlib';
import type { Entry } from 'yauzl';
import { PerilbookError } from '../../errors.ts';
import type { ByteBuffer } from '../files/byte-buffer.ts';
import { throughEngine } from '../files/streamed-input.ts';

/** Writes a zip part by part (APPNOTE 4.3). yazl, the writer that goes with yauzl, cannot copy a compressed part as it is. */
export interface ZipWriter {
  /** Copies a part as it is packed in another zip: its bytes, name, time and attributes. */
  copy(entry: Entry, content: AsyncIterable<Buffer>): Promise<void>;
  /** Packs a new part; with `like`, under the name, time and attributes of that one. */
  add(name: string, content: AsyncIterable<Buffer> | Iterable<Buffer>, like?: Entry): Promise<void>;
  finish(): Promise<void>;
}

/** What the directory says of a part. */
interface ZipPart {
  readonly nameBytes: Buffer;
  readonly comment: Buffer;
  readonly flags: number;
  readonly method: number;
  readonly time: number;
  readonly date: number;
  readonly madeBy: number;
  readonly internal: number;
  readonly external: number;
  readonly offset: number;
  crc: number;
  packedSize: number;
  size: number;
}

const DEFLATED = 8;
/** The sizes stand behind the bytes; names are UTF-8. */
const [SIZES_BEHIND, UTF8] = [0x0008, 0x0800];
const VERSION = 20;
/** 1980-01-01, the earliest day of a zip: the same input always gives the same bytes. */
const FIRST_DAY = 0x21;
const LARGEST = 0xffff_ffff;
/** Level 6 took 1.6 times as long for 6 % less of a sheet of 200,000 rows. */
const LEVEL = 4;

export function zipWriter(to: ByteBuffer, file: string): ZipWriter {
  const parts: ZipPart[] = [];
  let position = 0;
  const put = async (bytes: Buffer) => {
    position += bytes.length;
    if (position > LARGEST) throw tooLarge(file);
    to.addBytes(bytes, 0, bytes.length);
    await to.flushIfFull();
  };
  return {
    async copy(entry, content) {
      const flags = entry.generalPurposeBitFlag & ~SIZES_BEHIND;
      const part = partLike(entry, flags, entry.compressionMethod, position);
      parts.push(part);
      await put(localHeader(part));
      for await (const chunk of content) await put(chunk);
    },
    async add(name, content, like) {
      const part = like
        ? { ...partLike(like, (like.generalPurposeBitFlag & UTF8) | SIZES_BEHIND, DEFLATED, position) }
        : newPart(name, position);
      Object.assign(part, { crc: 0, packedSize: 0, size: 0 });
      parts.push(part);
      await put(localHeader({ ...part }));
      const measured = async function* () {
        for await (const chunk of content) {
          part.crc = crc32(chunk, part.crc);
          part.size += chunk.length;
          yield chunk;
        }
      };
      const engine = createDeflateRaw({ level: LEVEL, chunkSize: 128 * 1024 });
      for await (const chunk of throughEngine(measured(), engine)) {
        part.packedSize += chunk.length;
        await put(chunk);
      }
      if (part.size > LARGEST) throw tooLarge(file);
      await put(u32(0x0807_4b50, part.crc, part.packedSize, part.size));
    },
    async finish() {
      const start = position;
      for (const part of parts) await put(directoryHeader(part));
      const { length } = parts;
      const end = [u32(0x0605_4b50, 0), u16(length, length), u32(position - start, start), u16(0)];
      await put(Buffer.concat(end));
    },
  };
}

function partLike(entry: Entry, flags: number, method: number, offset: number): ZipPart {
  return {
    nameBytes: entry.fileNameRaw,
    // Extra fields are left out: they may hold sizes and places of the other zip (zip64).
    comment: entry.fileCommentRaw,
    flags,
    method,
    time: entry.lastModFileTime,
    date: entry.lastModFileDate,
    madeBy: entry.versionMadeBy,
    internal: entry.internalFileAttributes,
    external: entry.externalFileAttributes,
    offset,
    crc: entry.crc32,
    packedSize: entry.compressedSize,
    size: entry.uncompressedSize,
  };
}

function newPart(name: string, offset: number): ZipPart {
  const nothing = { time: 0, internal: 0, external: 0, crc: 0, packedSize: 0, size: 0, comment: Buffer.alloc(0) };
  const flags = UTF8 | SIZES_BEHIND;
  return {
    ...nothing,
    ...{ nameBytes: Buffer.from(name), flags, method: DEFLATED, date: FIRST_DAY, madeBy: VERSION, offset },
  };
}

/** Numbers of two bytes, little-endian as every machine that Node 24 runs on but s390x. */
const u16 = (...values: number[]): Buffer => Buffer.from(Uint16Array.from(values).buffer);
/** Numbers of four bytes. */
const u32 = (...values: number[]): Buffer => Buffer.from(Uint32Array.from(values).buffer);

/** The fields that both headers of a part have. */
const common = ({ flags, method, time, date, crc, packedSize, size }: ZipPart): Buffer =>
  Buffer.concat([u16(flags, method, time, date), u32(crc, packedSize, size)]);

function localHeader(part: ZipPart): Buffer {
  const { nameBytes } = part;
  return Buffer.concat([u32(0x0403_4b50), u16(VERSION), common(part), u16(nameBytes.length, 0), nameBytes]);
}

function directoryHeader(part: ZipPart): Buffer {
  const { nameBytes, comment, madeBy, internal, external, offset } = part;
  const lengths = u16(nameBytes.length, 0, comment.length, 0, internal);
  const header = [u32(0x0201_4b50), u16(madeBy, VERSION), common(part), lengths, u32(external, offset)];
  return Buffer.concat([...header, nameBytes, comment]);
}

function tooLarge(file: string): PerilbookError {
  return new PerilbookError(
    'OUTPUT_UNWRITABLE',
    `${file} would be larger than a workbook can be (4 GiB)`,
    'Name the output .csv or .parquet.',
    { file },
  );
}
