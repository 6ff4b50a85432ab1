import type { TopicSlug } from '../../contract/topics.ts';
import type { CellOfInput } from '../../run/write/enriched-cells.ts';
import { HIGH, VERY_HIGH } from './scales.ts';
import type { CountedSum } from './sums.ts';

/** Places kept for each natural topic, and for all together: at most 19 * 40 places are on the page. */
export const PLACES_KEPT = 40;

/** A place that is rated Relatively High or Very High for some hazard. */
export interface CellAtRisk extends CountedSum {
  readonly cell: number;
  readonly veryHigh: readonly TopicSlug[];
  readonly high: readonly TopicSlug[];
}

interface Ranked extends CellAtRisk {
  /** Its class in this list. */
  readonly rank: number;
}

/** The places of largest value among those rated Relatively High or Very High, for each natural topic and for the highest of
 * all. Equal values (all, in a file without values) are ordered by rating, rows, and place in the file. */
export class PlaceLists {
  readonly #natural: readonly { readonly slug: TopicSlug; readonly layer: number }[];
  /** Indexes among the classes: 0 for the highest rating, then the natural topics. */
  readonly #layers: readonly number[];
  readonly #lists: Ranked[][];

  /** @param natural the natural topics with their indexes among the classes that `add` gets */
  constructor(natural: readonly { readonly slug: TopicSlug; readonly layer: number }[]) {
    this.#natural = natural;
    this.#layers = [0, ...natural.map(({ layer }) => layer)];
    this.#lists = this.#layers.map(() => []);
  }

  add(cell: CellOfInput, classes: Uint8Array): void {
    let made: CellAtRisk | undefined;
    for (let list = 0; list < this.#lists.length; list++) {
      const rank = classes[this.#layers[list]!]!;
      if (rank !== HIGH && rank !== VERY_HIGH) continue;
      const kept = this.#lists[list]!;
      if (kept.length === PLACES_KEPT && cell.value < kept[PLACES_KEPT - 1]!.value) continue;
      const offered = { rank, rows: cell.rows, value: cell.value, cell: cell.number };
      if (kept.length === PLACES_KEPT && !isBefore(offered, kept.at(-1)!)) continue;
      made ??= this.#made(cell, classes);
      const at = kept.findIndex((other) => isBefore(offered, other));
      kept.splice(at < 0 ? kept.length : at, 0, { ...made, rank });
      if (kept.length > PLACES_KEPT) kept.pop();
    }
  }

  /** The places of all lists, each once, the largest first. */
  places(): readonly CellAtRisk[] {
    const all = new Map(this.#lists.flat().map(({ rank: _, ...place }) => [place.cell, place]));
    return [...all.values()].sort((a, b) => b.value - a.value || b.rows - a.rows || a.cell - b.cell);
  }

  #made({ number, rows, value }: CellOfInput, classes: Uint8Array): CellAtRisk {
    const rated = (rating: number) =>
      this.#natural.filter(({ layer }) => classes[layer] === rating).map(({ slug }) => slug);
    return { cell: number, rows, value, veryHigh: rated(VERY_HIGH), high: rated(HIGH) };
  }
}

type Offered = Pick<Ranked, 'value' | 'rank' | 'rows' | 'cell'>;

function isBefore(a: Offered, b: Offered): boolean {
  return (b.value - a.value || b.rank - a.rank || b.rows - a.rows || a.cell - b.cell) < 0;
}
