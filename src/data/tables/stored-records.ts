import type { Geometry, MultiPolygon, Polygon, Position } from 'geojson';
import { UNITS_PER_DEGREE } from '../../geo/coordinates.ts';
import { unpackOutline } from './area-outlines.ts';
import type { DataDatabase } from './data-database.ts';
import { layerTable } from './layers.ts';
import type { LoadTarget } from './records.ts';

const ROWS_AT_ONCE = 1_000;

/** The records of a loaded dataset, in the form that a load imports: a load of some states keeps those of the others.
 * Read in pages, because the same connection writes in between. */
export function* storedRecords(database: DataDatabase, target: LoadTarget): Generator<unknown> {
  switch (target.kind) {
    case 'areas':
      for (const level of levelsOf(target.level)) yield* areas(database, level);
      return;
    case 'nri':
      for (const level of levelsOf(target.level)) {
        const sql = `SELECT geoid, topic, rating, score, frequency FROM ratings_${level}
                     WHERE (geoid, topic) > (?, ?) ORDER BY geoid, topic LIMIT ${ROWS_AT_ONCE}`;
        yield* pages(database, sql, ['', ''], ({ geoid, topic }) => [geoid, topic]);
      }
      return;
    case 'airQuality':
      for (const row of database.prepare<[], StoredRow>('SELECT county, year, days FROM air_quality').all()) {
        yield { countyGeoid: row.county, year: row.year, ...JSON.parse(row.days as string) };
      }
      return;
    case 'radon':
      yield* database.prepare<[], StoredRow>('SELECT county AS countyGeoid, zone FROM radon').all();
      return;
    case 'readings':
      yield* database
        .prepare('SELECT pollutant, monitor, lat, lng, concentration, measured_at AS measuredAt FROM reading_boxes')
        .all();
      return;
    case 'sites':
      yield* features(database, layerTable(`sites:${target.topic}`).name);
      return;
    case 'records':
      yield* features(database, layerTable(`records:${target.event}`).name);
  }
}

type StoredRow = Readonly<Record<string, string | number | Buffer | null>>;

function levelsOf(level: 'tract' | 'county' | undefined): readonly ('tract' | 'county')[] {
  return level === undefined ? ['tract', 'county'] : [level];
}

function* pages(
  database: DataDatabase,
  sql: string,
  first: readonly unknown[],
  next: (row: StoredRow) => readonly unknown[],
): Generator<StoredRow> {
  const select = database.prepare<unknown[], StoredRow>(sql);
  for (let rows = select.all(...first); rows.length > 0; rows = select.all(...next(rows.at(-1)!))) yield* rows;
}

function* areas(database: DataDatabase, level: 'tract' | 'county'): Generator<unknown> {
  const sql = `SELECT id, geoid, name, state, outline FROM areas_${level} WHERE id > ? ORDER BY id LIMIT ${ROWS_AT_ONCE}`;
  for (const { geoid, name, state, outline } of pages(database, sql, [0], ({ id }) => [id])) {
    yield { level, geoid, name, state, geometry: geometryOf(outline as Buffer) };
  }
}

/** An outline does not know which ring is a hole; each ring as a polygon packs to the same bytes. */
function geometryOf(outline: Buffer): Polygon | MultiPolygon {
  const rings = unpackOutline(outline).map((ring) =>
    Array.from(
      { length: ring.length / 2 },
      (_, i): Position => [ring[2 * i]! / UNITS_PER_DEGREE, ring[2 * i + 1]! / UNITS_PER_DEGREE],
    ),
  );
  return { type: 'MultiPolygon', coordinates: rings.map((ring) => [ring]) };
}

/** One by one: an R*Tree is fast by id, and reads all rows for a range of ids. */
function* features(database: DataDatabase, table: string): Generator<unknown> {
  const ids = database.prepare<[], number>(`SELECT id FROM ${table} ORDER BY id`).pluck().all();
  const select = database.prepare<[number], string>(`SELECT feature FROM ${table} WHERE id = ?`).pluck();
  for (const id of ids) {
    const feature = JSON.parse(select.get(id)!) as { id?: string | number; geometry: Geometry; properties: object };
    const named = feature.id === undefined ? {} : { id: feature.id };
    yield { ...named, geometry: feature.geometry, properties: feature.properties };
  }
}
