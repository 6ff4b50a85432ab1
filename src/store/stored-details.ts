import { promisify } from 'node:util';
import { zstdDecompress } from 'node:zlib';
import { isTopicSlug } from '../contract/topics.ts';
import { read, type SqlDatabase, type SqlStatement, type SqlWork, statement, write } from '../sql/sql-work.ts';
import type { SettledCall } from './ledger-moves.ts';
import type { Store, StoreStats } from './port.ts';

const decompress = promisify(zstdDecompress);

interface DetailsRow {
  readonly id: number;
  readonly source: string;
  readonly lat7: number;
  readonly lng7: number;
  readonly topic: string;
  readonly asOf: number;
  readonly json: Buffer;
}

/** Stores the details of calls, in the caller's transaction; their cells are already stored. Details may take megabytes, so each has
 * its own statement; in order, because a later one may replace an earlier one. */
export function* keepDetails(settled: readonly SettledCall[]): SqlWork<void> {
  yield* write(
    ...settled.flatMap(({ settlement, call: { source, lat7, lng7 } }) =>
      (settlement.details ?? []).map(({ topic, asOf, packed }): SqlStatement => {
        const where = [source, lat7, lng7, topic, asOf];
        const ofCell = 'FROM cells WHERE source = $1 AND lat7 = $2 AND lng7 = $3';
        if (packed === null) {
          return statement(
            `DELETE FROM details WHERE topic = $4 AND as_of <= $5 AND cell = (SELECT id ${ofCell})`,
            where,
          );
        }
        // An older answer that arrives late replaces neither a newer answer nor its details.
        return statement(
          `INSERT INTO details AS old (cell, topic, as_of, bytes, json) SELECT id, $4, $5, $6, $7 ${ofCell}
           ON CONFLICT (cell, topic) DO UPDATE SET as_of = excluded.as_of, bytes = excluded.bytes, json = excluded.json
           WHERE excluded.as_of >= old.as_of`,
          [...where, packed.bytes, Buffer.from(packed.zstd)],
        );
      }),
    ),
  );
}

export const DETAILS_SIZE = statement<StoreStats['details']>(
  // length() reads only the row's header, not the pages of the blob.
  `SELECT count(*) AS answers, coalesce(sum(length(json)), 0) AS bytes, coalesce(sum(bytes), 0) AS "jsonBytes" FROM details`,
);

/** Streams all details. One at a time: a slow reader must not hold a transaction open. */
export async function* allDetails(database: SqlDatabase): ReturnType<Store['details']> {
  for (let last = 0; ; ) {
    const [[row]] = await database.read(() =>
      read(
        statement<DetailsRow>(
          `SELECT details.id, sources.name AS source, lat7, lng7, topic, as_of AS "asOf", json
           FROM details JOIN cells ON cells.id = details.cell JOIN sources ON sources.id = cells.source
           WHERE details.id > $1 ORDER BY details.id LIMIT 1`,
          [last],
        ),
      ),
    );
    if (!row) return;
    last = row.id;
    const { source, lat7, lng7, topic, asOf, json } = row;
    if (!isTopicSlug(topic)) continue;
    yield { source, cell: { lat7, lng7 }, topic, asOf, json: (await decompress(json)).toString() };
  }
}
