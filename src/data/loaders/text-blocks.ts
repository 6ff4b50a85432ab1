import { isUtf8 } from 'node:buffer';
import { crc32 } from 'node:zlib';
import { Gunzip } from 'fflate';
import { PerilbookError } from '../../errors.ts';
import { invalidFile } from './load-errors.ts';
import { blocksOf, inflated, memberBlocks, zipMembers } from './zip-members.ts';

/**
 * The text of a file in blocks of about a megabyte, which may end anywhere. UTF-8; a block that is none is read as Windows-1252, which
 * is what the agencies' spreadsheets write. A mark at the beginning is dropped. A file that ends in .gz is unpacked, and a path
 * that goes on behind a .zip (`hail.csv.zip/hail.csv`) is a file in it.
 *
 * @throws PerilbookError SERVICE_DATA when the file cannot be read, was cut or damaged while packed, or holds no text
 */
export function* textBlocks(file: string): Generator<string> {
  let rest: Buffer = Buffer.alloc(0);
  let isFirst = true;
  for (const block of byteBlocks(file)) {
    const all = rest.length === 0 ? block : Buffer.concat([rest, block]);
    if (isFirst) refuseOtherForms(all, file);
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

/** A path into a zip, taken apart; null when it is none. */
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
  throw invalidFile(archive, `it holds no "${name}"`, `It holds: ${members.map((other) => other.name).join(', ')}.`);
}

/** A gzip's last 8 bytes are the checksum and the length of what it holds (RFC 1952); fflate does not look at them. */
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
    invalidFile(file, 'it is no gzip, or was cut or damaged', 'Download it again.', error);
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

/** No character of UTF-8 is cut in two behind a byte of ASCII. */
function endOfLastAscii(bytes: Buffer): number {
  let end = bytes.length;
  while (end > 0 && bytes[end - 1]! >= 0x80) end -= 1;
  return end;
}

function decoded(bytes: Buffer): string {
  return isUtf8(bytes) ? bytes.toString('utf8') : new TextDecoder('windows-1252').decode(bytes);
}

const ZIP_MARK = Buffer.from([0x50, 0x4b, 0x03, 0x04]);

/** What is no text: servers answer with pages where a file was asked for, and spreadsheets are zips. */
function refuseOtherForms(bytes: Buffer, file: string): void {
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
      'The server sent a page in place of the file: download it again.',
    );
  }
}
