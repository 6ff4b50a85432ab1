import { PerilbookError } from '../../base/errors.ts';
import { grouped } from '../../base/format-numbers.ts';
import type { Subscription } from '../../contract/subscriptions.ts';

/** An account that is charged. All its keys share one quota and one rate limit. */
export interface ServiceAccount {
  readonly id: number;
  /** Unique; given by the operator. */
  readonly name: string;
  readonly subscription: Subscription;
  /** Whether calls succeed beyond the allowance and are billed per credit. */
  readonly overages: boolean;
  /** Milliseconds since the epoch; its UTC day of the month is the billing anniversary. */
  readonly signedUpAt: number;
}

export interface NewAccount {
  readonly name: string;
  readonly subscription: Subscription;
  readonly overages?: boolean;
  /** Milliseconds since the epoch. */
  readonly signedUpAt?: number | undefined;
}

/** New terms of an account; absent ones do not change. */
export interface AccountChange {
  readonly subscription?: Subscription;
  /** Figures of a custom subscription; the others stay as they are. */
  readonly figures?: Partial<Omit<Subscription, 'name'>>;
  readonly overages?: boolean;
}

/** Checks a new account before it is written.
 * @throws PerilbookError SERVICE_ACCOUNT when the name is empty, and as `checkSubscription` does */
export function checkNewAccount({ name, subscription }: NewAccount): void {
  if (name.trim() === '') {
    throw new PerilbookError('SERVICE_ACCOUNT', 'Cannot make an account without a name', 'Give the account a name.');
  }
  checkSubscription(subscription);
}

/** @throws PerilbookError SERVICE_ACCOUNT when a figure is not a whole number of credits above 0 */
function checkSubscription(subscription: Subscription): void {
  const { creditsPerMonth, creditsPerMinute, overageRate } = subscription;
  const whole = (credits: number) => Number.isSafeInteger(credits) && credits > 0;
  const rate = overageRate === null || (Number.isFinite(overageRate) && overageRate >= 0);
  if (whole(creditsPerMonth) && whole(creditsPerMinute) && rate) return;
  throw new PerilbookError(
    'SERVICE_ACCOUNT',
    `Cannot use subscription "${subscription.name}" with ${creditsPerMonth} credits a month and ${creditsPerMinute} a minute`,
    'Give whole numbers of credits above 0, and an overage rate of 0 or more dollars.',
  );
}

/** An account after a change of its terms, which takes effect at once (docs/developer/service-api.md, 7.6).
 * @param charged credits that the account was charged in the current billing period
 * @throws PerilbookError SERVICE_ACCOUNT when a figure is no whole number of credits above 0, or credits that the old
 *   allowance included would be beyond the new one: they would be billed although the account did not agree to overages */
export function changedAccount(account: ServiceAccount, change: AccountChange, charged: number): ServiceAccount {
  const { overages = account.overages, figures } = change;
  const agreed = change.subscription ?? account.subscription;
  const subscription: Subscription = figures === undefined ? agreed : { ...agreed, name: 'custom', ...figures };
  checkSubscription(subscription);
  const { creditsPerMonth: before } = account.subscription;
  const included = Math.min(charged, before);
  if (subscription.creditsPerMonth >= included) return { ...account, subscription, overages };
  throw new PerilbookError(
    'SERVICE_ACCOUNT',
    `Cannot lower account "${account.name}" to ${grouped(subscription.creditsPerMonth)} credits a month: ${grouped(included)} of its ${grouped(before)} are charged in this billing period`,
    `Give ${grouped(included)} or more, or change it when the next billing period has begun.`,
  );
}
