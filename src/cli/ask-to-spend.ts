import { createInterface } from 'node:readline/promises';
import { PerilbookError } from '../errors.ts';
import { counted } from '../figures.ts';
import type { World } from './world.ts';

/** What is said where nobody can be asked, and where the answer is no. */
export interface SpendingWords {
  /** `run`, `check`. */
  readonly what: string;
  /** How to approve without being asked. */
  readonly approve: string;
  readonly later: string;
}

/**
 * Asks on a terminal whether credits may be spent; returns only on a yes.
 *
 * @param canAsk false where standard input holds something else than a person's answer
 * @throws NEEDS_APPROVAL off a terminal, INTERRUPTED on anything but yes
 */
export async function askToSpend(world: World, credits: number, words: SpendingWords, canAsk = true): Promise<void> {
  if (!world.stdin.isTTY || !world.stderr.isTTY || !canAsk) {
    throw new PerilbookError(
      'NEEDS_APPROVAL',
      `This ${words.what} would spend ${counted(credits, 'credit')}, and nobody approved it`,
      words.approve,
    );
  }
  const question = createInterface({ input: world.stdin, output: world.stderr });
  try {
    const answer = await question.question(`Spend ${counted(credits, 'credit')}? [y/N] `, { signal: world.interrupt });
    if (/^y(es)?$/i.test(answer.trim())) return;
  } catch (error) {
    // Ctrl-C and Ctrl-D reach the question first, as the terminal's own; neither is a yes.
    const isLeft = error instanceof Error && error.name === 'AbortError';
    if (!world.interrupt.aborted && !isLeft) throw error;
  } finally {
    question.close();
  }
  throw new PerilbookError('INTERRUPTED', 'Nothing was spent', words.later);
}
