import type { Pool, PoolClient } from 'pg';
import { type Clock, steadyTime } from '../../../clock.ts';
import { PerilbookError } from '../../../errors.ts';
import { isConnectionLost, withConnection } from '../../../postgres/open-pool.ts';
import type { LimitRules } from '../limits.ts';
import type { Chargeable, EndedCharges, ServiceInstance } from '../port.ts';
import {
  beginCharging,
  type ChargeOrder,
  chargeResults,
  commitCharges,
  type DecidedCharges,
  findCharges,
  renewLease,
} from './charge-calls.ts';
import { checkCalls } from './check-calls.ts';
import { releaseCrashed, takeBack } from './take-back.ts';

/** The pause before the second try, in milliseconds; each later one is twice as long. */
const FIRST_PAUSE_MS = 25;
/** Most batches at once: more make smaller batches, each with a commit of its own. */
const BATCHES_AT_ONCE = 2;

/** What a running service asks, and by whose clock and rules. */
export interface InstanceSettings {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly rules: LimitRules;
  /** How long an instance that is not heard of counts as running, in milliseconds. */
  readonly leaseMs: number;
  /** How long a call waits for a server that is away, in milliseconds. */
  readonly patienceMs: number;
  readonly onError: (error: unknown) => void;
}

/**
 * Registers a running service. It renews a lease by the clock of the server; when it is killed, cut off or frozen, others take
 * back what it left pending once the lease has ended. A lock of a session, the alternative, lasts for as long as the server
 * believes in a connection that was cut: hours.
 */
export async function registerPostgresInstance(settings: InstanceSettings): Promise<ServiceInstance> {
  const { pool, clock, rules, leaseMs, patienceMs, onError } = settings;
  const registered = await withConnection(pool, async (connection) => {
    const { rows } = await connection.query<{ id: number; now: number }>(
      `INSERT INTO instances (started_at, leased_until) SELECT clock_ms(), clock_ms() + $1 RETURNING id, started_at AS now`,
      [leaseMs],
    );
    await releaseCrashed(connection);
    return rows[0]!;
  });
  const { id } = registered;
  let aheadMs = registered.now - clock.now();
  let isAway = false;
  const inProgress = new Set<Promise<unknown>>();
  // Batches that were given up while it was unknown whether they had been charged.
  const doubtful: ChargeOrder[] = [];

  /** Does work on a connection, and again while the server is away; what fails for good has no effect, or may be repeated. */
  async function patiently<Result>(work: (connection: PoolClient) => Promise<Result>): Promise<Result> {
    const since = steadyTime(clock);
    for (let pause = FIRST_PAUSE_MS; ; pause *= 2) {
      try {
        const result = await withConnection(pool, work);
        isAway = false;
        return result;
      } catch (error) {
        if (!isPassing(error)) throw error;
        const isOver = steadyTime(clock) - since + pause > patienceMs;
        if (!isOver && (isConnectionLost(error) || isDeadlock(error))) {
          await clock.sleep(pause);
          continue;
        }
        const unavailable = new PerilbookError(
          'ACCOUNTS_UNAVAILABLE',
          `The accounts are not available: ${(error as Error).message}`,
          'Calls are answered with 502, and charged nothing, until the PostgreSQL server answers again.',
          {},
          error,
        );
        // Once, and not for each call.
        if (!isAway) onError(unavailable);
        isAway = true;
        throw unavailable;
      }
    }
  }

  async function chargeBatch(calls: readonly Chargeable[], ended: EndedCharges) {
    if (ended.undelivered.length > 0) await settle({ delivered: [], undelivered: ended.undelivered });
    const order: ChargeOrder = { calls, delivered: ended.delivered, instance: id, rules, leaseMs };
    // What was decided by a transaction that may have been committed, although no answer has come.
    let unanswered: DecidedCharges | null = null;
    try {
      return await patiently(async (connection) => {
        if (unanswered !== null) {
          const found = await findCharges(connection, order);
          if (found !== null) return await chargeResults(connection, order, unanswered, found);
        }
        unanswered = null;
        const decision = await beginCharging(connection, order);
        aheadMs = decision.now - clock.now();
        unanswered = decision;
        const ids = await commitCharges(connection, order, decision);
        return await chargeResults(connection, order, decision, ids);
      });
    } catch (error) {
      if (unanswered !== null) doubtful.push(order);
      throw error;
    }
  }

  async function settle({ delivered, undelivered }: EndedCharges): Promise<void> {
    await patiently(async (connection) => {
      if (undelivered.length > 0) await takeBack(connection, 'ids', [undelivered]);
      if (delivered.length === 0) return;
      await connection.query({
        name: 'settle',
        text: 'UPDATE charges SET pending_by = NULL WHERE id = ANY($1::bigint[]) AND pending_by = $2',
        values: [delivered, id],
      });
    });
  }

  async function renew(): Promise<void> {
    await patiently(async (connection) => {
      await renewLease(connection, id, leaseMs);
      for (let order = doubtful[0]; order !== undefined; order = doubtful[0]) {
        const charged = await findCharges(connection, order);
        if (charged !== null) await takeBack(connection, 'ids', [[...charged.values()]]);
        doubtful.shift();
      }
      await releaseCrashed(connection);
    });
  }

  /** What is in progress when the service ends is awaited. */
  function tracked<Result>(work: Promise<Result>): Promise<Result> {
    inProgress.add(work);
    const done = () => void inProgress.delete(work);
    work.then(done, done);
    return work;
  }

  /** That the server is away has been reported. */
  function reportOther(error: unknown): void {
    if (!(error instanceof PerilbookError)) onError(error);
  }

  const heartbeat = setInterval(() => {
    void tracked(renew().catch(reportOther));
  }, leaseMs / 3).unref();

  return {
    now: () => clock.now() + aheadMs,
    batchesAtOnce: BATCHES_AT_ONCE,
    check: (calls) =>
      tracked(
        patiently(async (connection) => {
          const { now, checks } = await checkCalls(connection, calls, rules);
          aheadMs = now - clock.now();
          return checks;
        }),
      ),
    charge: (calls, ended) => tracked(chargeBatch(calls, ended)),
    settle: (ended) => tracked(settle(ended)),
    async [Symbol.asyncDispose]() {
      clearInterval(heartbeat);
      await Promise.allSettled(inProgress);
      // When the server is away, the others do this once the lease has ended.
      await patiently(async (connection) => {
        await takeBack(connection, 'instance', [id]);
        await connection.query('DELETE FROM instances WHERE id = $1', [id]);
      }).catch(reportOther);
    },
  };
}

/** 57014 and 55P03: a statement, or its wait for a lock, took too long. */
function isPassing(error: unknown): boolean {
  return isConnectionLost(error) || isDeadlock(error) || ['57014', '55P03'].includes(codeOf(error));
}

function isDeadlock(error: unknown): boolean {
  return ['40P01', '40001'].includes(codeOf(error));
}

function codeOf(error: unknown): string {
  return String((error as { code?: unknown } | null)?.code);
}
