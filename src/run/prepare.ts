import type { RowFile } from '../rows/port.ts';
import { checkApproved } from './approval.ts';
import { makePlan, type Plan, type PlanOptions } from './plan/planning.ts';
import { openContext, type RunContext, type RunOptions } from './run-context.ts';
import { type Scan, scan } from './scan/scan-input.ts';
import { type PlanSummary, planSummary } from './summary.ts';

/** A scanned and priced input, ready to run. */
export interface Prepared extends RunContext {
  readonly plan: Plan;
  readonly summary: PlanSummary;
}

/** A prepared job that owns its temporary files, which are deleted when it is disposed of. */
export type OpenedJob = Prepared & Disposable;

/**
 * Scans and prices a job; spends nothing.
 *
 * @param rowFile the rows, where they are not in the job's input file
 * @throws INPUT_*, SCOPE_MISSING, STORE_*; PLAN_MISMATCH if the job differs from the approved one
 */
export async function prepare(context: RunContext, options: PlanOptions = {}, rowFile?: RowFile): Promise<OpenedJob> {
  using opened = new DisposableStack();
  const prepared = await prepareScanned(context, opened.use(await scan(context, rowFile)), options);
  const owned = opened.move();
  return { ...prepared, [Symbol.dispose]: () => owned.dispose() };
}

/**
 * Prices a scanned input; the topics may differ from those of the scan. The scan still owns its temporary files.
 *
 * @throws as `prepare`
 */
export async function prepareScanned(context: RunContext, scanned: Scan, options: PlanOptions = {}): Promise<Prepared> {
  const plan = await makePlan(context, scanned, options);
  const prepared = { ...context, plan, summary: planSummary(context, plan) };
  if (context.approved !== null) checkApproved(context.approved, prepared);
  return prepared;
}

/** Prices a prepared job again, as the next run will: after a run, to see what is missing, or under an approved plan. Keys count as
 * untried again; local data is not read again. */
export async function prepareAgain(
  prepared: Prepared,
  { approved = null, ...options }: Pick<RunOptions, 'approved'> & PlanOptions = {},
): Promise<Prepared> {
  const { job, freshness, plan, deadline } = prepared;
  const context = await openContext(job, { ...prepared, approved, asOf: freshness.startedAt });
  return await prepareScanned({ ...context, deadline }, plan.scan, { origin: plan.origin, ...options });
}
