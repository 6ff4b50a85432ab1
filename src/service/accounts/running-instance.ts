import type { Clock } from '../../base/clock.ts';
import { read, type SqlDatabase, write } from '../../sql/sql-work.ts';
import { lockAccounts } from './account-usage.ts';
import { accountsOf, type ChargeOrder, chargeCalls } from './charge-calls.ts';
import { checkCalls } from './check-calls.ts';
import type { LimitRules } from './limits.ts';
import {
  type Chargeable,
  type DeliveryOutcomes,
  isAccountsFailure,
  type Presence,
  type PresentedCall,
  type ServiceInstance,
} from './port.ts';
import { makeFinal, pendingOf, takeBack } from './settle-charges.ts';

/** The database, clock and rules of a running service. */
interface InstanceSettings {
  readonly database: SqlDatabase;
  readonly presence: Presence;
  readonly clock: Clock;
  readonly rules: LimitRules;
  readonly batchesAtOnce: number;
  readonly onError: (error: unknown) => void;
}

/** Registers a running service. */
export async function registerInstance(settings: InstanceSettings): Promise<ServiceInstance> {
  const { database, presence, clock, rules, batchesAtOnce, onError } = settings;
  const { dialect } = database;
  await releaseCrashed(database, presence);
  const { id, now } = await presence.begin();
  let aheadMs = now - clock.now();
  let isAway = false;
  const inProgress = new Set<Promise<unknown>>();
  // Batches that were given up although they may have been charged.
  const doubtful: ChargeOrder[] = [];

  /** Reports an unreachable database once, not for each call. The end of the service waits for work in progress. */
  function asked<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = work().then(
      (done) => {
        isAway = false;
        return done;
      },
      (error) => {
        if (isAccountsFailure(error) && !isAway) {
          isAway = true;
          onError(error);
        }
        throw error;
      },
    );
    inProgress.add(result);
    const end = () => void inProgress.delete(result);
    result.then(end, end);
    return result;
  }

  async function checkBatch(calls: readonly PresentedCall[]) {
    const check = async () => {
      const { checks, now: checkedAt } = await database.read(() => checkCalls(dialect, rules, calls));
      if (checkedAt !== null) aheadMs = checkedAt - clock.now();
      return checks;
    };
    const checks = await check();
    // Credits that a crashed instance left pending must not cause a refusal.
    const isRefused = checks.some((result) => typeof result === 'object' && result.refusal !== null);
    return isRefused && (await releaseCrashed(database, presence)) ? await check() : checks;
  }

  async function chargeBatch(calls: readonly Chargeable[], outcomes: DeliveryOutcomes) {
    // Reversed credits can be spent again.
    if (outcomes.undelivered.length > 0) await settle({ delivered: [], undelivered: outcomes.undelivered });
    const order: ChargeOrder = { calls, delivered: outcomes.delivered, instance: id };
    try {
      const { results, now: chargedAt } = await database.transact(() => chargeCalls(dialect, presence, rules, order));
      aheadMs = chargedAt - clock.now();
      return results;
    } catch (error) {
      if (isAccountsFailure(error)) doubtful.push(order);
      throw error;
    }
  }

  function settle({ delivered, undelivered }: DeliveryOutcomes): Promise<void> {
    return database.transact(function* () {
      if (undelivered.length > 0) yield* takeBack(dialect, id, undelivered);
      yield* write(...makeFinal(delivered, id));
    });
  }

  async function renew(): Promise<void> {
    await database.transact(() => write(...presence.renewal(id)));
    for (let order = doubtful[0]; order !== undefined; order = doubtful[0]) {
      const { calls } = order;
      const requests = new Set(calls.map(({ requestId }) => requestId));
      await database.transact(function* () {
        // Waits for the end of the transaction, if it is still in progress: its charges are visible only then.
        yield* read(...lockAccounts(dialect, accountsOf(calls)));
        const charged = (yield* pendingOf(id)).filter(({ requestId }) => requests.has(requestId));
        yield* takeBack(
          dialect,
          id,
          charged.map((charge) => charge.id),
        );
      });
      doubtful.shift();
    }
    await releaseCrashed(database, presence);
  }

  /** The unreachable database has been reported. */
  function reportOther(error: unknown): void {
    if (!isAccountsFailure(error)) onError(error);
  }

  let isRenewing = false;
  async function heartbeat(): Promise<void> {
    // If the server does not answer, one attempt may take longer than the interval, and two at once would reverse a batch twice.
    if (isRenewing) return;
    isRenewing = true;
    await asked(renew).catch(reportOther);
    isRenewing = false;
  }
  const { renewEveryMs } = presence;
  const timer = renewEveryMs === null ? undefined : setInterval(heartbeat, renewEveryMs).unref();

  return {
    now: () => clock.now() + aheadMs,
    batchesAtOnce,
    check: (calls) => asked(() => checkBatch(calls)),
    charge: (calls, outcomes) => asked(() => chargeBatch(calls, outcomes)),
    settle: (outcomes) => asked(() => settle(outcomes)),
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await Promise.allSettled(inProgress);
      // If the server does not answer, other instances do this after the lease.
      await asked(async () => {
        try {
          await database.transact(function* () {
            yield* takeBack(
              dialect,
              id,
              (yield* pendingOf(id)).map((charge) => charge.id),
            );
          });
        } finally {
          await presence.end(id);
        }
      }).catch(reportOther);
    },
  };
}

/** Reverses the pending charges of crashed instances; returns whether there were any. */
export async function releaseCrashed(database: SqlDatabase, presence: Presence): Promise<boolean> {
  const crashed = await database.read(() => presence.crashed());
  for (const { instance, pending } of crashed) {
    await database.transact(() => takeBack(database.dialect, instance, pending));
  }
  return crashed.length > 0;
}
