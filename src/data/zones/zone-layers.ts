import type { LayerDescription, PolygonLayer } from '../../contract/layers/layer-description.ts';
import { allLayers, type ProximitySlug } from '../../contract/topics.ts';

declare const isZoneDatasetName: unique symbol;

/** The dataset of a layer of polygons. */
export type ZoneDataset = 'floodZones' | (string & { readonly [isZoneDatasetName]: true });

/** Layers whose datasets and tables had names before layers had one of their own. Migrations make the tables. */
const FIRST = {
  floodZone: { dataset: 'floodZones', zones: 'flood_zones', outlines: 'flood_zone_outlines' },
} as const;

export interface ZoneTables {
  /** The zones, the sheets of the map and the tiles. */
  readonly zones: string;
  readonly outlines: string;
}

function firstOf(layer: string) {
  return Object.hasOwn(FIRST, layer) ? FIRST[layer as keyof typeof FIRST] : undefined;
}

/** The name of a layer's dataset: its own, but for the first ones. */
export function zoneDatasetOf({ layer }: Pick<PolygonLayer, 'layer'>): ZoneDataset {
  return firstOf(layer)?.dataset ?? (layer as ZoneDataset);
}

/** The name of the dataset of a layer of any kind. */
export function datasetOfLayer(layer: LayerDescription): ZoneDataset | `sites:${ProximitySlug}` {
  return layer.kind === 'points' ? `sites:${layer.layer as ProximitySlug}` : zoneDatasetOf(layer);
}

/** The layer of polygons of a dataset; null for another dataset, and for one whose description is not here. */
export function layerOfDataset(name: string): PolygonLayer | null {
  const layers = allLayers().filter((layer) => layer.kind !== 'points');
  return layers.find((layer) => zoneDatasetOf(layer) === name) ?? null;
}

/** The tables of a layer. The names of layers are letters, digits and _. */
export function zoneTables({ layer }: Pick<PolygonLayer, 'layer'>): ZoneTables {
  const stem = `layer_${layer}`;
  return firstOf(layer) ?? { zones: stem, outlines: `${stem}_outlines` };
}

/** The SQL that makes the tables of a layer, with `$NAME` for the name. Those of the first layers are the same. */
export const ZONE_DEFINITIONS: ZoneTables = {
  zones: `CREATE TABLE $NAME (id INTEGER PRIMARY KEY, geoid TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('zone', 'panel', 'tile')), code TEXT NOT NULL, detail TEXT NOT NULL,
    min_lng REAL NOT NULL, max_lng REAL NOT NULL, min_lat REAL NOT NULL, max_lat REAL NOT NULL, facts TEXT NOT NULL) STRICT`,
  outlines: 'CREATE TABLE $NAME (id INTEGER PRIMARY KEY, outline BLOB NOT NULL) STRICT',
};
