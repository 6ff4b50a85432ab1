import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until a condition holds. Counts its looks, which take longer on a busy machine; what never comes about ends after a minute. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let looks = 0; !(await condition()); looks++) {
    if (looks > 12_000) throw new Error(`It never came about: ${condition}`);
    await sleep(5);
  }
}
