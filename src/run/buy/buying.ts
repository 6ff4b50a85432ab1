import { inBatches } from '../../batches.ts';
import type { Clock } from '../../clock.ts';
import type { CellRecord } from '../../contract/answer.ts';
import type { BundleKind } from '../../contract/credits.ts';
import {
  difference,
  NO_TOPICS,
  type ReadonlyTopicSets,
  type TopicSet,
  type TopicSets,
  topicSet,
  topicsIn,
} from '../../contract/topic-set.ts';
import type { TopicSlug } from '../../contract/topics.ts';
import { AnswerOrigin } from '../../fetch/answer-origin.ts';
import type { Client } from '../../fetch/client.ts';
import type { Throttle } from '../../fetch/throttle.ts';
import type { Cell } from '../../geo/coordinates.ts';
import type { ClaimLimits, Store } from '../../store/port.ts';
import type { ApiKeys } from '../plan/api-keys.ts';
import type { Freshness } from '../plan/freshness.ts';
import type { Plan } from '../plan/planning.ts';
import type { CellNumbers } from '../plan/reach.ts';
import type { Progress } from '../progress.ts';
import type { RunContext } from '../run-context.ts';
import type { RunTimes } from '../run-times.ts';
import type { Job } from '../settings/settings.ts';
import { Payers } from './payers.ts';
import { RunHealth } from './run-health.ts';

/** What stays the same while a run buys. */
export interface BuyingContext {
  readonly job: Job;
  readonly plan: Plan;
  readonly store: Store;
  readonly freshness: Freshness;
  /** The run in the ledger, and what it may spend; the approved plan's credits may be spent by other runs at the same time. */
  readonly limits: Pick<ClaimLimits, 'run' | 'source' | 'budget' | 'plan'>;
  readonly service: ServiceAccess;
  readonly effects: BuyingEffects;
  readonly progress: Progress;
  readonly deadline: RunContext['deadline'];
}

/** What a call to the service goes through. */
interface ServiceAccess {
  readonly client: Client;
  /** One for each account, by its name. */
  readonly throttles: ReadonlyMap<string, Throttle>;
  readonly apiKeys: ApiKeys;
}

interface BuyingEffects {
  readonly clock: Clock;
  readonly times: RunTimes;
  readonly random: () => number;
  /** Called with what the user should know at once: a key refused, a scope missing, a topic down. */
  readonly notice: (message: string) => void;
}

/** The buying within one billing period: the context, and what changes while calls are made. */
export interface Buying extends BuyingContext {
  readonly payers: Payers;
  readonly health: RunHealth;
  readonly origin: AnswerOrigin;
  /** Reads what the store has of a cell, together with the cells that others ask for at this moment. */
  readonly readCell: (cell: Cell) => Promise<CellRecord | null>;
}

/** Begins the buying of a period. */
export async function beginBuying(context: BuyingContext, interrupt: AbortSignal): Promise<Buying> {
  const { job, store, limits, service, effects } = context;
  const contents = await store.bundleContents(limits.source);
  return {
    ...context,
    payers: new Payers(job, service.apiKeys, effects.times, contents),
    health: new RunHealth(job.topics, interrupt),
    origin: new AnswerOrigin(job.precision),
    readCell: inBatches((cells) => store.read(limits.source, cells)),
  };
}

/** The work at one cell: what is to be bought there, and what was tried. */
export interface CellWork {
  readonly number: number;
  readonly cell: Cell;
  /** The topics to buy that were neither answered nor given up. */
  readonly missing: TopicSet;
  /** The topics that are bought as singles only: a bundle reported them unavailable, or the service had no data on them the last
   * time. */
  readonly singlesOnly: TopicSet;
  /** The topics that the cell is bought for on behalf of its areas. */
  readonly forAreas: TopicSet;
  /** The bundles that are not bought here again. */
  readonly spentBundles: ReadonlySet<BundleKind>;
}

/** What is left to buy in a run, cell by cell. It begins as a copy of the plan, which never changes. */
export class CellQueue {
  readonly #plan: Plan;
  readonly #missing: TopicSets;
  #order: CellNumbers;
  /** Cells that were begun and not finished: another run was at work there, or the credits ran out. */
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

  /** Begins the work at a cell, or goes on with it, for some of what it lacks. A bundle is not bought for topics that it will
   * probably not have; a single without data is free. */
  begin(number: number, topics: TopicSet, maySingle: (topic: TopicSlug) => boolean): CellWork {
    const hadNoData = topicsIn(this.#plan.hadNoData.get(number) ?? NO_TOPICS);
    const begun = this.#begun.get(number) ?? {
      number,
      cell: this.#plan.scan.cells.cell(number),
      singlesOnly: topicSet(hadNoData.filter(maySingle)),
      forAreas: this.#plan.areas?.represents.get(number) ?? NO_TOPICS,
      spentBundles: new Set<BundleKind>(),
    };
    return { ...begun, missing: topics };
  }

  /** Ends the work at a cell that was begun for these topics. What was answered or given up is not asked for again in this run; of
   * a cell that is done, nothing is. */
  end(work: CellWork, topics: TopicSet, isDone: boolean): void {
    const { number } = work;
    const left = isDone ? NO_TOPICS : work.missing;
    this.#missing.set(number, difference(this.#missing.get(number), difference(topics, left)));
    if (isDone) this.#begun.delete(number);
    else this.#begun.set(number, work);
  }

  /** Sets what cells lack, by their numbers; those that the plan did not have are bought last. */
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

interface Waiter {
  readonly credits: number;
  readonly resolve: (taken: boolean) => void;
}

/**
 * The credits that this run may still reserve for cells. A cell is begun only when all of it can be paid: a budget that ends
 * early then leaves complete and untouched cells, not many that lack half their topics.
 *
 * The ledger decides about every call; this decides which cell to begin. What a cell did not need (a single that the bundle
 * saved) is returned and goes to the waiting cells in their order: a later cell never overtakes an earlier one.
 */
export class CreditReservations {
  #left: number;
  #committed = 0;
  #waiting: Waiter[] = [];

  constructor(credits: number) {
    this.#left = credits;
  }

  /** Reserves credits for a cell. Waits while cells in work may still return some; false when they cannot suffice. */
  async take(credits: number): Promise<boolean> {
    if (this.#waiting.length === 0 && credits <= this.#left) {
      this.#commit(credits);
      return true;
    }
    if (this.#committed === 0) return false;
    return new Promise((resolve) => this.#waiting.push({ credits, resolve }));
  }

  /** Ends a cell that was begun: the credits that it did not spend are returned. Overspending (a call tried twice) is taken from the
   * rest. */
  end(taken: number, spent: number): void {
    this.#left += taken - spent;
    this.#committed--;
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      const suffices = first.credits <= this.#left;
      // While other cells are in work, more may be returned.
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
