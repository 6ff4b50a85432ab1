import { steadyTime } from '../../clock.ts';
import { type Call, CREDITS, scopeOf } from '../../contract/credits.ts';
import type { RetryPolicy, Tried } from '../../fetch/retry.ts';
import type { ClaimRequest } from '../../store/port.ts';
import type { Key } from '../plan/api-keys.ts';
import type { JobAccount } from '../settings/account-settings.ts';
import type { Buying } from './buying.ts';
import type { CellWork } from './cell-queue.ts';
import { record } from './progress.ts';

/** A call to make at a cell, the topics that it is made for, and how often it may be tried. */
export interface CallRequest {
  readonly work: Pick<CellWork, 'number' | 'cell'>;
  readonly call: Call;
  readonly wanted: ClaimRequest['wanted'];
  /** Of these, what is bought for whole areas. */
  readonly areas: NonNullable<ClaimRequest['areas']>;
  readonly policy: RetryPolicy;
}

/** A call that the ledger has granted to a key and its account. Dispose of it when the call is over. */
export interface ClaimedCall extends CallRequest, Disposable {
  readonly tried: Tried;
  readonly key: Key;
  readonly account: JobAccount;
  /** The ledger's number of the call. */
  readonly number: number;
  /** Credits of the minute that other runs have spent. */
  readonly byOthers: number;
  /** When it was claimed, by the slowest clock. */
  readonly claimedAt: number;
}

/** One member of a union for each kind, so that each can be told from the others. */
export type OfKind<Kind extends string> = Kind extends string ? { readonly kind: Kind } : never;

/**
 * - `granted`: the call may be sent. `answered_elsewhere`: another run has answered some of it.
 * - `claimed_elsewhere`: another run is at work at this cell or for its area.
 * - `other_account`: this account cannot pay, another one may. `probing`: another call finds out whether the key is accepted.
 * - `stopped`: the run ends.
 */
export type ClaimResult =
  | { readonly kind: 'granted'; readonly claimed: ClaimedCall }
  | OfKind<'answered_elsewhere' | 'claimed_elsewhere' | 'other_account' | 'stopped'>
  | { readonly kind: 'probing'; readonly over: Promise<void> };

/** Claims a call in the ledger, with the first key that can pay for it. Waits while other processes fill the minute. Where another
 * account is to pay by now, the permit of this one's throttle is of no use. */
export async function claimCall(
  buying: Buying,
  request: CallRequest,
  tried: Tried,
  accountName: string,
): Promise<ClaimResult> {
  const { call, work, wanted, areas } = request;
  const { clock, times } = buying.context.effects;
  const [credits, scope] = [CREDITS[call.kind], scopeOf(call)];
  for (;;) {
    if (buying.signal.aborted) return { kind: 'stopped' };
    const payer = buying.payerOf(call);
    if (payer?.account.name !== accountName) return { kind: 'other_account' };
    const { key, account } = payer;
    const over = buying.probes.running(key, scope);
    if (over !== null) return { kind: 'probing', over };
    const claimedAt = times.billing().earliest;
    // Held until the call is over where the claim is granted.
    using held = new DisposableStack();
    held.use(buying.probes.begin(key, scope));
    const claim = await buying.claim(account, {
      ...{ cell: work.cell, call, credits, key: key.fingerprint, wanted, areas },
    });
    switch (claim.outcome) {
      case 'granted': {
        const probe = held.move();
        const { call: number, byOthers } = claim;
        const own = { ...request, tried, key, account, number, byOthers, claimedAt };
        return { kind: 'granted', claimed: { ...own, [Symbol.dispose]: () => probe.dispose() } };
      }
      case 'store_moved':
        return { kind: 'stopped' };
      case 'answered':
        return { kind: 'answered_elsewhere' };
      case 'claimed':
        return { kind: 'claimed_elsewhere' };
      case 'wait':
        held.dispose();
        record(buying.context.progress, 'minuteUsed', steadyTime(clock) + claim.ms);
        await clock.sleep(claim.ms, buying.signal);
        break;
      default:
        buying.cannotAfford(account, credits, claim.outcome, claimedAt);
        return { kind: 'other_account' };
    }
  }
}
