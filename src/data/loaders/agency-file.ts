import { createHash } from 'node:crypto';
import { open, stat } from 'node:fs/promises';
import { PerilbookError } from '../../base/errors.ts';
import { requireFile } from '../../base/pipes.ts';
import {
  type ByteSource,
  type Chunks,
  chunksFrom,
  type MakeContentError,
} from '../../formats/bytes/byte-source.ts';
import { detectCompression, isZip, unpackedBytes } from '../../formats/bytes/unpack.ts';
import type { Zip } from '../../formats/zip/zip-reader.ts';

/** The error for a file that the system cannot read. */
export function unreadable(file: string, error: unknown): PerilbookError {
  const { code, message } = error as NodeJS.ErrnoException;
  const problem =
    code === 'ENOENT' ? `File "${file}" not found` : `Cannot read "${file}": ${message}`;
  const hint = 'Check the path and the permissions of the file.';
  return new PerilbookError('SERVICE_DATA', problem, hint, { file }, error);
}

/** The error for a file that is not what it should be. */
export function invalidFile(
  file: string,
  problem: string,
  hint: string,
  cause?: unknown,
): PerilbookError {
  return new PerilbookError(
    'SERVICE_DATA',
    `Cannot load "${file}": ${problem}`,
    hint,
    { file },
    cause,
  );
}

/** Makes the errors about a file's content. */
export function refusedFor(file: string): MakeContentError {
  return (what, hint, cause) => invalidFile(file, `it ${what}`, hint, cause);
}

/** A file on disk, with the errors of a load. */
export async function agencyFile(file: string): Promise<ByteSource> {
  const orUnreadable = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw unreadable(file, error);
    }
  };
  const { size } = await orUnreadable(async () => {
    requireFile(file);
    return await stat(file);
  });
  const startPass = async () => {
    const handle = await orUnreadable(() => open(file));
    return {
      readInto: (buffer: Buffer, offset: number, position: number) =>
        orUnreadable(async () => (await handle.read(buffer, { offset, position })).bytesRead),
      assertSame: async () => {},
      [Symbol.asyncDispose]: () => handle.close(),
    };
  };
  return { name: file, size, startPass, refused: refusedFor(file) };
}

/** The SHA-256 of a file, in hexadecimal. */
export async function hashFile(file: string): Promise<string> {
  const { startPass } = await agencyFile(file);
  await using pass = await startPass();
  const hash = createHash('sha256');
  for await (const chunk of chunksFrom(pass, 0)) hash.update(chunk);
  return hash.digest('hex');
}

const NO_ZIP = 'it is not a zip, or the directory at its end is missing or damaged';

/** A zip, without folders and what macOS adds.
 * @throws PerilbookError SERVICE_DATA if it is no zip, is truncated, or has an encrypted file */
export async function agencyZip(file: string): Promise<Zip> {
  const { readZip } = await import('../../formats/zip/zip-reader.ts');
  const zip = await readZip(await agencyFile(file), (what, cause) =>
    invalidFile(file, what ?? NO_ZIP, 'Download it again, or unpack it.', cause),
  );
  return { ...zip, entries: zip.entries.filter(({ fileName }) => !/\/$|__MACOSX/.test(fileName)) };
}

/** Whether a file is a zip that has all of these files, in any folder and case. */
export async function zipHolds(file: string, names: readonly string[]): Promise<boolean> {
  if (!/\.zip$/i.test(file)) return false;
  const { entries } = await agencyZip(file);
  return names.every((name) => entries.some(({ fileName }) => isNamed(fileName, name)));
}

/** Whether a path in a zip ends in a file name. */
export function isNamed(path: string, name: string): boolean {
  return path.split('/').at(-1)!.toLowerCase() === name.toLowerCase();
}

/** The parts of a path into a zip; null for any other path. */
export function zipPath(
  file: string,
): { readonly archive: string; readonly member: string } | null {
  const parts = /^(.*\.zip)[\\/](.+)$/i.exec(file);
  return parts === null ? null : { archive: parts[1]!, member: parts[2]! };
}

/** The bytes of a text file in blocks, without a byte order mark. Compressed files are unpacked; a path below a .zip
 * (`hail.csv.zip/hail.csv`) names a file in it.
 * @throws PerilbookError SERVICE_DATA when the file cannot be read, is a damaged archive, or is not text */
export async function* textBytes(file: string): Chunks {
  const inZip = zipPath(file);
  let isFirst = true;
  for await (const block of inZip === null
    ? unpackedFile(file)
    : fileInZip(inZip.archive, inZip.member)) {
    if (isFirst) refuseOtherFormats(block, file);
    yield isFirst && block.subarray(0, 3).equals(BYTE_ORDER_MARK) ? block.subarray(3) : block;
    isFirst = false;
  }
}

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

async function* unpackedFile(file: string): Chunks {
  const source = await agencyFile(file);
  await using pass = await source.startPass();
  const head = Buffer.alloc(4);
  await pass.readInto(head, 0, 0);
  const compression = detectCompression(head);
  yield* compression === null ? chunksFrom(pass, 0) : unpackedBytes(pass, source, compression);
}

async function* fileInZip(archive: string, name: string): Chunks {
  const zip = await agencyZip(archive);
  const entry = zip.entries.find(({ fileName }) => fileName === name);
  const names = zip.entries.map(({ fileName }) => fileName).join(', ');
  if (entry === undefined) throw invalidFile(archive, `it has no "${name}"`, `It has: ${names}.`);
  yield* zip.unpacked(entry);
}

/** Refuses what is not text: web pages that servers send instead of files, and spreadsheets (zips). */
function refuseOtherFormats(bytes: Buffer, file: string): void {
  const head = bytes.toString('latin1', 0, 200);
  if (/^(\xfe\xff|\xff\xfe)/.test(head)) {
    throw invalidFile(file, 'it is written in UTF-16', 'Save it as UTF-8 and load again.');
  }
  if (isZip(bytes))
    throw invalidFile(
      file,
      'it is a spreadsheet or a zip, not text',
      'Save the sheet as CSV, or unpack it.',
    );
  if (/^\s*<(!doctype|html)\b/i.test(head)) {
    const hint = 'The server sent a page instead of the file. Download it again.';
    throw invalidFile(file, 'it is a web page, not data', hint);
  }
}
