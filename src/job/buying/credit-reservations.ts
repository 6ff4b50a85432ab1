interface Waiter {
  readonly credits: number;
  readonly resolve: (taken: boolean) => void;
}

/**
 * The credits that this run may still commit to cells. A cell is begun only when the whole of it can be paid: a budget
 * that ends early then leaves complete cells and untouched ones, not many that lack half their topics.
 *
 * The ledger decides on every call; this decides on which cell to begin. What a cell did not need (a single that the
 * bundle spared) comes back, and goes to those that wait, in their order: a later cell never overtakes an earlier one.
 */
export class CreditReservations {
  #left: number;
  #committed = 0;
  #waiting: Waiter[] = [];

  constructor(credits: number) {
    this.#left = credits;
  }

  /** Commits credits to a cell. Waits while cells at work may still give some back; false when they cannot reach. */
  async take(credits: number): Promise<boolean> {
    if (this.#waiting.length === 0 && credits <= this.#left) {
      this.#commit(credits);
      return true;
    }
    if (this.#committed === 0) return false;
    return new Promise((resolve) => this.#waiting.push({ credits, resolve }));
  }

  /** Ends a cell that was begun: what it did not spend of its credits comes back. Overspending (a call tried twice) is
   * taken from the rest. */
  end(taken: number, spent: number): void {
    this.#left += taken - spent;
    this.#committed--;
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      const reaches = first.credits <= this.#left;
      // While others are at work, more may come back.
      if (!reaches && this.#committed > 0) return;
      this.#waiting.shift();
      if (reaches) this.#commit(first.credits);
      first.resolve(reaches);
    }
  }

  #commit(credits: number): void {
    this.#left -= credits;
    this.#committed++;
  }
}
