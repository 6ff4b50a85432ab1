import type { TopicSlug } from '../contract/topics.ts';
import { counted } from '../format-numbers.ts';
import { type County, countyName } from '../geo/us-counties.ts';
import type { AreaFacts, AreaList, TopicFacts } from './facts.ts';
import { HIGH, HIGHEST, unansweredClass, VERY_HIGH } from './scales.ts';
import type { CountedSum, SumOf } from './sums.ts';

/** What is summed of an area: locations and value of each of these, one after the other, then of each natural topic those of `PERIL`. */
const WHOLE = ['all', 'answered', 'veryHigh'] as const;
const PERIL = ['answered', 'severe', 'veryHigh'] as const;

const COUNTIES_SHOWN = 20;
const STATES_SHOWN = 12;
const MOST_IN_SHOWN = 3;

interface AreaTotals {
  readonly name: string;
  /** The name of its state. */
  readonly state: string;
  readonly sums: Float64Array;
}

/** Off every outline. */
const ELSEWHERE = 'Elsewhere';

const UNANSWERED = unansweredClass(HIGHEST);

/** Locations and value in each state and county: all, answered, and at risk by natural topic. */
export class Concentration {
  readonly #counties = new Map<County | null, AreaTotals>();
  readonly #natural: readonly { readonly slug: TopicSlug; readonly layer: number }[];

  /** @param natural the natural topics with their indexes among the classes that `add` gets */
  constructor(natural: readonly { readonly slug: TopicSlug; readonly layer: number }[]) {
    this.#natural = natural;
  }

  /** @param classes the class of the highest rating, then of each topic */
  add(county: County | null, rows: number, value: number, classes: Uint8Array): void {
    const { sums } = this.#areaOf(county);
    const highest = classes[0]!;
    increase(sums, 0, rows, value);
    if (highest !== UNANSWERED) increase(sums, 1, rows, value);
    if (highest === VERY_HIGH) increase(sums, 2, rows, value);
    for (let peril = 0; peril < this.#natural.length; peril++) {
      const rating = classes[this.#natural[peril]!.layer]!;
      if (rating === UNANSWERED) continue;
      const at = WHOLE.length + PERIL.length * peril;
      increase(sums, at, rows, value);
      if (rating === HIGH || rating === VERY_HIGH) increase(sums, at + 1, rows, value);
      if (rating === VERY_HIGH) increase(sums, at + 2, rows, value);
    }
  }

  lists(sumOf: SumOf): { readonly states: AreaList; readonly counties: AreaList } {
    const counties = [...this.#counties.values()];
    const states = [...Map.groupBy(counties, ({ state }) => state)].map(([name, of]) => addedUp(name, of));
    return {
      counties: this.#listOf(counties, COUNTIES_SHOWN, sumOf),
      states: this.#listOf(states, STATES_SHOWN, sumOf),
    };
  }

  /** Where most of a natural topic's Very High is; of its severe ratings, where nothing is Very High. */
  mostIn(slug: TopicSlug, sumOf: SumOf): TopicFacts['mostIn'] {
    const first = WHOLE.length + PERIL.length * this.#natural.findIndex((topic) => topic.slug === slug);
    const of = (at: number) =>
      [...this.#counties.values()]
        .map(({ name, sums }) => ({ county: name, ...countedAt(sums, at) }))
        .filter(({ rows }) => rows > 0)
        .sort((a, b) => b.value - a.value || b.rows - a.rows);
    const veryHigh = of(first + 2);
    return (veryHigh.length > 0 ? veryHigh : of(first + 1))
      .slice(0, MOST_IN_SHOWN)
      .map(({ county, ...sum }) => ({ county, ...sumOf(sum) }));
  }

  #areaOf(county: County | null): AreaTotals {
    const cached = this.#counties.get(county);
    if (cached) return cached;
    const area = {
      name: countyName(county) || ELSEWHERE,
      state: county?.state.name ?? ELSEWHERE,
      sums: this.#noSums(),
    };
    this.#counties.set(county, area);
    return area;
  }

  /** By value, in which losses are measured, then by locations. */
  #listOf(areas: readonly AreaTotals[], most: number, sumOf: SumOf): AreaList {
    const sorted = [...areas].sort(
      (a, b) => b.sums[1]! - a.sums[1]! || b.sums[0]! - a.sums[0]! || (a.name < b.name ? -1 : 1),
    );
    const rest = sorted.slice(most);
    return {
      count: areas.length,
      largest: sorted.slice(0, most).map((area) => this.#factsOf(area, sumOf)),
      others: rest.length === 0 ? null : this.#factsOf(addedUp(counted(rest.length, 'other'), rest), sumOf),
      all: this.#factsOf(addedUp('All', [{ name: '', state: '', sums: this.#noSums() }, ...areas]), sumOf),
    };
  }

  #noSums(): Float64Array {
    return new Float64Array(2 * (WHOLE.length + PERIL.length * this.#natural.length));
  }

  #factsOf({ name, sums }: AreaTotals, sumOf: SumOf): AreaFacts {
    const at = (index: number) => sumOf(countedAt(sums, index));
    return {
      name,
      ...at(0),
      answered: at(1),
      veryHigh: at(2),
      perils: this.#natural.map(({ slug }, peril) => {
        const first = WHOLE.length + PERIL.length * peril;
        return { topic: slug, answered: at(first), severe: at(first + 1) };
      }),
    };
  }
}

function increase(sums: Float64Array, at: number, rows: number, value: number): void {
  sums[2 * at]! += rows;
  sums[2 * at + 1]! += value;
}

function countedAt(sums: Float64Array, at: number): CountedSum {
  return { rows: sums[2 * at]!, value: sums[2 * at + 1]! };
}

function addedUp(name: string, areas: readonly AreaTotals[]): AreaTotals {
  const sums = new Float64Array(areas[0]!.sums.length);
  for (const area of areas) for (let at = 0; at < sums.length; at++) sums[at]! += area.sums[at]!;
  return { name, state: name, sums };
}
