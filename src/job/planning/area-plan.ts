import { areaAnswer, areaLevelOf, areaSuffices } from '../../columns/area-fields.ts';
import type { Answer, CellRecord } from '../../contract/answer.ts';
import { inBoth, type TopicSet, topicSet, topicsIn } from '../../contract/topic-set.ts';
import type { TopicSlug } from '../../contract/topics.ts';
import type { AreaLevel } from '../../geo/area-codes.ts';
import type { AreaAnswers, ClaimRequest, Store, StoredArea } from '../../store/port.ts';
import type { AreaTable } from '../scan/area-table.ts';
import type { Scan } from '../scan/scan-input.ts';
import type { Job } from '../settings/settings.ts';
import type { Freshness } from './freshness.ts';

const LEVELS: readonly AreaLevel[] = ['tract', 'county'];

const AREAS_PER_READ = 2_000;

/** What is known of areas, by their names (`tract 06037106111`). */
export type KnownAreas = ReadonlyMap<string, StoredArea>;

/** How far one answer serves a whole area in a plan. */
export interface AreaPlan {
  /** Cells that are asked about for their whole area. */
  readonly representatives: number;
  /** Cells that are bought though their area would serve, to compare. */
  readonly verified: number;
  /** Cells that are spared some topic. */
  readonly spared: number;
  /** The topics that a cell is asked about for its areas, by the cell's number. */
  readonly represents: ReadonlyMap<number, TopicSet>;
}

/** The topics of a level that an area's answer settles for this job. */
function areaTopics(job: Job, level: AreaLevel): TopicSet {
  return topicSet(job.topics.filter((topic) => areaLevelOf(topic) === level && areaSuffices(topic, job.counts)));
}

/** Reads what the store knows of all areas that the rows name. */
export async function readKnownAreas(areas: AreaTable, store: Store, source: number): Promise<KnownAreas> {
  const known = new Map<string, StoredArea>();
  for (let from = 0; from < areas.names.length; from += AREAS_PER_READ) {
    const names = areas.names.slice(from, from + AREAS_PER_READ);
    const records = await store.readAreas(source, names);
    for (const [index, record] of records.entries()) if (record) known.set(names[index]!, record);
  }
  return known;
}

/**
 * Takes out of `missing` what areas serve: the first cell of an area in the order of spending is asked for all of them,
 * the others only for what is each place's own. Nobody is asked where the store knows the area freshly. A share of the
 * spared cells (`areas.verify`) is bought all the same; an area that was answered in two ways spares nobody.
 *
 * @param order the cells that lack something, in the order of spending
 * @param missing the topics that each cell lacks; changed in place
 */
export function spareByAreas(
  job: Job,
  { areas, cells }: Pick<Scan, 'areas' | 'cells'>,
  known: KnownAreas,
  order: Uint32Array,
  missing: Float64Array,
  freshness: Freshness,
): AreaPlan {
  const asked = new Map<string, TopicSet>();
  const represents = new Map<number, TopicSet>();
  let verified = 0;
  let spared = 0;
  for (const cell of order) {
    const { lat7, lng7 } = cells.cell(cell);
    const verify = isChosen(lat7, lng7, job.areas!.verify);
    let isVerified = false;
    let isSpared = false;
    for (const level of LEVELS) {
      const area = areas.of(cell, level);
      const lacking = inBoth(missing[cell]!, areaTopics(job, level));
      if (area === null || lacking === 0) continue;
      const record = known.get(area);
      if (record && record.mismatchedAt !== null) continue;
      const served = asked.get(area) ?? freshTopics(record, freshness);
      const both = inBoth(lacking, served);
      asked.set(area, served + lacking - both);
      if (lacking > both) represents.set(cell, (represents.get(cell) ?? 0) + lacking - both);
      if (both === 0) continue;
      if (verify) {
        isVerified = true;
        continue;
      }
      missing[cell]! -= both;
      isSpared = true;
    }
    if (isVerified) verified++;
    if (isSpared) spared++;
  }
  return { representatives: represents.size, verified, spared, represents };
}

function freshTopics(record: StoredArea | undefined, freshness: Freshness): TopicSet {
  if (!record) return 0;
  const fresh = [...record.answers.values()].filter(({ topic, asOf }) => asOf >= freshness.freshSince(topic));
  return topicSet(fresh.map(({ topic }) => topic));
}

/** Picks a fixed share of all cells, the same ones in every run, spread over the map by Knuth's multiplicative hash. */
function isChosen(lat7: number, lng7: number, share: number): boolean {
  const mixed = Math.imul(lat7 ^ Math.imul(lng7, 0x85ebca6b), 0x9e3779b1) >>> 0;
  return mixed / 2 ** 32 < share;
}

/** The areas of a cell that answers at it also speak for, as the settlement of a call wants them. */
export function areasToSettle(
  areas: AreaTable,
  cell: number,
  answers: readonly Answer[],
  comparableSince: number,
): AreaAnswers[] {
  return LEVELS.flatMap((level) => {
    const area = areas.of(cell, level);
    const shared = answers.filter(({ topic }) => areaLevelOf(topic) === level).map(areaAnswer);
    return area === null || shared.length === 0 ? [] : [{ area, answers: shared, comparableSince }];
  });
}

/** What of a call's topics is asked for the areas of its cell, as the call's claim wants it. */
export function areasToClaim(
  areas: AreaTable,
  cell: number,
  represented: TopicSet,
  wanted: ClaimRequest['wanted'],
): NonNullable<ClaimRequest['areas']> {
  return LEVELS.flatMap((level) => {
    const area = areas.of(cell, level);
    const shared = wanted.filter(
      ({ topic }) => areaLevelOf(topic) === level && inBoth(represented, topicSet([topic])) > 0,
    );
    return area === null || shared.length === 0 ? [] : [{ area, wanted: shared }];
  });
}

/** The topics that a cell was to be asked about for its areas, and that another run has asked about meanwhile. */
export async function answeredMeanwhile(
  areas: AreaTable,
  cell: number,
  represented: TopicSet,
  store: Store,
  source: number,
  freshness: Freshness,
): Promise<TopicSet> {
  let answered = 0;
  for (const level of LEVELS) {
    const area = areas.of(cell, level);
    if (area === null || represented === 0) continue;
    const [record] = await store.readAreas(source, [area]);
    if (!record || record.mismatchedAt !== null) continue;
    const ofLevel = topicsIn(freshTopics(record, freshness)).filter((topic) => areaLevelOf(topic) === level);
    answered += inBoth(represented, topicSet(ofLevel));
  }
  return answered;
}

/** A cell's record with what its areas add: only topics that it has no fresh answer to, only areas that agree. */
export function withAreas(
  record: CellRecord,
  cell: number,
  job: Job,
  areas: AreaTable,
  known: KnownAreas,
  freshness: Freshness,
): { readonly record: CellRecord; readonly used: readonly string[] } {
  const answers = new Map<TopicSlug, Answer>(record.answers);
  const used = new Set<string>();
  for (const topic of job.topics) {
    const level = areaLevelOf(topic);
    const own = record.answers.get(topic);
    if (level === null || !areaSuffices(topic, job.counts) || (own && own.asOf >= freshness.freshSince(topic)))
      continue;
    const area = areas.of(cell, level);
    const found = area === null ? undefined : known.get(area);
    const answer = found?.mismatchedAt === null ? found.answers.get(topic) : undefined;
    if (!answer || answer.asOf < freshness.freshSince(topic)) continue;
    answers.set(topic, answer);
    used.add(area!);
  }
  return used.size === 0 ? { record, used: [] } : { record: { ...record, answers }, used: [...used] };
}
