import { squaredDistanceFromOrigin } from './segment.ts';

const KM_PER_DEGREE = 111.2;

/** A quarter of a degree: 27.8 km, the farthest that `km` looks. */
const BUCKETS_PER_DEGREE = 4;
const COLUMNS = 360 * BUCKETS_PER_DEGREE;
const ROWS = 180 * BUCKETS_PER_DEGREE;

/** The edges of outlines on a grid, so that a question about a location looks at few of them. */
export class EdgeIndex {
  /** ax, ay, bx, by of each edge, in degrees. */
  readonly edges: Float64Array;
  readonly #near = new Map<number, number[]>();

  constructor(edges: Float64Array) {
    this.edges = edges;
    for (let edge = 0; edge < edges.length; edge += 4) {
      const [ax, ay, bx, by] = [edges[edge]!, edges[edge + 1]!, edges[edge + 2]!, edges[edge + 3]!];
      for (let row = rowOf(Math.min(ay, by)); row <= rowOf(Math.max(ay, by)); row++) {
        for (let column = columnOf(Math.min(ax, bx)); column <= columnOf(Math.max(ax, bx)); column++) {
          const bucket = row * COLUMNS + column;
          const near = this.#near.get(bucket);
          if (near) near.push(edge);
          else this.#near.set(bucket, [edge]);
        }
      }
    }
  }

  /** Kilometres from a location to the nearest edge; infinite where none is within about 27 km. */
  km(lat: number, lng: number): number {
    const shrink = Math.cos((lat * Math.PI) / 180);
    const reach = Math.min(12, Math.ceil(1 / shrink));
    const [row, column] = [rowOf(lat), columnOf(lng)];
    let nearest = Number.POSITIVE_INFINITY;
    for (let y = row - 1; y <= row + 1; y++) {
      for (let x = column - reach; x <= column + reach; x++) {
        const edges = this.#near.get(y * COLUMNS + ((x + COLUMNS) % COLUMNS));
        if (edges === undefined) continue;
        for (const edge of edges) {
          const ax = degreesApart(this.edges[edge]!, lng) * shrink;
          const bx = degreesApart(this.edges[edge + 2]!, lng) * shrink;
          const [ay, by] = [this.edges[edge + 1]! - lat, this.edges[edge + 3]! - lat];
          nearest = Math.min(nearest, squaredDistanceFromOrigin(ax, ay, bx, by));
        }
      }
    }
    return Math.sqrt(nearest) * KM_PER_DEGREE;
  }
}

/** The edges of rings of positions. */
export function edgesOf(rings: Iterable<readonly (readonly number[])[]>): Float64Array {
  const edges: number[] = [];
  for (const ring of rings) {
    for (let i = 1; i < ring.length; i++) edges.push(ring[i - 1]![0]!, ring[i - 1]![1]!, ring[i]![0]!, ring[i]![1]!);
  }
  return Float64Array.from(edges);
}

/** The shorter way around the earth. */
function degreesApart(lng: number, from: number): number {
  const apart = lng - from;
  return apart > 180 ? apart - 360 : apart < -180 ? apart + 360 : apart;
}

function rowOf(lat: number): number {
  return Math.min(ROWS - 1, Math.max(0, Math.floor((lat + 90) * BUCKETS_PER_DEGREE)));
}

function columnOf(lng: number): number {
  return Math.min(COLUMNS - 1, Math.max(0, Math.floor((lng + 180) * BUCKETS_PER_DEGREE)));
}
