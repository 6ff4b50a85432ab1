import { PassThrough } from 'node:stream';
import { crc32, createInflateRaw } from 'node:zlib';
import { type Entry, fromRandomAccessReaderPromise, RandomAccessReader, type ZipFile } from 'yauzl';
import { PerilbookError } from '../../errors.ts';
import { type InputFile, type InputPass, readWhole, unreadable } from '../files/input-file.ts';
import { throughEngine } from '../files/streamed-input.ts';

/** The parts of a workbook: a zip whose directory was read. */
export interface ZipParts {
  readonly file: string;
  /** In the order of the directory. */
  readonly entries: readonly Entry[];
  readonly find: (name: string) => Entry | undefined;
}

/** More parts than any workbook has; a directory of millions would fill the memory. */
const MOST_PARTS = 100_000;

/** Reads the directory of a zip. @throws INPUT_UNREADABLE */
export async function readDirectory(input: InputFile): Promise<ZipParts> {
  return await withZip(input, async (zip) => {
    const entries: Entry[] = [];
    const byName = new Map<string, Entry>();
    for await (const entry of zip.eachEntry()) {
      if (entries.length === MOST_PARTS) throw damaged(input.name, 'its directory names too many parts');
      entries.push(entry);
      // Part names of a workbook are compared without their case (ECMA-376 part 2, 6.2.2.3).
      byName.set(entry.fileName.toLowerCase(), entry);
    }
    return { file: input.name, entries, find: (name) => byName.get(name.toLowerCase()) };
  });
}

/** The bytes of a part, unpacked. What is longer than the directory says is refused: so a small file cannot fill the disk. */
export async function* unpackedPart(input: InputFile, entry: Entry): AsyncGenerator<Buffer, void, void> {
  if (entry.isEncrypted() || (entry.compressionMethod !== 0 && entry.compressionMethod !== 8)) {
    throw damaged(input.name, `its part ${entry.fileName} is packed in a way that is not read`);
  }
  const isStored = entry.compressionMethod === 0;
  const engine = isStored ? new PassThrough() : createInflateRaw({ chunkSize: 128 * 1024 });
  let size = 0;
  let checksum = 0;
  try {
    for await (const chunk of throughEngine(packedPart(input, entry), engine)) {
      size += chunk.length;
      checksum = crc32(chunk, checksum);
      if (size > entry.uncompressedSize) throw damaged(input.name, `its part ${entry.fileName} is longer than it says`);
      yield chunk;
    }
    if (size < entry.uncompressedSize) throw damaged(input.name, `its part ${entry.fileName} is cut off`);
    if (checksum !== entry.crc32) throw damaged(input.name, `its part ${entry.fileName} is not what was packed`);
  } catch (error) {
    if (error instanceof PerilbookError) throw error;
    throw damaged(input.name, `its part ${entry.fileName} cannot be unpacked`, error);
  }
}

/** The whole text of a small part. */
export async function partText(input: InputFile, entry: Entry, mostBytes: number): Promise<string> {
  if (entry.uncompressedSize > mostBytes) {
    throw damaged(input.name, `its part ${entry.fileName} is too large (${entry.uncompressedSize} bytes)`);
  }
  const chunks: Buffer[] = [];
  for await (const chunk of unpackedPart(input, entry)) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

const BYTES_A_CHUNK = 256 * 1024;

/** The bytes of a part as they are packed in the file. */
export async function* packedPart(input: InputFile, entry: Entry): AsyncGenerator<Buffer, void, void> {
  const start = await withZip(input, (zip) => zip.readLocalFileHeaderPromise(entry, { minimal: true }));
  await using pass = await input.startPass();
  const end = start.fileDataStart + entry.compressedSize;
  for (let at = start.fileDataStart; at < end; ) {
    const chunk = Buffer.allocUnsafeSlow(Math.min(BYTES_A_CHUNK, end - at));
    const count = await pass.readInto(chunk, 0, at);
    if (count === 0) throw damaged(input.name, 'it is cut off');
    at += count;
    yield chunk.subarray(0, count);
  }
  await pass.assertSame();
}

/** Lets yauzl read from a pass. */
class PassReader extends RandomAccessReader {
  readonly #pass: InputPass;

  constructor(pass: InputPass) {
    super();
    this.#pass = pass;
  }

  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null) => void,
  ): void {
    readWhole(this.#pass, buffer.subarray(offset, offset + length), position).then(
      (isThere) => callback(isThere ? null : new Error('unexpected end of the file')),
      callback,
    );
  }
}

async function withZip<Result>(input: InputFile, work: (zip: ZipFile) => Promise<Result>): Promise<Result> {
  await using pass = await input.startPass();
  try {
    const options = { lazyEntries: true, autoClose: false };
    return await work(await fromRandomAccessReaderPromise(new PassReader(pass), input.size, options));
  } catch (error) {
    if (error instanceof PerilbookError) throw error;
    const what = 'is an Excel workbook or another zip archive, and it is cut off or damaged';
    throw unreadable(input.name, what, HINT, error);
  }
}

const HINT = 'Open it in Excel or LibreOffice and save it again, or fetch it again.';

/** @param what a clause, such as `its directory is cut off` */
export function damaged(file: string, what: string, cause?: unknown): PerilbookError {
  return unreadable(file, `is a damaged Excel workbook: ${what}`, HINT, cause);
}
