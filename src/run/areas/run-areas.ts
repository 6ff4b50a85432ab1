import { areaAnswer, areaSuffices } from '../../columns/topic-columns.ts';
import { type Answer, type CellRecord, isFreshAt } from '../../contract/answer.ts';
import { type TopicSlug, topicOf } from '../../contract/topics.ts';
import type { AreaAnswers, StoredArea } from '../../store/answers/port.ts';
import {
  difference,
  hasTopic,
  intersection,
  NO_TOPICS,
  type ReadonlyTopicSets,
  type TopicSet,
  type TopicSets,
  topicSet,
  topicsIn,
  union,
} from '../../store/answers/topic-set.ts';
import type { AreaWanted, ClaimRequest } from '../../store/ledger/port.ts';
import { type Freshness, failedSet, missingSet, timesOf } from '../frame/freshness.ts';
import type { RunContext } from '../frame/run-context.ts';
import type { Scan } from '../scan/scan-input.ts';
import {
  type AreaVerification,
  areaTopics,
  COMPARABLE_MS,
  distrustText,
  isTrusted,
  LEVELS,
  readCells,
  type StoredAreas,
  type VerifyPlan,
  verifyAreas,
  verifyingCells,
} from './area-verification.ts';

const AREAS_PER_READ = 2_000;

/** How many cells one answer for a whole area saves. */
export interface AreaPlan extends VerifyPlan {
  /** Cells that are bought for their whole area. */
  readonly representatives: number;
  /** Cells that are bought although their area has an answer, to compare the two. */
  readonly verified: number;
  /** Cells with a topic that is not bought, because their area has the answer. */
  readonly spared: number;
  /** What their answers showed when the plan was made. */
  readonly verification: AreaVerification;
  /** The topics that are bought at a cell for its areas, by the cell's number. */
  readonly represents: ReadonlyMap<number, TopicSet>;
}

/** A cell's record with the answers of its areas, and the areas that gave some. */
export interface RecordWithAreas {
  readonly record: CellRecord;
  readonly used: readonly string[];
}

type AreaContext = Pick<RunContext, 'job' | 'store' | 'source' | 'freshness'>;
type AreaScan = Pick<Scan, 'areas' | 'cells'>;

interface AreaPlanRequest {
  readonly context: AreaContext;
  readonly scan: AreaScan;
  /** The order of spending; negative if the first cell is bought before the second. */
  readonly compare: (a: number, b: number) => number;
  readonly order: Iterable<number>;
  readonly missing: ReadonlyTopicSets;
}

/** Plans which cells are bought for their areas. The first cell of an area in the order of spending is bought for all its cells;
 * the others lack only the topics that differ from place to place. An area with a fresh answer in the store buys nothing. The
 * verifying cells are bought anyway. An area with contradicting answers spares no cell; boundaries that are not trusted spare none.
 * @returns the areas, and the missing topics of the cells with them */
export async function planAreas({
  context,
  scan,
  compare,
  order,
  missing: unanswered,
}: AreaPlanRequest): Promise<{ readonly areas: RunAreas; readonly missing: TopicSets }> {
  const { job, freshness } = context;
  const stored = await readStoredAreas(context, scan);
  const topics = areaTopics(job);
  const verifying = verifyingCells(topics, scan, compare);
  const verification = await verifyAreas({ ...context, scan }, { topics, verifying }, stored);
  const missing = unanswered.copy();
  const served = new Map<string, TopicSet>();
  const represents = new Map<number, TopicSet>();
  let verified = 0;
  let spared = 0;
  for (const cell of isTrusted(verification) ? order : []) {
    let inAreas = NO_TOPICS;
    for (const level of LEVELS) {
      const area = scan.areas.of(cell, level);
      const lacking = intersection(missing.get(cell), topics[level]);
      if (area === null || lacking === NO_TOPICS) continue;
      const record = stored.get(area);
      if (record && record.mismatchedAt !== null) continue;
      const before = served.get(area) ?? freshTopics(record, freshness);
      served.set(area, union(before, lacking));
      const first = difference(lacking, before);
      if (first !== NO_TOPICS)
        represents.set(cell, union(represents.get(cell) ?? NO_TOPICS, first));
      inAreas = union(inAreas, intersection(lacking, before));
    }
    if (inAreas === NO_TOPICS) continue;
    if (verifying.has(cell)) verified++;
    else {
      missing.set(cell, difference(missing.get(cell), inAreas));
      spared++;
    }
  }
  const areas = new RunAreas(context, scan, {
    topics,
    verifying,
    representatives: represents.size,
    verified,
    spared,
    verification,
    represents,
  });
  return { areas, missing };
}

/** The areas of a run, from its plan to its output: what is bought, claimed and settled for them, what the store has of them, and
 * whether they are trusted, which the answers of the run may change. */
export class RunAreas {
  readonly plan: AreaPlan;
  readonly #context: AreaContext;
  readonly #scan: AreaScan;
  #verification: AreaVerification;
  /** The areas whose cells are bought for themselves since their answers contradicted each other. */
  #contradicting: ReadonlySet<string> = new Set();

  constructor(context: AreaContext, scan: AreaScan, plan: AreaPlan) {
    this.#context = context;
    this.#scan = scan;
    this.plan = plan;
    this.#verification = plan.verification;
  }

  /** What the answers of the verifying cells showed when they were last compared. */
  get verification(): AreaVerification {
    return this.#verification;
  }

  get isTrusted(): boolean {
    return isTrusted(this.#verification);
  }

  /** The topics of a call that are bought for the areas of its cell, for the claim of the call. */
  listClaims(cell: number, wanted: ClaimRequest['wanted']): AreaWanted[] {
    const represented = this.#representedBy(cell);
    const bought = wanted.filter(({ topic }) => hasTopic(represented, topic));
    return this.#byArea(cell, bought).map(({ area, of }) => ({ area, wanted: of }));
  }

  /** The answers of a call that also hold for the cell's areas, for its settlement. At a verifying cell those of topics for which it does not
   * stand for its areas are compared only: as an area's own, they would be compared with themselves, and the area's own cell not be bought. */
  listAnswers(cell: number, answers: readonly Answer[]): AreaAnswers[] {
    const isVerifying = this.plan.verifying.has(cell);
    const represented = this.#representedBy(cell);
    const isOwn = ({ topic }: Answer) => !isVerifying || hasTopic(represented, topic);
    const comparableSince = this.#context.freshness.startedAt - COMPARABLE_MS;
    const settle = (some: readonly Answer[], more: Partial<AreaAnswers> = {}) =>
      this.#byArea(cell, some).map(({ area, of }) => ({
        area,
        answers: of.map(areaAnswer),
        comparableSince,
        ...more,
      }));
    const compared = answers.filter((answer) => !isOwn(answer));
    return [...settle(answers.filter(isOwn)), ...settle(compared, { isComparison: true })];
  }

  /** The topics to buy at a cell for its areas that another run has bought meanwhile. */
  async findAnswered(cell: number): Promise<TopicSet> {
    const { store, source, freshness } = this.#context;
    const represented = this.#representedBy(cell);
    let answered = NO_TOPICS;
    for (const level of LEVELS) {
      const area = this.#scan.areas.of(cell, level);
      if (area === null || represented === NO_TOPICS) continue;
      const [record] = await store.readAreas(source, [area]);
      if (!record || record.mismatchedAt !== null) continue;
      const ofLevel = topicsIn(freshTopics(record, freshness)).filter(
        (topic) => topicOf(topic).area === level,
      );
      answered = union(answered, intersection(represented, topicSet(ofLevel)));
    }
    return answered;
  }

  /** Compares the answers of the verifying cells once more, after a purchase. */
  async verify(): Promise<void> {
    await this.#verifyBy(await readStoredAreas(this.#context, this.#scan));
  }

  /** Finds after some purchases the cells that must be bought for themselves: those of areas that were answered differently, or all
   * once too many areas differ. The user is told why.
   * @returns what these cells lack now, which no plan has priced; null where there is no such cell */
  async findContradicted(
    notice: (message: string) => void,
  ): Promise<ReadonlyMap<number, TopicSet> | null> {
    if (!this.isTrusted) return null;
    const stored = await readStoredAreas(this.#context, this.#scan);
    await this.#verifyBy(stored);
    if (!this.isTrusted) notice(distrustText(this.#verification));
    const again = this.isTrusted ? this.#newContradictions(stored) : new Set(stored.keys());
    for (const area of this.isTrusted ? again : [])
      notice(
        `Two locations of ${area} were answered differently: its locations are bought one by one.`,
      );
    this.#contradicting = new Set([...this.#contradicting, ...again]);
    return again.size === 0 ? null : await this.#missingIn(again);
  }

  /** Reads what the store has of the areas. @returns the record of a cell with the answers of its areas: only of those that agree, and for topics
   * without a fresh answer of its own. Null where the areas are not trusted: then none is used. */
  async read(): Promise<((record: CellRecord, cell: number) => RecordWithAreas) | null> {
    if (!this.isTrusted) return null;
    const stored = await readStoredAreas(this.#context, this.#scan);
    return (record, cell) => this.#addAnswers(record, cell, stored);
  }

  #addAnswers(record: CellRecord, cell: number, stored: StoredAreas): RecordWithAreas {
    const { job, freshness } = this.#context;
    const answers = new Map<TopicSlug, Answer>(record.answers);
    const used = new Set<string>();
    for (const topic of job.topics) {
      const level = topicOf(topic).area;
      const times = timesOf(freshness, topic);
      const own = record.answers.get(topic);
      if (level === null || !areaSuffices(topic, job.counts) || (own && isFreshAt(own.asOf, times)))
        continue;
      const area = this.#scan.areas.of(cell, level);
      const storedArea = area === null ? undefined : stored.get(area);
      const answer = storedArea?.mismatchedAt === null ? storedArea.answers.get(topic) : undefined;
      if (!answer || !isFreshAt(answer.asOf, times)) continue;
      answers.set(topic, answer);
      used.add(area!);
    }
    return used.size === 0
      ? { record, used: [] }
      : { record: { ...record, answers }, used: [...used] };
  }

  /** The topics that are bought at a cell for its areas. */
  #representedBy(cell: number): TopicSet {
    return this.plan.represents.get(cell) ?? NO_TOPICS;
  }

  async #verifyBy(stored: StoredAreas): Promise<void> {
    const request = { ...this.#context, scan: this.#scan };
    this.#verification = await verifyAreas(request, this.plan, stored);
  }

  /** The areas whose locations were answered differently in this run, and which no earlier call has named. */
  #newContradictions(stored: StoredAreas): ReadonlySet<string> {
    const { startedAt } = this.#context.freshness;
    const found = [...stored].filter(
      ([area, { mismatchedAt }]) =>
        (mismatchedAt ?? 0) >= startedAt && !this.#contradicting.has(area),
    );
    return new Set(found.map(([area]) => area));
  }

  /** The missing topics of the areas' cells if each cell is bought for itself. The plan lacks them; the run's limit decides how many are bought. */
  async #missingIn(inAreas: ReadonlySet<string>): Promise<ReadonlyMap<number, TopicSet>> {
    const { job, store, source, freshness } = this.#context;
    const { cells, areas } = this.#scan;
    const missing = new Map<number, TopicSet>();
    const isIn = (cell: number) => LEVELS.some((level) => inAreas.has(areas.of(cell, level) ?? ''));
    const numbers = Array.from({ length: cells.size }, (_, cell) => cell).filter(isIn);
    for await (const [cell, record] of readCells(store, source, cells, numbers)) {
      // Calls that failed in this run are not repeated: they may have been charged.
      const unanswered = missingSet(record, job.topics, freshness);
      missing.set(cell, difference(unanswered, failedSet(record, freshness)));
    }
    return missing;
  }

  /** What is known of topics, by the area of a cell for which it holds. */
  #byArea<Of extends { readonly topic: TopicSlug }>(
    cell: number,
    all: readonly Of[],
  ): { readonly area: string; readonly of: readonly Of[] }[] {
    return LEVELS.flatMap((level) => {
      const area = this.#scan.areas.of(cell, level);
      const of = all.filter(({ topic }) => topicOf(topic).area === level);
      return area === null || of.length === 0 ? [] : [{ area, of }];
    });
  }
}

/** Reads all areas that the rows name from the store. */
async function readStoredAreas(
  { store, source }: Pick<AreaContext, 'store' | 'source'>,
  { areas }: Pick<AreaScan, 'areas'>,
): Promise<StoredAreas> {
  const stored = new Map<string, StoredArea>();
  for (let from = 0; from < areas.names.length; from += AREAS_PER_READ) {
    const names = areas.names.slice(from, from + AREAS_PER_READ);
    const records = await store.readAreas(source, names);
    for (const [index, record] of records.entries()) if (record) stored.set(names[index]!, record);
  }
  return stored;
}

function freshTopics(record: StoredArea | undefined, freshness: Freshness): TopicSet {
  if (!record) return NO_TOPICS;
  const fresh = [...record.answers.values()].filter(({ topic, asOf }) =>
    isFreshAt(asOf, timesOf(freshness, topic)),
  );
  return topicSet(fresh.map(({ topic }) => topic));
}
