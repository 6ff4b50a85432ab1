import { type Clock, steadyTime } from '../clock.ts';

interface Due {
  readonly at: number;
  readonly credits: number;
}

/** Credits that come back at a later time. One sleeper serves them all, so that a thousand calls a minute do not mean a
 * thousand timers. */
export class CreditReturns {
  readonly #clock: Clock;
  readonly #give: (credits: number) => void;
  /** In the order in which they fall due. */
  readonly #due: Due[] = [];
  #sleeper: Promise<void> | null = null;
  #wake = new AbortController();
  #closed = false;

  constructor(clock: Clock, give: (credits: number) => void) {
    this.#clock = clock;
    this.#give = give;
  }

  /** Gives these credits back at `at`, by the steady time: by the wall clock, setting it would free or hold them. */
  add(at: number, credits: number): void {
    if (this.#closed) return;
    const after = this.#due.findLastIndex((due) => due.at <= at);
    this.#due.splice(after + 1, 0, { at, credits });
    if (after === -1) this.#wake.abort();
    this.#sleeper ??= this.#run();
  }

  /** Forgets what is still due; afterwards no timer is alive. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#due.length = 0;
    this.#wake.abort();
    await this.#sleeper;
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
    this.#sleeper = null;
  }

  #takeDue(): number {
    const now = steadyTime(this.#clock);
    const later = this.#due.findIndex((due) => due.at > now);
    const ripe = this.#due.splice(0, later === -1 ? this.#due.length : later);
    return ripe.reduce((sum, { credits }) => sum + credits, 0);
  }
}
