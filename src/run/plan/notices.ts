import { counted, dateTime, grouped } from '../../base/format-numbers.ts';
import { shellWord } from '../../base/shell-words.ts';
import { NATURAL_SLUGS, type TopicSlug } from '../../contract/topics.ts';
import type { JobAccount } from '../../job/account-settings.ts';
import type { Job } from '../../job/settings.ts';
import type { AccountTerms } from '../../store/runs/port.ts';
import type { Plan } from './planning.ts';

/* Sentences of plans and runs that the command line, the page and programs get alike. */

/** What a run spends at most, as every plan, question and refusal names it: price and retries in one number, which the claims of the run
 * are checked against; and its parts where there are two. */
export interface MostWords {
  /** `79 credits` */
  readonly most: string;
  /** `45, and up to 34 if topics are unavailable`; null where no retry can add to the price. */
  readonly parts: string | null;
}

/** @param spending of a plan without a budget: with one, the budget is the approval, and nothing is asked */
export function mostWords({
  credits,
  credits_limit: limit,
}: {
  readonly credits: number;
  readonly credits_limit: number;
}): MostWords {
  const retries = limit - credits;
  const parts =
    retries > 0
      ? `${grouped(credits)}, and up to ${grouped(retries)} if topics are unavailable`
      : null;
  return { most: counted(limit, 'credit'), parts };
}

/** `This run would spend at most 79 credits (45, and up to 34 if topics are unavailable) without approval`. */
export function unapprovedText(what: string, { most, parts }: MostWords): string {
  return `This ${what} would spend at most ${most}${parts === null ? '' : ` (${parts})`} without approval`;
}

/** What to do where the ledger says that nothing is left and the provider's page shows credits. The name of the account makes the
 * command work in each store and folder; keys of two accounts at one address share a name unless the user gives one. */
export function quotaAdvice({ name }: Pick<JobAccount, 'name'>): string {
  return `If the provider raised the quota, or its page shows credits left: perilbook quota set --account ${shellWord(name)} --left N. If it switched overages on: --overage-ceiling with the most dollars. If the key is of another account: --account with a name for it.`;
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
