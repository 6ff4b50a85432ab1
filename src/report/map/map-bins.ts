import type { TopicSlug } from '../../contract/topics.ts';
import { type County, countyName } from '../../geo/us-counties.ts';
import type { CellOfInput } from '../../run/write/enriched-cells.ts';
import { CLASS_LETTERS, type Scale } from '../figures/scales.ts';
import { knownOf, LayerSums, type Sum, type SumOf, typicalClass } from '../figures/sums.ts';
import type { Frame, MapPoint } from './frame.ts';
import type { MapFind } from './map-finds.ts';

export interface MapFigures {
  readonly frame: Frame;
  readonly kind: 'point' | 'hexagon';
  /** The same locations in bins of different sizes, from coarse to fine. Points have one level. */
  readonly levels: readonly MapLevel[];
  /** Locations outside the area that the map shows, for example off the coast of Puerto Rico. */
  readonly notDrawn: number;
  /** What can be looked for, besides the counties. */
  readonly finds: readonly MapFind[];
}

/** The map's bins of one size. */
export interface MapLevel {
  /** The size of a hexagon; 0 for points. */
  readonly radius: number;
  readonly bins: readonly DrawnBin[];
  /** Of the highest rating, then each topic, and losses by the name of their rates. */
  readonly layers: readonly MapLayer[];
}

interface DrawnBin extends Sum {
  readonly at: MapPoint;
  /** The lowest number of its cells. */
  readonly first: number;
  /** The county of its most valuable place; '' for none. */
  readonly county: string;
}

interface MapLayer {
  /** Null for the highest rating. */
  readonly slug: TopicSlug | null;
  /** The typical class in each bin as one letter of `CLASS_LETTERS`, by rows. */
  readonly rows: string;
  /** The same by value. */
  readonly value: string;
  /** The rows of each bin whose answers do not leave open what the place is. */
  readonly answered: readonly number[];
}

/** The form of locations on the map: points, or hexagons. */
export interface Binning {
  readonly kind: 'point' | 'hexagon';
  /** The size of a hexagon; 0 for points. */
  readonly radius: number;
  /** The bin of a point of the drawing, by its centre. */
  readonly binOf: (point: MapPoint) => { readonly key: number; readonly at: MapPoint };
}

/** More distinct places are drawn as hexagons, because points would overlap. */
export const MOST_POINTS = 2_000;

/** From the center of a hexagon to its corners, in units of the drawing. The larger are for narrow screens; about 1,600 of the smaller
 * cover the country: with 6.5 (3,000) the colored part of a hexagon was too small to see. */
export const HEXAGON_RADII = [20, 9];

const POINTS: Binning = {
  kind: 'point',
  radius: 0,
  binOf: ([x, y]) => {
    const at = [Math.round(x * 10) / 10, Math.round(y * 10) / 10] as const;
    return { key: keyOf(Math.round(x * 10), Math.round(y * 10)), at };
  },
};

/** The hexagon (corner up) of a point: the nearer of the centers in the two nearest rows. */
function findHexagon(
  [x, y]: MapPoint,
  radius: number,
): { readonly key: number; readonly at: MapPoint } {
  const dx = radius * Math.sqrt(3);
  const dy = radius * 1.5;
  const centre = (row: number): readonly [row: number, column: number, x: number, y: number] => {
    const shift = (row & 1) / 2;
    const column = Math.round(x / dx - shift);
    return [row, column, (column + shift) * dx, row * dy];
  };
  const [above, below] = [centre(Math.floor(y / dy)), centre(Math.floor(y / dy) + 1)];
  const far = (of: typeof above) => (of[2] - x) ** 2 + (of[3] - y) ** 2;
  const [row, column, cx, cy] = far(above) <= far(below) ? above : below;
  return { key: keyOf(row, column), at: [cx, cy] };
}

/** Of two whole numbers that are not below -20,000 and below 20,000: the drawing has 9,600 tenths and fewer columns. */
function keyOf(a: number, b: number): number {
  // Plus 0: tests compare keys by Object.is, for which -0 is not 0.
  return a * 40_000 + b + 0;
}

/** The binnings for a number of distinct places, from coarse to fine. */
export function binningsOf(places: number): readonly Binning[] {
  if (places <= MOST_POINTS) return [POINTS];
  return HEXAGON_RADII.map((radius) => ({
    kind: 'hexagon',
    radius,
    binOf: (point) => findHexagon(point, radius),
  }));
}

interface Bin {
  readonly key: number;
  readonly at: MapPoint;
  /** The lowest number of its cells. */
  first: number;
  rows: number;
  value: number;
  /** The county of its place with most value or rows, and that amount. */
  county: County | null;
  most: number;
  readonly sums: LayerSums;
}

/** Counts the cells of each bin; there are at most as many bins as fit on the map. */
export class MapBins {
  readonly #binning: Binning;
  readonly #scales: readonly Scale[];
  readonly #bins = new Map<number, Bin>();
  /** The previous cell's bin, because near cells come together. */
  #last: Bin | null = null;

  constructor(binning: Binning, scales: readonly Scale[]) {
    this.#binning = binning;
    this.#scales = scales;
  }

  /** Adds the rows of a cell at a point of the drawing, with their class in each layer. */
  add(
    point: MapPoint,
    { number, rows, value }: CellOfInput,
    county: County | null,
    classes: Uint8Array,
  ): void {
    const { key, at } = this.#binning.binOf(point);
    const bin = this.#last?.key === key ? this.#last : this.#binAt(key, at, number);
    this.#last = bin;
    addTo(bin, { first: number, rows, value, county, most: value || rows });
    bin.sums.add(rows, value, classes);
  }

  /** The same in larger bins: each of these bins is in the one that its center is in. */
  inLarger(binning: Binning): MapBins {
    const larger = new MapBins(binning, this.#scales);
    for (const bin of this.#bins.values()) {
      const { key, at } = binning.binOf(bin.at);
      const into = larger.#binAt(key, at, bin.first);
      addTo(into, bin);
      into.sums.addAll(bin.sums);
    }
    return larger;
  }

  #binAt(key: number, at: MapPoint, first: number): Bin {
    const bin = this.#bins.get(key);
    if (bin) return bin;
    const sums = new LayerSums(this.#scales.length);
    const added = { key, at, first, rows: 0, value: 0, county: null, most: 0, sums };
    this.#bins.set(key, added);
    return added;
  }

  /** The bins with their answers, the largest first so that small ones are drawn on top. */
  drawn(topics: readonly TopicSlug[], sumOf: SumOf): MapLevel {
    const bins = [...this.#bins.values()].sort((a, b) => b.rows - a.rows || a.first - b.first);
    return {
      radius: this.#binning.radius,
      bins: bins.map(({ at, first, county, ...counted }) => ({
        at,
        first,
        county: countyName(county),
        ...sumOf(counted),
      })),
      layers: [null, ...topics].map((slug, layer) => {
        const scale = this.#scales[layer]!;
        const byRows = bins.map(({ sums }) => sums.weights(layer, 'rows'));
        const byValue = bins.map(({ sums }) => sums.weights(layer, 'value'));
        const letter = (weights: readonly number[]) => CLASS_LETTERS[typicalClass(weights, scale)]!;
        return {
          slug,
          rows: byRows.map(letter).join(''),
          // Answered rows without a value must not look unanswered.
          value: byValue
            .map((weights, bin) => letter(knownOf(weights, scale) > 0 ? weights : byRows[bin]!))
            .join(''),
          answered: byRows.map((weights) => knownOf(weights, scale)),
        };
      }),
    };
  }
}

function addTo(
  bin: Bin,
  { first, rows, value, county, most }: Omit<Bin, 'key' | 'at' | 'sums'>,
): void {
  bin.first = Math.min(bin.first, first);
  bin.rows += rows;
  bin.value += value;
  if (most > bin.most) [bin.county, bin.most] = [county, most];
}
