import { PerilbookError } from '../base/errors.ts';
import { neededApproval } from '../run/plan/approval.ts';
import type { Prepared } from '../run/prepare.ts';

/** A program cannot be asked: its budget approves what it spends, and an accepted price what a refusal of the service made dearer.
 * @throws NEEDS_APPROVAL */
export function requireApproved(prepared: Prepared, acceptedPrice: number | null): void {
  const given = { isApproved: false, acceptedPrice };
  const needed = neededApproval(prepared, given, 'run', {
    spending: `Set budget: ${prepared.summary.credits_limit} in the job, or less.`,
    price: (credits) => `Pass acceptPrice: ${credits}`,
  });
  if (needed.kind === 'none') return;
  throw new PerilbookError('NEEDS_APPROVAL', needed.unapproved, needed.approve);
}
