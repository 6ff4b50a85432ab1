import { addedColumns, wantedColumns } from '../columns/row.ts';
import { topicOf } from '../contract/topics.ts';
import type { Prepared } from './prepare.ts';
import { hasSeveralCurrencies } from './scan/scan-input.ts';

/** The locations of the highest rating of a topic. */
export interface RatingFinding {
  readonly title: string;
  readonly rating: 'Very High' | 'Relatively High';
  readonly rows: number;
  /** Rows whose topic was answered: the whole that `rows` is a part of. */
  readonly answered: number;
  /** The value of these rows; 0 in the order of the file, and where it is in several currencies. */
  readonly value: number;
  /** The currency code of the value; null where it is not known. */
  readonly currency: string | null;
}

const RATINGS = ['Very High', 'Relatively High'] as const;

const MOST_SHOWN = 3;

/** The natural topics with most value (or locations) of the highest rating, from the cells that a run has written. Null where
 * more cells were written than are kept: to read them again would double the time of writing. */
export function ratingFindings({
  job,
  plan,
  cells: cache,
}: Pick<Prepared, 'job' | 'plan' | 'cells'>): RatingFinding[] | null {
  const { cells } = plan.scan;
  const hasValue = !hasSeveralCurrencies(plan.scan);
  const names = addedColumns(job.topics, '', job.counts).map(({ name }) => name);
  const topics = job.topics
    .filter((slug) => topicOf(slug).category === 'natural')
    .map((slug) => ({
      title: topicOf(slug).title,
      // The rating is the first column of a natural topic.
      column: names.indexOf(wantedColumns(slug, job.counts)[0]!.name),
      answered: 0,
      counts: RATINGS.map(() => ({ rows: 0, value: 0 })),
    }));
  for (let cell = 0; cell < cells.size; cell++) {
    const fields = cache.has(cell) ? cache.fields(cell) : undefined;
    if (fields === undefined) return null;
    for (const topic of topics) {
      const rating = fields[topic.column];
      if (rating == null) continue;
      topic.answered += cells.rows(cell);
      const count = topic.counts[RATINGS.indexOf(rating as 'Very High')];
      if (count === undefined) continue;
      count.rows += cells.rows(cell);
      if (hasValue) count.value += cells.value(cell);
    }
  }
  const currency = job.currency ?? plan.scan.currency;
  const found = topics.flatMap(({ title, answered, counts }) => {
    const highest = counts.findIndex(({ rows }) => rows > 0);
    return highest < 0 ? [] : [{ title, answered, currency, rating: RATINGS[highest]!, ...counts[highest]! }];
  });
  const rank = ({ rating }: RatingFinding) => RATINGS.indexOf(rating);
  return found.sort((a, b) => rank(a) - rank(b) || b.value - a.value || b.rows - a.rows).slice(0, MOST_SHOWN);
}
