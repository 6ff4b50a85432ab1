import { isUtf8 } from 'node:buffer';
import { crc32 } from 'node:zlib';
import { Gunzip } from 'fflate';
import { PerilbookError } from '../../errors.ts';
import { invalidFile } from './load-errors.ts';
import { blocksOf, inflated, memberBlocks, zipMembers } from './zip-members.ts';

/**
 * The text of a file in blocks, which may end anywhere. UTF-8; a block that is not is read as Windows-1252, which the
 * agencies' spreadsheets write. A byte order mark is dropped. A .gz file is unpacked, and a path below a .zip
 * (`hail.csv.zip/hail.csv`) is a file in it.
 *
 * @throws PerilbookError SERVICE_DATA when the file cannot be read, is a damaged archive, or is not text
 */
export function* textBlocks(file: string): Generator<string> {
  let rest: Buffer = Buffer.alloc(0);
  let isFirst = true;
  for (const block of byteBlocks(file)) {
    const all = rest.length === 0 ? block : Buffer.concat([rest, block]);
    if (isFirst) refuseOtherFormats(all, file);
    const end = endOfLastAscii(all);
    if (end > 0) {
      const text = decoded(all.subarray(0, end));
      yield isFirst && text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
      isFirst = false;
    }
    rest = all.subarray(end);
  }
  if (rest.length > 0) yield decoded(rest);
}

/** The parts of a path into a zip; null for any other path. */
export function zipPath(file: string): { readonly archive: string; readonly member: string } | null {
  const parts = /^(.*\.zip)[\\/](.+)$/i.exec(file);
  return parts === null ? null : { archive: parts[1]!, member: parts[2]! };
}

function byteBlocks(file: string): Generator<Buffer> {
  const inZip = zipPath(file);
  if (inZip !== null) return blocksInZip(inZip.archive, inZip.member);
  return /\.gz$/i.test(file) ? unzippedBlocks(file) : blocksOf(file);
}

function blocksInZip(archive: string, name: string): Generator<Buffer> {
  const members = zipMembers(archive);
  const member = members.find((other) => other.name === name);
  if (member !== undefined) return memberBlocks(archive, member);
  throw invalidFile(archive, `it has no "${name}"`, `It has: ${members.map((other) => other.name).join(', ')}.`);
}

/** A gzip ends with the checksum and the length of its content, 8 bytes (RFC 1952); fflate does not check them. */
const TRAILER_BYTES = 8;

function* unzippedBlocks(file: string): Generator<Buffer> {
  const unpacker = new Gunzip();
  let parts = 0;
  unpacker.onmember = () => {
    parts += 1;
  };
  let trailer: Buffer = Buffer.alloc(0);
  function* packed(): Generator<Buffer> {
    for (const block of blocksOf(file)) {
      trailer = Buffer.concat([trailer, block.subarray(-TRAILER_BYTES)]).subarray(-TRAILER_BYTES);
      yield block;
    }
  }
  const cut = (error?: unknown) =>
    invalidFile(file, 'it is not a gzip file, or is damaged', 'Download it again.', error);
  let checksum = 0;
  try {
    for (const block of inflated(packed(), unpacker)) {
      checksum = crc32(block, checksum);
      yield block;
    }
  } catch (error) {
    throw error instanceof PerilbookError ? error : cut(error);
  }
  if (trailer.length < TRAILER_BYTES || (parts <= 1 && trailer.readUInt32LE(0) !== checksum)) throw cut();
}

/** A cut after an ASCII byte never splits a UTF-8 character. */
function endOfLastAscii(bytes: Buffer): number {
  let end = bytes.length;
  while (end > 0 && bytes[end - 1]! >= 0x80) end -= 1;
  return end;
}

function decoded(bytes: Buffer): string {
  return isUtf8(bytes) ? bytes.toString('utf8') : new TextDecoder('windows-1252').decode(bytes);
}

const ZIP_MARK = Buffer.from([0x50, 0x4b, 0x03, 0x04]);

/** Not text: servers answer with web pages instead of files, and spreadsheets are zips. */
function refuseOtherFormats(bytes: Buffer, file: string): void {
  const mark = bytes.length >= 2 ? bytes.readUInt16BE(0) : 0;
  if (mark === 0xfeff || mark === 0xfffe) {
    throw invalidFile(file, 'it is written in UTF-16', 'Save it as UTF-8 and load again.');
  }
  if (bytes.subarray(0, 4).equals(ZIP_MARK))
    throw invalidFile(file, 'it is a spreadsheet or a zip, not text', 'Save the sheet as CSV, or unpack it.');
  if (/^\s*<(!doctype|html)\b/i.test(bytes.toString('latin1', 0, 200))) {
    throw invalidFile(
      file,
      'it is a web page, not data',
      'The server sent a page instead of the file. Download it again.',
    );
  }
}
