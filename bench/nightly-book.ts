import { drawBetween, drawWhole, makeRandom, pick, type Random } from '../src/sample/random.ts';
import { COUNTRY } from './bench-harness.ts';

/** Metres that two rows of one building lie apart, as degrees: geocoders and surveyors do not agree on a roof's middle. */
const ROOF_DEGREES = 0.00001;

/** How many rows a building has: one a storey, a lessee, a policy. On average 2.6. */
const ROWS_OF_A_BUILDING = [1, 1, 1, 1, 2, 2, 2, 3, 3, 4, 6, 8, 1, 2, 1, 3] as const;

/** Of the rows after a building's first, those that repeat its coordinates to the letter. */
const SAME_COORDINATES = 0.5;

/** Share of buildings that are new from one run to the next, and of those that are geocoded anew, to another place. */
const NEW_BUILDINGS = 0.01;
const MOVED_BUILDINGS = 0.002;

interface Building {
  /** As the rows have them: text with six decimals. */
  rows: readonly { readonly lat: string; readonly lng: string }[];
}

/** An insurer's book that is enriched again and again. The same seed always gives the same nights. */
export class NightlyBook {
  readonly #random: Random;
  readonly #buildings: Building[] = [];

  constructor(rows: number, seed = 1) {
    this.#random = makeRandom(seed, 'nightly-book');
    while (this.rows < rows) this.#buildings.push(this.#building());
  }

  get rows(): number {
    return this.#buildings.reduce((sum, { rows }) => sum + rows.length, 0);
  }

  get buildings(): number {
    return this.#buildings.length;
  }

  /** How many different coordinates the rows have, letter for letter. */
  get coordinates(): number {
    return new Set(
      this.#buildings.flatMap(({ rows }) => rows.map(({ lat, lng }) => `${lat},${lng}`)),
    ).size;
  }

  /** Until the next run: some buildings are new, and some stand elsewhere than was thought. */
  goOn(): void {
    const count = this.#buildings.length;
    for (let moved = Math.round(count * MOVED_BUILDINGS); moved > 0; moved--) {
      const building = this.#buildings[drawWhole(this.#random, 0, count - 1)]!;
      building.rows = this.#rowsOf(building.rows.length);
    }
    for (let added = Math.round(count * NEW_BUILDINGS); added > 0; added--)
      this.#buildings.push(this.#building());
  }

  csv(): string {
    const lines = this.#buildings.flatMap(({ rows }, building) =>
      rows.map(({ lat, lng }, row) => `B${building + 1}-${row + 1},${lat},${lng}\n`),
    );
    return `id,lat,lng\n${lines.join('')}`;
  }

  #building(): Building {
    return { rows: this.#rowsOf(pick(this.#random, ROWS_OF_A_BUILDING)) };
  }

  /** The rows of one building. Its place is any, so that some roofs lie across the border of two cells, as they do. */
  #rowsOf(count: number): Building['rows'] {
    const { south, north, west, east } = COUNTRY;
    const [lat, lng] = [
      drawBetween(this.#random, south, north),
      drawBetween(this.#random, west, east),
    ];
    const shift = () => drawBetween(this.#random, -ROOF_DEGREES, ROOF_DEGREES);
    return Array.from({ length: count }, (_, row) => {
      const same = row === 0 || this.#random() < SAME_COORDINATES;
      return {
        lat: (same ? lat : lat + shift()).toFixed(6),
        lng: (same ? lng : lng + shift()).toFixed(6),
      };
    });
  }
}
