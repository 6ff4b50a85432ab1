import { closeSync, existsSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { unzipSync } from 'fflate';
import { open } from 'shapefile';
import { PerilbookError } from '../../errors.ts';
import type { FileFeature } from './geojson-features.ts';
import { unreadable } from './text-blocks.ts';
import { damagedFile } from './zip-checksums.ts';

/**
 * The features of a shapefile, or of the one in a zip; streamed, so that the geometries are never held together.
 *
 * @throws PerilbookError SERVICE_DATA when a part of it is missing, or it is not in degrees
 */
export async function* shapefileFeatures(file: string): AsyncGenerator<FileFeature> {
  const parts = /\.zip$/i.test(file) ? partsOfZip(file) : partsBeside(file);
  const projection = parts.prj?.toString() ?? '';
  if (/^\s*PROJCS/i.test(projection)) {
    throw refusal(
      file,
      `its coordinates are projected (${/"([^"]+)"/.exec(projection)?.[1] ?? 'unknown'})`,
      'Download or convert it in degrees (EPSG:4326 or 4269).',
    );
  }
  refuseCut(file, parts);
  const source = await open(parts.shp, parts.dbf, { encoding: encodingOf(file, parts.cpg?.toString() ?? '') });
  let number = 0;
  for (;;) {
    const { done, value } = await source.read();
    if (done) return;
    number += 1;
    yield { line: number, geometry: value.geometry, properties: value.properties ?? {} };
  }
}

/** Neither part says when it ends early: the reader takes that for the end, or fails where it stands. */
function refuseCut(file: string, { shp, dbf }: Parts): void {
  const shape = beginning(shp, 100);
  const table = beginning(dbf, 32);
  const isWhole =
    shape.bytes.length === 100 &&
    table.bytes.length === 32 &&
    shape.size >= 2 * shape.bytes.readInt32BE(24) &&
    table.size >= table.bytes.readUInt16LE(8) + table.bytes.readUInt32LE(4) * table.bytes.readUInt16LE(10);
  if (!isWhole) throw refusal(file, 'it ends before its features do', 'Download it again.');
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

/** The encoding that a .cpg names: `UTF-8`, `1252`, `ANSI 1252`, `CP1252`, `ISO 8859-1`, `88591`, `65001`. */
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
    throw refusal(file, `the encoding of its .cpg is not known (${text})`, 'Take the .cpg away, or save it as UTF-8.');
  }
}

interface Parts {
  readonly shp: string | Buffer;
  readonly dbf: string | Buffer;
  readonly prj?: Buffer;
  readonly cpg?: Buffer;
}

function partsBeside(file: string): Parts {
  const beside = (extension: string) =>
    [extension, extension.toUpperCase()].map((end) => file.replace(/shp$/i, end)).find((name) => existsSync(name));
  const dbf = beside('dbf');
  if (!existsSync(file) || dbf === undefined) {
    throw refusal(
      file,
      'its .shp and .dbf files must lie side by side',
      'Unpack all files of the zip, or load the zip.',
    );
  }
  const text = (extension: string) => {
    const name = beside(extension);
    return name === undefined ? undefined : readFileSync(name);
  };
  return { shp: file, dbf, ...present('prj', text('prj')), ...present('cpg', text('cpg')) };
}

function partsOfZip(file: string): Parts {
  const files = unzipped(file);
  const names = Object.keys(files);
  const shapes = names.filter((name) => /\.shp$/i.test(name));
  if (shapes.length !== 1) {
    throw refusal(file, `the zip holds ${shapes.length} shapefiles, not one`, 'Unpack it and name one .shp file.');
  }
  const stem = shapes[0]!.slice(0, -4);
  const part = (extension: string) => {
    const name = names.find((other) => other.toLowerCase() === `${stem}.${extension}`.toLowerCase());
    return name === undefined ? undefined : Buffer.from(files[name]!);
  };
  const dbf = part('dbf');
  if (dbf === undefined) throw refusal(file, 'the zip holds no .dbf beside its .shp', 'Download it again.');
  return { shp: part('shp')!, dbf, ...present('prj', part('prj')), ...present('cpg', part('cpg')) };
}

function unzipped(file: string): Record<string, Uint8Array> {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    throw unreadable(file, error);
  }
  let files: Record<string, Uint8Array>;
  try {
    files = unzipSync(bytes, { filter: ({ name }) => /\.(shp|dbf|prj|cpg)$/i.test(name) && !/__MACOSX/.test(name) });
  } catch (error) {
    throw refusal(file, `the zip cannot be read (${(error as Error).message})`, 'Download it again.');
  }
  const damaged = damagedFile(bytes, files);
  if (damaged !== null) throw refusal(file, `${damaged} in it is damaged`, 'Download it again.');
  return files;
}

function present<K extends string>(key: K, value: Buffer | undefined): { [P in K]?: Buffer } {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]?: Buffer });
}

function refusal(file: string, problem: string, hint: string): PerilbookError {
  return new PerilbookError('SERVICE_DATA', `Cannot load "${file}": ${problem}`, hint, { file });
}
