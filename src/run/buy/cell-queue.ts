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
import type { Cell } from '../../geo/coordinates.ts';
import type { Plan } from '../plan/planning.ts';
import type { CellNumbers } from '../plan/reach.ts';

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
