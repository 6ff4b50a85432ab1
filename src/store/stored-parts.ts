import { read, type SqlStatement, type SqlWork, statement } from '../sql/sql-work.ts';
import type { LedgerTime } from './account-locks.ts';
import type { PartClaim, PartFolder, PartRecord, PartStore, PartTicket, WrittenPart } from './part-store.ts';
import type { Owner } from './port.ts';

interface StoredPart {
  readonly part: string;
  readonly version: number;
  readonly owner: string | null;
  readonly isLeased: boolean | 0 | 1;
  readonly written: string | null;
}

/** The claims of part files, by the ledger's time. */
export function partStore({ database, time }: LedgerTime, owner: Owner): PartStore {
  const { dialect } = database;
  const isHeld = ({ owner: by, isLeased }: StoredPart) =>
    by !== null && Boolean(isLeased) && (by === owner.name || owner.isAlive(by));
  const partsIn = (folder: string, part: string | null = null, lock = ''): SqlStatement<StoredPart> =>
    statement(
      `SELECT part, version, owner, lease_until > ${time()} AS "isLeased", written FROM parts
       WHERE folder = $1 AND (CAST($2 AS text) IS NULL OR part = $2) ORDER BY part ${lock}`,
      [folder, part],
    );

  function* start(
    folder: string,
    { job, parts }: Parameters<PartStore['startParts']>[1],
  ): SqlWork<{ reading: number; gone: string[] }> {
    const [[row], gone] = yield* read(
      statement<{ readings: number }>(
        `INSERT INTO part_folders AS old (folder, job, parts, readings) VALUES ($1, $2, $3, 1)
         ON CONFLICT (folder) DO UPDATE SET job = excluded.job, parts = excluded.parts, readings = old.readings + 1
         RETURNING readings`,
        [folder, job, parts.length],
      ),
      statement<{ part: string; written: string | null }>(
        `DELETE FROM parts WHERE folder = $1 AND part NOT IN ${dialect.list('$2', 'text')} RETURNING part, written`,
        [folder, JSON.stringify(parts)],
      ),
    );
    const written = gone.filter((record) => record.written !== null).map(({ part }) => part);
    return { reading: row!.readings, gone: written.sort() };
  }

  function* folders(job: string | null): SqlWork<PartFolder[]> {
    const [rows] = yield* read(
      statement<Pick<PartFolder, 'folder' | 'job' | 'parts'>>(
        'SELECT folder, job, parts FROM part_folders WHERE CAST($1 AS text) IS NULL OR job = $1 ORDER BY folder',
        [job],
      ),
    );
    const parts = yield* read(...rows.map(({ folder }) => partsIn(folder)));
    return rows.map((row, at) => ({
      ...row,
      written: parts[at]!.filter((part) => part.written !== null && !isHeld(part)).length,
      writing: parts[at]!.filter(isHeld).length,
    }));
  }

  function* claim({ folder, part, version, run, leaseMs }: PartClaim): SqlWork<PartTicket | null> {
    const [[before]] = yield* read(partsIn(folder, part, dialect.forUpdate));
    if ((before?.version ?? 0) !== version || (before !== undefined && isHeld(before))) return null;
    // Two workers may claim a part without a row: the second waits for the first, and then changes nothing.
    const [claimed] = yield* read(
      statement(
        `INSERT INTO parts AS old (folder, part, version, run, owner, lease_until)
         VALUES ($1, $2, $3 + 1, $4, $5, ${time()} + $6)
         ON CONFLICT (folder, part) DO UPDATE SET version = excluded.version, run = excluded.run, owner = excluded.owner,
           lease_until = excluded.lease_until WHERE old.version = $3 RETURNING version`,
        [folder, part, version, run, owner.name, leaseMs],
      ),
    );
    return claimed.length === 0 ? null : { folder, part, version: version + 1 };
  }

  /** Changes a part with the ticket of its claim; false if the claim was lost. */
  const change = (set: string, { folder, part, version }: PartTicket, value: string | number | null) =>
    database.transact(function* () {
      const [changed] = yield* read(
        statement(
          `UPDATE parts SET ${set} WHERE folder = $1 AND part = $2 AND version = $3 AND owner IS NOT NULL RETURNING version`,
          [folder, part, version, value],
        ),
      );
      return changed.length > 0;
    });
  const end = (ticket: PartTicket, written: WrittenPart | null) =>
    change('owner = NULL, written = coalesce($4, written)', ticket, written && JSON.stringify(written));

  return {
    startParts: (folder, given) => database.transact(() => start(folder, given)),
    async parts(folder, part) {
      const [rows] = await database.read(() => read(partsIn(folder, part)));
      return rows.map((row): PartRecord => {
        const { part: name, version, written } = row;
        return { part: name, version, isHeld: isHeld(row), written: written === null ? null : JSON.parse(written) };
      });
    },
    partFolders: ({ job } = {}) => database.read(() => folders(job ?? null)),
    claimPart: (asked) => database.transact(() => claim(asked)),
    renewPart: (ticket, leaseMs) => change(`lease_until = ${time()} + $4`, ticket, leaseMs),
    finishPart: (ticket, written) => end(ticket, written),
    async releasePart(ticket) {
      await end(ticket, null);
    },
  };
}
