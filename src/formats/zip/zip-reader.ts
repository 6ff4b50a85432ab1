import { PassThrough } from 'node:stream';
import { crc32, createInflateRaw } from 'node:zlib';
import { type Entry, fromRandomAccessReaderPromise, RandomAccessReader, type ZipFile } from 'yauzl';
import { PerilbookError } from '../../base/errors.ts';
import {
  type ByteSource,
  type Chunks,
  chunksFrom,
  readWhole,
  throughEngine,
} from '../bytes/byte-source.ts';

export type { Entry as ZipEntry } from 'yauzl';

/** A zip whose directory has been read. */
export interface Zip {
  readonly entries: readonly Entry[];
  /** The entry of a name. Ignores case, as workbooks do (ECMA-376 part 2, 6.2.2.3). */
  find(name: string): Entry | undefined;
  /** The content of an entry, unpacked and checked. */
  unpacked(entry: Entry): Chunks;
  /** The content of an entry as the zip has it. */
  packed(entry: Entry): Chunks;
  readonly damaged: Damaged;
}

/** Makes the error for a damaged zip. @param what a clause, such as `its part a.xml is cut off`; null if its directory cannot be read:
 * it may be no zip at all */
export type Damaged = (what: string | null, cause?: unknown) => PerilbookError;

/** More files than any real workbook or download has. A directory of millions would fill the memory. */
const MOST_ENTRIES = 100_000;

/** Reads the directory of a zip, which is at its end: a truncated zip has none and is refused. */
export async function readZip(source: ByteSource, damaged: Damaged): Promise<Zip> {
  return await withZip(source, damaged, async (zip) => {
    const entries: Entry[] = [];
    const byName = new Map<string, Entry>();
    for await (const entry of zip.eachEntry()) {
      if (entries.length === MOST_ENTRIES) throw damaged('its directory names too many files');
      entries.push(entry);
      byName.set(entry.fileName.toLowerCase(), entry);
    }
    return {
      entries,
      find: (name: string) => byName.get(name.toLowerCase()),
      unpacked: (entry: Entry) => unpackedEntry(source, damaged, entry),
      packed: (entry: Entry) => packedEntry(source, damaged, entry),
      damaged,
    };
  });
}

/** The unpacked bytes of an entry, checked against the size and the checksum of the directory. Longer content is refused, so that a
 * small file cannot fill the disk. */
async function* unpackedEntry(source: ByteSource, damaged: Damaged, entry: Entry): Chunks {
  const { fileName } = entry;
  if (entry.isEncrypted()) throw damaged(`its part ${fileName} is encrypted`);
  if (entry.compressionMethod !== 0 && entry.compressionMethod !== 8) {
    throw damaged(`its part ${fileName} has an unsupported compression`);
  }
  const isStored = entry.compressionMethod === 0;
  const engine = isStored ? new PassThrough() : createInflateRaw({ chunkSize: 128 * 1024 });
  let size = 0;
  let checksum = 0;
  try {
    for await (const chunk of throughEngine(packedEntry(source, damaged, entry), engine)) {
      size += chunk.length;
      checksum = crc32(chunk, checksum);
      if (size > entry.uncompressedSize)
        throw damaged(`its part ${fileName} is longer than its header states`);
      yield chunk;
    }
    if (size < entry.uncompressedSize) throw damaged(`its part ${fileName} is cut off`);
    if (checksum !== entry.crc32) throw damaged(`its part ${fileName} does not match its checksum`);
  } catch (error) {
    throw error instanceof PerilbookError
      ? error
      : damaged(`its part ${fileName} cannot be unpacked`, error);
  }
}

async function* packedEntry(source: ByteSource, damaged: Damaged, entry: Entry): Chunks {
  const start = await withZip(source, damaged, (zip) =>
    zip.readLocalFileHeaderPromise(entry, { minimal: true }),
  );
  await using pass = await source.startPass();
  let left = entry.compressedSize;
  for await (const chunk of chunksFrom(pass, start.fileDataStart, start.fileDataStart + left)) {
    left -= chunk.length;
    yield chunk;
  }
  if (left > 0) throw damaged('it is cut off');
  await pass.assertSame();
}

async function withZip<Result>(
  source: ByteSource,
  damaged: Damaged,
  work: (zip: ZipFile) => Promise<Result>,
): Promise<Result> {
  await using pass = await source.startPass();
  class PassReader extends RandomAccessReader {
    override read(
      bytes: Buffer,
      offset: number,
      length: number,
      position: number,
      done: (error: Error | null) => void,
    ) {
      readWhole(pass, bytes.subarray(offset, offset + length), position).then(
        (isThere) => done(isThere ? null : new Error('unexpected end of the file')),
        done,
      );
    }
  }
  try {
    const options = { lazyEntries: true, autoClose: false };
    return await work(await fromRandomAccessReaderPromise(new PassReader(), source.size, options));
  } catch (error) {
    throw error instanceof PerilbookError ? error : damaged(null, error);
  }
}
