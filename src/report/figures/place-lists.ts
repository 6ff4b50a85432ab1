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

type Ranked = CellAtRisk & { readonly rank: number };

/** Keeps the places of largest value at risk. */
interface PlaceLists {
  add(cell: CellOfInput, classes: Uint8Array): void;
  /** The places of all lists, each once, the largest first. */
  places(): readonly CellAtRisk[];
}

/** The places of largest value among those rated Relatively High or Very High, for each natural topic and for the highest of
 * all. Equal values (all, in a file without values) are ordered by rating, rows, and place in the file.
 * @param natural the natural topics with their indexes among the classes that `add` gets */
export function makePlaceLists(
  natural: readonly { readonly slug: TopicSlug; readonly layer: number }[],
): PlaceLists {
  /** By indexes among the classes: 0 for the highest rating, then the natural topics. */
  const lists = [0, ...natural.map(({ layer }) => layer)].map((layer) => ({
    layer,
    kept: [] as Ranked[],
  }));
  const placeAtRisk = ({ number, rows, value }: CellOfInput, classes: Uint8Array): CellAtRisk => {
    const rated = (rating: number) =>
      natural.filter(({ layer }) => classes[layer] === rating).map(({ slug }) => slug);
    return { cell: number, rows, value, veryHigh: rated(VERY_HIGH), high: rated(HIGH) };
  };
  return {
    add(cell: CellOfInput, classes: Uint8Array): void {
      let made: CellAtRisk | undefined;
      for (const { layer, kept } of lists) {
        const rank = classes[layer]!;
        if (rank !== HIGH && rank !== VERY_HIGH) continue;
        if (kept.length === PLACES_KEPT && cell.value < kept[PLACES_KEPT - 1]!.value) continue;
        const offered = { rank, rows: cell.rows, value: cell.value, cell: cell.number };
        if (kept.length === PLACES_KEPT && !isBefore(offered, kept.at(-1)!)) continue;
        made ??= placeAtRisk(cell, classes);
        const at = kept.findIndex((other) => isBefore(offered, other));
        kept.splice(at < 0 ? kept.length : at, 0, { ...made, rank });
        if (kept.length > PLACES_KEPT) kept.pop();
      }
    },

    places(): readonly CellAtRisk[] {
      const all = new Map(
        lists.flatMap(({ kept }) => kept).map(({ rank: _, ...place }) => [place.cell, place]),
      );
      return [...all.values()].sort(
        (a, b) => b.value - a.value || b.rows - a.rows || a.cell - b.cell,
      );
    },
  };
}

type Offered = Pick<Ranked, 'value' | 'rank' | 'rows' | 'cell'>;

function isBefore(a: Offered, b: Offered): boolean {
  return (b.value - a.value || b.rank - a.rank || b.rows - a.rows || a.cell - b.cell) < 0;
}
