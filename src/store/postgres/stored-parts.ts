import type { PostgresPool, Session } from '../../sql/postgres-pool.ts';
import type { PartFolder, PartRecord, PartStore, PartTicket, WrittenPart } from '../part-store.ts';
import type { Owner } from '../port.ts';
import type { ServerTime } from './account-locks.ts';

type StoredPart = {
  readonly part: string;
  readonly version: number;
  readonly owner: string | null;
  readonly isLeased: boolean;
  readonly written: string | null;
};

/** The claims of part files, by the server's clock. */
export function postgresParts(pool: PostgresPool, serverTime: ServerTime, owner: Owner): PartStore {
  const isHeld = ({ owner: by, isLeased }: StoredPart) =>
    by !== null && isLeased && (by === owner.name || owner.isAlive(by));
  const partsIn = (session: Session, folder: string, part: string | null, lock = '') =>
    session.rows<StoredPart>(
      `SELECT part, version, owner, lease_until > ${serverTime()} AS "isLeased", written FROM parts
       WHERE folder = $1 AND ($2::text IS NULL OR part = $2) ORDER BY part ${lock}`,
      [folder, part],
    );
  const endClaim = ({ folder, part, version }: PartTicket, written: WrittenPart | null) =>
    pool.transact(async (tx) => {
      const ended = await tx.rows(
        `UPDATE parts SET owner = NULL, written = coalesce($4, written)
         WHERE folder = $1 AND part = $2 AND version = $3 AND owner IS NOT NULL RETURNING version`,
        [folder, part, version, written && JSON.stringify(written)],
      );
      return ended.length > 0;
    });

  return {
    startParts: (folder, { job, parts }) =>
      pool.transact(async (tx) => {
        const [row] = await tx.rows<{ readings: number }>(
          `INSERT INTO part_folders (folder, job, parts, readings) VALUES ($1, $2, $3, 1)
           ON CONFLICT (folder) DO UPDATE SET job = excluded.job, parts = excluded.parts, readings = part_folders.readings + 1
           RETURNING readings`,
          [folder, job, parts.length],
        );
        const gone = await tx.rows<{ part: string; written: string | null }>(
          'DELETE FROM parts WHERE folder = $1 AND NOT part = ANY ($2) RETURNING part, written',
          [folder, parts],
        );
        const written = gone.filter((one) => one.written !== null).map(({ part }) => part);
        return { reading: row!.readings, gone: written.sort() };
      }),
    parts: (folder, part) =>
      pool.read(async (session) => {
        const found = await partsIn(session, folder, part ?? null);
        return found.map((one): PartRecord => {
          const { part: name, version, written } = one;
          return { part: name, version, isHeld: isHeld(one), written: written === null ? null : JSON.parse(written) };
        });
      }),
    partFolders: ({ job } = {}) =>
      pool.read(async (session) => {
        const folders = await session.rows<Pick<PartFolder, 'folder' | 'job' | 'parts'>>(
          'SELECT folder, job, parts FROM part_folders WHERE $1::text IS NULL OR job = $1 ORDER BY folder',
          [job ?? null],
        );
        const counted: PartFolder[] = [];
        for (const one of folders) {
          const parts = await partsIn(session, one.folder, null);
          const written = parts.filter((part) => part.written !== null && !isHeld(part)).length;
          counted.push({ ...one, written, writing: parts.filter(isHeld).length });
        }
        return counted;
      }),
    claimPart: ({ folder, part, version, run, leaseMs }) =>
      pool.transact(async (tx) => {
        const [before] = await partsIn(tx, folder, part, 'FOR UPDATE');
        if ((before?.version ?? 0) !== version || (before !== undefined && isHeld(before))) return null;
        // Two workers may claim a part without a row: the second waits for the first, and then changes nothing.
        const claimed = await tx.rows(
          `INSERT INTO parts (folder, part, version, run, owner, lease_until)
           VALUES ($1, $2, $3 + 1, $4, $5, ${serverTime()} + $6)
           ON CONFLICT (folder, part) DO UPDATE SET version = excluded.version, run = excluded.run, owner = excluded.owner,
             lease_until = excluded.lease_until WHERE parts.version = $3 RETURNING version`,
          [folder, part, version, run, owner.name, leaseMs],
        );
        return claimed.length === 0 ? null : { folder, part, version: version + 1 };
      }),
    renewPart: ({ folder, part, version }, leaseMs) =>
      pool.transact(async (tx) => {
        const renewed = await tx.rows(
          `UPDATE parts SET lease_until = ${serverTime()} + $4
           WHERE folder = $1 AND part = $2 AND version = $3 AND owner IS NOT NULL RETURNING version`,
          [folder, part, version, leaseMs],
        );
        return renewed.length > 0;
      }),
    finishPart: (ticket, written) => endClaim(ticket, written),
    async releasePart(ticket) {
      await endClaim(ticket, null);
    },
  };
}
