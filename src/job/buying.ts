import type { Clock } from '../clock.ts';
import { billingPeriod } from '../contract/billing-period.ts';
import type { TopicSlug } from '../contract/topics.ts';
import { type Breaker, HEALTHY } from '../fetch/breaker.ts';
import { type Client, TIMEOUTS } from '../fetch/client.ts';
import type { Throttle } from '../fetch/throttle.ts';
import type { Market } from '../plan/cheapest-calls.ts';
import type { BundleContents, Claim, Proposal, Settlement, Store, Terms } from '../store/port.ts';
import { inBatches } from './batcher.ts';
import type { Freshness } from './freshness.ts';
import type { Keyring } from './keyring.ts';
import { marketOf } from './market.ts';
import { periodLimit } from './planning.ts';
import type { Scan } from './scan.ts';
import type { Job } from './settings.ts';

/** Why a run stopped buying before everything was bought. */
export type StopReason = 'quota' | 'budget' | 'time' | 'interrupted' | 'service_down' | 'keys' | 'misdirected';

export interface Stop {
  readonly reason: StopReason;
  /** One sentence for the user. */
  readonly message: string;
  /** When going on makes sense: milliseconds since the epoch, or null when it is up to the user. */
  readonly resumeAfter: number | null;
}

/** What the buying has done so far; read by whoever shows progress. */
export interface Progress {
  cells: number;
  cellsDone: number;
  creditsPlanned: number;
  creditsSpent: number;
  creditsUnknown: number;
  calls: number;
  callsInFlight: number;
  retries: number;
  failures: number;
  /** Times that the service asked to slow down (429). */
  slowedDown: number;
}

export interface BuyingParts {
  readonly job: Job;
  readonly store: Store;
  readonly client: Client;
  readonly throttle: Throttle;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly random: () => number;
  readonly run: number;
  readonly source: number;
  readonly freshness: Freshness;
  /** Most credits that this run may spend. */
  readonly budget: number;
  readonly contents: BundleContents;
  /** The cells of the book, and the areas that they lie in. */
  readonly places: Pick<Scan, 'cells' | 'areas'>;
  readonly progress: Progress;
  /** Told of what the user should know at once: a key refused, a scope missing, a topic down. */
  readonly notice: (message: string) => void;
}

/** Longer than any call can take (the client's own deadline), so that a claim never ends under a call that still runs. */
const LEASE_MS = TIMEOUTS.connect + TIMEOUTS.total + 60_000;

/** The state of one run's buying: what was learned, and whether to go on. */
export class Buying {
  readonly parts: BuyingParts;
  readonly claim: (proposal: Proposal) => Promise<Claim>;
  readonly settle: (settlement: Settlement) => Promise<void>;
  breaker: Breaker = HEALTHY;
  readonly #stopping = new AbortController();
  #contents: BundleContents;
  #market: Market;
  #stop: Stop | null = null;
  #affordable = Number.POSITIVE_INFINITY;
  #short: 'quota' | 'budget' | null = null;

  constructor(parts: BuyingParts, interrupt: AbortSignal) {
    this.parts = parts;
    this.#contents = parts.contents;
    this.#market = marketOf(parts.job, parts.contents, parts.keyring);
    this.claim = inBatches((proposals) => parts.store.claim(this.#terms(), proposals));
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

  get market(): Market {
    return this.#market;
  }

  /** Ends the buying; the first reason stands. */
  stop(stop: Stop): void {
    this.#stop ??= stop;
    this.#stopping.abort();
  }

  /** A call of this price was refused for want of credits. Cheaper calls may still fit; calls as dear are not tried. */
  cannotAfford(credits: number, why: 'quota' | 'budget'): void {
    this.#affordable = Math.min(this.#affordable, credits - 1);
    this.#short = why === 'quota' ? 'quota' : (this.#short ?? 'budget');
    if (this.#affordable < 1) this.stop(this.shortage()!);
  }

  canAfford(credits: number): boolean {
    return credits <= this.#affordable;
  }

  /** What money kept from being bought so far, or null. */
  shortage(): Stop | null {
    return this.#short === null ? null : this.shortOf(this.#short);
  }

  /** The words for running out of the one or the other. */
  shortOf(why: 'quota' | 'budget'): Stop {
    const { job, budget, clock } = this.parts;
    if (why === 'budget') {
      return { reason: 'budget', message: `The budget of ${budget} credits is reached.`, resumeAfter: null };
    }
    const resumeAfter = billingPeriod(job.anniversaryDay, clock.now()).end;
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
    this.#market = marketOf(this.parts.job, this.#contents, this.parts.keyring);
  }

  #terms(): Terms {
    const { job, run, source, budget, clock } = this.parts;
    return {
      run,
      source,
      account: job.account,
      period: billingPeriod(job.anniversaryDay, clock.now()),
      periodLimit: periodLimit(job),
      creditsPerMinute: job.subscription.creditsPerMinute,
      budget,
      leaseMs: LEASE_MS,
    };
  }
}
