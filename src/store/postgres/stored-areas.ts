import type { Session } from '../../sql/postgres-pool.ts';
import { type AreaRow, mergedArea, storedArea } from '../area-merge.ts';
import type { StoredArea } from '../port.ts';
import type { SettledCall } from './ledger-moves.ts';
import { integers } from './stored-cells.ts';

type AreaOfSource = AreaRow & { readonly source: number; readonly area: string };

/** What is known of areas, in the order asked. */
export async function readAreas(
  session: Session,
  source: number,
  areas: readonly string[],
  now: string,
): Promise<(StoredArea | null)[]> {
  const rows = await session.rows<AreaOfSource & { now: number }>(
    `SELECT area, answers, mismatched_at AS "mismatchedAt", ${now} AS now FROM areas WHERE source = $1 AND area = ANY($2)`,
    [source, areas],
  );
  const found = new Map(rows.map((row) => [row.area, storedArea(row, row.now)]));
  return areas.map((area) => found.get(area) ?? null);
}

/** Stores what single locations of areas were answered, in the caller's transaction. */
export async function mergeAreas(session: Session, settled: readonly SettledCall[], now: number): Promise<void> {
  const changes = settled.flatMap(({ settlement, call: { source } }) =>
    (settlement.areas ?? []).map((change) => ({ source, change, key: `${source} ${change.area}` })),
  );
  if (changes.length === 0) return;
  const places = [...new Map(changes.map((change) => [change.key, change])).values()];
  // In one order, as with cells.
  places.sort((a, b) => (a.key < b.key ? -1 : 1));
  const rows = await session.rows<AreaOfSource>(
    `INSERT INTO areas AS known (source, area) SELECT * FROM unnest($1::integer[], $2::text[])
     ON CONFLICT (source, area) DO UPDATE SET area = known.area
     RETURNING source, area, answers, mismatched_at AS "mismatchedAt"`,
    [integers(places.map(({ source }) => source)), places.map(({ change }) => change.area)],
  );
  const merged = new Map(rows.map((row) => [`${row.source} ${row.area}`, row]));
  for (const { key, change } of changes) {
    const row = merged.get(key)!;
    merged.set(key, { ...row, ...mergedArea(row, change, now) });
  }
  await session.rows(
    `UPDATE areas SET answers = new.answers, mismatched_at = new."mismatchedAt"
     FROM json_to_recordset($1) AS new (source integer, area text, answers text, "mismatchedAt" bigint)
     WHERE areas.source = new.source AND areas.area = new.area`,
    [JSON.stringify([...merged.values()])],
  );
}
