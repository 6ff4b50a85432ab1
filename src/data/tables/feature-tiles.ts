import { type Box, boxOfLocation } from '../../geo/bounding-boxes.ts';
import type { Location } from '../../geo/coordinates.ts';

export interface TileFeature {
  readonly id: number;
  /** A point's place; null for lines and outlines, which have a box. */
  readonly lng: number | null;
  readonly lat: number | null;
  readonly box: Box | null;
  /** About how many bytes it holds besides its object. */
  readonly size: number;
}

/** The features that touch a square of a layer, lower edges included, in the order of their ids. */
type Tile<F> = readonly F[];

/** Reads the features whose boxes touch a box; those in `cached` need not be built again. */
export type ReadFeatures<F> = (box: Box, cached: (id: number) => F | undefined) => Iterable<F>;

/** The most bytes of cached features over all layers: forty dense cities of 6 MB. */
const MAX_BYTES = 256_000_000;

/** About how many bytes the object of a feature or a tile takes. */
const OVERHEAD_BYTES = 200;

/** Tiles by key, and their features by id: a long line is cached once. */
class TileCache<F> {
  readonly tiles = new Map<number, Tile<F>>();
  readonly features = new Map<number, F>();
}

interface LayerTiles<F> {
  /** Tiles per degree; a power of two, so that the edges of tiles are exact. */
  readonly perDegree: number;
  readonly read: ReadFeatures<F>;
  /** What was used since the last turn. */
  recent: TileCache<F>;
  /** What was used before it: dropped at the next turn, if it is not used again. */
  earlier: TileCache<F>;
}

/** Features of layers by tile, read when first needed. When the recent tiles are half the limit, they replace the earlier ones. */
export class FeatureTiles<F extends TileFeature> {
  readonly #limit: number;
  /** By name, one for each number of tiles per degree. */
  readonly #layers = new Map<string, LayerTiles<F>[]>();
  /** Of the recent tiles. */
  #bytes = 0;

  /** @param limit the most cached bytes, beside those of one search */
  constructor(limit: number = MAX_BYTES) {
    this.#limit = limit;
  }

  get bytes(): number {
    return this.#bytes;
  }

  clear(): void {
    this.#layers.clear();
    this.#bytes = 0;
  }

  layer<Name extends string>(
    name: Name,
    perDegree: number,
    readerOf: (name: Name) => ReadFeatures<F>,
  ): LayerTiles<F> {
    for (const cached of this.#layers.get(name) ?? [])
      if (cached.perDegree === perDegree) return cached;
    const layer = {
      perDegree,
      read: readerOf(name),
      recent: new TileCache<F>(),
      earlier: new TileCache<F>(),
    };
    this.#layers.set(name, [...(this.#layers.get(name) ?? []), layer]);
    return layer;
  }

  /** The tiles that a box touches. A feature on several tiles is the same object in each. */
  touching(layer: LayerTiles<F>, box: Box): Tile<F>[] {
    const touched: Tile<F>[] = [];
    let missing: number[] | null = null;
    for (const key of listTileKeys(box, layer.perDegree)) {
      const recent = layer.recent.tiles.get(key);
      const tile = recent ?? layer.earlier.tiles.get(key);
      if (tile === undefined) {
        missing ??= [];
        missing.push(key);
      } else if (recent === undefined) this.#hold(layer, key, tile);
      if (tile !== undefined && tile.length > 0) touched.push(tile);
    }
    if (missing !== null) touched.push(...this.#readTiles(layer, missing));
    if (this.#bytes > this.#limit / 2) this.#turn();
    return touched;
  }

  /** Reads tiles in one query over the box around them: a query for each tile takes longer where features are few. */
  #readTiles(layer: LayerTiles<F>, missing: readonly number[]): Tile<F>[] {
    const { recent, earlier } = layer;
    const boxes = missing.map((key) => boxOfTile(key, layer.perDegree));
    const whole = boxes.reduce((a, b) => combineBoxes(a, b, Math.min, Math.max));
    const members = new Map<number, F[]>(missing.map((key) => [key, []]));
    for (const feature of layer.read(
      whole,
      (id) => recent.features.get(id) ?? earlier.features.get(id),
    )) {
      const box = feature.box ?? boxOfLocation(feature as Location);
      for (const key of listTileKeys(combineBoxes(box, whole, Math.max, Math.min), layer.perDegree))
        members.get(key)?.push(feature);
    }
    return missing.map((key) => {
      const tile = members.get(key)!.sort((a, b) => a.id - b.id);
      this.#hold(layer, key, tile);
      return tile;
    });
  }

  #hold({ recent }: LayerTiles<F>, key: number, tile: Tile<F>): void {
    recent.tiles.set(key, tile);
    this.#bytes += OVERHEAD_BYTES;
    for (const feature of tile) {
      if (recent.features.has(feature.id)) continue;
      recent.features.set(feature.id, feature);
      this.#bytes += OVERHEAD_BYTES + feature.size;
    }
  }

  #turn(): void {
    for (const layer of [...this.#layers.values()].flat()) {
      layer.earlier = layer.recent;
      layer.recent = new TileCache();
    }
    this.#bytes = 0;
  }
}

/** A tile's key is its row, counted from the south pole, times this, plus its column from the 180th meridian: a small whole number, which V8
 * keeps without an object. */
const columnsOf = (perDegree: number): number => 360 * perDegree + 1;

function listTileKeys({ minLng, maxLng, minLat, maxLat }: Box, perDegree: number): number[] {
  const keys: number[] = [];
  const columns = columnsOf(perDegree);
  const firstX = Math.floor((minLng + 180) * perDegree);
  const lastX = Math.floor((maxLng + 180) * perDegree);
  const lastY = Math.floor((maxLat + 90) * perDegree);
  for (let y = Math.floor((minLat + 90) * perDegree); y <= lastY; y++)
    for (let x = firstX; x <= lastX; x++) keys.push(y * columns + x);
  return keys;
}

function boxOfTile(key: number, perDegree: number): Box {
  const columns = columnsOf(perDegree);
  const y = Math.floor(key / columns) - 90 * perDegree;
  const x = (key % columns) - 180 * perDegree;
  return {
    minLng: x / perDegree,
    maxLng: (x + 1) / perDegree,
    minLat: y / perDegree,
    maxLat: (y + 1) / perDegree,
  };
}

function combineBoxes(a: Box, b: Box, least: typeof Math.min, most: typeof Math.max): Box {
  return {
    minLng: least(a.minLng, b.minLng),
    maxLng: most(a.maxLng, b.maxLng),
    minLat: least(a.minLat, b.minLat),
    maxLat: most(a.maxLat, b.maxLat),
  };
}
