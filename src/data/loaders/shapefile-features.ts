import { closeSync, existsSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { Geometry } from 'geojson';
import { open } from 'shapefile';
import { agencyZip, invalidFile } from './agency-file.ts';
import { type ToDegrees, toDegrees } from './coordinate-system.ts';
import type { FileFeature } from './geojson-features.ts';

/**
 * The features of a shapefile, or of the one in a zip; streamed, so that the geometries are never in memory together.
 * Coordinates not in degrees are converted by the .prj.
 *
 * @throws PerilbookError SERVICE_DATA when a part is missing or cut, or the coordinate system is unknown
 */
export async function* shapefileFeatures(
  file: string,
  note: (text: string) => void,
): AsyncGenerator<readonly FileFeature[], void, void> {
  const parts = await partsOf(file);
  const projection = parts.prj?.toString() ?? '';
  if (projection.trim() === '') note(`${basename(file)} has no .prj: its coordinates are taken for degrees (WGS84).`);
  const convert = projection.trim() === '' ? null : toDegrees(projection, file);
  if (convert !== null) note(`${basename(file)}: coordinates converted from ${/"([^"]+)"/.exec(projection)?.[1]}.`);
  assertComplete(file, parts);
  const rows = beginning(parts.dbf, 32).bytes.readUInt32LE(4);
  const source = await open(parts.shp, parts.dbf, { encoding: encodingOf(file, parts.cpg?.toString() ?? '') });
  let number = 0;
  for (;;) {
    const { done, value } = await source.read();
    if (done) break;
    number += 1;
    const geometry = convert === null ? value.geometry : converted(value.geometry, convert);
    yield [{ line: number, geometry, properties: value.properties ?? {} }];
  }
  if (number === rows) return;
  throw invalidFile(file, `it has ${number} shapes, and ${rows} rows in its table`, 'Download it again.');
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

/** The reader does not report a cut part: it takes the cut for the end, or fails there. */
function assertComplete(file: string, { shp, dbf }: Pick<Parts, 'shp' | 'dbf'>): void {
  const shape = beginning(shp, 100);
  const table = beginning(dbf, 32);
  const isComplete =
    shape.bytes.length === 100 &&
    table.bytes.length === 32 &&
    shape.size >= 2 * shape.bytes.readInt32BE(24) &&
    table.size >= table.bytes.readUInt16LE(8) + table.bytes.readUInt32LE(4) * table.bytes.readUInt16LE(10);
  if (!isComplete) throw invalidFile(file, 'it ends before its features do', 'Download it again.');
}

/** The geometry type and the column names of a shapefile, from the headers of its parts (ESRI, 1998; dBASE III). */
export async function shapefileHead(file: string): Promise<{ readonly type: number; readonly columns: string[] }> {
  const { shp, dbf } = await partsOf(file);
  assertComplete(file, { shp, dbf });
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
function encodingOf(file: string, cpg: string): string {
  const text = cpg.replace(/^\ufeff/, '').trim();
  if (text === '') return 'windows-1252';
  if (/65001/.test(text)) return 'utf-8';
  const latin = /8859[\s_-]*(\d{1,2})$/.exec(text)?.[1];
  const page = /(?:^|\D)(125\d)$/.exec(text)?.[1];
  const name = latin !== undefined ? `iso-8859-${latin}` : page !== undefined ? `windows-${page}` : text;
  try {
    return new TextDecoder(name).encoding;
  } catch {
    throw invalidFile(
      file,
      `the encoding in its .cpg is unknown (${text})`,
      'Delete the .cpg, or save the file as UTF-8.',
    );
  }
}

interface Parts {
  readonly shp: string | Buffer;
  readonly dbf: string | Buffer;
  readonly prj: Buffer | undefined;
  readonly cpg: Buffer | undefined;
}

async function partsOf(file: string): Promise<Parts> {
  return /\.zip$/i.test(file) ? await partsOfZip(file) : partsBeside(file);
}

function partsBeside(file: string): Parts {
  const beside = (extension: string) =>
    [extension, extension.toUpperCase()].map((end) => file.replace(/shp$/i, end)).find((name) => existsSync(name));
  const dbf = beside('dbf');
  if (!existsSync(file) || dbf === undefined) {
    throw invalidFile(
      file,
      'its .shp and .dbf files must lie side by side',
      'Unpack all files of the zip, or load the zip itself.',
    );
  }
  const text = (extension: string) => {
    const name = beside(extension);
    return name === undefined ? undefined : readFileSync(name);
  };
  return { shp: file, dbf, prj: text('prj'), cpg: text('cpg') };
}

async function partsOfZip(file: string): Promise<Parts> {
  const zip = await agencyZip(file);
  const shapes = zip.files.filter(({ fileName }) => /\.shp$/i.test(fileName));
  if (shapes.length !== 1) {
    throw invalidFile(file, `the zip holds ${shapes.length} shapefiles, not one`, 'Unpack it and give one .shp file.');
  }
  const stem = shapes[0]!.fileName.slice(0, -4);
  const part = async (extension: string) => {
    const entry = zip.find(`${stem}.${extension}`);
    return entry === undefined ? undefined : await buffer(zip.unpacked(entry));
  };
  const dbf = await part('dbf');
  if (dbf === undefined) throw invalidFile(file, 'the zip holds no .dbf beside its .shp', 'Download it again.');
  return { shp: (await part('shp'))!, dbf, prj: await part('prj'), cpg: await part('cpg') };
}
