import type { Call, Scope } from '../../contract/credits.ts';
import { PerilbookError } from '../../errors.ts';
import type { SqlReading, SqlStatement, SqlWork } from '../../sql/sql-work.ts';
import type { KeyInfo, NewKey } from './key-life.ts';
import type { AllowedCharge, LimitRules } from './limits.ts';
import type { PeriodStatement } from './period-statement.ts';
import type { AccountChange, NewAccount, ServiceAccount } from './service-account.ts';

/**
 * Where a service keeps its accounts, keys and charges: a SQLite file, or PostgreSQL for instances on several machines.
 * Errors: SERVICE_ACCOUNT for what cannot be done, ACCOUNTS_UNAVAILABLE while the database does not answer.
 */
export interface ServiceAccounts extends AsyncDisposable {
  createAccount(account: NewAccount): Promise<ServiceAccount>;
  /** Changes what an account may use, at once and on every instance; the open billing period is billed by the new terms. */
  changeAccount(name: string, change: AccountChange): Promise<ServiceAccount>;
  /** By name. */
  findAccount(name: string): Promise<ServiceAccount>;
  /** All accounts, by name. */
  listAccounts(): Promise<ServiceAccount[]>;
  /** Makes a key with scopes; it expires after its lifetime, in milliseconds, or never. */
  createKey(account: string, scopes: readonly string[], lifetimeMs: number | null): Promise<NewKey>;
  /** Makes a key's successor; the old key works until the grace period ends. */
  rotateKey(keyId: number, graceSeconds: number): Promise<NewKey>;
  /** A revoked key stops working at once, on every instance. */
  revokeKey(keyId: number): Promise<void>;
  /** The keys of an account, or of all, in the order in which they were made. */
  listKeys(account?: string): Promise<KeyInfo[]>;
  /** What an account owes by billing period, the oldest first; the current period is always there. */
  statement(account: ServiceAccount): Promise<PeriodStatement[]>;
  /** Registers a running service; what crashed ones left pending is released. */
  register(rules: LimitRules, onError: (error: unknown) => void): Promise<ServiceInstance>;
}

/** Whether the database of the accounts is away, or cannot be used. A running service reports that once, and not for each call. */
export function isAccountsFailure(error: unknown): boolean {
  return error instanceof PerilbookError && (error.code === 'ACCOUNTS_UNAVAILABLE' || error.code === 'SERVICE_ACCOUNT');
}

/** A running service, as it asks about its callers and charges them. Disposing it takes back what it left pending. */
export interface ServiceInstance extends AsyncDisposable {
  /** Now, by the clock that decides in which period and minute a call counts. */
  now(): number;
  /** Most batches of calls that may be in progress at once. */
  readonly batchesAtOnce: number;
  /** Finds the callers of a batch, and whether each call by itself would be refused now. A key that was revoked before the
   * batch is refused. */
  check(calls: readonly PresentedCall[]): Promise<CallCheck[]>;
  /**
   * Checks and charges calls, each as if it came after those before it, and settles charges that have ended first, all in one
   * transaction. The new charges are pending until they are settled. When it fails, nothing is charged, and what has ended
   * must be settled again.
   */
  charge(calls: readonly Chargeable[], outcomes: DeliveryOutcomes): Promise<(Charge | ChargeRefusal)[]>;
  /** Makes delivered charges final and takes undelivered ones back; final ones are not touched. */
  settle(outcomes: DeliveryOutcomes): Promise<void>;
}

/** A call as it arrived: its key, and what it asks for; null where that is unknown. */
export interface PresentedCall {
  readonly key: string | undefined;
  readonly call: Call | null;
}

/** Why a key is refused: nobody has it, so it may be a guess; or it is missing, malformed, revoked, expired or retired. */
export type KeyRefusal = 'unknown' | 'invalid';

/** A key that works, and its account. */
export interface Caller {
  readonly key: number;
  readonly account: ServiceAccount;
  readonly may: (scope: Scope) => boolean;
}

/** What is known of a call before it is answered. */
export type CallCheck = KeyRefusal | { readonly caller: Caller; readonly refusal: ChargeRefusal | null };

/** A call that is answered and not charged yet. */
export interface Chargeable {
  readonly caller: Caller;
  readonly call: Call;
  readonly requestId: string;
}

/** A pending charge. */
export interface Charge extends AllowedCharge {
  readonly id: number;
}

/** Why a call may not be charged now. */
export type ChargeRefusal =
  | { readonly failure: 'QUOTA_EXCEEDED' }
  | {
      readonly failure: 'RATE_LIMITED';
      /** Whole seconds until the call would fit, rounded up. */
      readonly retryAfter: number;
    };

/** Ids of charges whose responses have ended. */
export interface DeliveryOutcomes {
  readonly delivered: readonly number[];
  readonly undelivered: readonly number[];
}

/** An instance that crashed. */
export interface Crashed {
  readonly instance: number;
  /** What it left pending; if it comes back meanwhile, its new charges are not among them. */
  readonly pending: readonly number[];
}

/** How the instances of a service know of one another that they run: by locks on this machine (`instance-locks.ts`), by leases
 * where they are on several (`instance-leases.ts`). */
export interface Presence {
  /** Registers a running instance, under a number that no other ever gets, and removes those that crashed and have nothing
   * pending. */
  begin(): Promise<{ readonly id: number; readonly now: number }>;
  /** Removes a running instance. What it left pending must be settled before. */
  end(instance: number): Promise<void>;
  /** How often an instance must show that it still runs, in milliseconds; null where that shows without it. */
  readonly renewEveryMs: number | null;
  /** Shows that an instance still runs, also one that others took for crashed. */
  renewal(instance: number): readonly SqlStatement[];
  /** Whether a transaction of an instance has to do that too. */
  isDue(instance: number): SqlReading<boolean>;
  /** Instances that crashed, with the ids of the charges that they left pending. */
  crashed(): SqlWork<Crashed[]>;
}
