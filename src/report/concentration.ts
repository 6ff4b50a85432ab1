import type { County } from '../geo/us-counties.ts';
import type { AreaFigures, RowsAndValue } from './figures.ts';
import { HIGH, HIGHEST, unansweredClass, VERY_HIGH } from './scales.ts';

/** The sums of an area: rows and value of each of these, one after the other, then of each natural topic those of `PERIL`. */
const WHOLE = ['all', 'answered', 'veryHigh'] as const;
const PERIL = ['answered', 'atRisk'] as const;

interface ConcentrationArea {
  readonly name: string;
  readonly sums: Float64Array;
}

interface CountyArea extends ConcentrationArea {
  /** The name of its state. */
  readonly state: string;
}

/** Off every outline. */
const ELSEWHERE = 'Elsewhere';

/** The rows and the value in each state and county: all, answered, and at risk by natural topic. */
export class Concentration {
  readonly #counties = new Map<County | null, CountyArea>();
  readonly #natural: readonly number[];

  /** @param natural the indexes of the natural topics among the classes that `add` gets */
  constructor(natural: readonly number[]) {
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
      const rating = classes[this.#natural[peril]!]!;
      if (rating === UNANSWERED) continue;
      const at = WHOLE.length + PERIL.length * peril;
      increase(sums, at, rows, value);
      if (rating === VERY_HIGH || rating === HIGH) increase(sums, at + 1, rows, value);
    }
  }

  figures(): { readonly states: readonly AreaFigures[]; readonly counties: readonly AreaFigures[] } {
    const states = new Map<string, ConcentrationArea>();
    for (const { state: name, sums } of this.#counties.values()) {
      const known = states.get(name)?.sums;
      states.set(name, { name, sums: known ? known.map((sum, at) => sum + sums[at]!) : sums });
    }
    return { states: largestFirst(states), counties: largestFirst(this.#counties) };
  }

  #areaOf(county: County | null): CountyArea {
    const known = this.#counties.get(county);
    if (known) return known;
    const area = {
      name: county === null ? ELSEWHERE : `${county.name}, ${county.state.name}`,
      state: county?.state.name ?? ELSEWHERE,
      sums: new Float64Array(2 * (WHOLE.length + PERIL.length * this.#natural.length)),
    };
    this.#counties.set(county, area);
    return area;
  }
}

const UNANSWERED = unansweredClass(HIGHEST);

function increase(sums: Float64Array, at: number, rows: number, value: number): void {
  sums[2 * at]! += rows;
  sums[2 * at + 1]! += value;
}

function figuresOf({ name, sums }: ConcentrationArea): AreaFigures {
  const sum = (at: number): RowsAndValue => ({ rows: sums[2 * at]!, value: sums[2 * at + 1]! });
  const perils = (sums.length / 2 - WHOLE.length) / PERIL.length;
  return {
    name,
    ...sum(0),
    answered: sum(1),
    veryHigh: sum(2),
    perils: Array.from({ length: perils }, (_, peril) => {
      const at = WHOLE.length + PERIL.length * peril;
      return { answered: sum(at), atRisk: sum(at + 1) };
    }),
  };
}

/** By value, in which losses are measured, then by rows. */
function largestFirst(areas: ReadonlyMap<unknown, ConcentrationArea>): AreaFigures[] {
  return [...areas.values()]
    .map(figuresOf)
    .sort((a, b) => b.value - a.value || b.rows - a.rows || (a.name < b.name ? -1 : 1));
}
