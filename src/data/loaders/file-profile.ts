import { extname } from 'node:path';
import { LATITUDES } from './csv-features.ts';
import { type CsvRecord, csvRecords } from './csv-records.ts';
import { unsupportedFormat } from './feature-files.ts';
import { geojsonFeatures } from './geojson-features.ts';
import { keyOf } from './named-columns.ts';
import { shapefileHead } from './shapefile-features.ts';

export type FileShape = 'points' | 'lines' | 'outlines';

/** What tells one agency's file from another's. */
export interface FileProfile {
  /** The names of its columns as they are compared (`keyOf`). */
  readonly columns: ReadonlySet<string>;
  /** Names that a shapefile may have cut at 10 characters. */
  readonly cut: readonly string[];
  /** The kinds of its geometries; a table with coordinates has points. */
  readonly shapes: ReadonlySet<FileShape>;
  /** The first rows of a text, its header included. */
  readonly rows: readonly (readonly string[])[];
}

/** How many rows or features are looked at: later ones may have properties that the first lacks. */
const LOOKED_AT = 100;

const SHAPES: Readonly<Record<string, FileShape>> = {
  Point: 'points',
  MultiPoint: 'points',
  LineString: 'lines',
  MultiLineString: 'lines',
  Polygon: 'outlines',
  MultiPolygon: 'outlines',
};

/** Looks at the beginning of a file. @param latitude the column that a user named for it */
export function profileOf(file: string, latitude?: string): FileProfile {
  const extension = extname(file.replace(/\.gz$/i, '')).toLowerCase();
  if (extension === '.shp' || extension === '.zip') return profileOfShapefile(file);
  if (extension === '.json' || extension === '.geojson') return profileOfGeojson(file);
  if (OTHER_FORMS.test(extension)) throw unsupportedFormat(file);
  return profileOfText(file, latitude);
}

/** Forms of tables and maps that no loader reads. */
const OTHER_FORMS = /^\.(xls|xlsb|ods|gdb|gpkg|km[lz]|parquet|pdf|html?)$/;

function profileOfShapefile(file: string): FileProfile {
  const { type, columns } = shapefileHead(file);
  // 1 Point, 3 PolyLine, 5 Polygon, 8 MultiPoint; with heights 10 more, with measures 20.
  const shape = ({ 1: 'points', 8: 'points', 3: 'lines', 5: 'outlines' } as Record<number, FileShape>)[type % 10];
  const cut = columns.filter((name) => name.length === 10).map(keyOf);
  return { columns: keysOf(columns), cut, shapes: new Set(shape === undefined ? [] : [shape]), rows: [] };
}

function profileOfGeojson(file: string): FileProfile {
  const names = new Set<string>();
  const shapes = new Set<FileShape>();
  for (const { geometry, properties } of first(geojsonFeatures(file), LOOKED_AT)) {
    for (const name of Object.keys(properties)) names.add(name);
    const shape = SHAPES[String((geometry as { type?: unknown } | null)?.type)];
    if (shape !== undefined) shapes.add(shape);
  }
  return { columns: keysOf(names), cut: [], shapes, rows: [] };
}

function profileOfText(file: string, latitude: string | undefined): FileProfile {
  const [head] = first(csvRecords(file), 1);
  const isBarred = head !== undefined && head.cells.length === 1 && head.cells[0]!.includes('|');
  const records: CsvRecord[] = [...first(csvRecords(file, isBarred ? '|' : ','), LOOKED_AT)];
  const rows = records.map(({ cells }) => cells);
  const columns = keysOf(rows[0] ?? []);
  const latitudes = latitude === undefined ? LATITUDES : [latitude];
  const hasPoints = latitudes.some((name) => columns.has(keyOf(name)));
  return { columns, cut: [], shapes: new Set<FileShape>(hasPoints ? ['points'] : []), rows };
}

function keysOf(names: Iterable<string>): Set<string> {
  return new Set([...names].map(keyOf).filter((key) => key !== ''));
}

function* first<T>(values: Iterable<T>, most: number): Generator<T> {
  let left = most;
  for (const value of values) {
    yield value;
    left -= 1;
    if (left === 0) return;
  }
}
