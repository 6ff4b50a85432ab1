import type { Connection } from '../run/connection-kinds.ts';
import { type Prepared, prepareScanned } from '../run/prepare.ts';
import { type Effects, openContext } from '../run/run-context.ts';
import { scan } from '../run/scan/scan-input.ts';
import type { Job } from '../run/settings/settings.ts';
import type { Store } from '../store/port.ts';
import { CellClasses, ratedTopics } from './cell-classes.ts';
import type { Comparison } from './compare/comparison.ts';
import { gatherFacts, latestRun, type Report } from './gather-facts.ts';

export interface ReportOptions {
  /** Compares with an earlier output; null: with none. */
  readonly compare?: ((prepared: Prepared, complete: CellClasses) => Promise<Comparison>) | null;
}

/**
 * Makes the report of a job as its latest run left it: an answer that has gone stale since was fresh in that run's output.
 * Where the job has never run on this input, the report shows what the store has. Spends nothing.
 */
export async function reportOfLatestRun(
  job: Job,
  connection: Connection,
  store: Store,
  effects: Effects,
  { compare = null }: ReportOptions = {},
): Promise<Report> {
  const now = effects.clock.now();
  const run = await latestRun(job, store);
  // Threads would take 25 MB more, and save a second of a million rows.
  const alone = { ...effects, rowThreads: 0 };
  const context = await openContext(job, { connection, store, effects: alone, asOf: run?.startedAt ?? now });
  using scanned = await scan(context);
  const complete = new CellClasses(ratedTopics(job), scanned.cells.size);
  const prepared = await prepareScanned(context, scanned, {
    onComplete: (cell, { asOf, fields }) => complete.putComplete(cell, asOf, fields()),
  });
  const comparison = compare && (await compare(prepared, complete));
  return await gatherFacts(prepared, now, { comparison, complete });
}
