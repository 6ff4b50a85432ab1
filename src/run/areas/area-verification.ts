import { counted } from '../../base/format-numbers.ts';
import { areaAnswer, areaSuffices } from '../../columns/topic-columns.ts';
import { type CellRecord, isFreshAt } from '../../contract/answer.ts';
import { type AreaLevel, topicOf } from '../../contract/topics.ts';
import type { Job } from '../../job/settings.ts';
import type { StoredArea } from '../../store/answers/port.ts';
import { NO_TOPICS, type TopicSet, topicSet, topicsIn } from '../../store/answers/topic-set.ts';
import type { Store } from '../../store/port.ts';
import { type Freshness, timesOf } from '../frame/freshness.ts';
import type { Scan } from '../scan/scan-input.ts';

export const LEVELS: readonly AreaLevel[] = ['tract', 'county'];

/** The stored areas, by their names (`tract 06037106111`). */
export type StoredAreas = ReadonlyMap<string, StoredArea>;

/** One spared answer in a hundred is bought to verify, at least 20: boundaries 1 km off put one place in six in a wrong tract. */
const VERIFIED_SHARE = 0.01;
const VERIFIED_AT_LEAST = 20;

/** Beyond this share of areas that differ, and at least two, the boundaries are not trusted. */
const DIFFERING_SHARE = 0.02;
const DIFFERING_AT_LEAST = 2;

/** Two answers about one area are compared if their times differ by at most this. Between older and newer answers there may be a
 * new release of the index. */
export const COMPARABLE_MS = 30 * 86_400_000;

/** Of more spared cells than this, one in a hundred is certainly more than the least. */
const FEW_SPARED = 5_000;

const CELLS_PER_READ = 500;

/** The topics for which, in a job, one answer holds for a whole area of each level. */
export type AreaTopics = Readonly<Record<AreaLevel, TopicSet>>;

/** The topics of a job that a tract or a county answers as a whole. Counts of records are of a place, so that a topic whose counts the job
 * wants is none. */
export function areaTopics({ topics, counts }: Pick<Job, 'topics' | 'counts'>): AreaTopics {
  const shared = topics.filter((topic) => areaSuffices(topic, counts));
  const of = (level: AreaLevel) =>
    topicSet(shared.filter((topic) => topicOf(topic).area === level));
  return { tract: of('tract'), county: of('county') };
}

/** How many areas were verified by an answer at another of their places, and how many of these answers differed. */
export interface AreaVerification {
  readonly verified: number;
  readonly differed: number;
}

/** Whether one answer may hold for an area, by what was verified. If not, each place is bought for itself. */
export function isTrusted({ verified, differed }: AreaVerification): boolean {
  return differed < DIFFERING_AT_LEAST || differed <= DIFFERING_SHARE * verified;
}

/** `24 areas verified, 1 differed`. */
export function verificationText({ verified, differed }: AreaVerification): string {
  return `${counted(verified, 'area')} verified, ${differed} differed`;
}

/** Why each place is bought for itself. */
export function distrustText(verification: AreaVerification): string {
  return `${verificationText(verification)}: the boundaries on this machine are not those of the service, so each place is bought for itself.`;
}

/** Chooses the cells that are bought to verify: the same ones in every run of the file, spread over the map. The first cell of an
 * area in the order of spending is not among them, because it is bought for the area.
 * @param compare the order of spending; negative if the first cell is bought before the second */
export function verifyingCells(
  topics: AreaTopics,
  { cells, areas }: Pick<Scan, 'cells' | 'areas'>,
  compare: (a: number, b: number) => number,
): ReadonlySet<number> {
  const levels = LEVELS.filter((level) => topics[level] !== NO_TOPICS);
  const firsts = new Int32Array(areas.names.length + 1).fill(-1);
  for (let cell = 0; cell < cells.size; cell++) {
    for (const level of levels) {
      const area = areas.numberOf(cell, level);
      if (firsts[area]! < 0 || compare(cell, firsts[area]!) < 0) firsts[area] = cell;
    }
  }
  const spared: number[] = [];
  const sampled: number[] = [];
  for (let cell = 0; cell < cells.size; cell++) {
    const isSpared = levels.some((level) => {
      const area = areas.numberOf(cell, level);
      return area > 0 && firsts[area] !== cell;
    });
    if (!isSpared) continue;
    if (hashOf(cells, cell) < VERIFIED_SHARE * 2 ** 32) sampled.push(cell);
    if (spared.length < FEW_SPARED) spared.push(cell);
  }
  if (sampled.length >= VERIFIED_AT_LEAST) return new Set(sampled);
  const byHash = spared.sort((a, b) => hashOf(cells, a) - hashOf(cells, b) || a - b);
  return new Set([...sampled, ...byHash.slice(0, VERIFIED_AT_LEAST)]);
}

/** Mixes the coordinates of a cell to 32 bits (the finalizer of MurmurHash3). */
function hashOf(cells: Scan['cells'], cell: number): number {
  const { lat7, lng7 } = cells.cell(cell);
  let mixed = lat7 ^ Math.imul(lng7, 0x9e3779b1);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

interface VerifyRequest {
  readonly scan: Pick<Scan, 'areas' | 'cells'>;
  readonly store: Pick<Store, 'read'>;
  readonly source: number;
  readonly freshness: Freshness;
}

export interface VerifyPlan {
  readonly topics: AreaTopics;
  /** The cells by which areas are verified, bought or in the store. */
  readonly verifying: ReadonlySet<number>;
}

/** Compares the answers of the verifying cells with those of their areas, as the store has them. */
export async function verifyAreas(
  { scan, store, source, freshness }: VerifyRequest,
  { topics, verifying }: VerifyPlan,
  stored: StoredAreas,
): Promise<AreaVerification> {
  const verified = new Set<string>();
  const differed = new Set<string>();
  const namesOf = (cell: number) => LEVELS.map((level) => scan.areas.of(cell, level));
  const numbers = [...verifying].filter((cell) =>
    namesOf(cell).some((name) => name !== null && stored.has(name)),
  );
  for await (const [cell, record] of readCells(store, source, scan.cells, numbers)) {
    for (const level of LEVELS) {
      const name = scan.areas.of(cell, level);
      const area = name === null ? undefined : stored.get(name);
      if (record === null || area === undefined) continue;
      const agrees = agreement(record, area, topics[level], freshness);
      if (agrees !== null) verified.add(name!);
      if (agrees === false) differed.add(name!);
    }
  }
  return { verified: verified.size, differed: differed.size };
}

/** Reads cells from the store, by their numbers. */
export async function* readCells(
  store: Pick<Store, 'read'>,
  source: number,
  cells: Scan['cells'],
  numbers: readonly number[],
): AsyncGenerator<readonly [cell: number, record: CellRecord | null]> {
  for (let from = 0; from < numbers.length; from += CELLS_PER_READ) {
    const some = numbers.slice(from, from + CELLS_PER_READ);
    const asked = some.map((cell) => cells.cell(cell));
    for (const [index, record] of (await store.read(source, asked)).entries())
      yield [some[index]!, record];
  }
}

/** Whether a place's own answers are those of its area; null where nothing can be compared. */
function agreement(
  record: CellRecord,
  area: StoredArea,
  topics: TopicSet,
  freshness: Freshness,
): boolean | null {
  let compared = false;
  for (const topic of topicsIn(topics)) {
    const [own, other] = [record.answers.get(topic), area.answers.get(topic)];
    if (own === undefined || other === undefined) continue;
    const times = timesOf(freshness, topic);
    if (!isFreshAt(own.asOf, times) || !isFreshAt(other.asOf, times)) continue;
    if (Math.abs(own.asOf - other.asOf) > COMPARABLE_MS) continue;
    compared = true;
    if (JSON.stringify(areaAnswer(own).fields) !== JSON.stringify(other.fields)) return false;
  }
  return compared ? area.mismatchedAt === null : null;
}
