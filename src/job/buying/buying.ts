import type { Clock } from '../../clock.ts';
import { type Call, CREDITS, scopeOf } from '../../contract/credits.ts';
import type { TopicSet } from '../../contract/topic-set.ts';
import type { TopicSlug } from '../../contract/topics.ts';
import { PerilbookError } from '../../errors.ts';
import { AnswerOrigin } from '../../fetch/answer-origin.ts';
import { type Breaker, HEALTHY } from '../../fetch/breaker.ts';
import type { Client } from '../../fetch/client.ts';
import type { Throttle } from '../../fetch/throttle.ts';
import type { PriceList } from '../../plan/cheapest-calls.ts';
import type { BundleContents, Claim, ClaimLimits, ClaimRequest, Settlement, Store } from '../../store/port.ts';
import type { Freshness } from '../planning/freshness.ts';
import type { Key, Keyring } from '../planning/keyring.ts';
import { priceListOf } from '../planning/price-list.ts';
import type { BodyReader } from '../reading/body-readers.ts';
import type { Scan } from '../scan/scan-input.ts';
import type { JobAccount } from '../settings/account-settings.ts';
import type { Job } from '../settings/settings.ts';
import { Affordable, purseOf } from './affordable.ts';
import { inBatches } from './batcher.ts';
import { KeyTrials } from './key-trials.ts';
import { limitReached } from './limit-reached.ts';
import type { Progress } from './progress.ts';
import type { RunTimes } from './run-times.ts';
import { termsOf } from './terms.ts';

/** Why a run stopped buying before everything was bought. */
export type StopReason =
  | 'quota'
  /** Most credits that the run may spend: by the job's budget, by the approved plan, or by its own plan where neither is set. */
  | 'budget'
  | 'approved_plan'
  | 'limit'
  | 'time'
  | 'interrupted'
  | 'service_down'
  | 'keys'
  /** A bill, a proxy or a law. */
  | 'denied'
  | 'misdirected'
  | 'store_moved';

export interface Stop {
  readonly reason: StopReason;
  /** One sentence for the user. */
  readonly message: string;
  /** When going on makes sense: milliseconds since the epoch, or null when it is up to the user. */
  readonly resumeAfter: number | null;
}

export interface BuyingParts {
  readonly job: Job;
  readonly store: Store;
  readonly client: Client;
  readonly reader: BodyReader;
  /** One for each account, by its name. */
  readonly throttles: ReadonlyMap<string, Throttle>;
  readonly keyring: Keyring;
  /** All keys of the job: none must be in what is kept or told. */
  readonly secrets: readonly string[];
  readonly clock: Clock;
  readonly times: RunTimes;
  readonly random: () => number;
  readonly run: number;
  readonly source: number;
  readonly freshness: Freshness;
  /** Most credits that this run may spend. */
  readonly budget: number;
  /** The approved plan, whose credits other runs may be spending at this moment; null where there is none. */
  readonly approved: { readonly id: string; readonly budget: number } | null;
  readonly contents: BundleContents;
  /** The cells of the book, and the areas that they lie in. */
  readonly places: Pick<Scan, 'cells' | 'areas'>;
  /** The topics that cells are asked about for their areas, by the cell's number. */
  readonly represents: ReadonlyMap<number, TopicSet>;
  /** The topics on which the service had nothing at a cell when it was last asked, by the cell's number. */
  readonly hadNoData: ReadonlyMap<number, TopicSet>;
  readonly progress: Progress;
  /** Told of what the user should know at once: a key refused, a scope missing, a topic down. */
  readonly notice: (message: string) => void;
}

/** What was learned of a cell: topics that were answered or given up, those that are asked for as singles only, because a
 * bundle reported them unavailable or the service had nothing on them, and the bundles that it had. */
export interface Unfinished {
  readonly closed: Set<TopicSlug>;
  readonly secondLook: Set<TopicSlug>;
  readonly had: Set<'standard' | 'enterprise'>;
}

/** The state of one run's buying: what was learned, and whether to go on. */
export class Buying {
  readonly parts: BuyingParts;
  readonly settle: (settlement: Settlement) => Promise<void>;
  readonly origin: AnswerOrigin;
  breaker: Breaker = HEALTHY;
  readonly trials = new KeyTrials();
  /** Since when, by the steady time, every call was asked to slow down and none was answered; null where the last one was. */
  slowedDownSince: number | null = null;
  /** Cells that were left in the middle, because another run was at work there or the money ran short. */
  readonly unfinished = new Map<number, Unfinished>();
  /** Why the last call was given up. */
  lastFailure = '';
  readonly #stopping = new AbortController();
  readonly #claims = new Map<string, (request: ClaimRequest) => Promise<Claim>>();
  readonly #affordable: Affordable;
  #contents: BundleContents;
  #priceList: PriceList;
  #stop: Stop | null = null;
  #short: 'quota' | 'budget' | null = null;

  constructor(parts: BuyingParts, interrupt: AbortSignal) {
    this.parts = parts;
    this.origin = new AnswerOrigin(parts.job.precision);
    this.#affordable = new Affordable(parts.times);
    this.#contents = parts.contents;
    this.#priceList = priceListOf(parts.job, parts.contents, parts.keyring);
    for (const account of [parts.job.account, ...parts.job.accounts].flatMap((one) => [one, withinAllowance(one)])) {
      this.#claims.set(
        purseOf(account),
        inBatches((requests) => parts.store.claim(this.#terms(account), requests)),
      );
    }
    this.settle = inBatches(async (settlements) => {
      await parts.store.settle(settlements);
      return settlements.map(() => undefined);
    });
    const onInterrupt = () => this.stop({ reason: 'interrupted', message: 'Interrupted.', resumeAfter: null });
    if (interrupt.aborted) onInterrupt();
    else interrupt.addEventListener('abort', onInterrupt, { once: true });
  }

  get stopped(): Stop | null {
    return this.#stop;
  }

  /** Aborts when no further call shall begin; calls in flight land. */
  get signal(): AbortSignal {
    return this.#stopping.signal;
  }

  get priceList(): PriceList {
    return this.#priceList;
  }

  /** Ends the buying; the first reason stands. */
  stop(stop: Stop): void {
    this.#stop ??= stop;
    this.#stopping.abort();
  }

  /** The words for a service that is down. */
  outage(): Stop {
    const message = `The service does not answer (${this.lastFailure}).`;
    return { reason: 'service_down', message, resumeAfter: null };
  }

  /**
   * The key to make a call with, and the account that pays for it; null when none can. What is billed beyond an allowance
   * comes last: only where no account has it within its own.
   */
  payerOf(call: Call): { readonly key: Key; readonly account: JobAccount } | null {
    const { keyring, job } = this.parts;
    for (const mayOverdraw of job.accounts.length > 1 ? [false, true] : [true]) {
      const accountOf = (name: string | null) => {
        const account = job.accounts.find((one) => one.name === (name ?? job.account.name)) ?? job.account;
        return mayOverdraw ? account : withinAllowance(account);
      };
      const key = keyring.keyFor(scopeOf(call), (name) => this.canAfford(accountOf(name), CREDITS[call.kind]));
      if (key !== null) return { key, account: accountOf(key.account ?? null) };
    }
    return null;
  }

  /** Claims a call for an account, together with what others claim for it at this moment; null where the store was moved,
   * which stops the run. */
  async claim(account: JobAccount, request: ClaimRequest): Promise<Claim | null> {
    try {
      return await this.#claims.get(purseOf(account))!(request);
    } catch (error) {
      if (!(error instanceof PerilbookError && error.code === 'STORE_MOVED')) throw error;
      this.stop(storeMovedStop(error));
      return null;
    }
  }

  /** A call of this price, asked for at that time, was refused for want of credits. Cheaper calls may still fit; calls as dear
   * are not tried. */
  cannotAfford(account: JobAccount, credits: number, why: 'quota' | 'budget', at: number): void {
    if (why === 'budget') this.#affordable.refusedByBudget(credits);
    else this.#affordable.refusedByQuota(account, credits, at);
    this.#short = why === 'quota' ? 'quota' : (this.#short ?? 'budget');
    if (this.parts.job.accounts.every((one) => this.#affordable.by(one) < 1)) this.stop(this.shortage()!);
  }

  /** Whether an account may still pay so much, and its minute holds it. */
  canAfford(account: JobAccount, credits: number): boolean {
    return credits <= Math.min(this.#affordable.by(account), account.subscription.creditsPerMinute);
  }

  /** Whether an account is left that may pay for such a call. */
  canPay(call: Call): boolean {
    return this.payerOf(call) !== null;
  }

  /** What money kept from being bought so far, or null. */
  shortage(): Stop | null {
    return this.#short === null ? null : this.shortOf(this.#short);
  }

  /** The words for running out of the one or the other. */
  shortOf(why: 'quota' | 'budget'): Stop {
    const { job } = this.parts;
    if (why === 'budget') return limitReached(this.parts);
    const resumeAfter = Math.min(...job.accounts.map((account) => this.#affordable.resets(account)));
    return { reason: 'quota', message: 'The quota of this billing period is used up.', resumeAfter };
  }

  /** A bundle was seen to return these slugs. */
  learnContents(kind: 'standard' | 'enterprise', topics: readonly TopicSlug[]): void {
    const known = this.#contents[kind];
    if (known !== null && known.length === topics.length && known.every((slug) => topics.includes(slug))) return;
    this.#contents = { ...this.#contents, [kind]: topics };
    this.reprice();
  }

  /** Something that prices depend on has changed. */
  reprice(): void {
    this.#priceList = priceListOf(this.parts.job, this.#contents, this.parts.keyring);
  }

  #terms(account: JobAccount): ClaimLimits {
    const { run, source, budget, approved, times } = this.parts;
    return termsOf(account, times.billing(), { run, source, budget, ...(approved === null ? {} : { plan: approved }) });
  }
}

/** The run ends where its store was moved: what it would buy nobody would find. */
export function storeMovedStop({ message, hint }: PerilbookError): Stop {
  return { reason: 'store_moved', message: `${message}. ${hint}`, resumeAfter: null };
}

/** The account as one that must not be billed for overage. */
function withinAllowance(account: JobAccount): JobAccount {
  return { ...account, overageCredits: 0 };
}
