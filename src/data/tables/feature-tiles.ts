import type { Location } from '../../geo/coordinates.ts';
import type { Box } from './bounding-boxes.ts';

/** A feature of a layer as it is kept in memory. */
export interface CachedFeature {
  readonly id: number;
  /** A point's own place; of lines and outlines both are null and the box is given. */
  readonly lng: number | null;
  readonly lat: number | null;
  readonly box: Box | null;
  /** Its JSON in UTF-8, as it goes to the socket, up to the value of `distance_m`, which each answer has its own of. */
  readonly bytes: Buffer;
  /** Metres from a location to its lines and outlines, 0 inside an outline. */
  readonly metersFrom: (location: Location) => number;
}

/** A square of a layer, its lower edges inside, with the features that touch it in the order of their ids. */
interface Tile {
  readonly box: Box;
  readonly features: readonly CachedFeature[];
}

/** Reads the features whose boxes touch a box; those that `known` has need not be made again. */
export type ReadFeatures = (box: Box, known: (id: number) => CachedFeature | undefined) => Iterable<CachedFeature>;

/** Bytes of features that are kept over all layers: forty dense cities of 6 MB. */
const KEPT_BYTES = 256_000_000;

/** What is left when they are too many: to drop tiles one by one would mean to keep them in order at every question. */
const LEFT_AFTER_DROPPING = 0.75;

/** What an object of a feature or of a tile takes beside its text, about. */
const OVERHEAD_BYTES = 200;

/** What a line or outline takes for each byte of its text when it has been laid out for measuring, about. */
const SHAPE_SHARE = 1;

function sizeOf({ bytes, box }: CachedFeature): number {
  return OVERHEAD_BYTES + bytes.length * (box === null ? 1 : 1 + SHAPE_SHARE);
}

interface CachedTile extends Tile {
  readonly key: number;
  usedAt: number;
}

/** The tiles of a layer that are kept. */
interface LayerTiles {
  /** Tiles a degree; a power of two, so that the edges of tiles are exact. */
  readonly perDegree: number;
  readonly read: ReadFeatures;
  readonly tiles: Map<number, CachedTile>;
  /** By id, with the number of tiles that each is on: a long line is kept once. */
  readonly features: Map<number, { readonly feature: CachedFeature; holders: number }>;
}

/** Features of layers by tile, read when they are first asked for; the least recently used are dropped. */
export interface FeatureTiles {
  /** A layer cut into so many tiles a degree. */
  layer(name: string, perDegree: number, read: ReadFeatures): LayerTiles;
  /** The tiles that a box touches. A feature on several tiles is the same object in each. */
  touching(layer: LayerTiles, box: Box): Tile[];
  /** Bytes that are kept now. */
  bytes(): number;
  clear(): void;
}

/** @param limit most bytes that are kept; the tiles of one question are held as long as it takes, whatever their size */
export function createFeatureTiles(limit: number = KEPT_BYTES): FeatureTiles {
  const layers = new Map<string, LayerTiles>();
  let bytes = 0;
  let questions = 0;

  function hold({ features: kept }: LayerTiles, { features }: CachedTile): void {
    for (const feature of features) {
      const known = kept.get(feature.id);
      if (known !== undefined) known.holders += 1;
      else {
        kept.set(feature.id, { feature, holders: 1 });
        bytes += sizeOf(feature);
      }
    }
    bytes += OVERHEAD_BYTES;
  }

  function drop({ features: kept, tiles }: LayerTiles, { key, features }: CachedTile): void {
    tiles.delete(key);
    for (const { id } of features) {
      const known = kept.get(id)!;
      known.holders -= 1;
      if (known.holders > 0) continue;
      kept.delete(id);
      bytes -= sizeOf(known.feature);
    }
    bytes -= OVERHEAD_BYTES;
  }

  function shrink(): void {
    if (bytes <= limit) return;
    const all = [...layers.values()].flatMap((layer) => [...layer.tiles.values()].map((tile) => ({ layer, tile })));
    all.sort((a, b) => a.tile.usedAt - b.tile.usedAt);
    for (const { layer, tile } of all) {
      if (bytes <= limit * LEFT_AFTER_DROPPING) return;
      drop(layer, tile);
    }
  }

  /** Reads tiles in one query over the box of all of them: a query for each would take longer where there is little. */
  function readTiles(layer: LayerTiles, missing: readonly number[]): CachedTile[] {
    const boxes = missing.map((key) => boxOfTile(key, layer.perDegree));
    const whole = boxes.reduce(around);
    const members = new Map<number, CachedFeature[]>(missing.map((key) => [key, []]));
    for (const feature of layer.read(whole, (id) => layer.features.get(id)?.feature)) {
      const { lng, lat } = feature;
      const box = feature.box ?? { minLng: lng!, maxLng: lng!, minLat: lat!, maxLat: lat! };
      for (const key of keysOf(within(box, whole), layer.perDegree)) members.get(key)?.push(feature);
    }
    return missing.map((key, index) => {
      const features = members.get(key)!.sort((a, b) => a.id - b.id);
      const tile = { key, box: boxes[index]!, features, usedAt: questions };
      layer.tiles.set(key, tile);
      hold(layer, tile);
      return tile;
    });
  }

  return {
    layer(name, perDegree, read) {
      const full = `${name} ${perDegree}`;
      let layer = layers.get(full);
      if (layer === undefined) {
        layer = { perDegree, read, tiles: new Map(), features: new Map() };
        layers.set(full, layer);
      }
      return layer;
    },
    touching(layer, box) {
      questions += 1;
      const found: Tile[] = [];
      const missing: number[] = [];
      for (const key of keysOf(box, layer.perDegree)) {
        const known = layer.tiles.get(key);
        if (known === undefined) {
          missing.push(key);
          continue;
        }
        known.usedAt = questions;
        if (known.features.length > 0) found.push(known);
      }
      if (missing.length > 0) {
        found.push(...readTiles(layer, missing));
        shrink();
      }
      return found;
    },
    bytes: () => bytes,
    clear() {
      layers.clear();
      bytes = 0;
    },
  };
}

/** Keys of tiles are their row, counted from the equator, times this, and their column from Greenwich, made positive. */
const COLUMNS = 0x100_0000;

function keysOf({ minLng, maxLng, minLat, maxLat }: Box, perDegree: number): number[] {
  const keys: number[] = [];
  const lastX = Math.floor(maxLng * perDegree);
  const lastY = Math.floor(maxLat * perDegree);
  for (let y = Math.floor(minLat * perDegree); y <= lastY; y++) {
    for (let x = Math.floor(minLng * perDegree); x <= lastX; x++) keys.push(y * COLUMNS + x + COLUMNS / 2);
  }
  return keys;
}

function boxOfTile(key: number, perDegree: number): Box {
  const y = Math.floor(key / COLUMNS);
  const x = key - y * COLUMNS - COLUMNS / 2;
  return { minLng: x / perDegree, maxLng: (x + 1) / perDegree, minLat: y / perDegree, maxLat: (y + 1) / perDegree };
}

function around(a: Box, b: Box): Box {
  return {
    minLng: Math.min(a.minLng, b.minLng),
    maxLng: Math.max(a.maxLng, b.maxLng),
    minLat: Math.min(a.minLat, b.minLat),
    maxLat: Math.max(a.maxLat, b.maxLat),
  };
}

function within(a: Box, b: Box): Box {
  return {
    minLng: Math.max(a.minLng, b.minLng),
    maxLng: Math.min(a.maxLng, b.maxLng),
    minLat: Math.max(a.minLat, b.minLat),
    maxLat: Math.min(a.maxLat, b.maxLat),
  };
}
