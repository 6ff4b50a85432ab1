import { basename } from 'node:path';
import Database from 'better-sqlite3';
import { resultOrNull } from '../../base/errors.ts';
import type { Batches } from '../../formats/csv/parsed-records.ts';
import { type ToDegrees, toDegrees } from '../../formats/shapefile/coordinate-system.ts';
import { readWkb } from '../../formats/wkb/wkb-geometry.ts';
import { invalidFile, refusedFor, zipPath } from './agency-file.ts';
import type { FileFeature } from './file-feature.ts';

/* A GeoPackage is an SQLite file with a table for each layer, and its geometries as well-known binary (OGC 12-128). */

/** The file and the layer in a path `parks.gpkg/city_parks`; null for a path that is not of a GeoPackage. */
export function geopackagePath(
  file: string,
): { readonly archive: string; readonly layer: string | null } | null {
  const [, archive, layer = null] = /^(.*\.gpkg)(?:[\\/](.+))?$/i.exec(file) ?? [];
  return archive === undefined ? null : { archive, layer };
}

/** The names of the layers of a GeoPackage.
 * @throws PerilbookError SERVICE_DATA when it is none */
export function layersOfGeopackage(archive: string): string[] {
  using opened = open(archive);
  return opened.database
    .prepare<[], string>(
      "SELECT table_name FROM gpkg_contents WHERE data_type = 'features' ORDER BY 1",
    )
    .pluck()
    .all();
}

interface GeometryColumn {
  readonly name: string;
  readonly id: number;
  readonly system: string;
}

const ROWS_AT_ONCE = 500;

/** The features of a layer, in degrees; of the only layer if none is named. */
export async function* geopackageFeatures(file: string): Batches<FileFeature> {
  const { archive, layer } = geopackagePath(file)!;
  const names = layersOfGeopackage(archive);
  const own = layer ?? (names.length === 1 ? names[0]! : null);
  if (own === null || !names.includes(own)) {
    const hint = `Its layers are: ${names.join(', ')}. Write: ${archive}/${names[0] ?? 'LAYER'}`;
    throw invalidFile(
      file,
      own === null ? `it has ${names.length} layers` : 'it has no such layer',
      hint,
    );
  }
  using opened = open(archive);
  const { database } = opened;
  const column = database
    .prepare<[string], GeometryColumn>(
      `SELECT column_name AS name, geo.srs_id AS id, definition AS system FROM gpkg_geometry_columns AS geo
       JOIN gpkg_spatial_ref_sys AS system ON system.srs_id = geo.srs_id WHERE table_name = ?`,
    )
    .get(own);
  if (column === undefined) throw invalidFile(file, 'its layer has no geometries', DAMAGED);
  const convert = [4326, 4269].includes(column.id)
    ? null
    : toDegrees(column.system, refusedFor(file));
  const rows = database.prepare<[], Record<string, unknown>>(
    `SELECT * FROM "${own.replaceAll('"', '""')}"`,
  );
  let line = 0;
  let batch: FileFeature[] = [];
  for (const { [column.name]: blob, ...properties } of rows.iterate()) {
    line += 1;
    batch.push({ line, geometry: geometryOf(blob, convert), properties });
    if (batch.length < ROWS_AT_ONCE) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

const DAMAGED = 'Download it again.';

/** "GP", the version, flags, the number of the system, and the bounds, before the geometry itself (OGC 12-128, 2.1.3). */
const HEADER_BYTES = 8;
/** By the kind of the bounds in the flags. */
const BOUNDS_BYTES = [0, 32, 48, 48, 64];

function geometryOf(blob: unknown, convert: ToDegrees | null): unknown {
  if (!Buffer.isBuffer(blob) || blob.length <= HEADER_BYTES) return null;
  const flags = blob[3]!;
  if ((flags & 0x10) !== 0) return null;
  const at = HEADER_BYTES + (BOUNDS_BYTES[(flags >> 1) & 7] ?? 0);
  const geometry = resultOrNull(() => readWkb(blob.subarray(at)));
  if (geometry === null || convert === null || geometry.type === 'GeometryCollection')
    return geometry;
  return { ...geometry, coordinates: converted(geometry.coordinates, convert) };
}

function converted(member: unknown, convert: ToDegrees): unknown {
  return Array.isArray(member) && typeof member[0] !== 'number'
    ? member.map((inner) => converted(inner, convert))
    : convert(member as number[]);
}

function open(archive: string) {
  // SQLite reads a file where it lies.
  if (zipPath(archive) !== null) {
    const hint = `Unpack the zip, and load ${basename(archive)}.`;
    throw invalidFile(archive, 'it is a GeoPackage in a zip, which Perilbook does not read', hint);
  }
  try {
    const database = new Database(archive, { readonly: true, fileMustExist: true });
    database.prepare('SELECT 1 FROM gpkg_contents').get();
    return { database, [Symbol.dispose]: () => void database.close() };
  } catch (error) {
    throw invalidFile(archive, 'it is no GeoPackage', DAMAGED, error);
  }
}
