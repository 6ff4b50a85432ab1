import { type Call, CREDITS, scopeOf } from '../../contract/credits.ts';
import type { TopicSlug } from '../../contract/topics.ts';
import type { TopicReading } from '../../fetch/envelope.ts';
import type { Decision, RetryPolicy, Tried } from '../../fetch/retry.ts';
import type { Cell } from '../../geo/coordinates.ts';
import type { Claim, ClaimRequest } from '../../store/port.ts';
import type { Key } from '../planning/keyring.ts';
import type { ParsedAnswer } from '../reading/parsed-answer.ts';
import type { JobAccount } from '../settings/account-settings.ts';
import type { Buying } from './buying.ts';

/**
 * How a call ended.
 * - `answered`: what was said of each topic. `failed`: given up after retries, and recorded. `rejected`: this place.
 * - `changed`: another run answered some of it, or a key or scope was refused: plan the cell again.
 * - `claimed`: another run is at this cell. `stopped`: nothing was bought, the run ends.
 */
export type CallEnd =
  | { readonly end: 'answered'; readonly results: ReadonlyMap<TopicSlug, TopicReading<ParsedAnswer>> }
  | { readonly end: 'failed' | 'rejected' | 'changed' | 'claimed' | 'stopped' };

/** `other-account`: this one cannot pay, another may. `on-trial`: another call is finding out whether the key is accepted. */
export type Attempt =
  | CallEnd
  | { readonly end: 'retry'; readonly decision: Extract<Decision, { next: 'retry' }> }
  | { readonly end: 'other-account' }
  | { readonly end: 'on-trial'; readonly over: Promise<void> };

/** A call to make at a cell, the topics that it is made for, and how often it may be tried. */
export interface Request {
  readonly cell: Cell;
  readonly call: Call;
  readonly wanted: ClaimRequest['wanted'];
  /** What of it is asked for whole areas. */
  readonly areas: NonNullable<ClaimRequest['areas']>;
  readonly policy: RetryPolicy;
}

/** The same, as far as it was tried. */
export interface Attempted extends Request {
  readonly tried: Tried;
}

/** A call that the ledger has granted to a key and its account. */
export interface Order extends Attempted {
  readonly key: Key;
  readonly account: JobAccount;
  readonly claimed: Extract<Claim, { outcome: 'granted' }>;
  /** To be called when the call is over. */
  readonly endTrial: () => void;
}

/** The claim with the key that was chosen for it, or why there is none. Waits for the minute while another process fills it.
 * Where another account is to pay by now, the permit of this one's throttle is of no use. */
export async function claimCall(buying: Buying, attempted: Attempted, accountName: string): Promise<Order | Attempt> {
  const { call, cell, wanted, areas } = attempted;
  const [credits, scope] = [CREDITS[call.kind], scopeOf(call)];
  for (;;) {
    if (buying.signal.aborted) return { end: 'stopped' };
    const payer = buying.payerOf(call);
    if (payer?.account.name !== accountName) return { end: 'other-account' };
    const { key, account } = payer;
    const over = buying.trials.running(key, scope);
    if (over !== null) return { end: 'on-trial', over };
    const endTrial = buying.trials.begin(key, scope);
    const at = buying.parts.times.billing().earliest;
    let claim: Claim | null = null;
    try {
      claim = await buying.claim(account, { cell, call, credits, key: key.fingerprint, wanted, areas });
    } finally {
      if (claim?.outcome !== 'granted') endTrial();
    }
    if (claim === null) return { end: 'stopped' };
    switch (claim.outcome) {
      case 'granted':
        return { ...attempted, key, account, claimed: claim, endTrial };
      case 'answered':
        return { end: 'changed' };
      case 'claimed':
        return { end: 'claimed' };
      case 'wait':
        await buying.parts.clock.sleep(claim.ms, buying.signal);
        break;
      default:
        buying.cannotAfford(account, credits, claim.outcome, at);
        return { end: 'other-account' };
    }
  }
}
