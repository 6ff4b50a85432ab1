import type { Answer, TopicFailure } from '../../contract/answer.ts';
import type { BillingPeriod } from '../../contract/billing-period.ts';
import type { Call, CallKind, PriceItem, Scope } from '../../contract/credits.ts';
import type { TopicSlug } from '../../contract/topics.ts';
import type { Cell } from '../../geo/coordinates.ts';
import type { AreaAnswers, Wanted } from '../answers/port.ts';

/* Terms:
 * - source: the service and data set that gave an answer; answers of two sources never mix
 * - account: whose credits are spent; one quota and one minute limit each. Several keys may belong to one
 * - intent: a ledger row written before its call is sent; it holds the cell (a claim) until it is settled
 * - settlement: the outcome of the call (charged, free or unknown) with its answers
 * Everything is asked in batches and awaited, so that a store on another machine can implement the same interface. */

/** How a call was charged. `sent` has no outcome yet; whether `unknown` was charged cannot be known, so it counts as spent for every limit. */
export type ChargeState = 'sent' | 'charged' | 'free' | 'unknown';

export interface ClaimLimits {
  readonly run: number;
  readonly source: number;
  readonly account: string;
  /** The period in which the calls count. */
  readonly period: BillingPeriod;
  /** If clocks disagree: the start of the earliest possible period. Credits of it and of all later periods count. */
  readonly countedSince?: number;
  /** Most credits that may be spent in the period by all who use the account: allowance less reserve, plus overage. */
  readonly periodLimit: number;
  readonly creditsPerMinute: number;
  /** Most credits that this run may spend. */
  readonly budget: number;
  /** How long a claim holds without a sign of its owner, in milliseconds: above any call's own deadline. */
  readonly leaseMs: number;
}

/** What a service last charged for a call. It is the call's price for a day; then the contract's is expected again, and the first call
 * goes out alone and shows the price anew. Without an end, one odd charge would be the price for ever: what became dear is not bought. */
export interface ChargedPrice {
  readonly credits: number;
  /** When it was charged, by the store's clock. */
  readonly at: number;
  /** For how many milliseconds more it is the price; 0 or less: no longer. */
  readonly holdsMs: number;
}

/** How long a charge is the price of its item. */
export const PRICE_HOLDS_MS = 24 * 60 * 60_000;

export type ChargedPrices = ReadonlyMap<PriceItem, ChargedPrice>;

/** A scope that a service refused a key. */
export interface RefusedScope {
  readonly scope: Scope;
  /** The status and the service's own words; null where they were not kept. */
  readonly reason: string | null;
  /** When, by the store's clock. */
  readonly at: number;
}

/** The prices that one service charged. */
export interface ServicePrices {
  readonly source: string;
  readonly charged: ChargedPrices;
}

export interface ClaimRequest {
  readonly cell: Cell;
  readonly call: Call;
  /** The price that the run expects. */
  readonly credits: number;
  /** The run knows no price that the service charged within a day: the first such call of a kind goes out alone. */
  readonly isPriceAssumed?: boolean;
  /** Fingerprint of the API key that will be used, never the key. */
  readonly key: string;
  /** The topics that the call is bought for. */
  readonly wanted: readonly Wanted[];
  /** The areas whose other cells will use the answer too. */
  readonly areas?: readonly AreaWanted[];
}

/** The topics of a request that a whole area needs, e.g. `tract 06037106111`. */
export interface AreaWanted {
  readonly area: string;
  readonly wanted: readonly Wanted[];
}

/** - `granted`: the intent is durable; the call may be sent. `byOthers`: credits of the minute that other runs have spent.
 * - `answered`: another run has answered a wanted topic since the plan, at this cell or for its area: plan the cell
 *   again.
 * - `claimed`: another run is buying at this cell, or for its area: come back later.
 * - `wait`: try again in `ms`, because the minute is full, or the first call of this kind is in flight and will show the price.
 * - `price`: the service last charged another price than the run expects.
 * - `quota`, `budget`: the period or the run has too few credits left. */
export type Claim =
  | { readonly outcome: 'granted'; readonly call: number; readonly byOthers: number }
  | { readonly outcome: 'answered' }
  | { readonly outcome: 'claimed' }
  | { readonly outcome: 'wait'; readonly for: 'minute' | 'first_call'; readonly ms: number }
  | { readonly outcome: 'price'; readonly credits: number }
  | { readonly outcome: 'quota' }
  | { readonly outcome: 'budget' };

export interface Settlement {
  readonly call: number;
  readonly charge: Exclude<ChargeState, 'sent'>;
  /** Credits charged (or, unknown, that may have been); 0 when free. */
  readonly credits: number;
  /** The period in which the call ended: a call claimed before the anniversary may be charged after it. */
  readonly period: BillingPeriod;
  /** What happened, in a word or a line: `200`, `502 upstream failure`, `reset`. */
  readonly outcome: string;
  readonly requestId?: string | undefined;
  readonly answers: readonly Answer[];
  /** The answers are sample data, as the service says. */
  readonly sample?: boolean | undefined;
  readonly failures: readonly (TopicFailure & { readonly topic: TopicSlug })[];
  /** The areas that the location lies in, with the answers that hold for all of an area. */
  readonly areas?: readonly AreaAnswers[] | undefined;
  /** The slugs that a bundle was seen to return, errors included. */
  readonly contents?:
    | { readonly kind: Exclude<CallKind, 'single'>; readonly topics: readonly TopicSlug[] }
    | undefined;
  /** The call was answered, and the store has no price of it that holds, or another: the credits charged, or null where it was free. */
  readonly price?: { readonly item: PriceItem; readonly credits: number | null } | undefined;
  /** The service said that the period's quota is used up. */
  readonly exhausted?: boolean | undefined;
  /** The limit of the period that it was claimed under. */
  readonly periodLimit?: number | undefined;
  /** The key was refused this scope, in the service's words. */
  readonly refused?: { readonly scope: Scope; readonly reason: string } | undefined;
}

/** Credits of an account in one period, or of a run. `open` belongs to calls in flight. */
export interface Spending {
  readonly charged: number;
  readonly unknown: number;
  readonly open: number;
}

/** Under which terms the service is asked for calls of a period. */
interface QuotaTerms {
  /** Most credits of the period, with the overage that the job allows. */
  readonly limit: number;
  /** Fingerprint of the key. */
  readonly key: string;
}

export interface PeriodSpending extends Spending {
  /** When the service said that the quota is used up (first, since the last correction), or null. */
  readonly exhaustedAt: number | null;
  /** The credits left at that time, by the ledger. */
  readonly exhaustedLeft?: number;
  /** What it was said of; absent where it was not kept. */
  readonly exhaustedTerms?: QuotaTerms;
  /** The figure on the provider's page, if the user recorded it. */
  readonly correction?: Correction;
  /** Credits that are counted in later periods; absent if there are none. A clock that was ahead, or another anniversary day, puts them
   * there before the period ends. They count in this period too, because it is unknown which clock or day was right. */
  readonly later?: number;
}

export interface Correction {
  /** Credits that the provider counted beyond the ledger's charged and unknown ones; below 0 where it counted fewer. */
  readonly elsewhere: number;
  readonly at: number;
}

export type StatementBy = 'run' | 'job' | 'key' | 'day' | 'kind';

export interface StatementQuery {
  readonly by: StatementBy;
  readonly account?: string;
  /** Calls charged to this period, as `spending` counts them. */
  readonly period?: BillingPeriod;
  readonly job?: string;
}

/** One line of a statement. A free call costs nothing, so it has a count and no credits. */
export interface StatementRow {
  /** The number of the run, the name of the job, the fingerprint of the key, the day in UTC (2026-03-15), or the kind of call. */
  readonly name: string | number;
  /** The job of the run; only by run. */
  readonly job?: string;
  /** Calls by what they cost: free ones failed, unknown ones may have been charged. */
  readonly calls: Readonly<Record<'charged' | 'free' | 'unknown' | 'inFlight', number>>;
  /** Credits by what is known of them. */
  readonly credits: Readonly<Record<'charged' | 'unknown' | 'inFlight', number>>;
}

/** How long a call took, in milliseconds. */
export interface TimedCall {
  readonly kind: CallKind;
  readonly ms: number;
}

/** What was asked of a service, what it cost, and what may still be asked. */
export interface LedgerPort {
  /** Decides on each request in order, in one transaction. Granted calls are in the ledger when this resolves.
   * @throws STORE_MOVED if the store's file was deleted, moved or replaced, because the next run would not find the answers */
  claim(terms: ClaimLimits, requests: readonly ClaimRequest[]): Promise<readonly Claim[]>;
  /** Writes outcomes and answers in one transaction: both are durable when this resolves. */
  settle(settlements: readonly Settlement[]): Promise<void>;
  /** The latest charged calls of a source (of the last 1,000 in the ledger), the newest first, with the time from the claim to the
   * settlement. @param leaseMs the lease of their claims: its end is by the same clock as settlements */
  callTimes(source: number, leaseMs: number): Promise<readonly TimedCall[]>;
  /** Whether an account was charged for calls of other keys and never of this one. */
  isNewKey(account: string, key: string): Promise<boolean>;
  chargedPrices(source: number): Promise<ChargedPrices>;
  /** The same of all services that charged something. */
  allChargedPrices(): Promise<readonly ServicePrices[]>;
  /** Forgets what services charged: the contract's prices are expected again. @returns how many prices */
  forgetPrices(): Promise<number>;
  /** The credits that the ledger counts as charged by a source of which the store has no answer at all; 0 where it has one. */
  creditsWithoutAnswers(source: number): Promise<number>;
  /** The scopes that a key was refused within a day. */
  refusedScopes(source: number, key: string): Promise<readonly RefusedScope[]>;
  spending(account: string, period: BillingPeriod): Promise<PeriodSpending>;
  /** Sums of the ledger's calls, ordered by name, without groups that have no calls. */
  statement(query: StatementQuery): Promise<readonly StatementRow[]>;
  /** Records that the provider counts `spentInAll` credits of the period now; replaces an earlier record, and clears
   * `exhaustedAt`. */
  correct(account: string, period: BillingPeriod, spentInAll: number): Promise<Correction>;
}
