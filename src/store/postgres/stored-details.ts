import { promisify } from 'node:util';
import { zstdDecompress } from 'node:zlib';
import { isTopicSlug } from '../../contract/topics.ts';
import type { PostgresPool, Session } from '../../sql/postgres-pool.ts';
import type { Store, StoreStats } from '../port.ts';
import type { SettledCall } from './ledger-moves.ts';

const decompress = promisify(zstdDecompress);

interface DetailsOfCell {
  readonly id: number;
  readonly source: string;
  readonly lat7: number;
  readonly lng7: number;
  readonly topic: string;
  readonly asOf: number;
  readonly json: Buffer;
}

/** Keeps the details that calls brought, in the caller's transaction; their cells are already there. Sent together, and done in
 * order: a later one may replace an earlier one. */
export async function keepDetails(session: Session, settled: readonly SettledCall[]): Promise<void> {
  const statements = settled.flatMap(({ settlement, call: { source, lat7, lng7 } }) =>
    (settlement.details ?? []).map(({ topic, asOf, packed }) => {
      const where = [source, lat7, lng7, topic, asOf];
      const ofCell = 'FROM cells WHERE source = $1 AND lat7 = $2 AND lng7 = $3';
      if (packed === null) {
        return session.rows(
          `DELETE FROM details WHERE topic = $4 AND as_of <= $5 AND cell = (SELECT id ${ofCell})`,
          where,
        );
      }
      // An answer that came late does not replace the details of a newer one, as it does not replace that answer.
      return session.rows(
        `INSERT INTO details AS known (cell, topic, as_of, bytes, json) SELECT id, $4, $5, $6::integer, $7::bytea ${ofCell}
         ON CONFLICT (cell, topic) DO UPDATE SET as_of = excluded.as_of, bytes = excluded.bytes, json = excluded.json
         WHERE excluded.as_of >= known.as_of`,
        [...where, packed.bytes, packed.zstd],
      );
    }),
  );
  await Promise.all(statements);
}

export async function detailsSize(session: Session): Promise<StoreStats['details']> {
  const [sums] = await session.rows<StoreStats['details']>(
    `SELECT count(*) AS answers, coalesce(sum(length(json)), 0)::bigint AS bytes, coalesce(sum(bytes), 0)::bigint AS "jsonBytes"
     FROM details`,
  );
  return sums!;
}

/** Streams all details. One at a time: they take up to megabytes. */
export async function* allDetails(pool: PostgresPool): ReturnType<Store['details']> {
  for (let last = 0; ; ) {
    const [row] = await pool.read((session) =>
      session.rows<DetailsOfCell & Record<string, unknown>>(
        `SELECT details.id, sources.name AS source, lat7, lng7, topic, as_of AS "asOf", json
         FROM details JOIN cells ON cells.id = details.cell JOIN sources ON sources.id = cells.source
         WHERE details.id > $1 ORDER BY details.id LIMIT 1`,
        [last],
      ),
    );
    if (!row) return;
    last = row.id;
    const { source, lat7, lng7, topic, asOf, json } = row;
    if (!isTopicSlug(topic)) continue;
    yield { source, cell: { lat7, lng7 }, topic, asOf, json: (await decompress(json)).toString() };
  }
}
