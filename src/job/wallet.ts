/**
 * The credits that this run may still commit to cells. A cell is begun only when the whole of it can be paid: a budget
 * that ends early then leaves complete cells and untouched ones, not many that lack half their topics.
 *
 * The ledger decides on every call; this decides on which cell to begin. What a cell did not need (a single that the
 * bundle spared) comes back.
 */
export class Wallet {
  #left: number;
  #committed = 0;
  #waiting: (() => void)[] = [];

  constructor(credits: number) {
    this.#left = credits;
  }

  /** Commits credits to a cell. Waits while cells at work may still give some back; false when they cannot reach. */
  async take(credits: number): Promise<boolean> {
    while (credits > this.#left && this.#committed > 0) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    if (credits > this.#left) return false;
    this.#left -= credits;
    this.#committed++;
    return true;
  }

  /** Ends a cell that was begun: what it did not spend of its credits comes back. Overspending (a call tried twice) is
   * taken from the rest. */
  end(taken: number, spent: number): void {
    this.#left += taken - spent;
    this.#committed--;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }
}
