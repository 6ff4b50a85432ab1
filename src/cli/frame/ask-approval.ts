import { createInterface } from 'node:readline/promises';
import { PerilbookError } from '../../base/errors.ts';
import { counted } from '../../base/format-numbers.ts';
import { type CliContext, shownOn } from './context.ts';

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
    const text = `${shownOn(context, context.stderr, approval.question)} [y/N] `;
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

/** Asks whether credits may be spent. A yes allows all of them, also if a billing period begins during the run.
 * @param words.what `run`, `check`
 * @param words.now the part that this billing period has; default: all
 * @throws as `requireApproval` */
export function askToSpend(
  context: CliContext,
  credits: number,
  {
    what,
    now = credits,
    ...words
  }: Pick<Approval, 'approve' | 'later'> & { what: string; now?: number },
  isStdinFree = true,
): Promise<void> {
  const unapproved = `This ${what} would spend ${counted(now, 'credit')} without approval`;
  const question = `Spend ${counted(credits, 'credit')}?`;
  return requireApproval(
    context,
    { ...words, question, unapproved, refused: 'Nothing was spent' },
    isStdinFree,
  );
}
