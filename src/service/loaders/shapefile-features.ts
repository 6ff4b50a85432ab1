import { existsSync, readFileSync } from 'node:fs';
import { unzipSync } from 'fflate';
import { open } from 'shapefile';
import { PerilbookError } from '../../errors.ts';
import type { FileFeature } from './geojson-features.ts';
import { unreadable } from './text-blocks.ts';

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
  const encoding = parts.cpg?.toString().trim() || 'windows-1252';
  const source = await open(parts.shp, parts.dbf, { encoding: /^\d+$/.test(encoding) ? 'utf-8' : encoding });
  let number = 0;
  for (;;) {
    const { done, value } = await source.read();
    if (done) return;
    number += 1;
    yield { line: number, geometry: value.geometry, properties: value.properties ?? {} };
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
  try {
    return unzipSync(bytes, { filter: ({ name }) => /\.(shp|dbf|prj|cpg)$/i.test(name) && !/__MACOSX/.test(name) });
  } catch (error) {
    throw refusal(file, `the zip cannot be read (${(error as Error).message})`, 'Download it again.');
  }
}

function present<K extends string>(key: K, value: Buffer | undefined): { [P in K]?: Buffer } {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]?: Buffer });
}

function refusal(file: string, problem: string, hint: string): PerilbookError {
  return new PerilbookError('SERVICE_DATA', `Cannot load "${file}": ${problem}`, hint, { file });
}
