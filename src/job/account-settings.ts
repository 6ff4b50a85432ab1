import { resolve } from 'node:path';
import { PerilbookError } from '../base/errors.ts';
import { normalizedAddress, sourceName } from '../contract/service-address.ts';
import { customSubscription, SUBSCRIPTIONS, type Subscription } from '../contract/subscriptions.ts';
import type { AccountTerms } from '../store/runs/port.ts';
import type { JobFile } from './job-file.ts';
import { definedOnly } from './merge-settings.ts';
import { parseTopics } from './topic-choice.ts';

/** Where a key is, and its scopes (null: learned from refusals). */
export interface KeySource {
  readonly env?: string;
  readonly file?: string;
  readonly scopes: readonly string[] | null;
}

/** Where answers come from. Made-up answers are given only to who asks for `sample` by name. */
export type ServiceSettings =
  | { readonly kind: 'local' }
  | { readonly kind: 'sample' }
  | { readonly kind: 'remote'; readonly baseUrl: string; readonly keys: readonly KeySource[] };

/** An account at the provider, and the job's limits for it. */
export interface JobAccount extends AccountTerms {
  readonly name: string;
}

/** Holds the key if no other source is named, so that a first try needs no job file. */
const DEFAULT_KEY_VARIABLE = 'PERILBOOK_API_KEY';

/** The address of the service, and its keys. @throws USAGE */
export function parseService(service: JobFile['service'], folder: string): ServiceSettings {
  if (service === undefined || service === 'local') return { kind: 'local' };
  if (service === 'sample') return { kind: 'sample' };
  if (service.base_url === '') {
    const hint = 'Add --base-url, or service: {base_url: …} in the job file.';
    throw new PerilbookError('USAGE', 'A key needs the address of its service', hint);
  }
  const keys = service.api_keys ?? [{ env: DEFAULT_KEY_VARIABLE }];
  return {
    kind: 'remote',
    baseUrl: normalizedAddress(service.base_url),
    keys: keys.map(({ env, file, scopes }) => ({
      ...definedOnly({ env, file: file === undefined ? undefined : resolve(folder, file) }),
      scopes: scopes ? parseScopes(scopes) : null,
    })),
  };
}

/** A key's scopes may name groups of topics. */
function parseScopes(names: readonly string[]): string[] {
  return [...(names.includes('bundle') ? ['bundle'] : []), ...parseTopics(names)];
}

/** The sample's subscription where the job names none: nothing is charged, so neither a month nor a minute ends a run. */
export const UNLIMITED: Subscription = customSubscription(1_000_000_000_000, 1_000_000_000);

/** Whether a job asks the sample without a subscription. Never decided by the figures alone: a paid account may have any. */
export function isUnlimited({
  service,
  account,
}: {
  service: ServiceSettings;
  account: JobAccount;
}): boolean {
  return service.kind === 'sample' && account.subscription === UNLIMITED;
}

function parseSubscription(subscription: NonNullable<JobFile['subscription']>): Subscription {
  if (typeof subscription === 'string') return SUBSCRIPTIONS[subscription];
  const { credits_per_month, credits_per_minute, overage_rate } = subscription;
  return customSubscription(credits_per_month, credits_per_minute, overage_rate ?? null);
}

/** The ceiling in whole credits, rounded down: rounding up would bill more dollars than allowed. */
function parseOverages(overages: JobFile['overages'], subscription: Subscription): number {
  if (overages === undefined || overages.ceiling === 0) return 0;
  if (subscription.overageRate === null || subscription.overageRate === 0) {
    const message = 'overages: a ceiling in dollars needs the overage rate of the subscription';
    throw new PerilbookError(
      'JOB_FILE',
      message,
      'Add it, for example subscription: {…, overage_rate: 0.03}.',
    );
  }
  return creditsFor(overages.ceiling, subscription.overageRate);
}

/** The whole credits that so many dollars buy at a rate, as many as the ledger can count. $7 at $0.07 are 100 credits, though 7 / 0.07 falls
 * just short of it in binary. */
export function creditsFor(dollars: number, rate: number): number {
  return Math.min(Math.floor(dollars / rate + 1e-9), Number.MAX_SAFE_INTEGER);
}

/** The embedded service has one account per subscription, so that a job with another one does not change the quota of a run in
 * progress. Its names begin alike: made-up answers never count in a paid account, whatever a job calls it. */
function embeddedAccount(given: string | undefined, subscription: Subscription): string {
  if (given !== undefined) return isSampleAccount(given) ? given : `embedded-${given}`;
  const { name, creditsPerMonth, creditsPerMinute } = subscription;
  if (name === 'starter') return 'embedded';
  return name === 'professional'
    ? `embedded-${name}`
    : `embedded-${creditsPerMonth}-${creditsPerMinute}`;
}

function accountName(
  given: string | undefined,
  service: ServiceSettings,
  subscription: Subscription,
): string {
  if (service.kind === 'remote') {
    const name = given ?? new URL(sourceName(service.baseUrl)).host;
    if (!isSampleAccount(name)) return name;
    throw new PerilbookError(
      'JOB_FILE',
      `account: ${name} is a name of the sample's accounts, whose credits nobody charges`,
      'Give the account of the service another name: --account NAME, or account in the job file.',
    );
  }
  // A job of local data spends no account; `quota --account` names a paid one.
  if (service.kind === 'local' && given !== undefined) return given;
  return embeddedAccount(given, subscription);
}

/** Whether an account belongs to the embedded service. Messages call it the sample account, because its name means nothing to users. */
export function isSampleAccount(name: string): boolean {
  return /^embedded(-|$)/.test(name);
}

/** Whether an account is that of the sample without a subscription, which charges nothing. */
export function isFreeAccount(name: string): boolean {
  return name === embeddedAccount(undefined, UNLIMITED);
}

/** The account of the job's own settings.
 * @param isNamed false: the setting of `given` is the default */
export function makeAccount(
  given: JobFile & {
    readonly [K in 'subscription' | 'anniversary_day' | 'reserve']: NonNullable<JobFile[K]>;
  },
  service: ServiceSettings,
  isNamed: (name: 'subscription' | 'anniversary_day') => boolean,
): JobAccount {
  const isRemote = service.kind === 'remote';
  const subscription =
    service.kind === 'sample' && !isNamed('subscription')
      ? UNLIMITED
      : parseSubscription(given.subscription);
  return {
    name: accountName(given.account, service, subscription),
    subscription,
    anniversaryDay: given.anniversary_day,
    reserve: given.reserve,
    overageCredits: parseOverages(given.overages, subscription),
    isAssumed: isRemote && !isNamed('subscription'),
    isDayAssumed: isRemote && !isNamed('anniversary_day'),
  };
}
