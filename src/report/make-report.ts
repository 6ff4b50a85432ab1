import type { Connection } from '../run/connection-kinds.ts';
import type { PlanRequest } from '../run/plan/planning.ts';
import { type Effects, type Prepared, priced, scanJob } from '../run/prepare.ts';
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
  const scanned = await scanJob(job, { connection, store, effects: alone, asOf: run?.startedAt ?? now });
  using _scan = scanned.scan;
  const complete = new CellClasses(ratedTopics(job), scanned.scan.cells.size);
  const onComplete: PlanRequest['onComplete'] = (cell, { asOf, fields }) => complete.putComplete(cell, asOf, fields());
  const prepared = await priced({ ...scanned, onComplete });
  const comparison = compare && (await compare(prepared, complete));
  return await gatherFacts(prepared, store, now, { comparison, complete });
}
