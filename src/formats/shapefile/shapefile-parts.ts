import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { Readable } from 'node:stream';
import type { Geometry } from 'geojson';
import { open } from 'shapefile';
import type { MakeContentError } from '../bytes/byte-source.ts';
import { type ToDegrees, toDegrees } from './coordinate-system.ts';

/** The parts of a shapefile. */
export interface ShapefileParts {
  /** `start` begins a new pass through its bytes. */
  readonly shp: { readonly size: number; readonly start: () => AsyncIterable<Buffer> };
  /** The path of a file, or bytes from a zip. */
  readonly dbf: string | Buffer;
  readonly prj: Buffer | undefined;
  readonly cpg: Buffer | undefined;
}

interface ShapefileFeature {
  readonly geometry: unknown;
  readonly properties: Readonly<Record<string, unknown>>;
}

/**
 * Streams the features of a shapefile. Coordinates that are not degrees are converted by the .prj.
 *
 * @param note gets what was assumed or converted, as a clause about the file
 * @throws PerilbookError when a part is cut or damaged, or the coordinate system is unknown
 */
export async function* shapefileFeatures(
  parts: ShapefileParts,
  note: (what: string) => void,
  refused: MakeContentError,
): AsyncGenerator<ShapefileFeature, void, void> {
  const projection = parts.prj?.toString() ?? '';
  if (projection.trim() === '') note('has no .prj: its coordinates are read as degrees (WGS84).');
  const convert = projection.trim() === '' ? null : toDegrees(projection, refused);
  if (convert !== null) note(`was converted from ${/"([^"]+)"/.exec(projection)?.[1]}.`);
  const { length } = await readHeader(parts, refused);
  const rows = beginning(parts.dbf, 32).bytes.readUInt32LE(4);
  const encoding = parseEncoding(parts.cpg?.toString() ?? '', refused);
  // The reader takes an error of its stream for the end when it is not waiting for bytes: the error is kept here.
  let failure: unknown;
  const onFailure = (error: unknown) => {
    failure = error;
  };
  const shapes = Readable.from(firstBytes(parts.shp.start(), length, onFailure), { objectMode: false });
  let number = 0;
  try {
    const source = await open(shapes, parts.dbf, { encoding });
    for (;;) {
      const { done, value } = await source.read().catch((error: unknown) => {
        if (error instanceof Error && 'syscall' in error) throw error;
        throw failure ?? refused(`is damaged: its shape ${number + 1} cannot be read`, 'Download it again.', error);
      });
      if (done) break;
      number += 1;
      const geometry = convert === null ? value.geometry : converted(value.geometry, convert);
      yield { geometry, properties: value.properties ?? {} };
    }
  } finally {
    shapes.destroy();
  }
  if (failure !== undefined) throw failure;
  if (number !== rows) throw refused(`has ${number} shapes, and ${rows} rows in its table`, 'Download it again.');
}

/** The first `length` bytes of some chunks. The others are read too, because a zip verifies its checksum at the end. An error ends the
 * bytes and is given to `onFailure`. */
async function* firstBytes(
  chunks: AsyncIterable<Buffer>,
  length: number,
  onFailure: (error: unknown) => void,
): AsyncGenerator<Buffer, void, void> {
  let left = length;
  try {
    for await (const chunk of chunks) {
      if (left > 0) yield chunk.subarray(0, left);
      left -= chunk.length;
    }
  } catch (error) {
    onFailure(error);
  }
}

/** The geometry with each of its positions converted. */
function converted(geometry: Geometry | null, convert: ToDegrees): unknown {
  const of = (coordinates: readonly unknown[]): unknown =>
    typeof coordinates[0] === 'number'
      ? convert(coordinates as number[])
      : coordinates.map((member) => of(member as readonly unknown[]));
  return geometry !== null && 'coordinates' in geometry
    ? { ...geometry, coordinates: of(geometry.coordinates) }
    : geometry;
}

const HEADER_BYTES = 100;

/**
 * The length that the header of the .shp states, in bytes, and the geometry type. The reader must not get more bytes than that: it would
 * search them for shapes, four bytes at a time.
 *
 * @throws PerilbookError for a truncated part: the reader takes the cut for the end, or fails there
 */
async function readHeader({ shp, dbf }: ShapefileParts, refused: MakeContentError) {
  let header = Buffer.alloc(0);
  for await (const chunk of shp.start()) {
    header = Buffer.concat([header, chunk]);
    if (header.length >= HEADER_BYTES) break;
  }
  const cut = () => refused('ends before its features do', 'Download it again.');
  const table = beginning(dbf, 32);
  if (header.length < HEADER_BYTES || table.bytes.length < 32) throw cut();
  const length = 2 * header.readInt32BE(24);
  if (length < HEADER_BYTES) {
    throw refused(`is damaged: its .shp states a length of ${length} bytes`, 'Download it again.');
  }
  const tableLength = table.bytes.readUInt16LE(8) + table.bytes.readUInt32LE(4) * table.bytes.readUInt16LE(10);
  if (shp.size < length || table.size < tableLength) throw cut();
  return { length, type: header.readInt32LE(32) };
}

/** The geometry type and the column names of a shapefile, from the headers of its parts (ESRI, 1998; dBASE III). */
export async function shapefileHead(
  parts: ShapefileParts,
  refused: MakeContentError,
): Promise<{ readonly type: number; readonly columns: string[] }> {
  const { type } = await readHeader(parts, refused);
  const fields = beginning(parts.dbf, beginning(parts.dbf, 32).bytes.readUInt16LE(8)).bytes;
  const columns: string[] = [];
  for (let at = 32; at + 32 <= fields.length && fields[at] !== 0x0d; at += 32) {
    columns.push(fields.toString('latin1', at, at + 11).replace(/\0.*$/s, ''));
  }
  return { type, columns };
}

function beginning(part: string | Buffer, length: number): { bytes: Buffer; size: number } {
  if (Buffer.isBuffer(part)) return { bytes: part.subarray(0, length), size: part.length };
  const bytes = Buffer.alloc(length);
  const descriptor = openSync(part, 'r');
  try {
    return { bytes: bytes.subarray(0, readSync(descriptor, bytes, 0, length, 0)), size: statSync(part).size };
  } finally {
    closeSync(descriptor);
  }
}

/** The encoding in a .cpg: `UTF-8`, `1252`, `ANSI 1252`, `CP1252`, `ISO 8859-1`, `88591`, `65001`. */
function parseEncoding(cpg: string, refused: MakeContentError): string {
  const text = cpg.replace(/^\ufeff/, '').trim();
  if (text === '') return 'windows-1252';
  if (/65001/.test(text)) return 'utf-8';
  const latin = /8859[\s_-]*(\d{1,2})$/.exec(text)?.[1];
  const page = /(?:^|\D)(125\d)$/.exec(text)?.[1];
  const name = latin !== undefined ? `iso-8859-${latin}` : page !== undefined ? `windows-${page}` : text;
  try {
    return new TextDecoder(name).encoding;
  } catch {
    throw refused(`has an unknown encoding in its .cpg (${text})`, 'Delete the .cpg, or save the file as UTF-8.');
  }
}
