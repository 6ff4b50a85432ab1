import type { County } from '../geo/us-counties.ts';
import type { CellOfInput } from '../job/enriched-cells.ts';
import { CLASS_LETTERS, type LocationAtRisk } from './figures.ts';
import { HIGH, VERY_HIGH } from './scales.ts';

/** Kept of each natural topic, and of all together: at most 19 * 40 locations are on the page. */
export const LOCATIONS_KEPT = 40;

interface Ranked extends LocationAtRisk {
  /** The class in the list that it was offered to. */
  readonly rank: number;
}

/**
 * The locations of largest value among those rated Relatively High or Very High, for each natural topic and for the highest of
 * all. Equal values (all, in a file without values) are ordered by rating, rows, and place in the file.
 */
export class LocationLists {
  /** Indexes among the classes: 0 for the highest rating, then the natural topics. */
  readonly #layers: readonly number[];
  readonly #lists: Ranked[][];

  /** @param natural the indexes of the natural topics among the classes that `add` gets */
  constructor(natural: readonly number[]) {
    this.#layers = [0, ...natural];
    this.#lists = this.#layers.map(() => []);
  }

  add(cell: CellOfInput, county: County | null, classes: Uint8Array): void {
    let made: LocationAtRisk | undefined;
    for (let list = 0; list < this.#lists.length; list++) {
      const rank = classes[this.#layers[list]!]!;
      if (rank !== HIGH && rank !== VERY_HIGH) continue;
      const kept = this.#lists[list]!;
      if (kept.length === LOCATIONS_KEPT && cell.value < kept[LOCATIONS_KEPT - 1]!.value) continue;
      const offered = { rank, rows: cell.rows, value: cell.value, cell: cell.number };
      if (kept.length === LOCATIONS_KEPT && !isBefore(offered, kept.at(-1)!)) continue;
      made ??= this.#made(cell, county, classes);
      const at = kept.findIndex((other) => isBefore(offered, other));
      kept.splice(at < 0 ? kept.length : at, 0, { ...made, rank });
      if (kept.length > LOCATIONS_KEPT) kept.pop();
    }
  }

  /** The locations of all lists, each once, the largest first. */
  locations(): readonly LocationAtRisk[] {
    const all = new Map(this.#lists.flat().map(({ rank: _, ...location }) => [location.cell, location]));
    return [...all.values()].sort((a, b) => b.value - a.value || b.rows - a.rows || a.cell - b.cell);
  }

  #made({ number, location, rows, value }: CellOfInput, county: County | null, classes: Uint8Array): LocationAtRisk {
    return {
      ...{ cell: number, lat: location.lat, lng: location.lng, rows, value },
      county: county === null ? '' : `${county.name}, ${county.state.name}`,
      classes: this.#layers
        .slice(1)
        .map((layer) => CLASS_LETTERS[classes[layer]!])
        .join(''),
    };
  }
}

type Offered = Pick<Ranked, 'value' | 'rank' | 'rows' | 'cell'>;

function isBefore(a: Offered, b: Offered): boolean {
  if (a.value !== b.value) return a.value > b.value;
  if (a.rank !== b.rank) return a.rank > b.rank;
  return a.rows === b.rows ? a.cell < b.cell : a.rows > b.rows;
}
