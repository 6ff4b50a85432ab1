import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { PerilbookError } from '../errors.ts';
import { counted, grouped } from '../format-numbers.ts';
import { openOutput, writeWhole } from '../rows/files/output-file.ts';
import { total } from '../store/admission.ts';
import type { Store } from '../store/port.ts';
import type { Connection } from './connection-kinds.ts';
import type { Plan } from './plan/planning.ts';
import { knownOutput, type Output } from './protected-files.ts';
import type { CellTable } from './scan/cell-table.ts';
import type { Job } from './settings/settings.ts';
import type { PlanSummary } from './summary.ts';

/** The content of a plan file: enough to see whether a run is the one that was approved. */
const planFile = z.strictObject({
  perilbook_plan: z.literal(1),
  /** Names this approval: all runs under it spend within it together. */
  id: z.string(),
  job: z.string(),
  made_at: z.iso.datetime(),
  /** Most credits that all runs under this plan may spend. */
  credits_at_most: z.int().nonnegative(),
  /** Without the retries that `credits_at_most` allows for. */
  credits: z.int().nonnegative(),
  settings: z.record(z.string(), z.unknown()),
  input: z.strictObject({ rows: z.int(), located: z.int(), cells: z.int(), fingerprint: z.string() }),
  plan: z.unknown(),
});

export type ApprovedPlan = z.infer<typeof planFile>;

/** What an approval is compared with. */
interface Approvable {
  readonly job: Job;
  readonly connection: Connection;
  readonly plan: Plan;
  readonly summary: PlanSummary;
}

/** The settings on which the price of a plan or the meaning of its answers depends. */
function settingsOf({ job, connection }: Approvable): Record<string, unknown> {
  return {
    topics: job.topics,
    tiers: job.tiers.map(({ topics }) => topics),
    precision: job.precision,
    optimize: job.optimize,
    counts: job.counts,
    areas: job.areas,
    order_by: job.orderBy,
    accounts: job.accounts.map(({ name }) => name),
    service: connection.source,
  };
}

/** The plan as a file that someone can approve. */
export function approvablePlan(prepared: Approvable, now: number): ApprovedPlan {
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

/** A file for a plan: only an earlier plan may be replaced. */
export function planOutput(file: string): Output {
  return knownOutput(file, 'the plan', /^\{\s*"perilbook_plan"/);
}

/** Writes a plan for approval. @throws OUTPUT_UNWRITABLE */
export async function writePlan(file: string, plan: ApprovedPlan): Promise<void> {
  const output = await openOutput(file, null);
  await writeWhole(output, undefined, () => output.write(Buffer.from(`${JSON.stringify(plan, null, 2)}\n`)));
}

/** Reads an approved plan. @throws PLAN_MISMATCH when the file is not one */
export function readPlan(file: string): ApprovedPlan {
  const hint = 'Make one: perilbook plan JOB --out plan.json.';
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new PerilbookError('PLAN_MISMATCH', `The plan ${file} cannot be read`, hint, { file }, error);
  }
  const plan = planFile.safeParse(content);
  if (plan.success) return plan.data;
  throw new PerilbookError('PLAN_MISMATCH', `${file} is not a plan of this version`, hint, { file });
}

/** What runs under an approved plan have left to spend. */
export async function creditsLeft(approved: ApprovedPlan, store: Store): Promise<number> {
  return Math.max(0, approved.credits_at_most - total(await store.planSpending(approved.id)));
}

/**
 * Checks that a run is the one that was approved.
 *
 * Settings and input must be the same. The store may have changed: where it holds more than when the plan was made the run
 * costs less and goes on, so an interrupted run resumes under its plan. Where answers went stale since, so that the run would
 * cost more than is left of the approval, it is refused.
 *
 * @param left credits that runs under this plan have left
 * @throws PLAN_MISMATCH with all that changed
 */
export function checkApproved(approved: ApprovedPlan, prepared: Approvable, left: number): void {
  const { plan, summary } = prepared;
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
  // A budget below the price was approved too: then a part of the locations stays unbought, as planned.
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
