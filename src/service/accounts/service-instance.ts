import type { Clock } from '../../base/clock.ts';
import { read, type SqlDatabase, write } from '../../sql/sql-work.ts';
import {
  type CallCheck,
  type Charge,
  type Chargeable,
  type ChargeOrder,
  chargeCalls,
  checkCalls,
  type DeliveryOutcomes,
  isAccountsFailure,
  listAccounts,
  type PresentedCall,
} from './calls.ts';
import { type ChargeRefusal, type LastCall, lockAccounts } from './limits.ts';
import type { Presence } from './presence.ts';
import { makeFinal, takeBack, takeBackPending } from './settle-charges.ts';

/** The database of a service's accounts, by whose clock all happens. */
export interface AccountsStore {
  readonly database: SqlDatabase;
  readonly presence: Presence;
  readonly clock: Clock;
  /** Most batches of calls of an instance that may be in progress at once. */
  readonly batchesAtOnce: number;
}

/** A running service that checks its callers and charges them. Disposing of it reverses its pending charges. */
export class ServiceInstance implements AsyncDisposable {
  readonly #store: AccountsStore;
  readonly #id: number;
  readonly #lastCall: LastCall;
  readonly #onError: (error: unknown) => void;
  readonly #renewal: NodeJS.Timeout | undefined;
  /** How far the clock of the database is ahead of this machine's, in milliseconds. */
  #aheadMs = 0;
  #isAway = false;
  #isRenewing = false;
  readonly #inProgress = new Set<Promise<unknown>>();
  /** Batches that were given up although they may have been charged. */
  readonly #doubtful: ChargeOrder[] = [];

  private constructor(
    store: AccountsStore,
    id: number,
    onError: (error: unknown) => void,
    lastCall: LastCall,
  ) {
    this.#store = store;
    this.#id = id;
    this.#lastCall = lastCall;
    this.#onError = onError;
    const { renewEveryMs } = store.presence;
    if (renewEveryMs !== null)
      this.#renewal = setInterval(() => this.#renewInTurn(), renewEveryMs).unref();
  }

  /** Registers a running service, and releases the pending charges of crashed ones. */
  static async register(
    store: AccountsStore,
    onError: (error: unknown) => void,
    lastCall: LastCall,
  ): Promise<ServiceInstance> {
    await releaseCrashed(store);
    const { id, now } = await store.presence.begin();
    const instance = new ServiceInstance(store, id, onError, lastCall);
    instance.#setClock(now);
    return instance;
  }

  /** Now, by the clock that decides in which period and minute a call counts. */
  now(): number {
    return this.#store.clock.now() + this.#aheadMs;
  }

  get batchesAtOnce(): number {
    return this.#store.batchesAtOnce;
  }

  /** Finds the callers of a batch, and whether each call by itself would be refused now. A key that was revoked before is refused. */
  check(calls: readonly PresentedCall[]): Promise<CallCheck[]> {
    return this.#track(async () => {
      const checks = await this.#checkOnce(calls);
      // Credits that a crashed instance left pending must not cause a refusal.
      const isRefused = checks.some(
        (result) => typeof result === 'object' && result.refusal !== null,
      );
      return isRefused && (await releaseCrashed(this.#store))
        ? await this.#checkOnce(calls)
        : checks;
    });
  }

  /** Checks and charges calls in order, all in one transaction. New charges are pending until they are settled. */
  charge(calls: readonly Chargeable[]): Promise<(Charge | ChargeRefusal)[]> {
    const { database, presence } = this.#store;
    const order: ChargeOrder = { calls, instance: this.#id };
    return this.#track(async () => {
      try {
        const charge = () => chargeCalls(database.dialect, presence, this.#lastCall, order);
        const { results, now } = await database.transact(charge);
        this.#setClock(now);
        return results;
      } catch (error) {
        if (isAccountsFailure(error)) this.#doubtful.push(order);
        throw error;
      }
    });
  }

  /** Makes delivered charges final and reverses undelivered ones; final charges stay. */
  settle({ delivered, undelivered }: DeliveryOutcomes): Promise<void> {
    const { database } = this.#store;
    const id = this.#id;
    return this.#track(() =>
      database.transact(function* () {
        if (undelivered.length > 0) yield* takeBack(database.dialect, id, undelivered);
        if (delivered.length > 0) yield* makeFinal(database.dialect, id, delivered);
      }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { database, presence } = this.#store;
    clearInterval(this.#renewal);
    await Promise.allSettled(this.#inProgress);
    // If the server does not answer, other instances do this after the lease.
    await this.#track(async () => {
      try {
        await database.transact(() => takeBackPending(database.dialect, this.#id));
      } finally {
        await presence.end(this.#id);
      }
    }).catch((error) => this.#reportOther(error));
  }

  /** Reports an unreachable database once, not for each call. The end of the service waits for work in progress. */
  #track<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = work().then(
      (done) => {
        this.#isAway = false;
        return done;
      },
      (error) => {
        if (isAccountsFailure(error) && !this.#isAway) {
          this.#isAway = true;
          this.#onError(error);
        }
        throw error;
      },
    );
    this.#inProgress.add(result);
    const end = () => void this.#inProgress.delete(result);
    result.then(end, end);
    return result;
  }

  async #checkOnce(calls: readonly PresentedCall[]): Promise<CallCheck[]> {
    const { database } = this.#store;
    const { checks, now } = await database.read(() =>
      checkCalls(database.dialect, this.#lastCall, calls),
    );
    if (now !== null) this.#setClock(now);
    return checks;
  }

  /** If the server does not answer, one attempt may take longer than the interval, and two at once would reverse a batch twice. */
  async #renewInTurn(): Promise<void> {
    if (this.#isRenewing) return;
    this.#isRenewing = true;
    await this.#track(() => this.#renew()).catch((error) => this.#reportOther(error));
    this.#isRenewing = false;
  }

  async #renew(): Promise<void> {
    const { database, presence } = this.#store;
    const { dialect } = database;
    const id = this.#id;
    await database.transact(() => write(...presence.renewal(id)));
    for (let order = this.#doubtful[0]; order !== undefined; order = this.#doubtful[0]) {
      const { calls } = order;
      await database.transact(function* () {
        // Waits for the end of the transaction, if it is still in progress: its charges are visible only then.
        yield* read(...lockAccounts(dialect, listAccounts(calls)));
        yield* takeBackPending(dialect, id, new Set(calls.map(({ requestId }) => requestId)));
      });
      this.#doubtful.shift();
    }
    await releaseCrashed(this.#store);
  }

  #setClock(now: number): void {
    this.#aheadMs = now - this.#store.clock.now();
  }

  /** The unreachable database has been reported. */
  #reportOther(error: unknown): void {
    if (!isAccountsFailure(error)) this.#onError(error);
  }
}

/** Reverses the pending charges of crashed instances; returns whether there were any. */
export async function releaseCrashed({ database, presence }: AccountsStore): Promise<boolean> {
  const crashed = await database.read(() => presence.crashed());
  for (const { instance, pending } of crashed) {
    await database.transact(() => takeBack(database.dialect, instance, pending));
  }
  return crashed.length > 0;
}
