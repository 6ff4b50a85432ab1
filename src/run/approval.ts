import { createHash } from 'node:crypto';
import { PerilbookError } from '../base/errors.ts';
import { counted, grouped } from '../base/format-numbers.ts';
import type { ApprovedPlan } from './plan/approved-plan.ts';
import type { Plan } from './plan/planning.ts';
import type { RunContext } from './run-context.ts';
import type { CellTable } from './scan/cell-table.ts';
import type { PlanSummary } from './summary.ts';

/** The content of an approval, and the values that a run is compared with. */
interface PricedRun extends RunContext {
  readonly plan: Plan;
  readonly summary: PlanSummary;
}

/** The settings on which the price of a plan or the meaning of its answers depends. */
function settingsOf({ job, connection }: RunContext): Record<string, unknown> {
  return {
    topics: job.topics,
    precision: job.precision,
    optimize: job.optimize,
    counts: job.counts,
    areas: job.areas,
    order_by: job.orderBy,
    accounts: [job.account.name],
    service: connection.source,
  };
}

/** The plan as a file that someone can approve. */
export function approvablePlan(prepared: PricedRun, now: number): ApprovedPlan {
  const { job, plan, summary } = prepared;
  const body = {
    job: job.name,
    made_at: new Date(now).toISOString(),
    credits_at_most: plan.limit,
    credits: plan.price.credits,
    settings: settingsOf(prepared),
    input: {
      rows: summary.rows,
      located: summary.located,
      cells: summary.cells,
      fingerprint: fingerprintOf(plan.scan.cells),
    },
    plan: summary,
  };
  const id = createHash('sha256').update(JSON.stringify(body)).digest('hex').slice(0, 16);
  return { perilbook_plan: 1, id, ...body };
}

/**
 * Checks that a run is the one that was approved.
 *
 * Settings and input must be the same. The store may have changed. If it has more answers than at the time of the plan, the run
 * costs less and may continue: so an interrupted run resumes under its plan. If answers have become stale and the run would cost
 * more than the rest of the approval, it is refused.
 *
 * @throws PLAN_MISMATCH with all that changed
 */
export function checkApproved(approved: ApprovedPlan, prepared: PricedRun): void {
  const { plan, summary } = prepared;
  const left = plan.approvedCredits!;
  const changes: string[] = [];
  for (const [name, value] of Object.entries(settingsOf(prepared))) {
    const before = JSON.stringify(approved.settings[name]);
    const now = JSON.stringify(value);
    if (before !== now) changes.push(`${name} was ${before}, is ${now}`);
  }
  for (const name of ['rows', 'located', 'cells'] as const) {
    if (approved.input[name] !== summary[name])
      changes.push(`the input had ${approved.input[name]} ${name}, has ${summary[name]}`);
  }
  const isOther = approved.input.fingerprint !== fingerprintOf(plan.scan.cells);
  if (isOther && changes.length === 0) changes.push('the input names other locations or values, as many as before');
  // The plan may have a budget below its price: then some locations stay unbought, as approved.
  const isPart = approved.credits > approved.credits_at_most;
  if (isPart && left === 0 && plan.price.credits > 0) {
    changes.push(`all of the approved ${grouped(approved.credits_at_most)} credits are spent`);
  } else if (plan.price.credits > (isPart ? approved.credits : left)) {
    changes.push(
      `the store lacks more than it did: ${counted(plan.price.credits, 'credit')} needed, ${grouped(left)} of the approved ${grouped(approved.credits_at_most)} left`,
    );
  }
  if (changes.length === 0) return;
  throw new PerilbookError(
    'PLAN_MISMATCH',
    `This is not the run that was approved on ${approved.made_at}:\n    ${changes.join('\n    ')}`,
    'Nothing was spent. Make a new plan and have it approved: perilbook plan JOB --out plan.json.',
  );
}

/** Identifies an input by its cells, in order, with their rows and values. */
function fingerprintOf(cells: CellTable): string {
  const hash = createHash('sha256');
  const record = new Float64Array(4);
  const bytes = new Uint8Array(record.buffer);
  for (let number = 0; number < cells.size; number++) {
    const { lat7, lng7 } = cells.cell(number);
    record.set([lat7, lng7, cells.rows(number), cells.value(number)]);
    hash.update(bytes);
  }
  return hash.digest('hex');
}
