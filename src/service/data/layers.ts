import type { ProximitySlug } from '../../contract/topics.ts';
import type { Location } from '../../geo/coordinates.ts';
import { distanceMeters } from '../../geo/distance.ts';
import { nearestMeters } from '../../geo/nearest.ts';
import { type Box, boxesAround, boxWithin } from './bounding-boxes.ts';
import { createDataVersion, type DataVersion } from './data-version.ts';
import type { ServiceDatabase } from './database.ts';
import { shapeOf, shapeWithin } from './feature-shapes.ts';
import { createFeatureTiles, type FeatureTiles, type KeptFeature, type ReadFeatures } from './feature-tiles.ts';
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

/** The features of a layer within a radius of a location, in the order in which they were delivered. */
export type LayerSearch = (layer: Layer, location: Location, meters: number) => readonly KeptFeature[];

type Row = [id: number, lng: number | null, lat: number | null, json: string];

/** A search of 5 km looks at some 40 tiles of 2 km, of which most lie within it whole; beyond 10 km layers are sparse, and
 * a dozen tiles are looked at sooner than forty. */
const tilesPerRadius = (meters: number) => (meters <= 10_000 ? 2 : 1);

const METERS_PER_DEGREE = 111_195;

/**
 * Makes the search over layers. A feature counts by its true distance: a point's own, else the nearest point of its
 * lines, 0 inside its outlines. The layer must be loaded. What was read is kept in memory, as bytes, until a data set is
 * replaced: to read 12 000 rows and write them in UTF-8 again takes six times as long as to copy their bytes.
 */
export function createLayerSearch(
  database: ServiceDatabase,
  tiles: FeatureTiles = createFeatureTiles(),
  versionOf: DataVersion = createDataVersion(database),
): LayerSearch {
  const readers = new Map<Layer, ReadFeatures>();
  let version = -1;

  function readerOf(layer: Layer): ReadFeatures {
    let reader = readers.get(layer);
    if (reader === undefined) {
      reader = featureReader(database, layer);
      readers.set(layer, reader);
    }
    return reader;
  }

  return (layer, location, meters) => {
    const current = versionOf();
    if (current !== version) tiles.clear();
    version = current;
    const kept = tiles.layer(layer, perDegreeOf(meters), readerOf(layer));
    const found: KeptFeature[] = [];
    for (const box of boxesAround(location, meters)) {
      for (const tile of tiles.touching(kept, box)) {
        // Four distances in place of hundreds; for points only, as lines and outlines are on a tile by their boxes.
        const isWithin = tile.features.length > 4 && boxWithin(location, tile.box, meters);
        for (const feature of tile.features) {
          if ((isWithin && feature.box === null) || reaches(location, box, feature, meters)) found.push(feature);
        }
      }
    }
    found.sort((a, b) => a.id - b.id);
    // A line or outline is met on each tile that it touches.
    return found.filter((feature, index) => index === 0 || feature.id !== found[index - 1]!.id);
  };
}

function perDegreeOf(meters: number): number {
  return 2 ** Math.round(Math.log2((tilesPerRadius(meters) * METERS_PER_DEGREE) / meters));
}

function featureReader(database: ServiceDatabase, layer: Layer): ReadFeatures {
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
  return ({ minLng, maxLng, minLat, maxLat }, known) =>
    select
      .all(maxLng, minLng, maxLat, minLat)
      .map(
        ([id, lng, lat, json]) =>
          known(id) ?? keptFeature(id, lng, lat, lng === null ? selectBox.get(id)! : null, json),
      );
}

function keptFeature(id: number, lng: number | null, lat: number | null, box: Box | null, json: string): KeptFeature {
  const bytes = Buffer.from(json);
  let measure: KeptFeature['comesWithin'] | undefined;
  return {
    id,
    lng,
    lat,
    box,
    bytes,
    comesWithin(location, meters) {
      // Asked again and again, and slow to parse.
      measure ??= measureOf(JSON.parse(bytes.toString()));
      return measure(location, meters);
    },
  };
}

function measureOf(feature: unknown): KeptFeature['comesWithin'] {
  const shape = shapeOf(feature);
  if (shape !== null) return (location, meters) => shapeWithin(shape, location, meters);
  return (location, meters) => (nearestMeters(location, [feature]) ?? Number.POSITIVE_INFINITY) <= meters;
}

/** What lies outside the box that is searched need not be measured. */
function reaches(location: Location, searched: Box, feature: KeptFeature, meters: number): boolean {
  const { lng, lat, box } = feature;
  if (lng !== null && lat !== null) {
    if (lng < searched.minLng || lng > searched.maxLng || lat < searched.minLat || lat > searched.maxLat) return false;
    return distanceMeters(location, { lat, lng }) <= meters;
  }
  return touch(box!, searched) && feature.comesWithin(location, meters);
}

function touch(a: Box, b: Box): boolean {
  return a.minLng <= b.maxLng && a.maxLng >= b.minLng && a.minLat <= b.maxLat && a.maxLat >= b.minLat;
}
