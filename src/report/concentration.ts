import type { County } from '../geo/us-counties.ts';
import type { AreaFigures } from './figures.ts';

interface ConcentrationArea {
  readonly name: string;
  rows: number;
  value: number;
  readonly veryHigh: { rows: number; value: number };
}

/** The rows and the value in each state and county. */
export class Concentration {
  readonly #states = new Map<string, ConcentrationArea>();
  readonly #counties = new Map<string, ConcentrationArea>();

  /** @param isVeryHigh whether a natural rating is Very High */
  add(county: County | null, rows: number, value: number, isVeryHigh: boolean): void {
    const state = county?.state;
    count(areaOf(this.#states, state?.code ?? '', state?.name ?? 'Elsewhere'), rows, value, isVeryHigh);
    const name = county === null ? 'Elsewhere' : `${county.name}, ${county.state.name}`;
    count(areaOf(this.#counties, county?.code ?? '', name), rows, value, isVeryHigh);
  }

  figures(): { readonly states: readonly AreaFigures[]; readonly counties: readonly AreaFigures[] } {
    return { states: largestFirst(this.#states), counties: largestFirst(this.#counties) };
  }
}

function areaOf(areas: Map<string, ConcentrationArea>, code: string, name: string): ConcentrationArea {
  let area = areas.get(code);
  if (!area) {
    area = { name, rows: 0, value: 0, veryHigh: { rows: 0, value: 0 } };
    areas.set(code, area);
  }
  return area;
}

function count(area: ConcentrationArea, rows: number, value: number, isVeryHigh: boolean): void {
  area.rows += rows;
  area.value += value;
  if (!isVeryHigh) return;
  area.veryHigh.rows += rows;
  area.veryHigh.value += value;
}

/** By value, in which losses are measured, then by rows. */
function largestFirst(areas: ReadonlyMap<string, ConcentrationArea>): ConcentrationArea[] {
  return [...areas.values()].sort((a, b) => b.value - a.value || b.rows - a.rows || (a.name < b.name ? -1 : 1));
}
