import type { TopicSlug } from '../../contract/topics.ts';
import { type County, countyName } from '../../geo/us-counties.ts';
import type { CellOfInput } from '../../run/write/enriched-cells.ts';
import { CLASS_LETTERS, type Scale } from '../figures/scales.ts';
import { answeredOf, LayerSums, type Sum, type SumOf, typicalClass } from '../figures/sums.ts';
import type { Binning } from './bins.ts';
import type { Frame, MapPoint } from './frame.ts';

/** The data of the map. */
export interface MapFigures {
  readonly frame: Frame;
  readonly kind: 'point' | 'hexagon';
  /** The same locations in bins of different sizes, from coarse to fine. Points have one level. */
  readonly levels: readonly MapLevel[];
  /** Locations outside the states and the territories. */
  readonly notDrawn: number;
}

export interface MapLevel {
  /** The size of a hexagon; 0 for points. */
  readonly radius: number;
  /** With the county of each bin's most valuable place; '' for none. */
  readonly bins: readonly (Sum & { readonly at: MapPoint; readonly county: string })[];
  /** For the highest rating and then each topic: the typical class of the answers in each bin as one letter of
   * `CLASS_LETTERS`, by rows and by value, and the number of answered rows. */
  readonly layers: readonly {
    readonly slug: TopicSlug | null;
    readonly rows: string;
    readonly value: string;
    readonly answered: readonly number[];
  }[];
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
  add(point: MapPoint, { number, rows, value }: CellOfInput, county: County | null, classes: Uint8Array): void {
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
      bins: bins.map(({ at, county, ...counted }) => ({ at, county: countyName(county), ...sumOf(counted) })),
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
            .map((weights, bin) => letter(answeredOf(weights, scale) > 0 ? weights : byRows[bin]!))
            .join(''),
          answered: byRows.map((weights) => answeredOf(weights, scale)),
        };
      }),
    };
  }
}

function addTo(bin: Bin, { first, rows, value, county, most }: Omit<Bin, 'key' | 'at' | 'sums'>): void {
  bin.first = Math.min(bin.first, first);
  bin.rows += rows;
  bin.value += value;
  if (most > bin.most) [bin.county, bin.most] = [county, most];
}
