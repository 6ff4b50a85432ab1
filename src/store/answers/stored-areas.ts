import { type Answer, type Field, isFreshAt } from '../../contract/answer.ts';
import { isTopicSlug, type TopicSlug } from '../../contract/topics.ts';
import { damagedStore } from '../../formats/packed/damaged-store.ts';
import {
  read,
  type SqlDatabase,
  type SqlReading,
  type SqlWork,
  statement,
  write,
} from '../../sql/sql-work.ts';
import type { SettledCall } from '../ledger/ledger-moves.ts';
import { type Checked, checksumOf } from './packed-answers.ts';
import type { AreaAnswers, StoredArea, Wanted } from './port.ts';
import { storedJson } from './stored-json.ts';

/** The stored row of an area: its answers as JSON. Areas are few, and read once a run. The answers have only the fields that are
 * the same in the whole area. */
interface AreaRow {
  readonly answers: string;
  readonly mismatchedAt: number | null;
}

type AreaOfSource = AreaRow & { readonly source: number; readonly area: string };

export type StoredAreaRow = AreaOfSource & Checked;

/** Whether a row is as it was written; one without a checksum is taken for intact. */
export function isIntactArea({ source, area, answers, checksum }: StoredAreaRow): boolean {
  return checksum === null || checksum === checksumOf([source], area, answers);
}

type JsonAnswers = Record<string, [asOf: number, fields: Field[], stated?: string]>;

/** How long a mismatch counts. A new release of the index between two answers of an area causes a mismatch too. Without an end, it
 * would cost a call for each of its locations for ever; a wrong area column causes a new mismatch. Natural answers stay fresh as long. */
const MARK_HOLDS_MS = 365 * 24 * 60 * 60_000;

function hasAnswers(answers: JsonAnswers): boolean {
  return Object.values(answers).every(
    ([asOf, fields]) => Number.isFinite(asOf) && Array.isArray(fields),
  );
}

/** Skips slugs that this version does not have. */
function parseAnswers(json: string): Map<TopicSlug, Answer> {
  const answers = new Map<TopicSlug, Answer>();
  const stored = storedJson<JsonAnswers>(json, 'the answers of an area', hasAnswers);
  for (const [topic, [asOf, fields, stated]] of Object.entries(stored ?? {})) {
    if (isTopicSlug(topic)) answers.set(topic, { topic, asOf, fields, stated });
  }
  return answers;
}

/** When two answers of the area last differed; null if that no longer counts. */
function markOf({ mismatchedAt }: AreaRow, now: number): number | null {
  return mismatchedAt !== null && Math.abs(now - mismatchedAt) < MARK_HOLDS_MS
    ? mismatchedAt
    : null;
}

/** Whether an area has a fresh answer to a wanted topic. An area whose answers differ is not used. */
export function isAreaAnswered(
  stored: StoredArea | null | undefined,
  wanted: readonly Wanted[],
): boolean {
  if (!stored || stored.mismatchedAt !== null) return false;
  return wanted.some((times) => isFreshAt(stored.answers.get(times.topic)?.asOf ?? -1, times));
}

/** The row of an area after an answer at one of its locations. If a comparable answer of the area differs, the area is marked:
 * one answer does not hold for all of its locations. */
function mergedArea(
  row: AreaRow | undefined,
  { answers, comparableSince, isComparison = false }: Omit<AreaAnswers, 'area'>,
  now: number,
): AreaRow {
  const merged = row ? parseAnswers(row.answers) : new Map<TopicSlug, Answer>();
  let mismatchedAt = row ? markOf(row, now) : null;
  for (const answer of answers) {
    const before = merged.get(answer.topic);
    const differs =
      before !== undefined && JSON.stringify(before.fields) !== JSON.stringify(answer.fields);
    // Not before the answer's time: if the clock was set back, a mark with the present time would look old.
    if (differs && before.asOf >= comparableSince) mismatchedAt = Math.max(now, answer.asOf);
    if (!isComparison) merged.set(answer.topic, answer);
  }
  const json = Object.fromEntries(
    [...merged.values()].map(({ topic, asOf, fields, stated }) => [
      topic,
      stated === undefined ? [asOf, fields] : [asOf, fields, stated],
    ]),
  );
  return { answers: JSON.stringify(json), mismatchedAt };
}

export const AREA_COLUMNS = 'source, area, answers, mismatched_at AS "mismatchedAt", checksum';

/** The stored areas, by name. */
export function groupAreas(
  { dialect }: SqlDatabase,
  source: number,
  areas: readonly string[],
): SqlReading<ReadonlyMap<string, StoredArea>> {
  if (areas.length === 0) return { statements: [], take: () => new Map() };
  return {
    statements: [
      statement(
        `SELECT ${AREA_COLUMNS}, ${dialect.now} AS now FROM areas WHERE source = $1 AND area IN ${dialect.list('$2', 'text')}`,
        [source, JSON.stringify(areas)],
      ),
    ],
    take: ([rows]) =>
      new Map(
        (rows as (StoredAreaRow & { now: number })[]).map((row) => {
          if (!isIntactArea(row)) throw damagedStore(`the answers of ${row.area}`);
          return [
            row.area,
            { answers: parseAnswers(row.answers), mismatchedAt: markOf(row, row.now) },
          ];
        }),
      ),
  };
}

/** Stores the answers at single locations of areas, in the caller's transaction. */
export function* mergeAreas(
  { dialect }: SqlDatabase,
  settled: readonly SettledCall[],
  now: number,
): SqlWork<void> {
  const changes = settled.flatMap(({ settlement, call: { source } }) =>
    (settlement.areas ?? []).map((change) => ({
      source,
      area: change.area,
      change,
      key: `${source} ${change.area}`,
    })),
  );
  if (changes.length === 0) return;
  const distinct = new Map(changes.map(({ key, source, area }) => [key, { source, area }]));
  // In a fixed order, as with cells.
  const inserts = dialect.eachRow<StoredAreaRow>(
    [...distinct.values()],
    'asked',
    { source: 'integer', area: 'text' },
    (table) =>
      `INSERT INTO areas AS old (source, area) SELECT source, area FROM ${table} WHERE true ORDER BY source, area
       ON CONFLICT (source, area) DO UPDATE SET area = old.area RETURNING ${AREA_COLUMNS}`,
  );
  const rows = (yield* read(...inserts)).flat();
  const merged = new Map<string, AreaOfSource>(
    rows.map((row) => [
      `${row.source} ${row.area}`,
      isIntactArea(row) ? row : { ...row, answers: '{}' },
    ]),
  );
  for (const { key, change } of changes) {
    const row = merged.get(key)!;
    merged.set(key, { ...row, ...mergedArea(row, change, now) });
  }
  const columns = {
    source: 'integer',
    area: 'text',
    answers: 'text',
    mismatchedAt: 'bigint',
    checksum: 'integer',
  } as const;
  yield* write(
    ...dialect.eachRow(
      [...merged.values()].map(({ source, area, answers, mismatchedAt }) => {
        const checksum = checksumOf([source], area, answers);
        return { source, area, answers, mismatchedAt, checksum };
      }),
      'new',
      columns,
      (table) =>
        `UPDATE areas SET answers = new.answers, mismatched_at = new."mismatchedAt", checksum = new.checksum
         FROM ${table} WHERE areas.source = new.source AND areas.area = new.area`,
    ),
  );
}
