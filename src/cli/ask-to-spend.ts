import { PerilbookError } from '../errors.ts';
import { counted } from '../format-numbers.ts';
import { askYes, canAsk } from './ask-yes.ts';
import type { CliContext } from './context.ts';

/** Messages for where nobody can be asked, and for a no. */
export interface ApprovalMessages {
  /** `run`, `check`. */
  readonly what: string;
  /** How to approve without being asked. */
  readonly approve: string;
  readonly later: string;
}

/**
 * Asks on a terminal whether credits may be spent. Returns only on a yes.
 *
 * @param isStdinFree false if stdin is the input file
 * @throws NEEDS_APPROVAL off a terminal, INTERRUPTED on anything but yes
 */
export async function askToSpend(
  context: CliContext,
  credits: number,
  words: ApprovalMessages,
  isStdinFree = true,
): Promise<void> {
  if (!canAsk(context) || !isStdinFree) {
    throw new PerilbookError(
      'NEEDS_APPROVAL',
      `This ${words.what} would spend ${counted(credits, 'credit')} without approval`,
      words.approve,
    );
  }
  if (await askYes(context, `Spend ${counted(credits, 'credit')}?`)) return;
  throw new PerilbookError('INTERRUPTED', 'Nothing was spent', words.later);
}
