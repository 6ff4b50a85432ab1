import { counted, grouped } from './numbers.js';

/* Words for people. Those that the terminal has too are in numbers.js, which the server makes (`web/assets.ts`). */

/** `1 December 2026`; billing periods end at midnight UTC. */
export const day = (time) =>
  new Date(time).toLocaleDateString('en-GB', {
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    timeZone: 'UTC',
  });

/** The headline above a run that bought all it could and left rows without answers. Up to one row in 20 is an exception; more are the
 * result. `status` has the rows of each status; null for a run whose summary is gone. */
export function incompleteWords(status) {
  if (status === null) return 'Ended: some rows are incomplete';
  const { partial = 0, failed = 0, deferred = 0, rejected = 0 } = status;
  const rows = Object.values(status).reduce((sum, of) => sum + of, 0);
  const lacking = partial + failed + deferred;
  if (lacking > 0 && lacking <= rows / 20) return `Complete, except ${counted(lacking, 'row')}`;
  // Without a row that lacks answers, the service has rejected all locations.
  const word = lacking === 0 ? 'rejected' : lacking === failed ? 'failed' : 'incomplete';
  return `Ended: ${grouped(lacking || rejected)} of ${counted(rows, 'row')} ${word}`;
}
