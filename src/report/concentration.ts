import type { County } from '../geo/us-counties.ts';
import type { AreaFigures, RowsAndValue } from './figures.ts';
import { HIGH, HIGHEST, unansweredClass, VERY_HIGH } from './scales.ts';

type Sum = { rows: number; value: number };

interface ConcentrationArea {
  readonly name: string;
  rows: number;
  value: number;
  readonly answered: Sum;
  readonly veryHigh: Sum;
  readonly perils: readonly { readonly answered: Sum; readonly atRisk: Sum }[];
}

/** The rows and the value in each state and county: all, answered, and at risk by natural topic. */
export class Concentration {
  readonly #states = new Map<string, ConcentrationArea>();
  readonly #counties = new Map<string, ConcentrationArea>();
  readonly #natural: readonly number[];

  /** @param natural the indexes of the natural topics among the classes that `add` gets */
  constructor(natural: readonly number[]) {
    this.#natural = natural;
  }

  /** @param classes the class of the highest rating, then of each topic */
  add(county: County | null, rows: number, value: number, classes: Uint8Array): void {
    const state = county?.state;
    const name = county === null ? 'Elsewhere' : `${county.name}, ${county.state.name}`;
    this.#count(this.#states, state?.code ?? '', state?.name ?? 'Elsewhere', { rows, value }, classes);
    this.#count(this.#counties, county?.code ?? '', name, { rows, value }, classes);
  }

  figures(): { readonly states: readonly AreaFigures[]; readonly counties: readonly AreaFigures[] } {
    return { states: largestFirst(this.#states), counties: largestFirst(this.#counties) };
  }

  #count(
    areas: Map<string, ConcentrationArea>,
    code: string,
    name: string,
    more: RowsAndValue,
    classes: Uint8Array,
  ): void {
    let area = areas.get(code);
    if (!area) {
      const none = () => ({ rows: 0, value: 0 });
      const perils = this.#natural.map(() => ({ answered: none(), atRisk: none() }));
      area = { name, ...none(), answered: none(), veryHigh: none(), perils };
      areas.set(code, area);
    }
    increase(area, more);
    if (classes[0] !== unansweredClass(HIGHEST)) increase(area.answered, more);
    if (classes[0] === VERY_HIGH) increase(area.veryHigh, more);
    for (const [at, index] of this.#natural.entries()) {
      const peril = area.perils[at]!;
      if (classes[index] !== unansweredClass(HIGHEST)) increase(peril.answered, more);
      if (classes[index] === VERY_HIGH || classes[index] === HIGH) increase(peril.atRisk, more);
    }
  }
}

function increase(sum: Sum, { rows, value }: RowsAndValue): void {
  sum.rows += rows;
  sum.value += value;
}

/** By value, in which losses are measured, then by rows. */
function largestFirst(areas: ReadonlyMap<string, ConcentrationArea>): ConcentrationArea[] {
  return [...areas.values()].sort((a, b) => b.value - a.value || b.rows - a.rows || (a.name < b.name ? -1 : 1));
}
