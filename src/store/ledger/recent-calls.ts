/** A call that was charged, or may have been, and when it settled by the ledger's own time. */
export interface RecentCall {
  readonly run: number;
  readonly credits: number;
  readonly settledAt: number;
}

/** The calls of an account that settled within a window. Keeps their sums, because each claim needs them and the calls may be 100,000. */
export class RecentCalls {
  #calls: RecentCall[] = [];
  /** Where the window begins. The calls before it are dropped when they are half of all: dropping them at each claim moved all others. */
  #first = 0;
  #credits = 0;
  readonly #ofRuns = new Map<number, number>();

  get credits(): number {
    return this.#credits;
  }

  /** The calls of one run among them. */
  creditsOf(run: number): number {
    return this.#ofRuns.get(run) ?? 0;
  }

  /** Oldest first. */
  *calls(): Iterable<RecentCall> {
    for (let at = this.#first; at < this.#calls.length; at++) yield this.#calls[at]!;
  }

  /** When the newest call settled; 0 where there is none. */
  get latest(): number {
    return this.#first < this.#calls.length ? this.#calls.at(-1)!.settledAt : 0;
  }

  /** Adds the calls that settled from `latest` on, oldest first: further calls may have settled in the same millisecond. The store
   * guarantees that settlement times never decrease. */
  add(newer: readonly RecentCall[]): void {
    const { latest } = this;
    while (this.#calls.length > this.#first && this.latest === latest) this.#count(this.#calls.pop()!, -1);
    for (const call of newer) {
      this.#calls.push(call);
      this.#count(call, 1);
    }
  }

  /** Removes the calls that settled at a time or before. */
  forget(until: number): void {
    while (this.#first < this.#calls.length && this.#calls[this.#first]!.settledAt <= until) {
      this.#count(this.#calls[this.#first++]!, -1);
    }
    if (2 * this.#first < this.#calls.length) return;
    this.#calls = this.#calls.slice(this.#first);
    this.#first = 0;
  }

  #count({ run, credits }: RecentCall, sign: 1 | -1): void {
    this.#credits += sign * credits;
    this.#ofRuns.set(run, this.creditsOf(run) + sign * credits);
  }
}
