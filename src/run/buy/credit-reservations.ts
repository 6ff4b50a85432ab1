interface Waiter {
  readonly credits: number;
  readonly resolve: (taken: boolean) => void;
}

/**
 * The credits that this run may still reserve for cells. A cell is begun only when all of it can be paid: a budget that ends
 * early then leaves complete and untouched cells, not many that lack half their topics.
 *
 * The ledger decides about every call; this decides which cell to begin. What a cell did not need (a single that the bundle
 * saved) is returned and goes to the waiting cells in their order: a later cell never overtakes an earlier one.
 */
export class CreditReservations {
  #left: number;
  #committed = 0;
  #waiting: Waiter[] = [];

  constructor(credits: number) {
    this.#left = credits;
  }

  /** Reserves credits for a cell. Waits while cells in work may still return some; false when they cannot suffice. */
  async take(credits: number): Promise<boolean> {
    if (this.#waiting.length === 0 && credits <= this.#left) {
      this.#commit(credits);
      return true;
    }
    if (this.#committed === 0) return false;
    return new Promise((resolve) => this.#waiting.push({ credits, resolve }));
  }

  /** Ends a cell that was begun: the credits that it did not spend are returned. Overspending (a call tried twice) is taken from the
   * rest. */
  end(taken: number, spent: number): void {
    this.#left += taken - spent;
    this.#committed--;
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      const suffices = first.credits <= this.#left;
      // While other cells are in work, more may be returned.
      if (!suffices && this.#committed > 0) return;
      this.#waiting.shift();
      if (suffices) this.#commit(first.credits);
      first.resolve(suffices);
    }
  }

  #commit(credits: number): void {
    this.#left -= credits;
    this.#committed++;
  }
}
