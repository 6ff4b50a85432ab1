import type { Feature } from 'geojson';
import type { Box } from '../../geo/bounding-boxes.ts';
import {
  createWithin,
  distanceMeters,
  type Location,
  type UnitVector,
  unitVectorOf,
} from '../../geo/coordinates.ts';
import {
  type MeasurableShape,
  metersToShape,
  NearestSearch,
  parseShape,
} from '../../geo/nearest.ts';
import { createDataVersion, type DataDatabase, type DataVersion } from './data-database.ts';
import { FeatureTiles, type ReadFeatures, type TileFeature } from './feature-tiles.ts';
import { createVisitNear, type Layer, TOUCHES_BOX, tableOf } from './layers.ts';

/** A feature in memory: a point with its vector, or a line or outline with its shape. */
export type CachedFeature = CachedPoint | CachedShape;

interface CachedPoint extends TileFeature, UnitVector {
  readonly lng: number;
  readonly lat: number;
  readonly box: null;
  readonly bytes: Buffer;
}

interface CachedShape extends TileFeature {
  readonly box: Box;
  readonly shape: () => MeasurableShape;
  /** Its JSON in UTF-8, up to the value of `distance_m`, which differs in each answer; empty if it is only counted. */
  readonly bytes: Buffer;
}

export interface NearFeature {
  readonly feature: CachedFeature;
  readonly meters: number;
}

/** Searches of the features within a radius. */
interface LayerSearch {
  readonly find: (layer: Layer, location: Location, meters: number) => readonly NearFeature[];
  readonly count: (layer: Layer, location: Location, meters: number) => number;
  readonly measure: (
    layer: Layer,
    location: Location,
    meters: number,
  ) => { readonly count: number; readonly nearestMeters: number | null };
}

/** Makes the search of layers around a location. The distance of a feature is that to the nearest point of it; 0 inside its outlines.
 * Features stay cached until a dataset is replaced.
 * @param keeps `json` for `find`: reading and encoding 12,000 rows takes six times as long as copying their bytes. `places` for `count` and
 * `measure`, which do not read the JSON of points */
export function createLayerSearch(
  database: DataDatabase,
  keeps: 'json' | 'places',
  tiles: FeatureTiles<CachedFeature> = new FeatureTiles(),
  versionOf: DataVersion = createDataVersion(database),
): LayerSearch {
  const readerOf = (layer: Layer) => featureReader(database, layer, keeps === 'json');
  const visitNear = createVisitNear(
    tiles,
    versionOf,
    readerOf,
    keeps === 'json' ? tilesOfSearch : () => 1,
  );

  /** The features within a radius, the nearest first; equally near ones in the order of the file. */
  function find(layer: Layer, location: Location, meters: number): readonly NearFeature[] {
    const features: NearFeature[] = [];
    const isWithin = createWithin(location, meters);
    visitNear(layer, location, meters, (feature) => {
      if (feature.box === null) {
        if (isWithin(feature))
          features.push({ feature, meters: distanceMeters(location, feature) });
        return;
      }
      const distance = metersToShape(feature.shape(), location);
      if (distance <= meters) features.push({ feature, meters: distance });
    });
    return features.sort((a, b) => a.meters - b.meters || a.feature.id - b.feature.id);
  }

  function count(layer: Layer, location: Location, meters: number): number {
    const isWithin = createWithin(location, meters);
    let total = 0;
    visitNear(layer, location, meters, (feature) => {
      if (feature.box === null) {
        if (isWithin(feature)) total += 1;
      } else if (
        isBoxWithin(feature.box, location, meters) ||
        metersToShape(feature.shape(), location) <= meters
      ) {
        total += 1;
      }
    });
    return total;
  }

  /** The number of features, and the metres to the nearest as a client measures them (geo/nearest.ts); null if there is none. */
  function measure(layer: Layer, location: Location, meters: number) {
    const isWithin = createWithin(location, meters);
    const nearest = new NearestSearch(location);
    let total = 0;
    visitNear(layer, location, meters, (feature) => {
      if (feature.box === null) {
        if (!isWithin(feature)) return;
        nearest.measurePoint(feature.lng, feature.lat);
      } else {
        const shape = new NearestSearch(location);
        shape.measure(feature.shape());
        if ((shape.meters() ?? Number.POSITIVE_INFINITY) > meters) return;
        nearest.add(shape);
      }
      total += 1;
    });
    return { count: total, nearestMeters: nearest.meters() };
  }

  return { find, count, measure };
}

/** The tiles along a radius: beyond 10 km layers are sparse, and a dozen tiles are faster than forty. One if features are only counted:
 * finding a tile takes longer than skipping features. */
const tilesOfSearch = (meters: number) => (meters <= 10_000 ? 2 : 1);

/** Whether a whole box is within the radius: then its lines and outlines need not be measured. The farthest point of a box is a corner,
 * if the box spans at most half the earth. */
function isBoxWithin(
  { minLng, maxLng, minLat, maxLat }: Box,
  location: Location,
  meters: number,
): boolean {
  if (maxLng - minLng > 180) return false;
  const isNear = (lat: number, lng: number) => distanceMeters(location, { lat, lng }) <= meters;
  return (
    isNear(minLat, minLng) &&
    isNear(maxLat, minLng) &&
    isNear(minLat, maxLng) &&
    isNear(maxLat, maxLng)
  );
}

/** The JSON is null if it is not kept; a shape is then read when it is measured. */
type FeatureRow = [
  id: number,
  lng: number | null,
  lat: number | null,
  bytes: number,
  json: string | null,
];

function featureReader(
  database: DataDatabase,
  layer: Layer,
  keepsJson: boolean,
): ReadFeatures<CachedFeature> {
  const table = tableOf(layer);
  const select = database
    .prepare<[number, number, number, number], FeatureRow>(
      `SELECT id, lng, lat, iif(lng IS NULL, octet_length(feature), 0), ${keepsJson ? 'feature' : 'NULL'}
       FROM ${table} WHERE ${TOUCHES_BOX}`,
    )
    .raw();
  const selectBox = database.prepare<[number], Box>(
    `SELECT min_lng AS minLng, max_lng AS maxLng, min_lat AS minLat, max_lat AS maxLat FROM ${table} WHERE id = ?`,
  );
  const selectJson = database
    .prepare<[number], string>(`SELECT feature FROM ${table} WHERE id = ?`)
    .pluck();
  function cachedShape(id: number, size: number, bytes: Buffer): CachedShape {
    let shape: MeasurableShape | undefined;
    // Parsed once, because a feature is measured many times.
    const read = () => (keepsJson ? `${bytes}0}}` : selectJson.get(id)!);
    return {
      id,
      lng: null,
      lat: null,
      box: selectBox.get(id)!,
      // A measurable line or outline takes about as many bytes as its text.
      size: bytes.length + size,
      bytes,
      shape: () => (shape ??= parseShape((JSON.parse(read()) as Feature).geometry)),
    };
  }
  function cached([id, lng, lat, size, json]: FeatureRow): CachedFeature {
    const bytes = json === null ? NO_BYTES : beforeDistance(json);
    if (lng === null || lat === null) return cachedShape(id, size, bytes);
    return { id, lng, lat, box: null, size: bytes.length, bytes, ...unitVectorOf({ lat, lng }) };
  }
  return ({ minLng, maxLng, minLat, maxLat }, cachedById) =>
    select.all(maxLng, minLng, maxLat, minLat).map((row) => cachedById(row[0]) ?? cached(row));
}

const NO_BYTES = Buffer.alloc(0);

/** The property of a feature with its distance from the location of the call, in whole metres. */
export const DISTANCE_PROPERTY = 'distance_m';

/** Cuts the JSON where `distance_m` goes: the last property of the last member, `properties`. */
function beforeDistance(json: string): Buffer {
  const end = json.length - '}}'.length;
  const comma = json[end - 1] === '{' ? '' : ',';
  return Buffer.from(`${json.slice(0, end)}${comma}"${DISTANCE_PROPERTY}":`);
}
