import { type Clock, steadyTime } from '../../base/clock.ts';
import { dateTime } from '../../base/format-numbers.ts';
import { billingPeriod, CLOCKS_APART_MS } from '../../contract/billing-period.ts';
import type { ClaimLimits } from '../../store/ledger/port.ts';

/** A service's clock that is farther ahead of this machine's is not believed: what it books could count against the quota for years. */
const AHEAD_MS = 2 * 86_400_000;

/** A clock that shows an earlier time is wrong: this program is younger. */
export const PROGRAM_SINCE = Date.UTC(2026, 0, 1);

/** HTTP dates are whole seconds. */
const SECOND_MS = 1_000;

/**
 * The time in a run, by two clocks: this machine's, and the service's by the `Date` of its answers.
 *
 * A billing period is the service's, and either clock may be wrong. If they differ by more than a minute, a call counts in the later
 * period, and is made only if one quota covers it together with all credits since the earlier one began. So no more is spent than
 * with a right clock. What it costs stands in docs/developer/promises.md.
 */
export class RunTimes {
  readonly #clock: Clock;
  readonly #anniversaryDay: number;
  readonly #notice: (message: string) => void;
  readonly #began: { readonly wall: number; readonly steady: number };
  /** The service's time at a moment of the steady clock. */
  #service: { readonly date: number; readonly steady: number } | null = null;
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
    const sinceBegan = this.#began.wall + steadyTime(this.#clock) - this.#began.steady;
    return Math.max(this.#clock.now(), sinceBegan);
  }

  /** Records the `Date` of an answer to a request that was sent at the steady time `sentAt` and answered at `steady`. */
  learn(date: number, sentAt: number, steady: number = steadyTime(this.#clock)): void {
    // When the answer was made is not known: in the middle, it is off by half a minute at most.
    if (steady - sentAt > CLOCKS_APART_MS) return;
    // Whole milliseconds: the store keeps no parts of one, and a run that ended at such a time failed.
    const answered = Math.round((sentAt + steady) / 2);
    this.#service = { date: date + SECOND_MS / 2, steady: answered };
    this.#report();
  }

  /** The times that determine the billing period: the later one counts, the earlier one limits. */
  billing(): { readonly earliest: number; readonly latest: number } {
    const own = this.now();
    const service = this.#serviceNow();
    if (service === null || Math.abs(service - own) <= CLOCKS_APART_MS)
      return { earliest: own, latest: own };
    return {
      earliest: Math.min(own, service),
      latest: isBelieved(service, own) ? Math.max(own, service) : own,
    };
  }

  /** The billing period in which a call counts now, and the beginning of the earliest one that its quota covers. */
  periods(): Pick<ClaimLimits, 'period' | 'countedSince'> {
    const { earliest, latest } = this.billing();
    return {
      period: billingPeriod(this.#anniversaryDay, latest),
      countedSince: billingPeriod(this.#anniversaryDay, earliest).start,
    };
  }

  /** The time by this machine's clock when the slower clock shows a given time. */
  wallAt(time: number): number {
    return time + Math.max(0, this.#clock.now() - this.billing().earliest);
  }

  #serviceNow(): number | null {
    return this.#service && this.#service.date + steadyTime(this.#clock) - this.#service.steady;
  }

  #report(): void {
    const [own, service] = [this.now(), this.#serviceNow()!];
    if (this.#isReported || Math.abs(service - own) <= CLOCKS_APART_MS) return;
    this.#isReported = true;
    const what = `The service's clock says ${dateTime(service)}, this machine's ${dateTime(own)}`;
    this.#notice(
      isBelieved(service, own)
        ? `${what}. Until both are in the same billing period, calls count in the later one: check this machine's clock.`
        : `${what}. Billing periods are counted by this machine's clock: check it.`,
    );
  }
}

function isBelieved(service: number, own: number): boolean {
  return service <= own + AHEAD_MS || own < PROGRAM_SINCE;
}
