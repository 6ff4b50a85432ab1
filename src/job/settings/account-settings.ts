import { resolve } from 'node:path';
import { normalizedAddress } from '../../contract/service-address.ts';
import { customSubscription, SUBSCRIPTIONS, type Subscription } from '../../contract/subscriptions.ts';
import { PerilbookError } from '../../errors.ts';
import type { AccountTerms } from '../../store/port.ts';
import { definedOnly } from './defined-only.ts';
import type { JobFile } from './job-file.ts';
import { topicsOf } from './topic-choice.ts';

/** A key's whereabouts, and the scopes that the user says it has (null: not said, found out by trying). */
export interface KeySource {
  readonly env?: string;
  readonly file?: string;
  readonly scopes: readonly string[] | null;
  /** The account whose credits it spends, by name; none said is the job's own. */
  readonly account?: string | null;
}

export type ServiceSettings =
  | { readonly kind: 'embedded' }
  | { readonly kind: 'remote'; readonly baseUrl: string; readonly keys: readonly KeySource[] };

/** An account at the provider, and how far the job may spend it. */
export interface JobAccount extends AccountTerms {
  readonly name: string;
}

/** The default address of the environment's key, so that a first try needs no job file. */
const DEFAULT_KEY_VARIABLE = 'PERILBOOK_API_KEY';

/** Where the service is and which keys open it. @throws USAGE */
export function serviceOf(service: JobFile['service'], folder: string): ServiceSettings {
  if (service === undefined || service === 'embedded') return { kind: 'embedded' };
  if (service.base_url === '') {
    throw new PerilbookError(
      'USAGE',
      'A key is named, but not the service that it opens',
      'Name the service too: --base-url, or `service: {base_url: …}` in the job file.',
    );
  }
  const keys = service.api_keys ?? [{ env: DEFAULT_KEY_VARIABLE }];
  return {
    kind: 'remote',
    baseUrl: normalizedAddress(service.base_url),
    keys: keys.map(({ env, file, scopes, account }) => ({
      ...definedOnly({ env, file: file === undefined ? undefined : resolve(folder, file), account }),
      scopes: scopes ? scopesOf(scopes) : null,
    })),
  };
}

/** A key's scopes may be written with the names of groups. */
function scopesOf(names: readonly string[]): string[] {
  return [...(names.includes('bundle') ? ['bundle'] : []), ...topicsOf(names)];
}

function subscriptionOf(subscription: NonNullable<JobFile['subscription']>): Subscription {
  if (typeof subscription === 'string') return SUBSCRIPTIONS[subscription];
  const { credits_per_month, credits_per_minute, overage_rate } = subscription;
  return customSubscription(credits_per_month, credits_per_minute, overage_rate ?? null);
}

/** The ceiling in whole credits: rounding up would bill more dollars than were allowed. */
function overageCreditsOf(overages: JobFile['overages'], subscription: Subscription): number {
  if (overages === undefined || overages.ceiling === 0) return 0;
  if (subscription.overageRate === null || subscription.overageRate === 0) {
    throw new PerilbookError(
      'JOB_FILE',
      'overages: the subscription has no rate, so a ceiling in dollars says nothing about credits',
      'Name it: subscription: {…, overage_rate: 0.03}.',
    );
  }
  // A ceiling of $7 at $0.07 is 100 credits, though 7 / 0.07 falls just short of it in binary.
  return Math.floor(overages.ceiling / subscription.overageRate + 1e-9);
}

type AccountSettings = Pick<
  JobFile,
  'account' | 'subscription' | 'anniversary_day' | 'reserve' | 'overages' | 'spent_elsewhere'
>;

/** The embedded service has an account for each subscription: a job that names another one does not change the quota of a
 * run at work. */
function embeddedAccount({ name, creditsPerMonth, creditsPerMinute }: Subscription): string {
  if (name === 'starter') return 'embedded';
  return name === 'professional' ? `embedded-${name}` : `embedded-${creditsPerMonth}-${creditsPerMinute}`;
}

/** The account that the job itself describes. */
export function accountOf(said: AccountSettings, service: ServiceSettings): JobAccount {
  const subscription = subscriptionOf(said.subscription ?? 'starter');
  return {
    name: said.account ?? (service.kind === 'embedded' ? embeddedAccount(subscription) : new URL(service.baseUrl).host),
    subscription,
    anniversaryDay: said.anniversary_day ?? 1,
    reserve: said.reserve ?? 0,
    overageCredits: overageCreditsOf(said.overages, subscription),
    spentElsewhere: said.spent_elsewhere ?? 0,
  };
}

/**
 * All accounts that the keys of a job spend, in the order of the keys. A key that names an account may say its
 * subscription, anniversary and reserve; the rest is as in the job. Overages are the job's own account's alone: a
 * ceiling in dollars is for one bill.
 */
export function accountsOf(
  own: JobAccount,
  service: ServiceSettings,
  said: JobFile['service'],
  overages?: JobFile['overages'],
): JobAccount[] {
  if (service.kind === 'embedded' || typeof said !== 'object') return [own];
  const accounts = new Map<string, JobAccount>();
  for (const key of said.api_keys ?? [{}]) {
    const name = key.account ?? own.name;
    const before =
      accounts.get(name) ?? (name === own.name ? own : { ...own, name, overageCredits: 0, spentElsewhere: 0 });
    const subscription = key.subscription === undefined ? before.subscription : subscriptionOf(key.subscription);
    accounts.set(name, {
      ...before,
      subscription,
      // The ceiling is in dollars: at another rate it is other credits.
      overageCredits: name === own.name ? overageCreditsOf(overages, subscription) : 0,
      ...(key.anniversary_day === undefined ? {} : { anniversaryDay: key.anniversary_day }),
      ...(key.reserve === undefined ? {} : { reserve: key.reserve }),
    });
  }
  return [...accounts.values()];
}
