import { z } from 'zod';
import { PerilbookError } from '../../base/errors.ts';
import { readFileText } from '../../base/pipes.ts';
import { openOutput, writeWhole } from '../../rows/files/output-file.ts';
import { total } from '../../store/ledger/admission.ts';
import type { Store } from '../../store/port.ts';
import { type Output, recognizedOutput } from '../protected-files.ts';

/** The content of a plan file: enough to check that a run is the approved one. */
const planFile = z.strictObject({
  perilbook_plan: z.literal(1),
  /** Identifies this approval: all runs under it share its credits. */
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

/** A file for a plan: only an earlier plan may be replaced. */
export function planOutput(file: string): Output {
  return recognizedOutput(file, 'the plan', /^\{\s*"perilbook_plan"/);
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
    content = JSON.parse(readFileText(file));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new PerilbookError('PLAN_MISMATCH', `The plan ${file} cannot be read: ${reason}`, hint, { file }, error);
  }
  const plan = planFile.safeParse(content);
  if (plan.success) return plan.data;
  throw new PerilbookError('PLAN_MISMATCH', `${file} is not a plan of this version`, hint, { file });
}

/** The credits left for runs under an approved plan. */
export async function creditsLeft(approved: ApprovedPlan, store: Store): Promise<number> {
  return Math.max(0, approved.credits_at_most - total(await store.planSpending(approved.id)));
}
