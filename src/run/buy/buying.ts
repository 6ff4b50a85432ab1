import { inBatches } from '../../base/batches.ts';
import { AnswerOrigin } from '../../client/answer-origin.ts';
import type { Client } from '../../client/client.ts';
import type { Throttle } from '../../client/throttle.ts';
import type { CellRecord } from '../../contract/answer.ts';
import type { BundleKind } from '../../contract/credits.ts';
import type { TopicSlug } from '../../contract/topics.ts';
import type { Cell } from '../../geo/coordinates.ts';
import {
  difference,
  NO_TOPICS,
  type ReadonlyTopicSets,
  type TopicSet,
  type TopicSets,
  topicSet,
  topicsIn,
} from '../../store/answers/topic-set.ts';
import type { ClaimLimits } from '../../store/ledger/port.ts';
import type { ApiKeys } from '../frame/api-keys.ts';
import type { Effects, RunContext } from '../frame/run-context.ts';
import type { RunTimes } from '../frame/run-times.ts';
import type { RunEnds } from '../frame/stop.ts';
import type { Plan } from '../plan/planning.ts';
import type { CellNumbers } from '../plan/reach.ts';
import { Payer } from './payer.ts';
import { RunHealth } from './run-health.ts';
import { Turns } from './turns.ts';

/** The context of buying, which does not change. */
export interface BuyingContext
  extends Pick<
    RunContext,
    'job' | 'store' | 'freshness' | 'progress' | 'setAside' | keyof RunEnds
  > {
  readonly plan: Plan;
  readonly limits: Pick<ClaimLimits, 'run' | 'source' | 'budget'>;
  readonly service: {
    readonly client: Client;
    readonly throttle: Throttle;
    readonly apiKeys: ApiKeys;
  };
  readonly effects: Pick<Effects, 'clock' | 'random' | 'notice'> & { readonly times: RunTimes };
}

/** The buying of a run: the context, and the state that calls change. */
export interface Buying extends BuyingContext {
  readonly payer: Payer;
  readonly health: RunHealth;
  readonly turns: Turns;
  readonly origin: AnswerOrigin;
  /** Reads a cell from the store, in one query with the cells that are requested at the same moment. */
  readonly readCell: (cell: Cell) => Promise<CellRecord | null>;
}

/** Begins the buying of a run. */
export async function beginBuying(context: BuyingContext): Promise<Buying> {
  const { job, plan, store, limits, service, effects } = context;
  const contents = await store.bundleContents(limits.source);
  const charged = await store.chargedPrices(limits.source);
  return {
    ...context,
    payer: new Payer(
      job,
      service.apiKeys,
      effects.times,
      contents,
      charged,
      plan.account !== null && plan.account.spending.exhaustedAt !== null,
    ),
    health: new RunHealth(job.topics, context.setAside, context.progress.paidFailures),
    turns: new Turns(),
    origin: new AnswerOrigin(job.precision),
    readCell: inBatches((cells) => store.read(limits.source, cells)),
  };
}

/** The work at one cell: the topics to buy, and the failed attempts. */
export interface CellWork {
  readonly number: number;
  readonly cell: Cell;
  /** The topics to buy that were neither answered nor given up. */
  readonly missing: TopicSet;
  /** The topics to buy as singles only: a bundle reported them unavailable, or the service had no data on them the last time. */
  readonly singlesOnly: TopicSet;
  /** The bundles that must not be bought here again. */
  readonly spentBundles: ReadonlySet<BundleKind>;
}

/** The topics left to buy in a run, cell by cell. It begins as a copy of the plan, which never changes. */
export class CellQueue {
  readonly #plan: Plan;
  readonly #missing: TopicSets;
  #order: CellNumbers;
  /** Unfinished cells: another run was buying there, or the credits ran out. */
  readonly #begun = new Map<number, CellWork>();

  constructor(plan: Plan) {
    this.#plan = plan;
    this.#missing = plan.missing.copy();
    this.#order = plan.order;
  }

  /** The cells of the run, in the order in which credits are spent on them. */
  get order(): CellNumbers {
    return this.#order;
  }

  get missing(): ReadonlyTopicSets {
    return this.#missing;
  }

  get isDone(): boolean {
    for (const cell of this.#order) if (this.#missing.get(cell) !== NO_TOPICS) return false;
    return true;
  }

  /** Begins or resumes the work at a cell, for some of its missing topics. A bundle is not bought for topics that it will
   * probably lack; a single without data is free. */
  begin(number: number, topics: TopicSet, maySingle: (topic: TopicSlug) => boolean): CellWork {
    const hadNoData = topicsIn(this.#plan.hadNoData.get(number) ?? NO_TOPICS);
    const begun = this.#begun.get(number) ?? {
      number,
      cell: this.#plan.scan.cells.cell(number),
      singlesOnly: topicSet(hadNoData.filter(maySingle)),
      spentBundles: new Set<BundleKind>(),
    };
    return { ...begun, missing: topics };
  }

  /** Ends the work at a cell. Topics that were answered or given up are not bought again in this run; at a cell that is done, none is. */
  end(work: CellWork, topics: TopicSet, isDone: boolean): void {
    const { number } = work;
    const left = isDone ? NO_TOPICS : work.missing;
    this.#missing.set(number, difference(this.#missing.get(number), difference(topics, left)));
    if (isDone) this.#begun.delete(number);
    else this.#begun.set(number, work);
  }

  /** Sets the missing topics of cells, by their numbers. Cells that were not in the plan are bought last. */
  replan(missing: ReadonlyMap<number, TopicSet>): void {
    const planned = new Set(this.#order);
    const added: number[] = [];
    for (const [cell, topics] of missing) {
      this.#missing.set(cell, topics);
      if (topics !== NO_TOPICS && !planned.has(cell)) added.push(cell);
    }
    const order = new Uint32Array(this.#order.length + added.length);
    order.set(this.#order);
    order.set(added, this.#order.length);
    this.#order = order;
  }
}

/** The credits that this run may still reserve for cells. A cell is begun only if all of it can be paid: a budget that ends
 * early then leaves complete and untouched cells, not many half-finished ones.
 *
 * The ledger decides about every call; this class decides which cell to begin. Credits that a cell did not need (a single that the
 * bundle saved) go to the waiting cells in their order: a later cell never overtakes an earlier one. */
export class CreditReservations {
  #left: number;
  #committed = 0;
  #waiting: { readonly credits: number; readonly resolve: (taken: boolean) => void }[] = [];

  constructor(credits: number) {
    this.#left = credits;
  }

  /** Reserves credits for a cell. Waits while cells in progress may still return some; false if the credits cannot suffice. */
  async take(credits: number): Promise<boolean> {
    if (this.#waiting.length === 0 && credits <= this.#left) {
      this.#commit(credits);
      return true;
    }
    if (this.#committed === 0) return false;
    return new Promise((resolve) => this.#waiting.push({ credits, resolve }));
  }

  /** Ends a cell and returns its unspent credits. Overspending (a call tried twice) is taken from the rest. */
  end(taken: number, spent: number): void {
    this.#left += taken - spent;
    this.#committed--;
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      const suffices = first.credits <= this.#left;
      // Cells in progress may return more.
      if (!suffices && this.#committed > 0) return;
      this.#waiting.shift();
      if (suffices) this.#commit(first.credits);
      first.resolve(suffices);
    }
  }

  #commit(credits: number): void {
    this.#left -= credits;
    this.#committed++;
  }
}
