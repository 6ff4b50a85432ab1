import { randomUUID } from 'node:crypto';
import type { ServiceDatabase } from './data-database.ts';
import { createPropertyTypes } from './property-types.ts';

/** The columns of a layer's table before the feature's text: its box, and of a point its place. */
type FeaturePlace = readonly [
  minLng: number,
  maxLng: number,
  minLat: number,
  maxLat: number,
  lng: number | null,
  lat: number | null,
];

/** The features of a load until all have been seen: only then is known of what type a property is. */
export interface FeatureSpool {
  /** @param head the feature's JSON up to the value of its properties */
  add(place: FeaturePlace, head: string, properties: Readonly<Record<string, unknown>>): void;
  /** Place and JSON of each feature, in the order in which they came. */
  features(): Iterable<readonly [place: FeaturePlace, json: string]>;
  close(): void;
}

type SpooledRow = readonly [id: number, ...place: FeaturePlace, head: string, properties: string];

const ROWS_AT_ONCE = 500;

/** Keeps features in a temporary table: in a file of SQLite's own, so that writing them holds up no service. */
export function createFeatureSpool(database: ServiceDatabase): FeatureSpool {
  const table = `temp.spool_${randomUUID().replaceAll('-', '')}`;
  const types = createPropertyTypes();
  database.exec(
    `CREATE TABLE ${table} (id INTEGER PRIMARY KEY, min_lng REAL, max_lng REAL, min_lat REAL, max_lat REAL,
       lng REAL, lat REAL, head TEXT, properties TEXT)`,
  );
  const insert = database.prepare(`INSERT INTO ${table} VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const select = database
    .prepare<[number], SpooledRow>(`SELECT * FROM ${table} WHERE id > ? ORDER BY id LIMIT ${ROWS_AT_ONCE}`)
    .raw();
  return {
    add(place, head, properties) {
      types.see(properties);
      insert.run(...place, head, JSON.stringify(properties));
    },
    *features() {
      // In pages: nothing else can be written on the connection while a statement is read row by row.
      for (let rows = select.all(0); rows.length > 0; rows = select.all(rows.at(-1)![0])) {
        for (const [, minLng, maxLng, minLat, maxLat, lng, lat, head, properties] of rows) {
          const typed = types.typed(JSON.parse(properties) as Record<string, unknown>);
          yield [[minLng, maxLng, minLat, maxLat, lng, lat], `${head}${JSON.stringify(typed)}}`];
        }
      }
    },
    close() {
      database.exec(`DROP TABLE IF EXISTS ${table}`);
    },
  };
}
