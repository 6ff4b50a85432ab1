import { LOCATION_NOTES, type LocationFinding } from '../../geo/parse-location.ts';
import type { NoLocation } from '../../rows/no-locations.ts';
import { NumbersOfRows } from './numbers-of-rows.ts';

export type RowFinding = LocationFinding | NoLocation | 'unreadable' | 'too_many_fields';

/** The `hazard_status` of a finding: a real place elsewhere is not an error of the row. */
export function statusOfFinding(finding: RowFinding): 'invalid' | 'outside_us' {
  return finding === 'outside_us' ? 'outside_us' : 'invalid';
}

/** Rows without a usable location, of one kind: they get the same fields. */
export interface Unlocated {
  readonly finding: RowFinding;
  readonly note: string;
  rows: number;
}

/** Notes of unreadable rows contain counts, so their number is unbounded. Further ones get a general note. */
const MOST_NOTES = 16_384;

/** For each row of the input, the number of its cell or of its finding: 4 bytes a row. Reading, parsing and looking up locations again
 * took a third of the last pass (1.0 s of 3.0 s for a million rows of CSV, 1.2 s of Parquet). */
export class RowPlaces implements Disposable {
  readonly #ofRows: NumbersOfRows<Int32Array<ArrayBuffer>>;
  readonly #unlocated: Unlocated[] = [];
  readonly #numbers = new Map<string, number>();

  constructor(chunksInMemory?: number) {
    this.#ofRows = new NumbersOfRows((length) => new Int32Array(length), chunksInMemory);
  }

  get rows(): number {
    return this.#ofRows.rows;
  }

  /** The findings, by the number that `placesFrom` gives above those of the cells. */
  get unlocated(): readonly Unlocated[] {
    return this.#unlocated;
  }

  /** Gives rows with one finding another, as the whole file decides. */
  replaceFinding(finding: LocationFinding, by: LocationFinding): void {
    const number = this.#unlocated.findIndex((unlocated) => unlocated.finding === finding);
    if (number >= 0)
      this.#unlocated[number] = {
        ...this.#unlocated[number]!,
        finding: by,
        note: LOCATION_NOTES[by],
      };
  }

  addCell(cell: number): void {
    this.#ofRows.add(cell);
  }

  addUnlocated(finding: Unlocated['finding'], note: string): void {
    const number = this.#numberOf(finding, note);
    this.#unlocated[number]!.rows++;
    this.#ofRows.add(~number);
  }

  /** Returns a reader that begins at `row` and reads `count` rows per call: the number of a cell, or `cells` plus the number of a finding.
   * @throws INPUT_UNREADABLE for more rows than were added */
  placesFrom(cells: number, row = 0): (count: number) => Int32Array<ArrayBuffer> {
    const numbersOf = this.#ofRows.numbersFrom(row);
    return (count) => {
      const places = numbersOf(count);
      for (let i = 0; i < count; i++) if (places[i]! < 0) places[i] = cells + ~places[i]!;
      return places;
    };
  }

  [Symbol.dispose](): void {
    this.#ofRows[Symbol.dispose]();
  }

  #numberOf(finding: Unlocated['finding'], note: string): number {
    const number = this.#numbers.get(note);
    if (number !== undefined) return number;
    const isFull = this.#numbers.size >= MOST_NOTES;
    const kept = isFull ? 'The row cannot be read.' : note;
    const general = isFull ? this.#numbers.get(kept) : undefined;
    if (general !== undefined) return general;
    this.#numbers.set(kept, this.#unlocated.length);
    return this.#unlocated.push({ finding, note: kept, rows: 0 }) - 1;
  }
}
