import { type Clock, steadyTime } from '../clock.ts';

interface Due {
  readonly at: number;
  readonly credits: number;
}

/** Credits that are returned at a later time. One timer serves them all: a thousand calls a minute do not need a thousand timers. */
export class CreditReturns {
  readonly #clock: Clock;
  readonly #give: (credits: number) => void;
  /** In the order of their times. */
  readonly #due: Due[] = [];
  #running: Promise<void> | null = null;
  #wake = new AbortController();
  #closed = false;

  constructor(clock: Clock, give: (credits: number) => void) {
    this.#clock = clock;
    this.#give = give;
  }

  /** Returns these credits at the steady time `at`: by the wall clock, setting it would return them early or late. */
  add(at: number, credits: number): void {
    if (this.#closed) return;
    const after = this.#due.findLastIndex((due) => due.at <= at);
    this.#due.splice(after + 1, 0, { at, credits });
    if (after === -1) this.#wake.abort();
    this.#running ??= this.#run();
  }

  /** Drops what is still due; afterwards no timer is left. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#due.length = 0;
    this.#wake.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#due.length > 0) {
      const waitMs = this.#due[0]!.at - steadyTime(this.#clock);
      if (waitMs > 0) {
        this.#wake = new AbortController();
        await this.#clock.sleep(waitMs, this.#wake.signal);
        continue;
      }
      this.#give(this.#takeDue());
    }
    this.#running = null;
  }

  #takeDue(): number {
    const now = steadyTime(this.#clock);
    const later = this.#due.findIndex(({ at }) => at > now);
    const due = this.#due.splice(0, later === -1 ? this.#due.length : later);
    return due.reduce((sum, { credits }) => sum + credits, 0);
  }
}
