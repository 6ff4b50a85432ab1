import { createInterface } from 'node:readline/promises';
import type { World } from './world.ts';

/** Whether somebody is there to be asked. */
export function canAsk({ stdin, stderr }: World): boolean {
  return stdin.isTTY === true && stderr.isTTY === true;
}

/** Asks on a terminal. Only `y` and `yes` are a yes; Ctrl-C and Ctrl-D reach the question first and are a no. */
export async function askYes(world: World, asked: string): Promise<boolean> {
  const question = createInterface({ input: world.stdin, output: world.stderr });
  try {
    const answer = await question.question(`${asked} [y/N] `, { signal: world.interrupt });
    return /^y(es)?$/i.test(answer.trim());
  } catch (error) {
    const isLeft = error instanceof Error && error.name === 'AbortError';
    if (!world.interrupt.aborted && !isLeft) throw error;
    return false;
  } finally {
    question.close();
  }
}
