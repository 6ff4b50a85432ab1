import { PerilbookError } from '../../base/errors.ts';
import type { Call, Scope } from '../../contract/credits.ts';
import type { AllowedCharge } from './limits.ts';
import type { ServiceAccount } from './service-account.ts';

/** Whether the accounts' database is unreachable or unusable. A running service reports this once, not for each call. */
export function isAccountsFailure(error: unknown): boolean {
  return error instanceof PerilbookError && (error.code === 'ACCOUNTS_UNAVAILABLE' || error.code === 'SERVICE_ACCOUNT');
}

/** A received call: its key, and the requested call; null if that is unknown. */
export interface PresentedCall {
  readonly key: string | undefined;
  readonly call: Call | null;
}

/** A key that works, and its account. */
export interface Caller {
  readonly key: number;
  readonly account: ServiceAccount;
  readonly may: (scope: Scope) => boolean;
}

/** The check of a call before it is answered. `invalid`: its key is missing, malformed, unknown, revoked, expired or retired. */
export type CallCheck = 'invalid' | { readonly caller: Caller; readonly refusal: ChargeRefusal | null };

/** An answered call that is not charged yet. */
export interface Chargeable {
  readonly caller: Caller;
  readonly call: Call;
  readonly requestId: string;
}

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
