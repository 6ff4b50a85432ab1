import { createInterface } from 'node:readline/promises';
import { PerilbookError } from '../../base/errors.ts';
import { type NeededApproval, neededApproval } from '../../run/plan/approval.ts';
import { type MostWords, unapprovedText } from '../../run/plan/notices.ts';
import type { Prepared } from '../../run/prepare.ts';
import { type CliContext, escapeFor } from './context.ts';

/** The question before something is bought or downloaded, and the errors for a missing or refused approval. */
interface Approval {
  readonly question: string;
  /** Without a terminal: what was not done, and how to approve it. */
  readonly unapproved: string;
  readonly approve: string;
  /** After a no: what was not done, and what to do later. */
  readonly refused: string;
  readonly later: string;
}

/** Whether a person can be asked: input and messages are a terminal, and messages are no log. */
export function canAsk({ stdin, stderr, log }: CliContext): boolean {
  return log === undefined && stdin.isTTY === true && stderr.isTTY === true;
}

/** Asks on a terminal. Returns only after `y` or `yes`; any other answer, Ctrl-C and Ctrl-D mean no.
 * @param isStdinFree false if stdin is the input file
 * @throws NEEDS_APPROVAL without a terminal, INTERRUPTED after a no */
export async function requireApproval(
  context: CliContext,
  approval: Approval,
  isStdinFree = true,
): Promise<void> {
  if (!canAsk(context) || !isStdinFree) {
    throw new PerilbookError('NEEDS_APPROVAL', approval.unapproved, approval.approve);
  }
  const question = createInterface({ input: context.stdin, output: context.stderr });
  try {
    const text = `${escapeFor(context, context.stderr, approval.question)} [y/N] `;
    const answer = await question.question(text, { signal: context.interrupt });
    if (/^y(es)?$/i.test(answer.trim())) return;
  } catch (error) {
    const isLeft = error instanceof Error && error.name === 'AbortError';
    if (!context.interrupt.aborted && !isLeft) throw error;
  } finally {
    question.close();
  }
  throw new PerilbookError('INTERRUPTED', approval.refused, approval.later);
}

/** Asks whether credits may be spent: the most that can be, which the claims of the run are checked against. A yes allows all of them, also if
 * a billing period begins during the run.
 * @param words.what `run`, `check`
 * @throws as `requireApproval` */
export function askToSpend(
  context: CliContext,
  spending: MostWords,
  { what, ...words }: Pick<Approval, 'approve' | 'later'> & { readonly what: string },
  isStdinFree = true,
): Promise<void> {
  const unapproved = unapprovedText(what, spending);
  const { most, parts } = spending;
  const question = `Spend at most ${most}?${parts === null ? '' : ` ${parts}.`}`;
  return requireApproval(
    context,
    { ...words, question, unapproved, refused: 'Nothing was spent' },
    isStdinFree,
  );
}

/** The options that approve a run or a look-up. */
export interface ApprovalFlags {
  readonly yes?: boolean | undefined;
  readonly 'accept-price'?: number | undefined;
}

/** Approves what a plan spends, by the options or by a question on a terminal.
 * @param spending what approves it elsewhere
 * @param isStdinFree false if stdin is the input file
 * @throws as `requireApproval` */
export async function approveSpending(
  context: CliContext,
  flags: ApprovalFlags,
  prepared: Prepared,
  { what, spending }: { readonly what: string; readonly spending: string },
  isStdinFree: boolean,
): Promise<void> {
  const needed = neededHere(flags, prepared, what, spending);
  if (needed.kind === 'none') return;
  const { most, parts } = needed.spending;
  await requireApproval(
    context,
    {
      question: `Spend at most ${most}?${parts === null ? '' : ` ${parts}.`}`,
      unapproved: needed.unapproved,
      approve: needed.approve,
      refused: 'Nothing was spent',
      later: 'Run the command again to spend the credits.',
    },
    isStdinFree,
  );
}

/** Whether a plan will be asked about on this terminal. */
export function asksToSpend(
  context: CliContext,
  flags: ApprovalFlags,
  prepared: Prepared,
): boolean {
  const isAsked = neededHere(flags, prepared, '', '').kind !== 'none';
  return isAsked && canAsk(context) && prepared.job.input !== '-';
}

function neededHere(
  flags: ApprovalFlags,
  prepared: Prepared,
  what: string,
  spending: string,
): NeededApproval {
  const given = { isApproved: flags.yes === true, acceptedPrice: flags['accept-price'] ?? null };
  const price = (credits: number) => `Add --accept-price ${credits}`;
  return neededApproval(prepared, given, what, { spending, price });
}
