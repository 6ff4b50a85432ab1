import { valueCurrency } from '../../job/scan/currency.ts';
import { ORDERED_RATINGS, type OutputTable, type Peril, worstPeril } from './output-table.ts';

/** The locations of a peril's highest rating. */
interface PerilFinding extends Peril {
  readonly rating: string;
  readonly rows: number;
  /** Rows for which the peril was answered: the whole that `rows` is a part of. */
  readonly answered: number;
  /** The value of these rows; 0 in a file without a value column, and where values are in several currencies. */
  readonly value: number;
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

/** Counts an output in one pass. Its memory does not grow with the rows. */
export async function countOutput(table: OutputTable): Promise<OutputCounts> {
  const status: Record<string, number> = {};
  const sums = table.perils.map(() => ({
    answered: 0,
    ofRating: ORDERED_RATINGS.map(() => ({ rows: 0, value: 0 })),
  }));
  const highest = ORDERED_RATINGS.map((rating) => ({ rating, rows: 0 }));
  const currency = valueCurrency();
  let hasSeveral = false;
  let rows = 0;
  for await (const batch of table.read()) {
    rows += batch.length;
    for (const row of batch) {
      if (currency.isOther(row.currency)) hasSeveral = true;
      status[row.status] = (status[row.status] ?? 0) + 1;
      for (const [index, rating] of row.ratings.entries()) {
        if (rating === '') continue;
        const sum = sums[index]!;
        sum.answered++;
        const ofRating = sum.ofRating[ORDERED_RATINGS.indexOf(rating)];
        if (ofRating === undefined) continue;
        ofRating.rows++;
        ofRating.value += row.value;
      }
      const worst = worstPeril(row.ratings);
      if (worst >= 0) highest[ORDERED_RATINGS.indexOf(row.ratings[worst]!)]!.rows++;
    }
  }
  const { perils, hasId, hasValue } = table;
  const findings = perils.flatMap((peril, index): PerilFinding[] => {
    const { answered, ofRating } = sums[index]!;
    const at = ofRating.findIndex((one) => one.rows > 0);
    if (at < 0 || at >= FINDING_RATINGS) return [];
    const { rows: found, value } = ofRating[at]!;
    return [{ ...peril, rating: ORDERED_RATINGS[at]!, answered, rows: found, value: hasSeveral ? 0 : value }];
  });
  const rank = ({ rating }: PerilFinding) => ORDERED_RATINGS.indexOf(rating);
  findings.sort((a, b) => rank(a) - rank(b) || b.value - a.value || b.rows - a.rows);
  return {
    ...{ rows, hasId, hasValue, status, perils },
    currency: hasSeveral ? null : (table.currency ?? currency.code),
    highest: highest.filter((one) => one.rows > 0),
    findings: findings.slice(0, MOST_FINDINGS),
  };
}
