import { promisify } from 'node:util';
import { zstdDecompress } from 'node:zlib';
import type Database from 'better-sqlite3';
import { isTopicSlug } from '../../contract/topics.ts';
import type { Cell } from '../../geo/coordinates.ts';
import type { KeptDetails, Store, StoreStats } from '../port.ts';

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

/** Reading and writing of kept details; `keep` and `forget` run inside the caller's transaction. */
export function detailsStatements(database: Database.Database) {
  // An answer that came late does not replace the details of a newer one, as it does not replace that answer.
  const put = database.prepare(
    `INSERT INTO details (cell, topic, as_of, bytes, json)
     SELECT id, @topic, @asOf, @bytes, @json FROM cells WHERE source = @source AND lat7 = @lat7 AND lng7 = @lng7
     ON CONFLICT (cell, topic) DO UPDATE SET as_of = excluded.as_of, bytes = excluded.bytes, json = excluded.json
     WHERE excluded.as_of >= as_of`,
  );
  const remove = database.prepare(
    `DELETE FROM details WHERE topic = @topic AND as_of <= @asOf
       AND cell = (SELECT id FROM cells WHERE source = @source AND lat7 = @lat7 AND lng7 = @lng7)`,
  );
  const removeOlder = database.prepare('DELETE FROM details WHERE as_of < ?');
  // length() reads only the row's header, not the pages of the blob.
  const sums = database.prepare<[], StoreStats['details']>(
    `SELECT count(*) AS answers, coalesce(sum(length(json)), 0) AS bytes, coalesce(sum(bytes), 0) AS jsonBytes
     FROM details`,
  );
  // One at a time: details take up to megabytes, and a slow reader must not hold a transaction open.
  const after = database.prepare<[number], DetailsRow>(
    `SELECT details.id, sources.name AS source, lat7, lng7, topic, as_of AS asOf, json
     FROM details JOIN cells ON cells.id = details.cell JOIN sources ON sources.id = cells.source
     WHERE details.id > ? ORDER BY details.id LIMIT 1`,
  );

  /** Keeps what a call brought; the cell is already there. */
  function keep(source: number, { lat7, lng7 }: Cell, kept: readonly KeptDetails[]): void {
    for (const { topic, asOf, packed } of kept) {
      const where = { source, lat7, lng7, topic, asOf };
      if (packed === null) remove.run(where);
      else put.run({ ...where, bytes: packed.bytes, json: packed.zstd });
    }
  }

  function forget(before: number): void {
    removeOlder.run(before);
  }

  async function* all(): ReturnType<Store['details']> {
    for (let row = after.get(0); row !== undefined; row = after.get(row.id)) {
      const { source, lat7, lng7, topic, asOf, json } = row;
      if (!isTopicSlug(topic)) continue;
      yield { source, cell: { lat7, lng7 }, topic, asOf, json: (await decompress(json)).toString() };
    }
  }

  return { keep, forget, size: () => sums.get()!, all };
}
