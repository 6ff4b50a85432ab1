import type { ProximitySlug } from '../../contract/topics.ts';
import type { Location } from '../../geo/coordinates.ts';
import { distanceMeters } from '../../geo/distance.ts';
import { nearestMeters } from '../../geo/nearest.ts';
import { type Box, boxesAround, boxWithin } from './bounding-boxes.ts';
import type { ServiceDatabase } from './database.ts';
import type { RecordFeed } from './records.ts';
import type { LoadTable } from './staged-load.ts';

/** A set of features on the map that is searched around a location: the sites of a topic, or the records of a feed. */
export type Layer = `sites:${ProximitySlug}` | `records:${RecordFeed}`;

/** Layers are a closed list of names of letters, ':' and '.', so a table can be named for one. */
function tableOf(layer: Layer): string {
  return layer.replace(/[:.]/g, '_');
}

/** The table of a layer, as a load fills it. The text stands in the R*Tree's own row, so that a search reads no other. */
export function layerTable(layer: Layer): LoadTable {
  return {
    name: tableOf(layer),
    definition: `CREATE VIRTUAL TABLE $NAME USING rtree
       (id, min_lng, max_lng, min_lat, max_lat, +lng REAL, +lat REAL, +feature TEXT)`,
    columns: 8,
  };
}

/** The texts of a layer's features within a radius of a location, in the order in which they were delivered. */
export type LayerSearch = (layer: Layer, location: Location, meters: number) => string[];

/** A feature as the search reads it; of a point, its place is all that is needed. */
type Row = [id: number, lng: number | null, lat: number | null, json: string];

interface LayerStatements {
  readonly touching: (box: Box) => Row[];
  readonly boxOf: (id: number) => Box;
}

/**
 * Makes the search over layers. A feature counts by its true distance: a point's own, else the nearest point of its
 * lines, 0 inside its outlines. The layer must be loaded.
 */
export function createLayerSearch(database: ServiceDatabase): LayerSearch {
  const known = new Map<Layer, LayerStatements>();

  function statementsOf(layer: Layer): LayerStatements {
    const there = known.get(layer);
    if (there !== undefined) return there;
    // Each column that is read for each of thousands of features is felt; boxes are only needed of lines and outlines.
    const select = database
      .prepare<[number, number, number, number], Row>(
        `SELECT id, lng, lat, feature FROM ${tableOf(layer)}
         WHERE min_lng <= ? AND max_lng >= ? AND min_lat <= ? AND max_lat >= ?`,
      )
      .raw();
    const selectBox = database.prepare<[number], Box>(
      `SELECT min_lng AS minLng, max_lng AS maxLng, min_lat AS minLat, max_lat AS maxLat
       FROM ${tableOf(layer)} WHERE id = ?`,
    );
    const made: LayerStatements = {
      touching: (box) => select.all(box.maxLng, box.minLng, box.maxLat, box.minLat),
      boxOf: (id) => selectBox.get(id)!,
    };
    known.set(layer, made);
    return made;
  }

  return (layer, location, meters) => {
    const { touching, boxOf } = statementsOf(layer);
    const found = new Map<number, string>();
    for (const box of boxesAround(location, meters)) {
      for (const [id, lng, lat, json] of touching(box)) {
        const isWithin =
          lng !== null && lat !== null
            ? distanceMeters(location, { lat, lng }) <= meters
            : reaches(location, boxOf(id), json, meters);
        if (isWithin) found.set(id, json);
      }
    }
    return [...found].sort(([a], [b]) => a - b).map(([, json]) => json);
  };
}

/** Most lines and outlines lie within the radius whole; only those that reach across it are worth parsing. */
function reaches(location: Location, box: Box, json: string, meters: number): boolean {
  if (boxWithin(location, box, meters)) return true;
  const nearest = nearestMeters(location, [JSON.parse(json)]);
  return nearest !== null && nearest <= meters;
}
