import { type Clock, steadyTime } from '../../base/clock.ts';
import { PerilbookError } from '../../base/errors.ts';
import type { ToFields } from '../../client/envelope.ts';
import { type Exchange, parseDate } from '../../client/exchange.ts';
import { findVerdict, type Verdict } from '../../client/verdict.ts';
import { type Location, locationOf } from '../../geo/coordinates.ts';
import { backoffBound, LONGEST_ASKED_MS } from '../../net/waits.ts';
import type { Claim, ClaimLimits, ClaimRequest, Settlement } from '../../store/ledger/port.ts';
import type { Store } from '../../store/port.ts';
import { BEGIN_WITHIN_MS } from '../frame/account-state.ts';

/** A call as the ledger counts it. */
export interface PayableCall {
  readonly limits: ClaimLimits;
  /** Its `credits` are what it is claimed for. */
  readonly request: ClaimRequest;
  /** The credits that it is expected to cost; where a higher price of before is shown anew, fewer than it is claimed for. */
  readonly expected: number;
  /** Where; default: at the cell that is claimed. */
  readonly location?: Location;
  readonly toFields: ToFields;
}

/** What came back of a call that the ledger had granted. */
export interface ReceivedCall {
  readonly granted: Extract<Claim, { outcome: 'granted' }>;
  readonly exchange: Exchange;
  readonly verdict: Verdict;
  /** The service's `Date`; null if it gives none. */
  readonly date: number | null;
  /** When it was sent, and when it came, by the steady time. */
  readonly sentAt: number;
  readonly at: number;
}

/** What follows from a call, and what is settled. */
interface Concluded {
  readonly settlement: Settlement;
}

/** `settled`: the call was sent, and its charge is in the ledger. Else the ledger refused it, and nothing was sent. */
export type Payment<Conclusion> =
  | Exclude<Claim, { outcome: 'granted' }>
  | { readonly outcome: 'settled'; readonly conclusion: Conclusion };

/** Claims a call in the ledger, sends it and settles it: the one way to a service that may charge. What may be charged is in the ledger
 * before it is sent, within quota, minute and bound, and a killed process leaves it there.
 * @param how.conclude decides what follows, before it is settled */
export async function payCall<Conclusion extends Concluded>(
  { store, clock }: { readonly store: Pick<Store, 'claim' | 'settle'>; readonly clock: Clock },
  { limits, request, expected, location = locationOf(request.cell), toFields }: PayableCall,
  how: {
    /** Sends the call, unless it may no longer begin when its connection is there. */
    readonly send: (mayBegin: () => boolean) => Promise<Exchange>;
    readonly conclude: (received: ReceivedCall) => Conclusion;
    /** Told of a store that cannot be written now, for which the settlement waits. */
    readonly onWait?: (error: PerilbookError) => void;
  },
): Promise<Payment<Conclusion>> {
  const asked = { wall: clock.now(), steady: steadyTime(clock) };
  const [claim] = (await store.claim(limits, [request])) as [Claim];
  if (claim.outcome !== 'granted') return claim;
  const sentAt = steadyTime(clock);
  // By both clocks: the steady one stands still while the machine is suspended.
  const exchange = await how.send(
    () => Math.max(clock.now() - asked.wall, steadyTime(clock) - asked.steady) <= BEGIN_WITHIN_MS,
  );
  const [cameAt, at, date] = [clock.now(), steadyTime(clock), parseDate(exchange)];
  const sent = { call: request.call, price: expected };
  const verdict = findVerdict(exchange, sent, location, cameAt, toFields);
  const conclusion = how.conclude({ granted: claim, exchange, verdict, date, sentAt, at });
  const settlement = { ...conclusion.settlement, periodLimit: limits.periodLimit };
  await settle({ store, clock }, settlement, how.onWait);
  return { outcome: 'settled', conclusion };
}

/** Writes the end of a call that was sent. Its answer was paid for, so a store that another program holds, or whose server is away, is
 * tried again for `LONGEST_ASKED_MS`; without that the answer would be lost, and bought again by the next run. To settle twice changes nothing,
 * and a settlement after the lease corrects the ledger.
 * @throws PerilbookError STORE_UNREACHABLE after that time; any other error at once */
async function settle(
  { store, clock }: { readonly store: Pick<Store, 'settle'>; readonly clock: Clock },
  settlement: Settlement,
  onWait: (error: PerilbookError) => void = () => {},
): Promise<void> {
  const until = steadyTime(clock) + LONGEST_ASKED_MS;
  for (let attempts = 0; ; attempts++) {
    try {
      await store.settle([settlement]);
      return;
    } catch (error) {
      const isAway = error instanceof PerilbookError && error.code === 'STORE_UNREACHABLE';
      if (!isAway || steadyTime(clock) >= until) throw error;
      onWait(error);
      await clock.sleep(backoffBound(attempts));
    }
  }
}
