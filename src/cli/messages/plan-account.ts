import { counted, dateTime, grouped, timeSpan } from '../../base/format-numbers.ts';
import { isUnlimited, UNLIMITED } from '../../job/account-settings.ts';
import type { SettingsOf } from '../../job/setting-table.ts';
import { leftOfAllowance } from '../../run/frame/account-state.ts';
import { purchaseJob } from '../../run/frame/connection-kinds.ts';
import { mostWords, quotaAdvice, resetText, subscriptionText } from '../../run/plan/notices.ts';
import type { Prepared } from '../../run/prepare.ts';
import { type NamedWords, timeLimit } from './format.ts';
import { priceTexts } from './price-messages.ts';

/* What a plan says of money and time: the other way to buy, the account, its limits. */

/** A cheaper way to buy, the settings of money and time, prices, and how long it takes. */
export function accountWords(prepared: Prepared): NamedWords[] {
  return [...otherWay(prepared), ...accountPairs(prepared)];
}

/** What the plan says of each setting of money and time; null where none is needed, or another line says it. */
const MONEY_PAIRS: Readonly<
  Record<SettingsOf<'Money and time'>, ((prepared: Prepared) => NamedWords | null) | null>
> = {
  account({ job: { account }, plan: { newKeys } }) {
    if (newKeys.length === 0) return null;
    const verb = newKeys.length === 1 ? 'is' : 'are';
    return [
      'account',
      `${account.name}: ${newKeys.join(' and ')} ${verb} new to it, so its quota counts for old and new keys; another account: --account NAME`,
    ];
  },
  anniversary_day: null,
  optimize: null,
  subscription({ job, plan }) {
    if (plan.account === null || isUnlimited(job)) return null;
    const { account, available, period, spending, isUsedUp } = plan.account;
    const resets = `resets on ${resetText(account, period.end)}`;
    if (isUsedUp) {
      const when = `used up, as the service said on ${dateTime(spending.exhaustedAt!)}`;
      return ['quota', `${when}; ${resets}. ${quotaAdvice(account)}`];
    }
    const { creditsPerMonth } = account.subscription;
    const within = leftOfAllowance(plan.account);
    const overage =
      account.overageCredits > 0 ? ` and ${grouped(available - within)} of overage` : '';
    const left = `by this store ${counted(within, 'credit')}${overage} left of ${grouped(creditsPerMonth)} (${subscriptionText(account)})`;
    const asked =
      spending.exhaustedAt === null
        ? ''
        : `. The service called it used up on ${dateTime(spending.exhaustedAt)}, under other terms or to another key: one call asks again`;
    return ['quota', `${left}, ${resets}${asked}`];
  },
  reserve: ({ job: { account } }) =>
    account.reserve > 0 ? ['reserve', `${counted(account.reserve, 'credit')} kept back`] : null,
  overages({ plan }) {
    const { overageCredits = 0, subscription } = plan.account?.account ?? {};
    const dollars = (overageCredits * (subscription?.overageRate ?? 0)).toFixed(2);
    return overageCredits > 0
      ? ['overage', `at most ${counted(overageCredits, 'credit')} a period, $${dollars}`]
      : null;
  },
  max_minutes: ({ job }) =>
    job.maxMinutes === null ? null : ['time limit', timeLimit(job.maxMinutes)],
  budget: ({ job }) => (job.budget === null ? null : ['budget', counted(job.budget, 'credit')]),
};

function accountPairs(prepared: Prepared): NamedWords[] {
  const { job, plan, summary, connection } = prepared;
  const words = Object.values(MONEY_PAIRS)
    .map((pairOf) => pairOf?.(prepared) ?? null)
    .filter((pair) => pair !== null);
  const prices = priceTexts(summary.prices);
  if (prices.length > 0) words.push(['prices', prices.join('; ')]);
  if (summary.credits_limit > summary.credits && !isUnlimited(job)) {
    const why =
      job.budget === null ? 'topics are unavailable' : 'answers are lost or topics unavailable';
    words.push(['at most', `${mostWords(summary).most} with retries, if ${why}`]);
  }
  const isWhole = summary.this_run.credits >= summary.credits;
  if (!isWhole && summary.this_run.credits === 0) return words;
  const what = isWhole ? '' : ` for ${counted(summary.this_run.credits, 'credit')}`;
  const time = `${timeSpan(summary.this_run.minutes)}${what}`;
  const { creditsPerMinute } = purchaseJob(job, connection).account.subscription;
  const hasMinuteLimit = creditsPerMinute < UNLIMITED.creditsPerMinute;
  return [...words, ['time', hasMinuteLimit ? `${time} at ${paceMessage({ job, plan })}` : time]];
}

/** What determines the time: the credits of a minute, or the calls if these take longer. */
function paceMessage({ job, plan }: Pick<Prepared, 'job' | 'plan'>): string {
  const perMinute = job.account.subscription.creditsPerMinute;
  const { msPerCall, msPerCredit, measured } = plan.pace;
  if (msPerCredit * perMinute <= 60_000) return `${counted(perMinute, 'credit')} a minute`;
  const seconds = `${Number((msPerCall / 1_000).toPrecision(2))} s a call`;
  return `${seconds} (${measured ? 'measured' : 'assumed until calls are measured'}), ${job.concurrency} at once`;
}

/** The ways to buy; those that buy the same topics with their option. */
const WAYS: readonly (readonly [
  way: keyof Prepared['plan']['ways'],
  name: string,
  option?: string,
])[] = [
  ['cheapest', 'fewest credits', '--optimize credits'],
  ['fewest_calls', 'fewest calls', '--optimize calls'],
  ['standard', 'standard bundles'],
  ['enterprise', 'enterprise bundles'],
];

/** A way that leaves out more topics than this answers another question. */
const MOST_LACKING = 3;

/** The cheapest other way to buy, where it is cheaper than the plan. All ways are in `--json`. */
function otherWay({ summary }: Prepared): NamedWords[] {
  const { ways } = summary;
  const others = WAYS.filter(([way]) => ways[way].lacks.length <= MOST_LACKING);
  const [cheapest] = others.toSorted(([a], [b]) => ways[a].credits - ways[b].credits);
  if (cheapest === undefined) return [];
  const [way, name, option] = cheapest;
  const { credits, lacks } = ways[way];
  if (credits >= ways.planned.credits) return [];
  const how = option ?? `without ${firstNames(lacks)}: leave out in --topics`;
  return [['cheaper', `${name}, ${counted(credits, 'credit')} (${how})`]];
}

/** `hail`, `hail, park and drought`, `hail, park and 17 more` */
function firstNames(names: readonly string[]): string {
  const rest = names.length === 3 ? names[2]! : `${names.length - 2} more`;
  return names.length < 3 ? names.join(', ') : `${names.slice(0, 2).join(', ')} and ${rest}`;
}
