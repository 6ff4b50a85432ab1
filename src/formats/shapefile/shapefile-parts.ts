import { Readable } from 'node:stream';
import type { Geometry } from 'geojson';
import { open } from 'shapefile';
import { counted } from '../../base/format-numbers.ts';
import type { Chunks, MakeContentError } from '../bytes/byte-source.ts';
import { checkedShapes, damaged, HEADER_BYTES, type ShapefileHeader } from './checked-shapes.ts';
import { type ToDegrees, toDegrees } from './coordinate-system.ts';

/** A part of a shapefile. `start` begins a new pass through its bytes. */
interface ShapefilePart {
  readonly size: number;
  readonly start: () => AsyncIterable<Buffer>;
}

export interface ShapefileParts {
  readonly shp: ShapefilePart;
  readonly dbf: ShapefilePart;
  readonly prj: Buffer | undefined;
  /** The encoding of the table; GeoServer calls this file `.cst`. */
  readonly cpg: Buffer | undefined;
}

/** Streams the features of a shapefile. Coordinates that are not degrees are converted by the .prj.
 * @param note gets what was assumed or converted, as a clause about the file
 * @throws PerilbookError when a part is cut or damaged, or the coordinate system is unknown */
export async function* shapefileFeatures(
  parts: ShapefileParts,
  note: (what: string) => void,
  refused: MakeContentError,
): AsyncGenerator<
  { line: number; geometry: unknown; properties: Readonly<Record<string, unknown>> },
  void,
  void
> {
  const projection = parts.prj?.toString() ?? '';
  if (projection.trim() === '') note('has no .prj: its coordinates are read as degrees (WGS84).');
  const convert = projection.trim() === '' ? null : toDegrees(projection, refused);
  if (convert !== null) note(`was converted from ${/"([^"]+)"/.exec(projection)?.[1]}.`);
  const header = await readHeader(parts, refused);
  const encoding = parseEncoding(parts.cpg?.toString() ?? '', refused);
  // The reader takes an error of its stream for the end when it is not waiting for bytes: the error is kept here.
  let failure: unknown;
  const keep = (error: unknown) => {
    failure ??= error;
  };
  const streamOf = (chunks: AsyncIterable<Buffer>) =>
    Readable.from(endingAtError(chunks, keep), { objectMode: false });
  const shapes = streamOf(checkedShapes(parts.shp.start(), header, refused));
  const deleted = new Set<number>();
  const table = streamOf(markedRows(parts.dbf.start(), header, deleted));
  let number = 0;
  try {
    const source = await open(shapes, table, { encoding }).catch((error: unknown) => {
      throw failure ?? refused('is damaged: its .dbf cannot be read', 'Download it again.', error);
    });
    for (;;) {
      const { done, value } = await source.read().catch((error: unknown) => {
        throw failure ?? damaged(number + 1, refused, error);
      });
      if (failure !== undefined) throw failure;
      if (done) break;
      number += 1;
      if (deleted.has(number)) continue;
      if (convert === null && projection.trim() === '' && !areDegrees(value.geometry)) {
        const hint =
          'Put its .prj beside it: the file with its coordinate system has the same name. Or convert it to degrees (EPSG:4326).';
        throw refused('has no .prj, and its coordinates are no degrees', hint);
      }
      const geometry = convert === null ? value.geometry : converted(value.geometry, convert);
      yield { line: number, geometry, properties: value.properties ?? {} };
    }
    // To the end, where a zip verifies its checksum.
    for await (const _ of table);
  } finally {
    shapes.destroy();
    table.destroy();
  }
  if (failure !== undefined) throw failure;
  if (number !== header.rows)
    throw refused(
      `has ${number} shapes, and ${header.rows} rows in its table`,
      'Download it again.',
    );
  if (deleted.size > 0)
    note(`has ${counted(deleted.size, 'shape')} whose row is deleted: left out.`);
}

/** Before a row that was deleted, and is still in the table (dBASE III). */
const DELETED = 0x2a;

/** The bytes of a table, as they are. The numbers of its deleted rows are in `deleted` before their bytes are given on: the `shapefile`
 * package reads these rows like others. */
async function* markedRows(
  chunks: AsyncIterable<Buffer>,
  { tableHeader, rowBytes, rows }: ShapefileHeader,
  deleted: Set<number>,
): Chunks {
  let before = 0;
  let row = 0;
  for await (const chunk of chunks) {
    for (;;) {
      const at = tableHeader + row * rowBytes - before;
      if (row >= rows || at >= chunk.length) break;
      row += 1;
      if (chunk[at] === DELETED) deleted.add(row);
    }
    before += chunk.length;
    yield chunk;
  }
}

/** Whether the first position of a geometry may be in degrees. */
function areDegrees(geometry: unknown): boolean {
  let member: unknown = (geometry as { readonly coordinates?: unknown } | null)?.coordinates;
  while (Array.isArray(member) && Array.isArray(member[0])) [member] = member;
  if (!Array.isArray(member) || typeof member[0] !== 'number') return true;
  const [x, y] = member as [number, number];
  return Math.abs(x) <= 360 && Math.abs(y) <= 90;
}

/** Chunks up to an error, which is given to `onError`. */
async function* endingAtError(
  chunks: AsyncIterable<Buffer>,
  onError: (error: unknown) => void,
): Chunks {
  try {
    yield* chunks;
  } catch (error) {
    onError(error);
  }
}

function converted(geometry: Geometry | null, convert: ToDegrees): unknown {
  const of = (coordinates: readonly unknown[]): unknown =>
    typeof coordinates[0] === 'number'
      ? convert(coordinates as number[])
      : coordinates.map((member) => of(member as readonly unknown[]));
  return geometry !== null && 'coordinates' in geometry
    ? { ...geometry, coordinates: of(geometry.coordinates) }
    : geometry;
}

/** dBASE III: the rows, the length of the header, the length of a row. */
const TABLE_HEADER_BYTES = 32;

/** @throws PerilbookError for a truncated part: the reader takes the cut for the end, or fails there */
async function readHeader(
  { shp, dbf }: ShapefileParts,
  refused: MakeContentError,
): Promise<ShapefileHeader> {
  const cut = () => refused('ends before its features do', 'Download it again.');
  const header = await beginning(shp, HEADER_BYTES);
  const table = await beginning(dbf, TABLE_HEADER_BYTES);
  if (header.length < HEADER_BYTES || table.length < TABLE_HEADER_BYTES) throw cut();
  const length = 2 * header.readInt32BE(24);
  if (length < HEADER_BYTES) {
    throw refused(`is damaged: its .shp states a length of ${length} bytes`, 'Download it again.');
  }
  const [rows, head, width] = [
    table.readUInt32LE(4),
    table.readUInt16LE(8),
    table.readUInt16LE(10),
  ];
  if (width === 0 || head <= TABLE_HEADER_BYTES) {
    throw refused('is damaged: its .dbf cannot be read', 'Download it again.');
  }
  if (shp.size < length || dbf.size < head + rows * width) throw cut();
  return { length, type: header.readInt32LE(32), rows, tableHeader: head, rowBytes: width };
}

export interface ShapefileHead {
  /** The code of its geometries' type. */
  readonly type: number;
  readonly columns: string[];
}

/** The geometry type and the column names of a shapefile, from the headers of its parts (ESRI, 1998; dBASE III). */
export async function shapefileHead(
  parts: ShapefileParts,
  refused: MakeContentError,
): Promise<ShapefileHead> {
  const { type, tableHeader } = await readHeader(parts, refused);
  const fields = await beginning(parts.dbf, tableHeader);
  const columns: string[] = [];
  for (let at = 32; at + 32 <= fields.length && fields[at] !== 0x0d; at += 32) {
    columns.push(fields.toString('latin1', at, at + 11).replace(/\0.*$/s, ''));
  }
  return { type, columns };
}

async function beginning({ start }: ShapefilePart, length: number): Promise<Buffer> {
  let bytes = Buffer.alloc(0);
  for await (const chunk of start()) {
    bytes = Buffer.concat([bytes, chunk]);
    if (bytes.length >= length) break;
  }
  return bytes.subarray(0, length);
}

/** The encoding in a .cpg: `UTF-8`, `1252`, `ANSI 1252`, `CP1252`, `ISO 8859-1`, `88591`, `65001`. */
function parseEncoding(cpg: string, refused: MakeContentError): string {
  const text = cpg.replace(/^\ufeff/, '').trim();
  if (text === '') return 'windows-1252';
  if (/65001/.test(text)) return 'utf-8';
  const latin = /8859[\s_-]*(\d{1,2})$/.exec(text)?.[1];
  const page = /(?:^|\D)(125\d)$/.exec(text)?.[1];
  const name =
    latin !== undefined ? `iso-8859-${latin}` : page !== undefined ? `windows-${page}` : text;
  try {
    return new TextDecoder(name).encoding;
  } catch {
    throw refused(
      `has an unknown encoding in its .cpg (${text})`,
      'Delete the .cpg, or save the file as UTF-8.',
    );
  }
}
