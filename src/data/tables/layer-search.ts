import type { Feature } from 'geojson';
import type { Box } from '../../geo/bounding-boxes.ts';
import type { Location } from '../../geo/coordinates.ts';
import { distanceMeters } from '../../geo/distance.ts';
import { type MeasurableShape, metersToShape, shapeOf } from '../../geo/nearest.ts';
import type { DataDatabase } from './data-database.ts';
import { createDataVersion, type DataVersion } from './data-version.ts';
import { FeatureTiles, type ReadFeatures, type TileFeature } from './feature-tiles.ts';
import { createVisitNear, type Layer, TOUCHES_BOX, tableOf } from './layers.ts';

/** A feature as it is sent. */
export interface CachedFeature extends TileFeature {
  /** Its JSON in UTF-8, ready for the socket, up to the value of `distance_m`, which differs in each answer. */
  readonly bytes: Buffer;
  readonly metersFrom: (location: Location) => number;
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

/**
 * Makes the search over layers. A feature counts by its true distance: to a point, else to the nearest point of its
 * lines, and 0 inside its outlines. The layer must be loaded. Features stay cached as bytes until a dataset is
 * replaced: reading 12,000 rows and encoding them takes six times as long as copying their bytes.
 */
export function createLayerSearch(
  database: DataDatabase,
  tiles: FeatureTiles<CachedFeature> = new FeatureTiles(),
  versionOf: DataVersion = createDataVersion(database),
): LayerSearch {
  const visitNear = createVisitNear(tiles, versionOf, (layer) => featureReader(database, layer), tilesPerRadius);
  return (layer, location, meters) => {
    const found: FoundFeature[] = [];
    visitNear(layer, location, meters, (feature) => {
      const distance = feature.metersFrom(location);
      if (distance <= meters) found.push({ feature, meters: distance });
    });
    return found.sort((a, b) => a.meters - b.meters || a.feature.id - b.feature.id);
  };
}

/** Beyond 10 km layers are sparse, and a dozen tiles are faster than forty. */
const tilesPerRadius = (meters: number) => (meters <= 10_000 ? 2 : 1);

type FeatureRow = [id: number, lng: number | null, lat: number | null, json: string];

function featureReader(database: DataDatabase, layer: Layer): ReadFeatures<CachedFeature> {
  const select = database
    .prepare<[number, number, number, number], FeatureRow>(
      `SELECT id, lng, lat, feature FROM ${tableOf(layer)} WHERE ${TOUCHES_BOX}`,
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
          known(id) ??
          (lng === null || lat === null ? cachedShape(id, selectBox.get(id)!, json) : cachedPoint(id, lng, lat, json)),
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

function cachedPoint(id: number, lng: number, lat: number, json: string): CachedFeature {
  const bytes = beforeDistance(json);
  const place = { lat, lng };
  const metersFrom = (location: Location) => distanceMeters(location, place);
  return { id, lng, lat, box: null, size: bytes.length, bytes, metersFrom };
}

/** What a measurable line or outline takes for each byte of its text, about. */
export const SHAPE_SHARE = 1;

function cachedShape(id: number, box: Box, json: string): CachedFeature {
  const bytes = beforeDistance(json);
  let shape: MeasurableShape | undefined;
  return {
    id,
    lng: null,
    lat: null,
    box,
    size: bytes.length * (1 + SHAPE_SHARE),
    bytes,
    metersFrom(location) {
      // Parsed once: a feature is measured again and again.
      shape ??= shapeOf((JSON.parse(`${bytes}0}}`) as Feature).geometry);
      return metersToShape(shape, location);
    },
  };
}
