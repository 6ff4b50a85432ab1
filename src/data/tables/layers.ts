import type { Feature } from 'geojson';
import type { ProximitySlug } from '../../contract/topics.ts';
import type { Location } from '../../geo/coordinates.ts';
import { distanceMeters } from '../../geo/distance.ts';
import { type MeasurableShape, metersToShape, shapeOf } from '../../geo/nearest.ts';
import { type Box, boxesAround } from './bounding-boxes.ts';
import type { ServiceDatabase } from './data-database.ts';
import { createDataVersion, type DataVersion } from './data-version.ts';
import { type CachedFeature, createFeatureTiles, type FeatureTiles, type ReadFeatures } from './feature-tiles.ts';
import type { EventKind } from './records.ts';
import type { LoadTable } from './staged-load.ts';

/** A set of features on the map that is searched around a location: the sites of a topic, or the records of a event. */
export type Layer = `sites:${ProximitySlug}` | `records:${EventKind}`;

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

/** A feature that a search found, and how far from the location it is. */
export interface FoundFeature {
  readonly feature: CachedFeature;
  readonly meters: number;
}

/** The features of a layer within a radius of a location, the nearest first; of those equally far, as delivered. */
export type LayerSearch = (layer: Layer, location: Location, meters: number) => readonly FoundFeature[];

type FeatureRow = [id: number, lng: number | null, lat: number | null, json: string];

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
    const found: FoundFeature[] = [];
    // A line or outline is met on each tile that it touches.
    const measured = new Set<number>();
    for (const box of boxesAround(location, meters)) {
      for (const { features } of tiles.touching(kept, box)) {
        for (const feature of features) {
          if (feature.box !== null) {
            if (measured.has(feature.id)) continue;
            measured.add(feature.id);
          }
          const distance = distanceWithin(location, box, feature);
          if (distance <= meters) found.push({ feature, meters: distance });
        }
      }
    }
    return found.sort((a, b) => a.meters - b.meters || a.feature.id - b.feature.id);
  };
}

function perDegreeOf(meters: number): number {
  return 2 ** Math.round(Math.log2((tilesPerRadius(meters) * METERS_PER_DEGREE) / meters));
}

function featureReader(database: ServiceDatabase, layer: Layer): ReadFeatures {
  const select = database
    .prepare<[number, number, number, number], FeatureRow>(
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
          known(id) ?? cachedFeature(id, lng, lat, lng === null ? selectBox.get(id)! : null, json),
      );
}

/** The property of a feature that tells how far from the asked location it is, in whole metres. */
export const DISTANCE_PROPERTY = 'distance_m';

/** Where each feature's own `distance_m` is written: as the last of its properties, which are the last of its members. */
function beforeDistance(json: string): Buffer {
  const end = json.length - '}}'.length;
  const comma = json[end - 1] === '{' ? '' : ',';
  return Buffer.from(`${json.slice(0, end)}${comma}"${DISTANCE_PROPERTY}":`);
}

function cachedFeature(
  id: number,
  lng: number | null,
  lat: number | null,
  box: Box | null,
  json: string,
): CachedFeature {
  const bytes = beforeDistance(json);
  let shape: MeasurableShape | undefined;
  return {
    id,
    lng,
    lat,
    box,
    bytes,
    metersFrom(location) {
      // Parsed once: a feature is measured again and again.
      shape ??= shapeOf((JSON.parse(`${bytes}0}}`) as Feature).geometry);
      return metersToShape(shape, location);
    },
  };
}

/** Metres from a location to a feature; infinite for one outside the box that is searched, which need not be measured. */
function distanceWithin(location: Location, searched: Box, feature: CachedFeature): number {
  const { lng, lat, box } = feature;
  if (lng !== null && lat !== null) {
    if (lng < searched.minLng || lng > searched.maxLng || lat < searched.minLat || lat > searched.maxLat) {
      return Number.POSITIVE_INFINITY;
    }
    return distanceMeters(location, { lat, lng });
  }
  return touch(box!, searched) ? feature.metersFrom(location) : Number.POSITIVE_INFINITY;
}

function touch(a: Box, b: Box): boolean {
  return a.minLng <= b.maxLng && a.maxLng >= b.minLng && a.minLat <= b.maxLat && a.maxLat >= b.minLat;
}
