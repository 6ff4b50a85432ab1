import { type Clock, steadyTime } from '../../clock.ts';
import { CLOCKS_APART_MS } from '../../contract/billing-period.ts';
import { dateTime } from '../../format-numbers.ts';

/** A clock of the service's that is farther off than this is not believed. */
const CREDIBLE_MS = 2 * 86_400_000;

/** HTTP dates are whole seconds. */
const SECOND_MS = 1_000;

/** What the service's clock said, and what ours and the steady one said at that moment; true to `within`. */
interface ServiceTime {
  readonly date: number;
  readonly wall: number;
  readonly steady: number;
  readonly within: number;
}

/** The earliest and the latest time that it may be. */
export interface Times {
  readonly earliest: number;
  readonly latest: number;
}

/**
 * What time it is in a run, by three clocks: this machine's, which may be set at any moment; the run's start and the steady
 * time since; and the service's, by the `Date` of its answers.
 *
 * Billing periods go by the service's clock, and ours may be wrong, or the other way round. The rule, where they name
 * different periods:
 * - A call is counted in the later one. A clock that is an hour slow after an anniversary thus counts in the new period.
 * - It may be made only if the credits of the earlier one, and of all later ones, leave room for it within one quota. So no
 *   wrong clock, on either side, lets more be spent than one that is right.
 * - Where the service's agrees with one of ours, to the minute, the other does not count: it was set, or stood still.
 * - The service's is believed while it is within two days of one of ours and goes on evenly. Once it jumps from one answer to
 *   the next, it is not believed again.
 */
export class RunTimes {
  readonly #clock: Clock;
  readonly #notice: (message: string) => void;
  readonly #began: ClockReading;
  /** Where the billing of this period begins. */
  #base: ClockReading;
  #service: ServiceTime | null = null;
  #jumped = false;
  #told = false;

  constructor(clock: Clock, startedAt: number, notice: (message: string) => void) {
    this.#clock = clock;
    this.#notice = notice;
    this.#began = { wall: Math.max(clock.now(), startedAt), steady: steadyTime(clock) };
    this.#base = this.#began;
  }

  /** This machine's time, but never before the run's start and the time since: what is bought after the clock was set back
   * would else be stale at once, and be bought again. */
  now(): number {
    return Math.max(this.#clock.now(), this.#since(this.#began));
  }

  /** After a wait for a date, which goes by this machine's clock: in a month it may have been corrected, or suspended. */
  beginAnew(): void {
    this.#base = { wall: this.#clock.now(), steady: steadyTime(this.#clock) };
    this.#service = null;
    this.#jumped = false;
  }

  /** Takes in the `Date` of an answer to a request that left at the steady time `sentAt` and was answered at `steady`. */
  learn(date: number, sentAt: number, steady: number = steadyTime(this.#clock)): void {
    const wall = this.#clock.now() + steady - steadyTime(this.#clock);
    const within = (steady - sentAt + SECOND_MS) / 2;
    const said = { date: date + SECOND_MS / 2, wall, steady: (sentAt + steady) / 2, within };
    const before = this.#service;
    if (before !== null) {
      const passed = said.date - before.date;
      // By either: the steady clock stands still while the machine is suspended, and the other may be set.
      const apart = Math.min(
        Math.abs(passed - (said.steady - before.steady)),
        Math.abs(passed - (said.wall - before.wall)),
      );
      if (apart > CLOCKS_APART_MS + said.within + before.within) this.#jumped = true;
    }
    this.#service = said;
    if (!this.#jumped) this.#tell();
  }

  /** The times that decide on the billing period. */
  billing(): Times {
    const own = [this.#clock.now(), this.#since(this.#base)];
    const service = this.#jumped ? null : this.#serviceNow();
    const within = (ms: number) => (service === null ? [] : own.filter((time) => Math.abs(service - time) <= ms));
    const agreeing = within(CLOCKS_APART_MS + (this.#service?.within ?? 0));
    const near = within(CREDIBLE_MS);
    const times = agreeing.length > 0 ? agreeing : near.length > 0 ? [...near, service!] : own;
    return { earliest: Math.min(...times), latest: Math.max(...times) };
  }

  /** What this machine's clock will say at a time by the slowest of the clocks. */
  wallAt(time: number): number {
    const behind = this.#clock.now() - this.billing().earliest;
    return behind > CLOCKS_APART_MS ? time + behind : time;
  }

  #since({ wall, steady }: ClockReading): number {
    return wall + steadyTime(this.#clock) - steady;
  }

  #serviceNow(): number | null {
    return this.#service && this.#service.date + steadyTime(this.#clock) - this.#service.steady;
  }

  #tell(): void {
    const [ours, service] = [this.#clock.now(), this.#serviceNow()!];
    const apart = Math.abs(service - ours);
    if (this.#told || apart <= CLOCKS_APART_MS + this.#service!.within) return;
    this.#told = true;
    const what = `The service's clock says ${dateTime(service)}, this machine's ${dateTime(ours)}`;
    this.#notice(
      apart <= CREDIBLE_MS
        ? `${what}. Until both are in the same billing period, calls count in the later one: check this machine's clock.`
        : `${what}. Billing periods are counted by this machine's clock: check it.`,
    );
  }
}

interface ClockReading {
  readonly wall: number;
  readonly steady: number;
}
