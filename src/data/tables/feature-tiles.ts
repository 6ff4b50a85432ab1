import type { Box } from '../../geo/bounding-boxes.ts';

export interface TileFeature {
  readonly id: number;
  /** A point's place; null for lines and outlines, which have a box. */
  readonly lng: number | null;
  readonly lat: number | null;
  readonly box: Box | null;
  /** About how many bytes it holds besides its object. */
  readonly size: number;
}

/** A square of a layer, lower edges included, with the features that touch it in the order of their ids. */
interface Tile<F> {
  readonly box: Box;
  readonly features: readonly F[];
}

/** Reads the features whose boxes touch a box; those in `cached` need not be built again. */
export type ReadFeatures<F> = (box: Box, cached: (id: number) => F | undefined) => Iterable<F>;

/** The most bytes of cached features over all layers: forty dense cities of 6 MB. */
const MAX_BYTES = 256_000_000;

/** The share left after eviction; evicting tiles one by one would need an ordered list at every search. */
const SHARE_AFTER_EVICTION = 0.75;

/** About how many bytes the object of a feature or a tile takes. */
const OVERHEAD_BYTES = 200;

interface CachedTile<F> extends Tile<F> {
  readonly key: number;
  usedAt: number;
}

interface LayerTiles<F> {
  /** Tiles per degree; a power of two, so that the edges of tiles are exact. */
  readonly perDegree: number;
  readonly read: ReadFeatures<F>;
  readonly tiles: Map<number, CachedTile<F>>;
  /** By id, with the number of tiles that hold each: a long line is cached once. */
  readonly features: Map<number, { readonly feature: F; holders: number }>;
}

/** Features of layers by tile, read when first needed; the least recently used tiles are evicted. */
export class FeatureTiles<F extends TileFeature> {
  readonly #limit: number;
  /** By name, one for each number of tiles per degree. */
  readonly #layers = new Map<string, LayerTiles<F>[]>();
  #bytes = 0;
  #searches = 0;

  /** @param limit the most cached bytes; the tiles of the current search stay, whatever their size */
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

  layer(name: string, perDegree: number, readerOf: () => ReadFeatures<F>): LayerTiles<F> {
    const cached = this.#layers.get(name)?.find((layer) => layer.perDegree === perDegree);
    if (cached !== undefined) return cached;
    const layer: LayerTiles<F> = { perDegree, read: readerOf(), tiles: new Map(), features: new Map() };
    this.#layers.set(name, [...(this.#layers.get(name) ?? []), layer]);
    return layer;
  }

  /** The tiles that a box touches. A feature on several tiles is the same object in each. */
  touching(layer: LayerTiles<F>, box: Box): Tile<F>[] {
    this.#searches += 1;
    const touched: Tile<F>[] = [];
    const missing: number[] = [];
    for (const key of listTileKeys(box, layer.perDegree)) {
      const cached = layer.tiles.get(key);
      if (cached === undefined) {
        missing.push(key);
        continue;
      }
      cached.usedAt = this.#searches;
      if (cached.features.length > 0) touched.push(cached);
    }
    if (missing.length > 0) {
      touched.push(...this.#readTiles(layer, missing));
      this.#shrink();
    }
    return touched;
  }

  /** Reads tiles in one query over the box around them: a query for each tile takes longer where features are few. */
  #readTiles(layer: LayerTiles<F>, missing: readonly number[]): CachedTile<F>[] {
    const boxes = missing.map((key) => boxOfTile(key, layer.perDegree));
    const whole = boxes.reduce((a, b) => combined(a, b, Math.min, Math.max));
    const members = new Map<number, F[]>(missing.map((key) => [key, []]));
    for (const feature of layer.read(whole, (id) => layer.features.get(id)?.feature)) {
      const { lng, lat } = feature;
      const box = feature.box ?? { minLng: lng!, maxLng: lng!, minLat: lat!, maxLat: lat! };
      for (const key of listTileKeys(combined(box, whole, Math.max, Math.min), layer.perDegree))
        members.get(key)?.push(feature);
    }
    return missing.map((key, index) => {
      const features = members.get(key)!.sort((a, b) => a.id - b.id);
      const tile = { key, box: boxes[index]!, features, usedAt: this.#searches };
      layer.tiles.set(key, tile);
      this.#hold(layer, tile);
      return tile;
    });
  }

  #hold({ features: cached }: LayerTiles<F>, { features }: CachedTile<F>): void {
    for (const feature of features) {
      const held = cached.get(feature.id);
      if (held !== undefined) held.holders += 1;
      else {
        cached.set(feature.id, { feature, holders: 1 });
        this.#bytes += OVERHEAD_BYTES + feature.size;
      }
    }
    this.#bytes += OVERHEAD_BYTES;
  }

  #shrink(): void {
    if (this.#bytes <= this.#limit) return;
    const all = [...this.#layers.values()]
      .flat()
      .flatMap((layer) => [...layer.tiles.values()].map((tile) => ({ layer, tile })));
    all.sort((a, b) => a.tile.usedAt - b.tile.usedAt);
    for (const { layer, tile } of all) {
      if (this.#bytes <= this.#limit * SHARE_AFTER_EVICTION) return;
      this.#evict(layer, tile);
    }
  }

  #evict({ features: cached, tiles }: LayerTiles<F>, { key, features }: CachedTile<F>): void {
    tiles.delete(key);
    for (const { id } of features) {
      const held = cached.get(id)!;
      held.holders -= 1;
      if (held.holders > 0) continue;
      cached.delete(id);
      this.#bytes -= OVERHEAD_BYTES + held.feature.size;
    }
    this.#bytes -= OVERHEAD_BYTES;
  }
}

/** A tile's key is its row, counted from the equator, times this, plus its column from Greenwich, made positive. */
const COLUMNS = 0x100_0000;

function listTileKeys({ minLng, maxLng, minLat, maxLat }: Box, perDegree: number): number[] {
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

function combined(a: Box, b: Box, least: typeof Math.min, most: typeof Math.max): Box {
  return {
    minLng: least(a.minLng, b.minLng),
    maxLng: most(a.maxLng, b.maxLng),
    minLat: least(a.minLat, b.minLat),
    maxLat: most(a.maxLat, b.maxLat),
  };
}
