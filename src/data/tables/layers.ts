import type { Feature } from 'geojson';
import type { ProximitySlug } from '../../contract/topics.ts';
import type { Location } from '../../geo/coordinates.ts';
import { distanceMeters } from '../../geo/distance.ts';
import { type MeasurableShape, metersToShape, shapeOf } from '../../geo/nearest.ts';
import { type Box, boxesAround } from './bounding-boxes.ts';
import type { DataDatabase } from './data-database.ts';
import { createDataVersion, type DataVersion, oncePerVersion } from './data-version.ts';
import { type CachedFeature, FeatureTiles, type ReadFeatures } from './feature-tiles.ts';
import type { EventKind } from './records.ts';
import type { LoadTable } from './staged-load.ts';

/** A set of features that is searched around a location: the sites of a topic, or the events of one kind. */
export type Layer = `sites:${ProximitySlug}` | `records:${EventKind}`;

/** Layer names are a closed list of letters, ':' and '.', so they can name a table. */
function tableOf(layer: Layer): string {
  return layer.replace(/[:.]/g, '_');
}

/** The table of a layer. The JSON is a column of the R*Tree itself, so that a search reads no other table. */
export function layerTable(layer: Layer): LoadTable {
  return {
    name: tableOf(layer),
    definition: `CREATE VIRTUAL TABLE $NAME USING rtree
       (id, min_lng, max_lng, min_lat, max_lat, +lng REAL, +lat REAL, +feature TEXT)`,
    columns: 8,
  };
}

/** A found feature and its distance from the location. */
export interface FoundFeature {
  readonly feature: CachedFeature;
  readonly meters: number;
}

/**
 * The features of a layer within a radius of a location, the nearest first; equally near ones in the order of the file.
 */
export type LayerSearch = (layer: Layer, location: Location, meters: number) => readonly FoundFeature[];

type FeatureRow = [id: number, lng: number | null, lat: number | null, json: string];

/** A search of 5 km touches about 40 tiles of 2 km, most of them wholly within it; beyond 10 km layers are sparse, and
 * a dozen tiles are faster than forty. */
const tilesPerRadius = (meters: number) => (meters <= 10_000 ? 2 : 1);

const METERS_PER_DEGREE = 111_195;

/**
 * Makes the search over layers. A feature counts by its true distance: to a point, else to the nearest point of its
 * lines, and 0 inside its outlines. The layer must be loaded. Features stay cached as bytes until a dataset is
 * replaced: reading 12,000 rows and encoding them takes six times as long as copying their bytes.
 */
export function createLayerSearch(
  database: DataDatabase,
  tiles: FeatureTiles = new FeatureTiles(),
  versionOf: DataVersion = createDataVersion(database),
): LayerSearch {
  const refresh = oncePerVersion(versionOf, () => tiles.clear());

  return (layer, location, meters) => {
    refresh();
    const layerTiles = tiles.layer(layer, perDegreeOf(meters), () => featureReader(database, layer));
    const found: FoundFeature[] = [];
    // A line or outline is on each tile that it touches.
    const measured = new Set<number>();
    for (const box of boxesAround(location, meters)) {
      for (const { features } of tiles.touching(layerTiles, box)) {
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

function featureReader(database: DataDatabase, layer: Layer): ReadFeatures {
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

/** The property of a feature with its distance from the location of the call, in whole metres. */
export const DISTANCE_PROPERTY = 'distance_m';

/** Cuts the JSON where `distance_m` is written: as the last property, and `properties` is the last member. */
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

/** Metres from a location to a feature; infinite for one outside the searched box, which need not be measured. */
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
