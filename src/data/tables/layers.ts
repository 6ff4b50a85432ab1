import { memo } from '../../base/memo.ts';
import type { ProximitySlug } from '../../contract/topics.ts';
import { type Box, boxesAround } from '../../geo/bounding-boxes.ts';
import { type Location, METERS_PER_DEGREE } from '../../geo/coordinates.ts';
import { type DataVersion, oncePerVersion } from './data-database.ts';
import type { FeatureTiles, ReadFeatures, TileFeature } from './feature-tiles.ts';
import type { DatasetName, EventKind } from './records.ts';
import type { LoadTable } from './staged-load.ts';

/** A set of features that is searched around a location: the sites of a topic, or the events of one kind. */
export type Layer = `sites:${ProximitySlug}` | `records:${EventKind}`;

/** Whether a dataset is a layer. */
export function isLayer(name: DatasetName): name is Layer {
  return name.includes(':');
}

/** Layer names are a closed list of letters, ':' and '.', so they can name a table. */
export function tableOf(layer: Layer): string {
  return layer.replace(/[:.]/g, '_');
}

/** The tables of a layer. The JSON is a column of the R*Tree itself, so that a search reads no other table. The identity of each record
 * (record-rows.ts) and the states of its parts, with commas between, are only for loads. */
export function layerTables(layer: Layer): readonly LoadTable[] {
  return [
    {
      name: tableOf(layer),
      definition: `CREATE VIRTUAL TABLE $NAME USING rtree
         (id, min_lng, max_lng, min_lat, max_lat, +lng REAL, +lat REAL, +feature TEXT)`,
    },
    {
      name: membersOf(layer),
      definition:
        'CREATE TABLE $NAME (id INTEGER PRIMARY KEY, identity BLOB NOT NULL, parts TEXT NOT NULL) STRICT',
    },
  ];
}

/** The table with the identity and the parts of each record of a layer. */
export function membersOf(layer: Layer): string {
  return `${tableOf(layer)}_members`;
}

/** Visits the features that may lie within a radius of a location. */
type VisitNear<F> = (
  layer: Layer,
  location: Location,
  meters: number,
  visit: (feature: F) => void,
) => void;

/** Makes the function that visits the features that may lie within a radius of a location, each once: those whose boxes touch the box around
 * it. Their tiles stay cached until a dataset is replaced. `tilesPerRadius`: about how many tiles lie along the radius of a search. */
export function createVisitNear<F extends TileFeature>(
  tiles: FeatureTiles<F>,
  versionOf: DataVersion,
  readerOf: (layer: Layer) => ReadFeatures<F>,
  tilesPerRadius: (meters: number) => number,
): VisitNear<F> {
  const refresh = oncePerVersion(versionOf, () => tiles.clear());
  // There are few radii, and a place is searched for several layers.
  const perDegreeOf = memo(
    (meters: number) =>
      2 ** Math.round(Math.log2((tilesPerRadius(meters) * METERS_PER_DEGREE) / meters)),
  );

  return (layer: Layer, location: Location, meters: number, visit: (feature: F) => void): void => {
    refresh();
    const layerTiles = tiles.layer(layer, perDegreeOf(meters), readerOf);
    // A line or outline is on each tile that it touches. Around most places there is none.
    let seen: Set<number> | null = null;
    for (const box of boxesAround(location, meters)) {
      for (const features of tiles.touching(layerTiles, box)) {
        for (const feature of features) {
          if (!isIn(box, feature)) continue;
          if (feature.box !== null) {
            seen ??= new Set();
            if (seen.has(feature.id)) continue;
            seen.add(feature.id);
          }
          visit(feature);
        }
      }
    }
  };
}

function isIn({ minLng, maxLng, minLat, maxLat }: Box, { lng, lat, box }: TileFeature): boolean {
  if (box !== null)
    return (
      box.minLng <= maxLng && box.maxLng >= minLng && box.minLat <= maxLat && box.maxLat >= minLat
    );
  return lng! >= minLng && lng! <= maxLng && lat! >= minLat && lat! <= maxLat;
}

/** The condition for the features whose boxes touch a box: its parameters are maxLng, minLng, maxLat, minLat. */
export const TOUCHES_BOX = 'min_lng <= ? AND max_lng >= ? AND min_lat <= ? AND max_lat >= ?';
