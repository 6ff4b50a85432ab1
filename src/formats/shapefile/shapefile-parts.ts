import { closeSync, openSync, readSync, statSync } from 'node:fs';
import type { Geometry } from 'geojson';
import { open } from 'shapefile';
import type { MakeContentError } from '../bytes/byte-source.ts';
import { type ToDegrees, toDegrees } from './coordinate-system.ts';

/** The parts of a shapefile: paths of files, or bytes from a zip. */
export interface ShapefileParts {
  readonly shp: string | Buffer;
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
 * @throws PerilbookError when a part is cut, or the coordinate system is unknown
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
  assertComplete(parts, refused);
  const rows = beginning(parts.dbf, 32).bytes.readUInt32LE(4);
  const source = await open(parts.shp, parts.dbf, { encoding: parseEncoding(parts.cpg?.toString() ?? '', refused) });
  let number = 0;
  for (;;) {
    const { done, value } = await source.read().catch((error: unknown) => {
      if (error instanceof Error && 'syscall' in error) throw error;
      throw refused(`is damaged: its shape ${number + 1} cannot be read`, 'Download it again.', error);
    });
    if (done) break;
    number += 1;
    const geometry = convert === null ? value.geometry : converted(value.geometry, convert);
    yield { geometry, properties: value.properties ?? {} };
  }
  if (number !== rows) throw refused(`has ${number} shapes, and ${rows} rows in its table`, 'Download it again.');
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

/** The reader does not report a truncated part: it takes the cut for the end, or fails there. */
function assertComplete({ shp, dbf }: ShapefileParts, refused: MakeContentError): void {
  const shape = beginning(shp, 100);
  const table = beginning(dbf, 32);
  const isComplete =
    shape.bytes.length === 100 &&
    table.bytes.length === 32 &&
    shape.size >= 2 * shape.bytes.readInt32BE(24) &&
    table.size >= table.bytes.readUInt16LE(8) + table.bytes.readUInt32LE(4) * table.bytes.readUInt16LE(10);
  if (!isComplete) throw refused('ends before its features do', 'Download it again.');
}

/** The geometry type and the column names of a shapefile, from the headers of its parts (ESRI, 1998; dBASE III). */
export function shapefileHead(
  parts: ShapefileParts,
  refused: MakeContentError,
): { readonly type: number; readonly columns: string[] } {
  const { shp, dbf } = parts;
  assertComplete(parts, refused);
  const fields = beginning(dbf, beginning(dbf, 32).bytes.readUInt16LE(8)).bytes;
  const columns: string[] = [];
  for (let at = 32; at + 32 <= fields.length && fields[at] !== 0x0d; at += 32) {
    columns.push(fields.toString('latin1', at, at + 11).replace(/\0.*$/s, ''));
  }
  return { type: beginning(shp, 36).bytes.readInt32LE(32), columns };
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
