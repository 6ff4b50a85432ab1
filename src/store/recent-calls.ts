/** A call that was charged, or may have been, and when it settled by the ledger's own time. */
export interface RecentCall {
  readonly id: number;
  readonly run: number;
  readonly credits: number;
  readonly settledAt: number;
}

/** The calls of an account that settled within a window. */
export interface Recent {
  readonly credits: number;
  /** Those of one run among them. */
  creditsOf(run: number): number;
  /** Oldest first. */
  readonly calls: Iterable<RecentCall>;
  /** When the newest settled; 0 where there is none. */
  readonly latest: number;
}

/** Entries older than the window are removed when there are so many: to remove them at each claim would copy the rest. */
const CUT_AT = 10_000;

/**
 * The calls of the last minute, each of them added once: at 500 calls a second a claim that read all of them again spent 15 ms on
 * it. Whoever settles later is not earlier in time: the store sees to that.
 */
export class RecentCalls implements Recent {
  credits = 0;
  latest = 0;
  #calls: RecentCall[] = [];
  #first = 0;
  readonly #byRun = new Map<number, number>();
  /** The calls of the latest millisecond, which will be read again: more may have settled in it. */
  readonly #ofLatest = new Set<number>();

  creditsOf(run: number): number {
    return this.#byRun.get(run) ?? 0;
  }

  get calls(): Iterable<RecentCall> {
    return this.#from(this.#first);
  }

  *#from(first: number): Generator<RecentCall> {
    for (let at = first; at < this.#calls.length; at++) yield this.#calls[at]!;
  }

  add(calls: readonly RecentCall[]): void {
    for (const call of calls) {
      if (call.settledAt > this.latest) {
        this.latest = call.settledAt;
        this.#ofLatest.clear();
      }
      if (this.#ofLatest.has(call.id)) continue;
      this.#ofLatest.add(call.id);
      this.#calls.push(call);
      this.#count(call.run, call.credits);
    }
  }

  /** Lets go of the calls that settled at `since` or before. */
  leave(since: number): void {
    for (let call = this.#calls[this.#first]; call && call.settledAt <= since; call = this.#calls[this.#first]) {
      this.#count(call.run, -call.credits);
      this.#first++;
    }
    if (this.#first < CUT_AT && this.#first < this.#calls.length) return;
    this.#calls = this.#calls.slice(this.#first);
    this.#first = 0;
  }

  #count(run: number, credits: number): void {
    this.credits += credits;
    const left = this.creditsOf(run) + credits;
    if (left === 0) this.#byRun.delete(run);
    else this.#byRun.set(run, left);
  }
}
