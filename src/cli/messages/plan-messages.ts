import { counted, dateTime, grouped, timeSpan } from '../../base/format-numbers.ts';
import { getBoundariesCommand } from '../../host/connection.ts';
import { isUnlimited, UNLIMITED } from '../../job/account-settings.ts';
import { DEFAULTS, type SettingsOf } from '../../job/setting-table.ts';
import type { AreaCounts } from '../../run/areas/area-table.ts';
import { distrustText } from '../../run/areas/area-verification.ts';
import { differsFrom, leftOfAllowance } from '../../run/frame/account-state.ts';
import { purchaseJob } from '../../run/frame/connection-kinds.ts';
import { mostWords, quotaAdvice, resetText, subscriptionText } from '../../run/plan/notices.ts';
import { nearestBound, type SpendingBound } from '../../run/plan/spending.ts';
import type { Prepared } from '../../run/prepare.ts';
import { listed, sharePhrase } from './format.ts';
import { inputMessages, type OutputStyle } from './input-messages.ts';
import { besideText, localNotices, localSourceLines, localVerdict } from './local-messages.ts';
import { priceTexts } from './price-messages.ts';

/** The plan for people; the most important line comes first. */
export function planMessages(prepared: Prepared, folder: string, style: OutputStyle): string[] {
  const { summary, connection } = prepared;
  const { width } = style;
  const lines = inputMessages(prepared, folder, style, {
    verdict: verdict(prepared),
    isOneLine: false,
  });
  if (summary.cells === 0) return lines;
  const isLocal = connection.kind === 'local';
  const account = isLocal ? [] : [...otherWay(prepared), ...accountPairs(prepared)];
  lines.push('', ...listed([...cellPairs(prepared), ...account], '  ', width));
  if (isLocal) lines.push('', ...localSourceLines(prepared, folder, width));
  else
    lines.push(
      ...summary.scopes,
      ...otherTermsMessage(prepared),
      ...missingBoundariesMessage(prepared, folder),
      ...localSourceLines(prepared, folder, width),
    );
  return lines;
}

/** The plan of a run that begins now. A table is for who may spend: where nothing can be charged, the input stands in one line, with
 * what is missing or to be noticed; `plan` shows the rest. */
export function runPlanMessages(prepared: Prepared, folder: string, style: OutputStyle): string[] {
  const { job, plan, summary } = prepared;
  const isAsked = summary.credits > 0 || besideText(summary) !== '';
  const isPriced = isAsked || plan.price.unobtainable.size > 0;
  if (summary.cells > 0 && isPriced && !isFree(prepared))
    return planMessages(prepared, folder, style);
  const lines = inputMessages(prepared, folder, style, {
    verdict: verdict(prepared),
    isOneLine: true,
  });
  if (summary.cells === 0 || !isFree(prepared)) return lines;
  const notices = [
    ...localNotices(prepared, folder),
    ...(isPriced ? missingBoundariesMessage(prepared, folder) : []),
  ];
  if (plan.order.length > 0) {
    const few = fewPlacesText(summary.located, summary.cells);
    if (few !== null) notices.push(`${few}.`);
    if (job.isTopicsAssumed) notices.push(ASSUMED_TOPICS);
  }
  const isTabled = lines.includes('') && notices.length > 0;
  return [...lines, ...(isTabled ? [''] : []), ...notices];
}

const ASSUMED_TOPICS = `Topics: ${DEFAULTS.topics}, the default; others: --topics.`;

/** Whether nobody is charged, and no limit of the job shows what a paid service would do. */
export function isFree({ connection, job }: Pick<Prepared, 'connection' | 'job'>): boolean {
  return connection.kind === 'local' || (isUnlimited(job) && job.budget === null);
}

/** `hail, park`; of more than six the first five, and how many more. */
export function topicsMessage(topics: readonly string[]): string {
  return topics.length <= 6
    ? topics.join(', ')
    : `${topics.slice(0, 5).join(', ')} and ${topics.length - 5} more`;
}

/** The credits that a plan or a run saves, by reason; '' for none. Some stored answers may have been free: a place without data. */
export function savingsMessage({
  by_cells,
  by_cache,
  by_areas,
}: Prepared['summary']['saved']): string {
  const parts = [
    by_cells > 0 ? `${grouped(by_cells)} (rows at the same place)` : '',
    by_cache > 0 ? `at most ${grouped(by_cache)} (answers in the store)` : '',
    by_areas > 0 ? `${grouped(by_areas)} (one answer per area)` : '',
  ];
  return parts.filter(Boolean).join(', ');
}

function cellPairs({ job, plan, summary }: Prepared): PlanPair[] {
  const { cells, cells_cached, cells_rejected, located, saved } = summary;
  const rejected = cells_rejected > 0 ? `, ${grouped(cells_rejected)} rejected by the service` : '';
  // A run that buys less than everything saves less than the plan of everything.
  const isWhole = summary.this_run.credits >= summary.credits;
  const isDefault = job.isTopicsAssumed ? ` (${DEFAULTS.topics}, the default: --topics)` : '';
  const words: PlanPair[] = [
    ['topics', `${job.topics.length}${isDefault}: ${topicsMessage(job.topics)}`],
    [
      'places',
      `${grouped(cells)} of ${counted(located, 'located row')} (${counted(job.precision, 'decimal')}); ${grouped(cells_cached)} complete and fresh in the store${rejected}`,
    ],
  ];
  const few = fewPlacesText(located, cells);
  if (few !== null) words.push(['few places', few]);
  if (job.limit !== null && job.limit < located)
    words.push([
      'limit',
      `the first ${counted(job.limit, 'located row')}, ${counted(plan.order.length, 'place')} to look up (--limit)`,
    ]);
  const { value } = summary.columns;
  if (value.length > 0 && job.orderBy.kind !== 'file') {
    const isRecognized =
      job.orderBy.kind === 'recognized' ? ' (recognised; in file order: --order-by file)' : '';
    const most =
      job.orderBy.kind === 'column' && job.orderBy.direction === 'asc' ? 'smallest' : 'largest';
    words.push(['order', `${most} ${value.join(' + ')} first${isRecognized}`]);
  }
  if (plan.scan.areaCounts !== null) words.push(['boundaries', boundaryText(plan.scan.areaCounts)]);
  const savings = savingsMessage(isWhole ? saved : { ...saved, by_cells: 0, by_areas: 0 });
  if (summary.areas) {
    const { representatives, verified, spared, each_place } = summary.areas;
    words.push([
      'areas',
      each_place
        ? distrustText(plan.areas!.verification)
        : `${counted(representatives, 'place')} bought for a whole tract or county, ${grouped(spared)} use their answers, ${grouped(verified)} bought to verify`,
    ]);
  }
  if (savings !== '') words.push(['credits saved', savings]);
  return words;
}

/** From so many rows a place on, most rows probably have the place of an area; buildings have fewer. */
const ROWS_A_PLACE = 20;
const FEWEST_ROWS = 200;

/** Many rows at few places: probably centroids, whose answers are not those of the rows' own places. Null for other files. */
function fewPlacesText(rows: number, places: number): string | null {
  if (rows < FEWEST_ROWS || rows < places * ROWS_A_PLACE) return null;
  return `${grouped(rows)} rows at ${counted(places, 'place')}: if these are centres of ZIP codes, counties or states, the answers are those of the centres`;
}

/** How many places the boundaries on this machine put in an area, and why the others are in none. */
function boundaryText({ in_area, near_border, in_no_area, no_boundaries }: AreaCounts): string {
  const others = [
    near_border > 0 ? `${grouped(near_border)} on a border` : '',
    in_no_area > 0 ? `${grouped(in_no_area)} in no area` : '',
    no_boundaries > 0 ? `${grouped(no_boundaries)} in states without boundaries here` : '',
  ].filter(Boolean);
  const words = `${counted(in_area, 'place')} in an area`;
  return others.length === 0 ? words : `${words}; bought one by one: ${others.join(', ')}`;
}

/** Where the job says otherwise than the account's last run, one of the two is wrong. */
function otherTermsMessage({ job: { account }, lastTerms }: Prepared): string[] {
  if (lastTerms === null || !differsFrom(account, lastTerms)) return [];
  const words = ({ subscription, anniversaryDay }: typeof lastTerms) =>
    `${subscription.name} (${grouped(subscription.creditsPerMonth)} credits, reset on day ${anniversaryDay})`;
  return [
    `This job says ${words(account)}; the last run of this account said ${words(lastTerms)}.`,
  ];
}

/** How to get the boundaries that some places lack. */
function missingBoundariesMessage({ job, plan }: Prepared, folder: string): string[] {
  const level = job.areas;
  if (level === null || (plan.scan.areaCounts?.no_boundaries ?? 0) === 0) return [];
  return [
    `To get the boundaries of the other states: ${getBoundariesCommand(level, job.input, folder)}`,
  ];
}

type PlanPair = readonly [name: string, words: string];

/** What the plan says of each setting of money and time; null where none is needed, or another line says it. */
const MONEY_PAIRS: Readonly<
  Record<SettingsOf<'Money and time'>, ((prepared: Prepared) => PlanPair | null) | null>
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

function accountPairs(prepared: Prepared): PlanPair[] {
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

/** The places that a limit of credits completes: `what` buys some, or `nothing` is bought and only the store completes places. */
function boughtMessage(summary: Prepared['summary'], what: string, nothing: string): string {
  const { this_run, after_run } = summary;
  if (this_run.credits > 0) return `${what} will complete ${sharePhrase(after_run)}`;
  if (after_run.share_of_cells === 0) return nothing;
  return `${nothing}; the store completes ${sharePhrase(after_run)}`;
}

/** Printed as given: `counted` would round half a minute. */
function timeLimit(minutes: number): string {
  return `${minutes} ${minutes === 1 ? 'minute' : 'minutes'}`;
}

function verdict(prepared: Prepared): string {
  const { rows, cells } = prepared.summary;
  if (rows === 0)
    return 'The file has no rows, only a header: nothing to look up. Check how it was exported.';
  if (cells === 0) return 'No row can be looked up: nothing was asked or spent.';
  if (prepared.connection.kind === 'local') return localVerdict(prepared);
  const { connection, job, summary } = prepared;
  // A subscription or a budget of the job shows what a paid service would do: nobody is charged.
  const isShown = connection.sample && summary.credits > 0 && !isUnlimited(job);
  return `${buyingVerdict(prepared)}${isShown ? ' The sample charges none.' : ''}`;
}

function buyingVerdict(prepared: Prepared): string {
  const { job, plan, summary } = prepared;
  const { credits } = summary;
  if (plan.price.unobtainable.size > 0)
    return 'The keys of this job may not buy all of these topics.';
  if (credits === 0) {
    const isPart = job.limit !== null && job.limit < summary.located;
    const none = isPart
      ? `0 credits for the first ${counted(job.limit, 'located row')}`
      : '0 credits';
    const looked = besideText(summary);
    if (looked !== '') return `${none}${looked}.`;
    return summary.cells_rejected === 0
      ? `${none}: all ${isPart ? 'their ' : ''}answers are in the store.`
      : `${none}: ${counted(summary.cells_cached, 'place')} in the store, ${grouped(summary.cells_rejected)} rejected by the service.`;
  }
  const bound = nearestBound(plan.bounds, credits);
  if (bound !== null) return BOUND_TEXTS[bound](prepared);
  if (isUnlimited(job))
    return `${counted(credits, 'credit')} at a paid service; the sample charges none.`;
  const dollars = overageText(prepared);
  if (summary.fits)
    return `${counted(credits, 'credit')}${dollars}: fits this period${besideText(summary)}.`;
  return quotaText(prepared);
}

/** What a bound does to a run that needs more. */
const BOUND_TEXTS: Readonly<Record<SpendingBound, (prepared: Prepared) => string>> = {
  run({ summary }) {
    const budget = `The budget of ${grouped(summary.credits_limit)}`;
    const bought = boughtMessage(summary, budget, `${budget} buys nothing`);
    return `${counted(summary.credits, 'credit')} needed. ${bought}; the rest is deferred.`;
  },
  time({ job, plan, summary }) {
    const limit = `The time limit of ${timeLimit(job.maxMinutes!)} allows ${counted(plan.bounds.time, 'credit')}`;
    const bought = boughtMessage(summary, `${limit}, which`, `${limit}, which cannot buy anything`);
    return `${counted(summary.credits, 'credit')} needed. ${bought}; the rest is deferred.`;
  },
  quota: quotaText,
};

function quotaText(prepared: Prepared): string {
  const { plan, summary } = prepared;
  const { credits } = summary;
  const { quota } = plan.bounds;
  const { finishBy } = plan.ways.planned.forecast;
  const dollars = overageText(prepared);
  const left = `The ${counted(quota, 'credit')} left`;
  const none = quota === 0 ? 'No credits are left' : `${left} cannot buy anything`;
  const needed = `${counted(credits, 'credit')} needed${dollars}. ${boughtMessage(summary, left, none)}`;
  if (finishBy === null) return `${needed}. The quota is never enough for the rest.`;
  const later = (summary.periods ?? 0) - (quota > 0 ? 1 : 0);
  const quotas =
    later === 1
      ? 'the quota of the next billing period'
      : `the quotas of the next ${grouped(later)} billing periods`;
  return `${needed}. Complete by ${dateTime(finishBy)}, with ${quotas}.`;
}

/** What the plan costs as overage; where the ceiling allows less, both. */
function overageText({ job: { account }, plan, summary }: Prepared): string {
  if (summary.overage_dollars === 0 || plan.account === null) return '';
  const beyond = summary.credits - leftOfAllowance(plan.account);
  const inDollars = (credits: number) =>
    `$${(credits * (account.subscription.overageRate ?? 0)).toFixed(2)}`;
  if (beyond <= account.overageCredits) return `, ${inDollars(beyond)} of it as overage`;
  return `, ${inDollars(beyond)} of it as overage, of which the ceiling allows $${summary.overage_dollars.toFixed(2)}`;
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
function otherWay({ summary }: Prepared): (readonly [string, string])[] {
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
