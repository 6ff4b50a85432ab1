import { inBatches } from '../../batches.ts';
import { type BundleKind, type Call, CREDITS, scopeOf } from '../../contract/credits.ts';
import type { TopicSlug } from '../../contract/topics.ts';
import { PerilbookError } from '../../errors.ts';
import { AnswerOrigin } from '../../fetch/answer-origin.ts';
import {
  ALL_REJECTED_AFTER,
  type Breaker,
  HEALTHY,
  type HealthSignal,
  isAllRejected,
  isDown,
  isTopicDown,
  recordSignal,
} from '../../fetch/breaker.ts';
import type { PriceList } from '../../plan/cheapest-calls.ts';
import type { BundleContents, Claim, ClaimRequest, Settlement } from '../../store/port.ts';
import type { Key } from '../plan/api-keys.ts';
import { priceListOf } from '../plan/price-list.ts';
import type { JobAccount } from '../settings/account-settings.ts';
import type { BuyingContext } from './buying-context.ts';
import { claimLimits } from './claim-limits.ts';
import { KeyProbes } from './key-probes.ts';
import { PriceCaps, payerId } from './price-caps.ts';
import { limitReached, type Stop, stopFor, storeMovedStop } from './stop.ts';

/** The state of a run's buying within one period: what was learned, and whether to go on. */
export class Buying {
  readonly context: BuyingContext;
  readonly settle: (settlement: Settlement) => Promise<void>;
  readonly origin: AnswerOrigin;
  readonly probes = new KeyProbes();
  /** Since when, by the steady time, every call was asked to slow down and none was answered; null where that is not so. */
  slowedDownSince: number | null = null;
  #breaker: Breaker = HEALTHY;
  #lastFailure = '';
  readonly #stopping = new AbortController();
  readonly #claims = new Map<string, (request: ClaimRequest) => Promise<Claim>>();
  readonly #caps: PriceCaps;
  #contents: BundleContents;
  #priceList: PriceList;
  #stop: Stop | null = null;
  #short: 'quota' | 'budget' | null = null;

  constructor(context: BuyingContext, contents: BundleContents, interrupt: AbortSignal) {
    const { job, store, limits, effects, service } = context;
    this.context = context;
    this.origin = new AnswerOrigin(job.precision);
    this.#caps = new PriceCaps(effects.times);
    this.#contents = contents;
    this.#priceList = priceListOf(job, contents, service.apiKeys);
    for (const account of [job.account, ...job.accounts].flatMap((one) => [one, withinAllowance(one)])) {
      const claim = inBatches((requests: readonly ClaimRequest[]) =>
        store.claim(claimLimits(account, effects.times.billing(), limits), requests),
      );
      this.#claims.set(payerId(account), claim);
    }
    this.settle = inBatches(async (settlements) => {
      await store.settle(settlements);
      return settlements.map(() => undefined);
    });
    const onInterrupt = () => this.stop(stopFor('interrupted', 'Interrupted.'));
    if (interrupt.aborted) onInterrupt();
    else interrupt.addEventListener('abort', onInterrupt, { once: true });
  }

  get stopped(): Stop | null {
    return this.#stop;
  }

  /** Aborts when no further call shall begin; calls in flight are completed. */
  get signal(): AbortSignal {
    return this.#stopping.signal;
  }

  get priceList(): PriceList {
    return this.#priceList;
  }

  get breaker(): Breaker {
    return this.#breaker;
  }

  /** Ends the buying; the first reason counts. */
  stop(stop: Stop): void {
    this.#stop ??= stop;
    this.#stopping.abort();
  }

  outage(): Stop {
    return stopFor('service_down', `The service does not answer (${this.#lastFailure}).`);
  }

  recordHealth(signal: HealthSignal): void {
    this.#breaker = recordSignal(this.#breaker, signal);
  }

  /** A call was given up. Ends the run where too many were. */
  recordFailure(message: string): void {
    const { topics } = this.context.job;
    this.#lastFailure = message;
    if (isAllRejected(this.#breaker)) {
      const why = `No request was answered, and ${ALL_REJECTED_AFTER} were refused. ${message}.`;
      this.stop(stopFor('misdirected', why));
    } else if (isDown(this.#breaker) || topics.every((topic) => isTopicDown(this.#breaker, topic))) {
      this.stop(this.outage());
    }
  }

  /**
   * The key to make a call with, and the account that pays for it; null when none can. Overage is used last: only where no
   * account has the credits within its allowance.
   */
  payerOf(call: Call): { readonly key: Key; readonly account: JobAccount } | null {
    const { job, service } = this.context;
    for (const mayOverdraw of job.accounts.length > 1 ? [false, true] : [true]) {
      const accountOf = (name: string | null) => {
        const account = job.accounts.find((one) => one.name === (name ?? job.account.name)) ?? job.account;
        return mayOverdraw ? account : withinAllowance(account);
      };
      const key = service.apiKeys.keyFor(scopeOf(call), (name) => {
        const account = accountOf(name);
        return CREDITS[call.kind] <= Math.min(this.#caps.of(account), account.subscription.creditsPerMinute);
      });
      if (key !== null) return { key, account: accountOf(key.account ?? null) };
    }
    return null;
  }

  /** Claims a call for an account, in one transaction with others for it at this moment. A store that was moved ends the run. */
  async claim(account: JobAccount, request: ClaimRequest): Promise<Claim | { readonly outcome: 'store_moved' }> {
    try {
      return await this.#claims.get(payerId(account))!(request);
    } catch (error) {
      if (!(error instanceof PerilbookError && error.code === 'STORE_MOVED')) throw error;
      this.stop(storeMovedStop(error));
      return { outcome: 'store_moved' };
    }
  }

  /** A call of this price, asked for at that time, was refused for want of credits. Cheaper calls may still fit; calls at this price
   * are not tried. */
  cannotAfford(account: JobAccount, credits: number, why: 'quota' | 'budget', at: number): void {
    if (why === 'budget') this.#caps.refusedByBudget(credits);
    else this.#caps.refusedByQuota(account, credits, at);
    this.#short = why === 'quota' ? 'quota' : (this.#short ?? 'budget');
    if (this.context.job.accounts.every((one) => this.#caps.of(one) < 1)) this.stop(this.shortage()!);
  }

  /** The stop for the limit that refused calls so far, or null. */
  shortage(): Stop | null {
    return this.#short === null ? null : this.shortOf(this.#short);
  }

  shortOf(why: 'quota' | 'budget'): Stop {
    if (why === 'budget') return limitReached(this.context);
    const resumeAfter = Math.min(...this.context.job.accounts.map((account) => this.#caps.resets(account)));
    return stopFor('quota', 'The quota of this billing period is used up.', resumeAfter);
  }

  /** A bundle was seen to return these slugs. */
  learnContents(kind: BundleKind, topics: readonly TopicSlug[]): void {
    const known = this.#contents[kind];
    if (known !== null && known.length === topics.length && known.every((slug) => topics.includes(slug))) return;
    this.#contents = { ...this.#contents, [kind]: topics };
    this.reprice();
  }

  /** Something that prices depend on has changed. */
  reprice(): void {
    this.#priceList = priceListOf(this.context.job, this.#contents, this.context.service.apiKeys);
  }
}

/** The account as one that must not be billed for overage. */
function withinAllowance(account: JobAccount): JobAccount {
  return { ...account, overageCredits: 0 };
}
