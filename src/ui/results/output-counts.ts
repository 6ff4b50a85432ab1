import { amount } from '../../format-numbers.ts';
import { valueCurrency } from '../../run/scan/currency.ts';
import { decimalsFor, valueOfUnits, wholeUnits } from '../../run/scan/value.ts';
import { ORDERED_RATINGS, type OutputRow, type OutputTable, type Peril, worstPeril } from './output-table.ts';

/** The locations of a peril's highest rating. */
interface PerilFinding extends Peril {
  readonly rating: string;
  readonly rows: number;
  /** Rows for which the peril was answered: the whole that `rows` is a part of. */
  readonly answered: number;
  /** The value of these rows; 0 in a file without a value column, and where values are in several currencies. */
  readonly value: number;
  /** The value for people, with its currency; '' for 0. */
  readonly worth: string;
}

/** What an output holds, for the findings and the filters. */
export interface OutputCounts {
  readonly rows: number;
  readonly hasId: boolean;
  readonly hasValue: boolean;
  /** The currency of the values; null where it is unknown or there are several. */
  readonly currency: string | null;
  readonly status: Readonly<Record<string, number>>;
  readonly perils: readonly Peril[];
  /** How many rows have each rating as their highest, from the highest rating. */
  readonly highest: readonly { readonly rating: string; readonly rows: number }[];
  readonly findings: readonly PerilFinding[];
}

const MOST_FINDINGS = 3;

/** Findings are about what is high: lower ratings are none. */
const FINDING_RATINGS = 2;

/** Counts the rows of an output. Its memory does not grow with them. */
export class OutputCounter {
  readonly #table: OutputTable;
  readonly #sums: readonly PerilSums[];
  readonly #status: Record<string, number> = {};
  readonly #highest = ORDERED_RATINGS.map((rating) => ({ rating, rows: 0 }));
  readonly #currency = valueCurrency();
  #hasSeveral = false;
  #rows = 0;

  constructor(table: OutputTable) {
    this.#table = table;
    this.#sums = table.perils.map(() => ({
      answered: 0,
      ofRating: ORDERED_RATINGS.map(() => ({ rows: 0, value: 0 })),
    }));
  }

  add({ currency, status, ratings, value }: OutputRow): void {
    this.#rows++;
    if (this.#currency.isOther(currency)) this.#hasSeveral = true;
    this.#status[status] = (this.#status[status] ?? 0) + 1;
    for (const [index, rating] of ratings.entries()) {
      if (rating === '') continue;
      const sum = this.#sums[index]!;
      sum.answered++;
      const ofRating = sum.ofRating[ORDERED_RATINGS.indexOf(rating)];
      if (ofRating === undefined) continue;
      ofRating.rows++;
      ofRating.value += value ?? 0;
    }
    const worst = worstPeril(ratings);
    if (worst >= 0) this.#highest[ORDERED_RATINGS.indexOf(ratings[worst]!)]!.rows++;
  }

  counts(): OutputCounts {
    const { perils, hasId, hasValue, currency } = this.#table;
    const shown = this.#hasSeveral ? null : (currency ?? this.#currency.code);
    return {
      ...{ rows: this.#rows, hasId, hasValue, status: this.#status, perils },
      currency: shown,
      highest: this.#highest.filter((one) => one.rows > 0),
      findings: this.#findings(shown).slice(0, MOST_FINDINGS),
    };
  }

  #findings(currency: string | null): PerilFinding[] {
    const findings = this.#table.perils.flatMap((peril, index): PerilFinding[] => {
      const { answered, ofRating } = this.#sums[index]!;
      const at = ofRating.findIndex((one) => one.rows > 0);
      if (at < 0 || at >= FINDING_RATINGS) return [];
      const { rows, value: sum } = ofRating[at]!;
      const value = this.#hasSeveral ? 0 : withoutDust(sum);
      const worth = value > 0 ? amount(value, currency) : '';
      return [{ ...peril, rating: ORDERED_RATINGS[at]!, answered, rows, value, worth }];
    });
    const rank = ({ rating }: PerilFinding) => ORDERED_RATINGS.indexOf(rating);
    return findings.sort((a, b) => rank(a) - rank(b) || b.value - a.value || b.rows - a.rows);
  }
}

/** A sum of values without what the additions of doubles have put behind its last decimal. */
function withoutDust(sum: number): number {
  const decimals = decimalsFor(Math.abs(sum));
  return valueOfUnits(wholeUnits(sum, decimals), decimals);
}

interface PerilSums {
  answered: number;
  /** By the index of the rating. */
  readonly ofRating: readonly { rows: number; value: number }[];
}
