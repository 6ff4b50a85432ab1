import { WHOLE_US } from '../tables/parts.ts';
import type { PublishedUnits } from '../tables/published-units.ts';
import type { NaturalRatingRecord } from '../tables/records.ts';

/** The records that a load has read, by state, part and unit. */
export class RecordCounts {
  readonly #units: PublishedUnits | null;
  readonly byState = new Map<string, number>();
  /** For ratings: as `RatingCounts`. */
  readonly byHazard = new Map<string, number>();
  /** The units of the records, without the records that name none. */
  readonly units = new Set<string>();
  readonly #byPart = new Map<string, number>();
  /** By part: the rows of each unit, under its counted name. */
  readonly #unitsByPart = new Map<string, Map<string, number>>();
  readonly #byUnit = new Map<string, number>();
  taken = 0;
  outside = 0;

  constructor(units: PublishedUnits | null) {
    this.#units = units;
  }

  add(states: readonly string[], parts: readonly string[], unit: string): void {
    this.taken += 1;
    for (const state of states) addTo(this.byState, state);
    for (const part of parts) addTo(this.#byPart, part);
    if (unit === '' || this.#units === null) return;
    this.units.add(unit);
    const counted = this.#units.counted(unit);
    if (counted === '') return;
    addTo(this.#byUnit, counted);
    for (const part of parts) {
      const own = this.#unitsByPart.get(part) ?? new Map<string, number>();
      this.#unitsByPart.set(part, own);
      addTo(own, counted);
    }
  }

  addRating({ topic }: NaturalRatingRecord, states: readonly string[]): void {
    for (const state of states) addTo(this.byHazard, `${state} ${topic}`);
  }

  /** The number of records of each part; the whole US has all of them. */
  rowsOf(parts: Iterable<string>): ReadonlyMap<string, number> {
    const rowsOf = (part: string) =>
      part === WHOLE_US ? this.taken : (this.#byPart.get(part) ?? 0);
    return new Map([...parts].map((part) => [part, rowsOf(part)]));
  }

  /** The rows of each unit of a part; the whole US has all of them. */
  unitsOf(part: string): ReadonlyMap<string, number> {
    return part === WHOLE_US ? this.#byUnit : (this.#unitsByPart.get(part) ?? new Map());
  }
}

function addTo(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
