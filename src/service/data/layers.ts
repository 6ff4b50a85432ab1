import type { ProximitySlug } from '../../contract/topics.ts';
import type { Location } from '../../geo/coordinates.ts';
import { distanceMeters } from '../../geo/distance.ts';
import { nearestMeters } from '../../geo/nearest.ts';
import { type Box, boxesAround, boxWithin } from './bounding-boxes.ts';
import type { ServiceDatabase } from './database.ts';
import type { RecordFeed } from './records.ts';

/** A set of features on the map that is searched around a location: the sites of a topic, or the records of a feed. */
export type Layer = `sites:${ProximitySlug}` | `records:${RecordFeed}`;

/** A feature as it enters its layer. */
export interface LayerFeature {
  readonly box: Box;
  /** Where a point lies; null for lines, outlines and collections. */
  readonly point: Location | null;
  /** The GeoJSON feature as text, ready to be sent. */
  readonly json: string;
}

/** Layers are a closed list of names of letters, ':' and '.', so a table can be named for one. */
function tableOf(layer: Layer): string {
  return layer.replace(/[:.]/g, '_');
}

/**
 * Empties a layer and returns the function that adds a feature to it; to be called within a transaction.
 * The text stands in the R*Tree's own row, so that a search reads no other table.
 */
export function replaceLayer(database: ServiceDatabase, layer: Layer): (feature: LayerFeature) => void {
  const table = tableOf(layer);
  database.exec(`DROP TABLE IF EXISTS ${table}`);
  database.exec(
    `CREATE VIRTUAL TABLE ${table} USING rtree
       (id, min_lng, max_lng, min_lat, max_lat, +lng REAL, +lat REAL, +feature TEXT)`,
  );
  const insert = database.prepare(`INSERT INTO ${table} VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)`);
  return ({ box, point, json }) => {
    insert.run(box.minLng, box.maxLng, box.minLat, box.maxLat, point?.lng ?? null, point?.lat ?? null, json);
  };
}

/** The texts of a layer's features within a radius of a location, in the order in which they were delivered. */
export type LayerSearch = (layer: Layer, location: Location, meters: number) => string[];

type Row = [
  id: number,
  minLng: number,
  maxLng: number,
  minLat: number,
  maxLat: number,
  lng: number | null,
  lat: number | null,
  json: string,
];

/**
 * Makes the search over layers. A feature counts by its true distance: a point's own, else the nearest point of its
 * lines, 0 inside its outlines. The layer must be loaded.
 */
export function createLayerSearch(database: ServiceDatabase): LayerSearch {
  const prepare = (layer: Layer) =>
    database
      .prepare<[number, number, number, number], Row>(
        `SELECT id, min_lng, max_lng, min_lat, max_lat, lng, lat, feature FROM ${tableOf(layer)}
         WHERE min_lng <= ? AND max_lng >= ? AND min_lat <= ? AND max_lat >= ?`,
      )
      .raw();
  const statements = new Map<Layer, ReturnType<typeof prepare>>();

  return (layer, location, meters) => {
    let select = statements.get(layer);
    if (select === undefined) {
      select = prepare(layer);
      statements.set(layer, select);
    }
    const found = new Map<number, string>();
    for (const box of boxesAround(location, meters)) {
      for (const row of select.all(box.maxLng, box.minLng, box.maxLat, box.minLat)) {
        if (isWithin(location, row, meters)) found.set(row[0], row[7]);
      }
    }
    return [...found].sort(([a], [b]) => a - b).map(([, json]) => json);
  };
}

function isWithin(location: Location, row: Row, meters: number): boolean {
  const [, minLng, maxLng, minLat, maxLat, lng, lat, json] = row;
  if (lng !== null && lat !== null) return distanceMeters(location, { lat, lng }) <= meters;
  // Most lines and outlines lie within the radius whole; only those that reach across it are worth parsing.
  if (boxWithin(location, { minLng, maxLng, minLat, maxLat }, meters)) return true;
  const nearest = nearestMeters(location, [JSON.parse(json)]);
  return nearest !== null && nearest <= meters;
}
