import type { Job } from '../../run/settings/settings.ts';

/** The column with the weight of a place, as `perilbook sql` names it. */
export const WEIGHT = 'weight';

/** What messages call the figure by which a job orders its rows. A weight may be a number of rows: it is not called a value. */
export function valueName({ orderBy }: Pick<Job, 'orderBy'>): string {
  return orderBy.kind === 'column' && orderBy.column.toLowerCase() === WEIGHT ? WEIGHT : 'value';
}
