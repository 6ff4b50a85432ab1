import { type Clock, steadyTime } from '../../base/clock.ts';
import { dateTime } from '../../base/format-numbers.ts';
import { billingPeriod, CLOCKS_APART_MS } from '../../contract/billing-period.ts';
import type { ClaimLimits } from '../../store/ledger/port.ts';

/** The service's clock is ignored if it differs by more than this. */
const CREDIBLE_MS = 2 * 86_400_000;

/** A clock that shows an earlier time is wrong: this program is younger. */
export const PROGRAM_SINCE = Date.UTC(2026, 0, 1);

/** HTTP dates are whole seconds. */
const SECOND_MS = 1_000;

/**
 * The time in a run, by three clocks: this machine's, which may be set at any moment; the run's start and the steady time since;
 * and the service's, by the `Date` of its answers.
 *
 * Billing periods depend on the service's clock, and either clock may be wrong. If they are in different periods:
 * - A call is counted in the later one. So a clock that is an hour slow counts in the new period after an anniversary.
 * - It may be made only if one quota covers it together with the credits of the earlier period and of all later ones. So a wrong
 *   clock on either side never allows more spending than a correct one.
 * - Where the service's clock agrees with one of ours, to the minute, the other one is ignored: it was set, or had stopped.
 * - The service's clock is used while it is within two days of one of ours, or ours was never set, and runs evenly. After a jump
 *   between two answers it is ignored for the rest of the run.
 */
export class RunTimes {
  readonly #clock: Clock;
  readonly #anniversaryDay: number;
  readonly #notice: (message: string) => void;
  readonly #began: { readonly wall: number; readonly steady: number };
  /** One moment by the service's clock, by this machine's and by the steady one; accurate to `within`. */
  #service: Readonly<Record<'date' | 'wall' | 'steady' | 'within', number>> | null = null;
  #jumped = false;
  #isReported = false;

  /** @param anniversaryDay of the account that pays */
  constructor(
    clock: Clock,
    startedAt: number,
    anniversaryDay: number,
    notice: (message: string) => void,
  ) {
    this.#clock = clock;
    this.#anniversaryDay = anniversaryDay;
    this.#notice = notice;
    this.#began = { wall: Math.max(clock.now(), startedAt), steady: steadyTime(clock) };
  }

  /** This machine's time, but never earlier than the run's start plus the time since: if the clock is set back, new answers would
   * otherwise be stale at once and be bought again. */
  now(): number {
    return Math.max(this.#clock.now(), this.#sinceBegan());
  }

  /** Records the `Date` of an answer to a request that was sent at the steady time `sentAt` and answered at `steady`. */
  learn(date: number, sentAt: number, steady: number = steadyTime(this.#clock)): void {
    const wall = this.#clock.now() + steady - steadyTime(this.#clock);
    const within = (steady - sentAt + SECOND_MS) / 2;
    const learned = { date: date + SECOND_MS / 2, wall, steady: (sentAt + steady) / 2, within };
    const before = this.#service;
    if (before !== null) {
      const passed = learned.date - before.date;
      // The smaller difference of the two: the steady clock stops while the machine is suspended, and the other may be set.
      const apart = Math.min(
        Math.abs(passed - (learned.steady - before.steady)),
        Math.abs(passed - (learned.wall - before.wall)),
      );
      if (apart > CLOCKS_APART_MS + learned.within + before.within) this.#jumped = true;
    }
    this.#service = learned;
    if (!this.#jumped) this.#report();
  }

  /** The times that determine the billing period. */
  billing(): { readonly earliest: number; readonly latest: number } {
    const own = [this.#clock.now(), this.#sinceBegan()];
    const service = this.#jumped ? null : this.#serviceNow();
    const within = (ms: number) =>
      service === null ? [] : own.filter((time) => Math.abs(service - time) <= ms);
    const agreeing = within(CLOCKS_APART_MS + (this.#service?.within ?? 0));
    const near = within(CREDIBLE_MS);
    const isUnset =
      service !== null && service > PROGRAM_SINCE && own.every((time) => time < PROGRAM_SINCE);
    const mixed = near.length > 0 || isUnset ? [...near, service!] : own;
    const times = agreeing.length > 0 ? agreeing : mixed;
    return { earliest: Math.min(...times), latest: Math.max(...times) };
  }

  /** The billing period in which a call counts now, and the beginning of the earliest one that its quota covers. */
  periods(): Pick<ClaimLimits, 'period' | 'countedSince'> {
    const { earliest, latest } = this.billing();
    return {
      period: billingPeriod(this.#anniversaryDay, latest),
      countedSince: billingPeriod(this.#anniversaryDay, earliest).start,
    };
  }

  /** The time by this machine's clock when the slowest clock shows a given time. */
  wallAt(time: number): number {
    const behind = this.#clock.now() - this.billing().earliest;
    return behind > CLOCKS_APART_MS ? time + behind : time;
  }

  #sinceBegan(): number {
    return this.#began.wall + steadyTime(this.#clock) - this.#began.steady;
  }

  #serviceNow(): number | null {
    return this.#service && this.#service.date + steadyTime(this.#clock) - this.#service.steady;
  }

  #report(): void {
    const [ours, service] = [this.#clock.now(), this.#serviceNow()!];
    const apart = Math.abs(service - ours);
    if (this.#isReported || apart <= CLOCKS_APART_MS + this.#service!.within) return;
    this.#isReported = true;
    const what = `The service's clock says ${dateTime(service)}, this machine's ${dateTime(ours)}`;
    this.#notice(
      apart <= CREDIBLE_MS
        ? `${what}. Until both are in the same billing period, calls count in the later one: check this machine's clock.`
        : `${what}. Billing periods are counted by ${ours < PROGRAM_SINCE ? "the service's" : "this machine's"} clock: check this machine's.`,
    );
  }
}
