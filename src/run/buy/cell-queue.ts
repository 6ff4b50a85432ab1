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

/** The work at one cell: what is to be bought there, and what was tried. `buyCell` keeps it up to date. */
export interface CellWork {
  readonly number: number;
  readonly cell: Cell;
  /** The topics to buy that were neither answered nor given up. */
  missing: TopicSet;
  /** The topics that are bought as singles only: a bundle reported them unavailable, or the service had no data on them the last
   * time. */
  singlesOnly: TopicSet;
  /** The topics that the cell is bought for on behalf of its areas. */
  readonly forAreas: TopicSet;
  /** The bundles that are not bought here again. */
  readonly spentBundles: Set<BundleKind>;
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
    const work = this.#begun.get(number) ?? {
      number,
      cell: this.#plan.scan.cells.cell(number),
      missing: topics,
      singlesOnly: topicSet(hadNoData.filter(maySingle)),
      forAreas: this.#plan.areas?.represents.get(number) ?? NO_TOPICS,
      spentBundles: new Set<BundleKind>(),
    };
    work.missing = topics;
    this.#begun.set(number, work);
    return work;
  }

  /** Ends the work at a cell that was begun for these topics. What was answered or given up is not asked for again in this run; of
   * a cell that is done, nothing is. */
  end({ number, missing }: CellWork, topics: TopicSet, isDone: boolean): void {
    const left = isDone ? NO_TOPICS : missing;
    this.#missing.set(number, difference(this.#missing.get(number), difference(topics, left)));
    if (isDone) this.#begun.delete(number);
  }

  /** Sets what cells lack, by their numbers; those that the plan did not have are bought last. */
  replan(missing: ReadonlyMap<number, TopicSet>): void {
    const known = new Set(this.#order);
    const added: number[] = [];
    for (const [cell, topics] of missing) {
      this.#missing.set(cell, topics);
      if (topics !== NO_TOPICS && !known.has(cell)) added.push(cell);
    }
    const order = new Uint32Array(this.#order.length + added.length);
    order.set(this.#order);
    order.set(added, this.#order.length);
    this.#order = order;
  }
}
