import { billingPeriod } from '../contract/billing-period.ts';
import type { Scope } from '../contract/credits.ts';
import { type Allowance, type Forecast, forecast, minutesFor } from './forecast.ts';

/** Credits by the scope of their calls. */
export type Demand = ReadonlyMap<Scope, number>;

/** One of several accounts that a job may spend. */
export interface PoolAccount extends Allowance {
  /** Whether any of its keys may make calls of a scope. */
  readonly may: (scope: Scope) => boolean;
}

const MINUTE_MS = 60_000;

/** A hundred years of anniversaries, as in a forecast of one account. */
const MOST_STEPS = 1_200;

/**
 * How much of the demand the accounts can pay together, and what each then pays: a maximum flow from scopes to accounts, found by
 * augmenting paths. A greedy choice would be wrong: it could spend the account that may buy everything on what another could have
 * bought, and leave nothing for what only that one may buy.
 */
export function spread(
  demand: Demand,
  accounts: readonly PoolAccount[],
  capacities: readonly number[],
): { readonly served: number; readonly byAccount: readonly number[] } {
  const scopes = [...demand.keys()];
  const left = [...capacities];
  const flow = scopes.map(() => accounts.map(() => 0));
  let served = 0;
  for (const [index, scope] of scopes.entries()) {
    for (let wanted = demand.get(scope)!; wanted > 0; ) {
      const moved = augment(index, wanted, new Set());
      if (moved === 0) break;
      wanted -= moved;
      served += moved;
    }
  }
  const byAccount = accounts.map((_, account) => flow.reduce((sum, row) => sum + row[account]!, 0));
  return { served, byAccount };

  /** Pays up to `amount` of a scope; where an account is used up, another scope is moved away from it. */
  function augment(scope: number, amount: number, visited: Set<number>): number {
    for (const [account, { may }] of accounts.entries()) {
      if (visited.has(account) || !may(scopes[scope]!)) continue;
      visited.add(account);
      if (left[account]! > 0) {
        const paid = Math.min(amount, left[account]!);
        left[account]! -= paid;
        flow[scope]![account]! += paid;
        return paid;
      }
      for (const other of scopes.keys()) {
        const movable = Math.min(amount, flow[other]![account]!);
        if (other === scope || movable <= 0) continue;
        const moved = augment(other, movable, visited);
        if (moved === 0) continue;
        flow[other]![account]! -= moved;
        flow[scope]![account]! += moved;
        return moved;
      }
    }
    return 0;
  }
}

/** When the accounts together will have paid the demand, each with its own anniversary and minute limit. They share the connections.
 * @param msPerCredit as in `minutesFor` */
export function forecastPool(demand: Demand, accounts: readonly PoolAccount[], now: number, msPerCredit = 0): Forecast {
  const total = [...demand.values()].reduce((sum, credits) => sum + credits, 0);
  if (accounts.length === 1) return forecast(total, accounts[0]!, now, msPerCredit);
  const minutesOf = (paid: readonly number[]) =>
    Math.max(
      minutesFor(
        paid.reduce((sum, credits) => sum + credits, 0),
        Number.POSITIVE_INFINITY,
        msPerCredit,
      ),
      ...paid.map((credits, index) => minutesFor(credits, accounts[index]!.creditsPerMinute, 0)),
    );
  const capacities = accounts.map(({ available }) => Math.max(0, available));
  const resets = accounts.map(({ anniversaryDay }) => billingPeriod(anniversaryDay, now).end);
  let time = now;
  for (let step = 0; step < MOST_STEPS; step++) {
    const { served, byAccount } = spread(demand, accounts, capacities);
    if (served === total) {
      const minutes = minutesOf(byAccount);
      const last =
        step === 0 ? minutes : minutesOf(byAccount.map((paid, index) => Math.min(paid, accounts[index]!.perPeriod)));
      const periods = Math.max(0, ...byAccount.map((paid, index) => periodsOf(paid, accounts[index]!)));
      return { fits: step === 0, minutes, periods, finishBy: time + last * MINUTE_MS };
    }
    const next = resets.indexOf(Math.min(...resets));
    time = resets[next]!;
    resets[next] = billingPeriod(accounts[next]!.anniversaryDay, time).end;
    capacities[next]! += Math.max(0, accounts[next]!.perPeriod);
  }
  const { byAccount } = spread(demand, accounts, capacities);
  return { fits: false, minutes: minutesOf(byAccount), periods: null, finishBy: null };
}

/** Billing periods in which an account pays so much. */
function periodsOf(paid: number, { available, perPeriod }: PoolAccount): number {
  if (paid === 0) return 0;
  const first = Math.min(paid, Math.max(0, available));
  return (first > 0 ? 1 : 0) + (paid > first ? Math.ceil((paid - first) / perPeriod) : 0);
}
