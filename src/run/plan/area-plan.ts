import { areaAnswer, areaSuffices } from '../../columns/topic-columns.ts';
import type { Answer, CellRecord } from '../../contract/answer.ts';
import { type TopicSlug, topicOf } from '../../contract/topics.ts';
import type { Job } from '../../job/settings.ts';
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
import type { ClaimRequest } from '../../store/ledger/port.ts';
import type { Store } from '../../store/port.ts';
import type { Freshness } from '../frame/freshness.ts';
import type { RunContext } from '../frame/run-context.ts';
import type { AreaTable } from '../scan/area-table.ts';
import type { Scan } from '../scan/scan-input.ts';
import {
  type AreaVerification,
  areaTopics,
  isTrusted,
  LEVELS,
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

/** Reads all areas that the rows name from the store. */
export async function readStoredAreas(
  areas: AreaTable,
  store: Store,
  source: number,
): Promise<StoredAreas> {
  const stored = new Map<string, StoredArea>();
  for (let from = 0; from < areas.names.length; from += AREAS_PER_READ) {
    const names = areas.names.slice(from, from + AREAS_PER_READ);
    const records = await store.readAreas(source, names);
    for (const [index, record] of records.entries()) if (record) stored.set(names[index]!, record);
  }
  return stored;
}

interface AreaPlanRequest {
  readonly context: Pick<RunContext, 'job' | 'store' | 'source' | 'freshness'>;
  readonly scan: Pick<Scan, 'areas' | 'cells'>;
  /** The order of spending; negative if the first cell is bought before the second. */
  readonly compare: (a: number, b: number) => number;
  readonly order: Iterable<number>;
  readonly missing: ReadonlyTopicSets;
}

/** Plans which cells are bought for their areas. The first cell of an area in the order of spending is bought for all its cells;
 * the others lack only the topics that differ from place to place. An area with a fresh answer in the store buys nothing. The
 * verifying cells are bought anyway. An area with contradicting answers spares no cell; boundaries that are not trusted spare none.
 * @returns the plan, and the missing topics of the cells under it */
export async function planAreas({
  context,
  scan,
  compare,
  order,
  missing: unanswered,
}: AreaPlanRequest): Promise<{ readonly plan: AreaPlan; readonly missing: TopicSets }> {
  const { job, store, source, freshness } = context;
  const stored = await readStoredAreas(scan.areas, store, source);
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
  const plan = {
    topics,
    verifying,
    representatives: represents.size,
    verified,
    spared,
    verification,
    represents,
  };
  return { plan, missing };
}

function freshTopics(record: StoredArea | undefined, freshness: Freshness): TopicSet {
  if (!record) return NO_TOPICS;
  const fresh = [...record.answers.values()].filter(
    ({ topic, asOf }) => asOf >= freshness.freshSince(topic),
  );
  return topicSet(fresh.map(({ topic }) => topic));
}

/** The answers of a call that also hold for the cell's areas, for its settlement. At a verifying cell those of topics for which it does not
 * stand for its areas are compared only: as an area's own, they would be compared with themselves, and the area's own cell not be bought. */
export function areasToSettle(
  areas: AreaTable,
  cell: number,
  answers: readonly Answer[],
  comparableSince: number,
  plan: Pick<AreaPlan, 'verifying' | 'represents'> | null = null,
): AreaAnswers[] {
  const own = plan?.verifying.has(cell) ? (plan.represents.get(cell) ?? NO_TOPICS) : null;
  const isOwn = ({ topic }: Answer) => own === null || hasTopic(own, topic);
  const settle = (some: readonly Answer[], more: Partial<AreaAnswers> = {}) =>
    byArea(areas, cell, some).map(({ area, of }) => ({
      area,
      answers: of.map(areaAnswer),
      comparableSince,
      ...more,
    }));
  const compared = answers.filter((answer) => !isOwn(answer));
  return [...settle(answers.filter(isOwn)), ...settle(compared, { isComparison: true })];
}

/** What is known of topics, by the area of a cell for which it holds. */
function byArea<Of extends { readonly topic: TopicSlug }>(
  areas: AreaTable,
  cell: number,
  all: readonly Of[],
) {
  return LEVELS.flatMap((level) => {
    const area = areas.of(cell, level);
    const of = all.filter(({ topic }) => topicOf(topic).area === level);
    return area === null || of.length === 0 ? [] : [{ area, of }];
  });
}

/** The topics of a call that are bought for the areas of its cell, for the claim of the call. */
export function areasToClaim(
  areas: AreaTable,
  cell: number,
  represented: TopicSet,
  wanted: ClaimRequest['wanted'],
) {
  const bought = wanted.filter(({ topic }) => hasTopic(represented, topic));
  return byArea(areas, cell, bought).map(({ area, of }) => ({ area, wanted: of }));
}

/** The topics to buy at a cell for its areas that another run has bought meanwhile. */
export async function answeredMeanwhile(
  areas: AreaTable,
  cell: number,
  represented: TopicSet,
  {
    store,
    source,
    freshness,
  }: { readonly store: Store; readonly source: number; readonly freshness: Freshness },
): Promise<TopicSet> {
  let answered = NO_TOPICS;
  for (const level of LEVELS) {
    const area = areas.of(cell, level);
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

/** A cell's record with the answers of its areas, if these agree: only for topics without a fresh answer of its own. */
export function withAreas(
  record: CellRecord,
  cell: number,
  job: Job,
  areas: AreaTable,
  stored: StoredAreas,
  freshness: Freshness,
): { readonly record: CellRecord; readonly used: readonly string[] } {
  const answers = new Map<TopicSlug, Answer>(record.answers);
  const used = new Set<string>();
  for (const topic of job.topics) {
    const level = topicOf(topic).area;
    const own = record.answers.get(topic);
    if (
      level === null ||
      !areaSuffices(topic, job.counts) ||
      (own && own.asOf >= freshness.freshSince(topic))
    )
      continue;
    const area = areas.of(cell, level);
    const storedArea = area === null ? undefined : stored.get(area);
    const answer = storedArea?.mismatchedAt === null ? storedArea.answers.get(topic) : undefined;
    if (!answer || answer.asOf < freshness.freshSince(topic)) continue;
    answers.set(topic, answer);
    used.add(area!);
  }
  return used.size === 0
    ? { record, used: [] }
    : { record: { ...record, answers }, used: [...used] };
}
