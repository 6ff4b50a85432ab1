import { extname } from 'node:path';
import { keyOf, tableRecords } from './agency-table.ts';
import { geojsonFeatures, headOfShapefile, LATITUDES, unsupportedFormat } from './feature-files.ts';
import type { FileShape } from './loader.ts';

/** The features by which agencies' files are told apart. */
export interface FileProfile {
  /** The names of its columns, normalized by `keyOf`. */
  readonly columns: ReadonlySet<string>;
  /** Column names that a shapefile may have cut at 10 characters. */
  readonly cut: readonly string[];
  /** The kinds of its geometries; a table with coordinates has points. */
  readonly shapes: ReadonlySet<FileShape>;
  /** The first rows of a text file, header included. */
  readonly rows: readonly (readonly string[])[];
}

/** How many rows or features are read: the first may lack properties that later ones have. */
const SAMPLE_ROWS = 100;

const SHAPES: Readonly<Record<string, FileShape>> = {
  Point: 'points',
  MultiPoint: 'points',
  LineString: 'lines',
  MultiLineString: 'lines',
  Polygon: 'outlines',
  MultiPolygon: 'outlines',
};

/** Reads the beginning of a file. @param latitude the name of the latitude column, if the user gave one */
export async function profileOf(file: string, latitude?: string): Promise<FileProfile> {
  const extension = extname(file.replace(/\.gz$/i, '')).toLowerCase();
  if (extension === '.shp' || extension === '.zip') return await profileOfShapefile(file);
  if (extension === '.json' || extension === '.geojson') return await profileOfGeojson(file);
  if (UNSUPPORTED.test(extension)) throw unsupportedFormat(file);
  return await profileOfText(file, latitude);
}

/** Formats of tables and maps that no loader reads. */
const UNSUPPORTED = /^\.(xls|xlsb|ods|gdb|gpkg|km[lz]|parquet|pdf|html?)$/;

async function profileOfShapefile(file: string): Promise<FileProfile> {
  const { type, columns } = await headOfShapefile(file);
  // 1 Point, 3 PolyLine, 5 Polygon, 8 MultiPoint; with heights 10 more, with measures 20.
  const shape = ({ 1: 'points', 8: 'points', 3: 'lines', 5: 'outlines' } as Record<number, FileShape>)[type % 10];
  const cut = columns.filter((name) => name.length === 10).map(keyOf);
  return { columns: keysOf(columns), cut, shapes: new Set(shape === undefined ? [] : [shape]), rows: [] };
}

async function profileOfGeojson(file: string): Promise<FileProfile> {
  const names = new Set<string>();
  const shapes = new Set<FileShape>();
  for (const { geometry, properties } of await first(geojsonFeatures(file), SAMPLE_ROWS)) {
    for (const name of Object.keys(properties)) names.add(name);
    const shape = SHAPES[String((geometry as { type?: unknown } | null)?.type)];
    if (shape !== undefined) shapes.add(shape);
  }
  return { columns: keysOf(names), cut: [], shapes, rows: [] };
}

async function profileOfText(file: string, latitude: string | undefined): Promise<FileProfile> {
  const [head] = await first(tableRecords(file), 1);
  const isBarred = head !== undefined && head.cells.length === 1 && head.cells[0]!.includes('|');
  const records = await first(tableRecords(file, { delimiter: isBarred ? '|' : ',' }), SAMPLE_ROWS);
  const rows = records.map(({ cells }) => cells);
  const columns = keysOf(rows[0] ?? []);
  const latitudes = latitude === undefined ? LATITUDES : [latitude];
  const hasPoints = latitudes.some((name) => columns.has(keyOf(name)));
  return { columns, cut: [], shapes: new Set<FileShape>(hasPoints ? ['points'] : []), rows };
}

function keysOf(names: Iterable<string>): Set<string> {
  return new Set([...names].map(keyOf).filter((key) => key !== ''));
}

async function first<T>(batches: AsyncIterable<readonly T[]>, most: number): Promise<T[]> {
  const values: T[] = [];
  for await (const batch of batches) {
    values.push(...batch.slice(0, most - values.length));
    if (values.length === most) break;
  }
  return values;
}
