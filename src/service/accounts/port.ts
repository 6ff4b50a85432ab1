import { PerilbookError } from '../../base/errors.ts';
import type { Call, Scope } from '../../contract/credits.ts';
import type { SqlReading, SqlStatement, SqlWork } from '../../sql/sql-work.ts';
import type { KeyInfo, NewKey } from './key-life.ts';
import type { AllowedCharge, LimitRules } from './limits.ts';
import type { PeriodStatement } from './period-statement.ts';
import type { AccountChange, NewAccount, ServiceAccount } from './service-account.ts';

/**
 * Where a service keeps its accounts, keys and charges: a SQLite file, or PostgreSQL for instances on several machines.
 * Errors: SERVICE_ACCOUNT for an invalid request, ACCOUNTS_UNAVAILABLE while the database does not answer.
 */
export interface ServiceAccounts extends AsyncDisposable {
  createAccount(account: NewAccount): Promise<ServiceAccount>;
  /** Changes the terms of an account, at once and on every instance; the open billing period is billed by the new terms. */
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
  /** The amount that an account owes by billing period, the oldest first; always with the current period. */
  statement(account: ServiceAccount): Promise<PeriodStatement[]>;
  /** Registers a running service, and releases the pending charges of crashed ones. */
  register(rules: LimitRules, onError: (error: unknown) => void): Promise<ServiceInstance>;
}

/** Whether the accounts' database is unreachable or unusable. A running service reports this once, not for each call. */
export function isAccountsFailure(error: unknown): boolean {
  return error instanceof PerilbookError && (error.code === 'ACCOUNTS_UNAVAILABLE' || error.code === 'SERVICE_ACCOUNT');
}

/** A running service that checks its callers and charges them. Disposing of it reverses its pending charges. */
export interface ServiceInstance extends AsyncDisposable {
  /** Now, by the clock that decides in which period and minute a call counts. */
  now(): number;
  /** Most batches of calls that may be in progress at once. */
  readonly batchesAtOnce: number;
  /** Finds the callers of a batch, and whether each call by itself would be refused now. A key that was revoked before the
   * batch is refused. */
  check(calls: readonly PresentedCall[]): Promise<CallCheck[]>;
  /**
   * First settles charges whose delivery has ended, then checks and charges calls in order, all in one transaction. New charges are
   * pending until they are settled. If it fails, nothing is charged, and the deliveries must be settled again.
   */
  charge(calls: readonly Chargeable[], outcomes: DeliveryOutcomes): Promise<(Charge | ChargeRefusal)[]>;
  /** Makes delivered charges final and reverses undelivered ones; final charges stay. */
  settle(outcomes: DeliveryOutcomes): Promise<void>;
}

/** A received call: its key, and the requested call; null if that is unknown. */
export interface PresentedCall {
  readonly key: string | undefined;
  readonly call: Call | null;
}

/** Why a key is refused: it is unknown, so it may be a guess; or it is missing, malformed, revoked, expired or retired. */
export type KeyRefusal = 'unknown' | 'invalid';

/** A key that works, and its account. */
export interface Caller {
  readonly key: number;
  readonly account: ServiceAccount;
  readonly may: (scope: Scope) => boolean;
}

/** The check of a call before it is answered. */
export type CallCheck = KeyRefusal | { readonly caller: Caller; readonly refusal: ChargeRefusal | null };

/** An answered call that is not charged yet. */
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
  /** Its pending charges; without new ones, if it has resumed meanwhile. */
  readonly pending: readonly number[];
}

/** How the instances of a service detect each other's crash: by locks on one machine (`instance-locks.ts`), by leases on several
 * machines (`instance-leases.ts`). */
export interface Presence {
  /** Registers a running instance under a number that is never reused, and removes crashed instances without pending
   * charges. */
  begin(): Promise<{ readonly id: number; readonly now: number }>;
  /** Removes a running instance. Settle its pending charges before. */
  end(instance: number): Promise<void>;
  /** How often an instance must renew, in milliseconds; null if it need not. */
  readonly renewEveryMs: number | null;
  /** Renews an instance, also one that counted as crashed. */
  renewal(instance: number): readonly SqlStatement[];
  /** Whether a transaction of an instance must renew it too. */
  isDue(instance: number): SqlReading<boolean>;
  /** Instances that crashed, with the ids of the charges that they left pending. */
  crashed(): SqlWork<Crashed[]>;
}
