import type { Feature } from 'geojson';
import type { Box } from '../../geo/bounding-boxes.ts';
import type { Location } from '../../geo/coordinates.ts';
import { distanceMeters } from '../../geo/distance.ts';
import { type MeasurableShape, metersToShape, NearestSearch, shapeOf } from '../../geo/nearest.ts';
import { createWithin, type UnitVector, unitVectorOf } from '../../geo/spherical-cap.ts';
import type { DataDatabase } from './data-database.ts';
import type { DataVersion } from './data-version.ts';
import type { FeatureTiles, ReadFeatures, TileFeature } from './feature-tiles.ts';
import { SHAPE_SHARE } from './layer-search.ts';
import { createVisitNear, type Layer, TOUCHES_BOX, tableOf } from './layers.ts';

/** A feature as it is counted: its place, without its JSON. */
export type CountedFeature = CountedPoint | CountedShape;

interface CountedPoint extends TileFeature, UnitVector {
  readonly lng: number;
  readonly lat: number;
  readonly box: null;
}

interface CountedShape extends TileFeature {
  readonly box: Box;
  readonly shape: () => MeasurableShape;
}

/** How many features of a layer lie within a radius of a location. */
export type LayerCount = (layer: Layer, location: Location, meters: number) => number;

/** The same, and the metres to the nearest of them; null where there is none. */
export type LayerMeasure = (layer: Layer, location: Location, meters: number) => MeasuredLayer;

interface MeasuredLayer {
  readonly count: number;
  readonly nearestMeters: number | null;
}

/**
 * Makes the two functions that count features. They count what the search of layer-search.ts finds, and measure the nearest as a
 * client of the service does (geo/nearest.ts), without the JSON of the features and without sorting them.
 */
export function createLayerCounts(
  database: DataDatabase,
  tiles: FeatureTiles<CountedFeature>,
  versionOf: DataVersion,
): { readonly count: LayerCount; readonly measure: LayerMeasure } {
  // Two tiles along the radius, as in the search, take half as long again: to find a tile takes longer than to skip features.
  const visitNear = createVisitNear(
    tiles,
    versionOf,
    (layer) => countedReader(database, layer),
    () => 1,
  );

  function count(layer: Layer, location: Location, meters: number): number {
    const isWithin = createWithin(location, meters);
    let found = 0;
    visitNear(layer, location, meters, (feature) => {
      if (feature.box === null) {
        if (isWithin(feature)) found += 1;
      } else if (isBoxWithin(feature.box, location, meters) || metersToShape(feature.shape(), location) <= meters) {
        found += 1;
      }
    });
    return found;
  }

  function measure(layer: Layer, location: Location, meters: number): MeasuredLayer {
    const isWithin = createWithin(location, meters);
    const nearest = new NearestSearch(location);
    let found = 0;
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
      found += 1;
    });
    return { count: found, nearestMeters: nearest.meters() };
  }

  return { count, measure };
}

/** Whether all of a box is within the radius: then its lines and outlines need not be measured. The farthest place of a box is
 * one of its corners, unless it goes the long way round the earth. */
function isBoxWithin({ minLng, maxLng, minLat, maxLat }: Box, location: Location, meters: number): boolean {
  if (maxLng - minLng > 180) return false;
  return [minLng, maxLng].every((lng) =>
    [minLat, maxLat].every((lat) => distanceMeters(location, { lat, lng }) <= meters),
  );
}

type PlaceRow = [id: number, lng: number | null, lat: number | null, bytes: number];

function countedReader(database: DataDatabase, layer: Layer): ReadFeatures<CountedFeature> {
  const table = tableOf(layer);
  // The JSON of a point stays on its page.
  const select = database
    .prepare<[number, number, number, number], PlaceRow>(
      `SELECT id, lng, lat, iif(lng IS NULL, octet_length(feature), 0) FROM ${table} WHERE ${TOUCHES_BOX}`,
    )
    .raw();
  const selectBox = database.prepare<[number], Box>(
    `SELECT min_lng AS minLng, max_lng AS maxLng, min_lat AS minLat, max_lat AS maxLat FROM ${table} WHERE id = ?`,
  );
  const selectJson = database.prepare<[number], string>(`SELECT feature FROM ${table} WHERE id = ?`).pluck();
  function countedShape(id: number, bytes: number): CountedShape {
    let shape: MeasurableShape | undefined;
    return {
      id,
      lng: null,
      lat: null,
      box: selectBox.get(id)!,
      size: bytes * SHAPE_SHARE,
      shape: () => (shape ??= shapeOf((JSON.parse(selectJson.get(id)!) as Feature).geometry)),
    };
  }
  return ({ minLng, maxLng, minLat, maxLat }, known) =>
    select
      .all(maxLng, minLng, maxLat, minLat)
      .map(
        ([id, lng, lat, bytes]) =>
          known(id) ?? (lng === null || lat === null ? countedShape(id, bytes) : countedPoint(id, lng, lat)),
      );
}

function countedPoint(id: number, lng: number, lat: number): CountedPoint {
  return { id, lng, lat, box: null, size: 0, ...unitVectorOf({ lat, lng }) };
}
