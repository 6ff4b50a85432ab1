import { read, type SqlDatabase, type SqlReading, type SqlWork, statement, write } from '../../sql/sql-work.ts';
import type { SettledCall } from '../ledger/ledger-moves.ts';
import { type AreaRow, mergedArea, storedArea } from './area-merge.ts';
import type { StoredArea } from './port.ts';

type AreaOfSource = AreaRow & { readonly source: number; readonly area: string };

const COLUMNS = 'source, area, answers, mismatched_at AS "mismatchedAt"';

/** The stored areas, by name. */
export function areasOf(
  { dialect }: SqlDatabase,
  source: number,
  areas: readonly string[],
): SqlReading<ReadonlyMap<string, StoredArea>> {
  if (areas.length === 0) return { statements: [], take: () => new Map() };
  return {
    statements: [
      statement(
        `SELECT ${COLUMNS}, ${dialect.now} AS now FROM areas WHERE source = $1 AND area IN ${dialect.list('$2', 'text')}`,
        [source, JSON.stringify(areas)],
      ),
    ],
    take: ([rows]) =>
      new Map((rows as (AreaOfSource & { now: number })[]).map((row) => [row.area, storedArea(row, row.now)])),
  };
}

/** Stores the answers at single locations of areas, in the caller's transaction. */
export function* mergeAreas({ dialect }: SqlDatabase, settled: readonly SettledCall[], now: number): SqlWork<void> {
  const changes = settled.flatMap(({ settlement, call: { source } }) =>
    (settlement.areas ?? []).map((change) => ({ source, area: change.area, change, key: `${source} ${change.area}` })),
  );
  if (changes.length === 0) return;
  const distinct = [...new Map(changes.map((change) => [change.key, change])).values()];
  // In a fixed order, as with cells.
  distinct.sort((a, b) => (a.key < b.key ? -1 : 1));
  const inserts = dialect.eachRow<AreaOfSource>(
    distinct.map(({ source, area }) => ({ source, area })),
    'asked',
    { source: 'integer', area: 'text' },
    (table) =>
      `INSERT INTO areas AS old (source, area) SELECT source, area FROM ${table} WHERE true
       ON CONFLICT (source, area) DO UPDATE SET area = old.area RETURNING ${COLUMNS}`,
  );
  const rows = (yield* read(...inserts)).flat();
  const merged = new Map(rows.map((row) => [`${row.source} ${row.area}`, row]));
  for (const { key, change } of changes) {
    const row = merged.get(key)!;
    merged.set(key, { ...row, ...mergedArea(row, change, now) });
  }
  const columns = { source: 'integer', area: 'text', answers: 'text', mismatchedAt: 'bigint' } as const;
  yield* write(
    ...dialect.eachRow(
      [...merged.values()].map(({ source, area, answers, mismatchedAt }) => ({ source, area, answers, mismatchedAt })),
      'new',
      columns,
      (table) =>
        `UPDATE areas SET answers = new.answers, mismatched_at = new."mismatchedAt"
         FROM ${table} WHERE areas.source = new.source AND areas.area = new.area`,
    ),
  );
}
