import { billingPeriod } from '../contract/billing-period.ts';
import type { TopicSet } from '../contract/topic-set.ts';
import { NATURAL_SLUGS, type TopicSlug } from '../contract/topics.ts';
import type { Market } from '../plan/cheapest-calls.ts';
import { type Forecast, forecast } from '../plan/forecast.ts';
import { type Price, priceBundle, priceCheapest } from '../plan/prices.ts';
import type { PeriodSpending, Store } from '../store/port.ts';
import type { Freshness } from './freshness.ts';
import { missingSet } from './freshness.ts';
import type { Scan } from './scan.ts';
import type { Job } from './settings.ts';

const CELLS_PER_READ = 2_000;

/** The priced list of calls that a run would make, and what it may spend. */
export interface Plan {
  readonly scan: Scan;
  /** The topics that each cell lacks, by the cell's number; 0 for none. */
  readonly missing: Float64Array;
  readonly lacking: ReadonlyMap<TopicSet, number>;
  readonly cellsCached: number;
  readonly price: Price;
  readonly tiers: { readonly standard: Price; readonly enterprise: Price; readonly cheapest: Price };
  readonly account: AccountState;
  /** Most credits that the run may spend: the budget, else the plan with the retries that it states. */
  readonly limit: number;
  /** What the run can spend of the limit within this period. */
  readonly spendable: number;
  readonly forecast: Forecast;
  readonly scopeNotes: readonly string[];
}

/** The account at a moment, by the ledger's arithmetic. */
export interface AccountState {
  readonly period: { readonly start: number; readonly end: number };
  readonly spending: PeriodSpending;
  /** Credits left for this job: allowance less reserve less spent; 0 once the service said that the quota is used up. */
  readonly available: number;
}

export async function accountState(job: Job, store: Store, now: number): Promise<AccountState> {
  const period = billingPeriod(job.anniversaryDay, now);
  const spending = await store.spending(job.account, period);
  const spent = spending.charged + spending.unknown + spending.open;
  const left = job.subscription.creditsPerMonth - job.reserve - spent;
  return { period, spending, available: spending.exhaustedAt === null ? Math.max(0, left) : 0 };
}

/** Prices what the store lacks. Reads the store, spends nothing. */
export async function makePlan(
  job: Job,
  scan: Scan,
  store: Store,
  source: number,
  market: Market,
  freshness: Freshness,
): Promise<Plan> {
  const { missing, lacking } = await findMissing(job, scan, store, source, freshness);
  const price = priceCheapest(lacking, market);
  const account = await accountState(job, store, freshness.startedAt);
  const limit = job.budget ?? price.credits + price.retryCredits;
  return {
    scan,
    missing,
    lacking,
    cellsCached: lacking.get(0) ?? 0,
    price,
    tiers: {
      standard: priceBundle('standard', lacking),
      enterprise: priceBundle('enterprise', lacking),
      cheapest: price,
    },
    account,
    limit,
    spendable: Math.min(limit, account.available),
    forecast: forecast(
      price.credits,
      {
        available: account.available,
        perPeriod: job.subscription.creditsPerMonth - job.reserve,
        creditsPerMinute: job.subscription.creditsPerMinute,
        anniversaryDay: job.anniversaryDay,
      },
      freshness.startedAt,
    ),
    scopeNotes: scopeNotes(job, market, price),
  };
}

async function findMissing(job: Job, { cells }: Scan, store: Store, source: number, freshness: Freshness) {
  const missing = new Float64Array(cells.size);
  const lacking = new Map<TopicSet, number>();
  for (let from = 0; from < cells.size; from += CELLS_PER_READ) {
    const records = await store.read(source, cells.cells(from, from + CELLS_PER_READ));
    for (const [index, record] of records.entries()) {
      const set = missingSet(record, job.topics, freshness);
      missing[from + index] = set;
      lacking.set(set, (lacking.get(set) ?? 0) + 1);
    }
  }
  return { missing, lacking };
}

/** Which endpoints the keys may not call, and what that means for the plan. */
function scopeNotes(job: Job, market: Market, price: Price): string[] {
  const notes: string[] = [];
  const noSingle = job.topics.filter((topic) => !market.singles(topic));
  const natural = new Set<TopicSlug>(NATURAL_SLUGS);
  if (!market.bundles) {
    notes.push('No key carries the scope bundle: every topic is bought as a single call.');
  }
  if (noSingle.length > 0 && market.bundles) {
    const bundle = noSingle.every((topic) => natural.has(topic) && market.standard.has(topic)) ? 'standard' : 'a';
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
