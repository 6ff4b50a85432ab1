import type { Clock } from '../../../clock.ts';
import type { PostgresPool } from '../../../sql/postgres-pool.ts';
import type { LimitRules } from '../limits.ts';
import { type Chargeable, type EndedCharges, isAccountsFailure, type ServiceInstance } from '../port.ts';
import { accountsOf, type ChargeOrder, chargeCalls, lockAccounts, renewLease } from './charge-calls.ts';
import { checkCalls } from './check-calls.ts';
import { releaseCrashed, takeBack } from './take-back.ts';

/** Most batches at once: more make smaller batches, each with a commit of its own. */
const BATCHES_AT_ONCE = 2;

/** What a running service asks, and by whose clock and rules. */
export interface InstanceSettings {
  readonly pool: PostgresPool;
  readonly clock: Clock;
  readonly rules: LimitRules;
  /** How long an instance that is not heard of counts as running, in milliseconds. */
  readonly leaseMs: number;
  readonly onError: (error: unknown) => void;
}

/**
 * Registers a running service. It renews a lease by the clock of the server; when it is killed, cut off or frozen, others take
 * back what it left pending once the lease has ended. A lock of a session, the alternative, lasts for as long as the server
 * believes in a connection that was cut: hours.
 */
export async function registerPostgresInstance(settings: InstanceSettings): Promise<ServiceInstance> {
  const { pool, clock, rules, leaseMs, onError } = settings;
  const { id, now } = await pool.transact(async (tx) => {
    tx.last("DELETE FROM transactions WHERE at < now() - interval '1 day'");
    const rows = await tx.rows<{ id: number; now: number }>(
      'INSERT INTO instances (started_at, leased_until) SELECT clock_ms(), clock_ms() + $1 RETURNING id, started_at AS now',
      [leaseMs],
    );
    return rows[0]!;
  });
  await releaseCrashed(pool);
  let aheadMs = now - clock.now();
  let isAway = false;
  const inProgress = new Set<Promise<unknown>>();
  // Batches that were given up while it was unknown whether they had been charged.
  const doubtful: ChargeOrder[] = [];

  /** Reports once, and not for each call, that the server is away. What is in progress when the service ends is awaited. */
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

  async function chargeBatch(calls: readonly Chargeable[], ended: EndedCharges) {
    if (ended.undelivered.length > 0) await settle({ delivered: [], undelivered: ended.undelivered });
    const order: ChargeOrder = { calls, delivered: ended.delivered, instance: id, rules, leaseMs };
    try {
      const { now: chargedAt, results } = await pool.transact((tx) => chargeCalls(tx, order));
      aheadMs = chargedAt - clock.now();
      return results;
    } catch (error) {
      if (isAccountsFailure(error)) doubtful.push(order);
      throw error;
    }
  }

  function settle({ delivered, undelivered }: EndedCharges): Promise<void> {
    return pool.transact(async (tx) => {
      if (undelivered.length > 0) takeBack(tx, 'own', [id, undelivered]);
      if (delivered.length === 0) return;
      tx.last('UPDATE charges SET pending_by = NULL WHERE id = ANY($1::bigint[]) AND pending_by = $2', [delivered, id]);
    });
  }

  async function renew(): Promise<void> {
    await pool.transact(async (tx) => renewLease(tx, id, leaseMs));
    for (let order = doubtful[0]; order !== undefined; order = doubtful[0]) {
      const { calls } = order;
      await pool.transact(async (tx) => {
        // Waits for the end of the transaction, if it is still in progress: only then are its charges to be seen.
        await lockAccounts(tx, accountsOf(calls));
        takeBack(tx, 'requests', [id, calls.map(({ requestId }) => requestId)]);
      });
      doubtful.shift();
    }
    await releaseCrashed(pool);
  }

  /** That the server is away has been reported. */
  function reportOther(error: unknown): void {
    if (!isAccountsFailure(error)) onError(error);
  }

  let isRenewing = false;
  const heartbeat = setInterval(async () => {
    // While the server is away, one attempt may take longer than the interval; two would take back a batch at once.
    if (isRenewing) return;
    isRenewing = true;
    await asked(renew).catch(reportOther);
    isRenewing = false;
  }, leaseMs / 3).unref();

  return {
    now: () => clock.now() + aheadMs,
    batchesAtOnce: BATCHES_AT_ONCE,
    check: (calls) =>
      asked(async () => {
        const { now: checkedAt, checks } = await pool.read((session) => checkCalls(session, calls, rules));
        aheadMs = checkedAt - clock.now();
        return checks;
      }),
    charge: (calls, ended) => asked(() => chargeBatch(calls, ended)),
    settle: (ended) => asked(() => settle(ended)),
    async [Symbol.asyncDispose]() {
      clearInterval(heartbeat);
      await Promise.allSettled(inProgress);
      // When the server is away, the others do this once the lease has ended.
      await asked(() =>
        pool.transact(async (tx) => {
          takeBack(tx, 'instance', [id]);
          tx.last('DELETE FROM instances WHERE id = $1', [id]);
        }),
      ).catch(reportOther);
    },
  };
}
