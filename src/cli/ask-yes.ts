import { createInterface } from 'node:readline/promises';
import { type CliContext, shownOn } from './context.ts';

/** Whether there is a terminal to ask on. */
export function canAsk({ stdin, stderr, log }: CliContext): boolean {
  return log === undefined && stdin.isTTY === true && stderr.isTTY === true;
}

/** Asks on a terminal. Only `y` and `yes` are a yes; Ctrl-C and Ctrl-D are a no. */
export async function askYes(context: CliContext, asked: string): Promise<boolean> {
  const question = createInterface({ input: context.stdin, output: context.stderr });
  try {
    const answer = await question.question(`${shownOn(context, context.stderr, asked)} [y/N] `, {
      signal: context.interrupt,
    });
    return /^y(es)?$/i.test(answer.trim());
  } catch (error) {
    const isLeft = error instanceof Error && error.name === 'AbortError';
    if (!context.interrupt.aborted && !isLeft) throw error;
    return false;
  } finally {
    question.close();
  }
}
