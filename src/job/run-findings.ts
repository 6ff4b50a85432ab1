import type { Prepared } from './prepare.ts';
import { HIGHEST_RATINGS, type TopicRatings } from './rating-counts.ts';
import { hasSeveralCurrencies } from './scan/scan-input.ts';
import { valueOfUnits } from './scan/value.ts';

/** The locations of the highest rating of a topic. */
export interface RatingFinding {
  readonly title: string;
  readonly rating: (typeof HIGHEST_RATINGS)[number];
  readonly rows: number;
  /** Rows whose topic was answered: the whole that `rows` is a part of. */
  readonly answered: number;
  /** The value of these rows; 0 in the order of the file, and where it is in several currencies. */
  readonly value: number;
  /** The currency code of the value; null where it is not known. */
  readonly currency: string | null;
}

const MOST_SHOWN = 3;

/** The natural topics with most value (or locations) of the highest rating, of the rows that a run has written. */
export function ratingFindings(
  { job, plan }: Pick<Prepared, 'job' | 'plan'>,
  ratings: readonly TopicRatings[],
): RatingFinding[] {
  const hasValue = !hasSeveralCurrencies(plan.scan);
  const { decimals } = plan.scan.cells;
  const currency = job.currency ?? plan.scan.currency;
  const found = ratings.flatMap(({ title, answered, highest }) => {
    const rating = highest.findIndex(({ rows }) => rows > 0);
    if (rating < 0) return [];
    const { rows, value: units } = highest[rating]!;
    const value = hasValue ? valueOfUnits(units, decimals) : 0;
    return [{ title, answered, currency, rating: HIGHEST_RATINGS[rating]!, rows, value }];
  });
  const rank = ({ rating }: RatingFinding) => HIGHEST_RATINGS.indexOf(rating);
  return found.sort((a, b) => rank(a) - rank(b) || b.value - a.value || b.rows - a.rows).slice(0, MOST_SHOWN);
}
