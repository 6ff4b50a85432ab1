import { counted, dateTime } from '../../base/format-numbers.ts';
import { shellWord } from '../../base/shell-words.ts';
import { NATURAL_SLUGS, type TopicSlug } from '../../contract/topics.ts';
import type { JobAccount } from '../../job/account-settings.ts';
import type { Job } from '../../job/settings.ts';
import type { AccountTerms } from '../../store/runs/port.ts';
import type { AreaVerification } from './area-verification.ts';
import type { Plan } from './planning.ts';

/* Sentences of plans and runs that the command line, the page and programs get alike. */

/** What to do where the ledger says that nothing is left and the provider's page shows credits. The name of the account makes the
 * command work in each store and folder; keys of two accounts at one address share a name unless the user gives one. */
export function quotaAdvice({ name }: Pick<JobAccount, 'name'>): string {
  return `If the provider raised the quota, or its page shows credits left: perilbook quota set --account ${shellWord(name)} --left N. If the key is of another account: --account with a name for it.`;
}

/** The name of a subscription, and the option that names it where it is a default. */
export function subscriptionText({ subscription, isAssumed }: AccountTerms): string {
  return isAssumed ? `assumed: ${subscription.name}, --subscription` : subscription.name;
}

/** When the quota resets, and the option that says it where the day is a default. */
export function resetText({ isDayAssumed }: AccountTerms, end: number): string {
  return `${dateTime(end)}${isDayAssumed ? ' (assumed: --anniversary-day)' : ''}`;
}

/** Why credits of this account can be counted in periods that have not begun. */
export const IN_LATER_PERIODS =
  'in later periods: a clock was ahead, or the anniversary day was another';

/** `24 areas verified, 1 differed`. */
export function verificationText({ verified, differed }: AreaVerification): string {
  return `${counted(verified, 'area')} verified, ${differed} differed`;
}

/** Why each place is bought for itself. */
export function distrustText(verification: AreaVerification): string {
  return `${verificationText(verification)}: the boundaries on this machine are not those of the service, so each place is bought for itself.`;
}

/** The endpoints that the keys may not call, and the effect on the plan. */
export function scopeNotes(
  { topics }: Job,
  { priceList, price }: Pick<Plan, 'priceList' | 'price'>,
): string[] {
  const notes: string[] = [];
  const noSingle = topics.filter((topic) => !priceList.singles(topic));
  const natural = new Set<TopicSlug>(NATURAL_SLUGS);
  if (!priceList.bundles)
    notes.push('No key carries the scope bundle: every topic is bought as a single call.');
  if (noSingle.length > 0 && priceList.bundles) {
    const bundle = noSingle.every((topic) => natural.has(topic) && priceList.standard.has(topic))
      ? 'standard'
      : 'a';
    notes.push(
      `No key carries the scope of ${listed(noSingle)}: bought in ${bundle} bundle${bundle === 'a' ? '' : 's'}.`,
    );
  }
  if (price.unobtainable.size > 0) {
    notes.push(`No key may buy ${listed([...price.unobtainable.keys()])}, alone or in a bundle.`);
  }
  return notes;
}

function listed(topics: readonly TopicSlug[]): string {
  return topics.length <= 4
    ? topics.join(', ')
    : `${topics.slice(0, 3).join(', ')} and ${topics.length - 3} more topics`;
}
