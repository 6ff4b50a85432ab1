import { crossesEastward, KM_PER_DEGREE, squaredDistance } from './edges.ts';

/** A bucket is a quarter of a degree: 27.8 km, the farthest distance that `km` measures. */
const BUCKETS_PER_DEGREE = 4;
const COLUMNS = 360 * BUCKETS_PER_DEGREE;
const ROWS = 180 * BUCKETS_PER_DEGREE;

/** Bands of latitude: a ray along the parallel can only cross the edges of its own band. */
const BANDS_PER_DEGREE = 20;

/** The edges of outlines on a grid, so that a lookup reads only a few of them. */
export class EdgeIndex {
  readonly #edges: Float64Array;
  readonly #bands: number[][] = [];
  /** Made for the first distance: most files have no place near an edge. */
  #buckets: ReadonlyMap<number, readonly number[]> | undefined;

  /** @param edges as `edgesOf` makes them */
  constructor(edges: Float64Array) {
    this.#edges = edges;
    for (let edge = 0; edge < edges.length; edge += 4) {
      const [ay, by] = [edges[edge + 1]!, edges[edge + 3]!];
      const [south, north] = [Math.min(ay, by), Math.max(ay, by)];
      for (let band = bandOf(south); band <= bandOf(north); band++) {
        this.#bands[band] ??= [];
        this.#bands[band]!.push(edge);
      }
    }
  }

  /** Whether a location is inside the outlines; holes are outside. */
  isInside(lat: number, lng: number): boolean {
    const edges = this.#edges;
    let inside = false;
    for (const edge of this.#bands[bandOf(lat)] ?? []) {
      const crosses = crossesEastward(edges[edge]!, edges[edge + 1]!, edges[edge + 2]!, edges[edge + 3]!, lng, lat);
      if (crosses) inside = !inside;
    }
    return inside;
  }

  /** Kilometres from a location to the nearest edge; infinite when none is within about 27 km. */
  km(lat: number, lng: number): number {
    const shrink = Math.cos((lat * Math.PI) / 180);
    const reach = Math.min(12, Math.ceil(1 / shrink));
    const [row, column] = [rowOf(lat), columnOf(lng)];
    this.#buckets ??= bucketsOf(this.#edges);
    let nearest = Number.POSITIVE_INFINITY;
    for (let y = row - 1; y <= row + 1; y++) {
      for (let x = column - reach; x <= column + reach; x++) {
        for (const edge of this.#buckets.get(y * COLUMNS + ((x + COLUMNS) % COLUMNS)) ?? []) {
          const ax = degreesApart(this.#edges[edge]!, lng) * shrink;
          const bx = degreesApart(this.#edges[edge + 2]!, lng) * shrink;
          nearest = Math.min(
            nearest,
            squaredDistance(ax, this.#edges[edge + 1]! - lat, bx, this.#edges[edge + 3]! - lat),
          );
        }
      }
    }
    return Math.sqrt(nearest) * KM_PER_DEGREE;
  }
}

/** The edges that touch each bucket. */
function bucketsOf(edges: Float64Array): ReadonlyMap<number, readonly number[]> {
  const buckets = new Map<number, number[]>();
  for (let edge = 0; edge < edges.length; edge += 4) {
    const [ax, ay, bx, by] = [edges[edge]!, edges[edge + 1]!, edges[edge + 2]!, edges[edge + 3]!];
    for (let row = rowOf(Math.min(ay, by)); row <= rowOf(Math.max(ay, by)); row++) {
      for (let column = columnOf(Math.min(ax, bx)); column <= columnOf(Math.max(ax, bx)); column++) {
        const bucket = row * COLUMNS + column;
        const others = buckets.get(bucket);
        if (others) others.push(edge);
        else buckets.set(bucket, [edge]);
      }
    }
  }
  return buckets;
}

/** The shorter way around the earth. */
function degreesApart(lng: number, from: number): number {
  const apart = lng - from;
  return apart > 180 ? apart - 360 : apart < -180 ? apart + 360 : apart;
}

function bandOf(lat: number): number {
  return Math.floor((lat + 90) * BANDS_PER_DEGREE);
}

function rowOf(lat: number): number {
  return Math.min(ROWS - 1, Math.max(0, Math.floor((lat + 90) * BUCKETS_PER_DEGREE)));
}

function columnOf(lng: number): number {
  return Math.min(COLUMNS - 1, Math.max(0, Math.floor((lng + 180) * BUCKETS_PER_DEGREE)));
}
