import { crc32 } from 'node:zlib';

const END = 0x06054b50;
const END_BYTES = 22;
const ENTRY = 0x02014b50;
const ENTRY_BYTES = 46;

/**
 * The first of these files out of a zip whose bytes are not those that were packed, by the checksum of the zip's directory
 * (APPNOTE 4.3.12); null where all are. fflate unpacks without looking at them, so a damaged download would come out changed.
 *
 * A directory that is not to be read (zip64, above 65,535 files or 4 GB) checks nothing.
 */
export function damagedFile(zip: Buffer, files: Readonly<Record<string, Uint8Array>>): string | null {
  const end = zip.lastIndexOf(Buffer.from([0x50, 0x4b, 0x05, 0x06]));
  if (end < 0 || end + END_BYTES > zip.length || zip.readUInt32LE(end) !== END) return null;
  let at = zip.readUInt32LE(end + 16);
  for (let left = zip.readUInt16LE(end + 10); left > 0; left--) {
    if (at + ENTRY_BYTES > zip.length || zip.readUInt32LE(at) !== ENTRY) return null;
    const nameBytes = zip.readUInt16LE(at + 28);
    const name = zip.toString('utf8', at + ENTRY_BYTES, at + ENTRY_BYTES + nameBytes);
    const bytes = Object.hasOwn(files, name) ? files[name] : undefined;
    if (bytes !== undefined && crc32(bytes) !== zip.readUInt32LE(at + 16)) return name;
    at += ENTRY_BYTES + nameBytes + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32);
  }
  return null;
}
