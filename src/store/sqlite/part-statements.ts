import type Database from 'better-sqlite3';
import type { Clock } from '../../clock.ts';
import type { PartClaim, PartFolder, PartRecord, PartStore, PartTicket, WrittenPart } from '../part-store.ts';
import type { Owner } from '../port.ts';
import { openLedgerClock } from './ledger-clock.ts';

interface PartRow {
  readonly part: string;
  readonly version: number;
  readonly owner: string | null;
  readonly lease_until: number;
  readonly written: string | null;
}

/** The claims of part files. @param immediately runs a function in a `BEGIN IMMEDIATE` transaction */
export function partStore(
  database: Database.Database,
  clock: Clock,
  owner: Owner,
  immediately: <T>(work: () => T) => T,
): PartStore {
  const time = immediately(() => openLedgerClock(database, clock));
  const start = database.prepare<[string, string, number], { readings: number }>(
    `INSERT INTO part_folders (folder, job, parts, readings) VALUES (?, ?, ?, 1)
     ON CONFLICT (folder) DO UPDATE SET job = excluded.job, parts = excluded.parts, readings = readings + 1
     RETURNING readings`,
  );
  const rows = database.prepare<[string], PartRow>(
    'SELECT part, version, owner, lease_until, written FROM parts WHERE folder = ? ORDER BY part',
  );
  const row = database.prepare<[string, string], PartRow>(
    'SELECT part, version, owner, lease_until, written FROM parts WHERE folder = ? AND part = ?',
  );
  const folders = database.prepare<{ job: string | null }, Omit<PartFolder, 'written' | 'writing'>>(
    'SELECT folder, job, parts FROM part_folders WHERE @job IS NULL OR job = @job ORDER BY folder',
  );
  const forget = database.prepare<[string, string]>('DELETE FROM parts WHERE folder = ? AND part = ?');
  const claim = database.prepare(
    `INSERT INTO parts (folder, part, version, run, owner, lease_until) VALUES (@folder, @part, @next, @run, @owner, @lease)
     ON CONFLICT (folder, part) DO UPDATE SET version = @next, run = @run, owner = @owner, lease_until = @lease`,
  );
  const renew = database.prepare(
    `UPDATE parts SET lease_until = @lease WHERE folder = @folder AND part = @part AND version = @version
       AND owner IS NOT NULL`,
  );
  const end = database.prepare(
    `UPDATE parts SET owner = NULL, written = coalesce(@written, written)
     WHERE folder = @folder AND part = @part AND version = @version AND owner IS NOT NULL`,
  );
  const isHeld = (one: PartRow) =>
    one.owner !== null && one.lease_until > time.now() && (one.owner === owner.name || owner.isAlive(one.owner));
  const endClaim = (ticket: PartTicket, written: WrittenPart | null) =>
    immediately(() => end.run({ ...ticket, written: written && JSON.stringify(written) }).changes > 0);

  return {
    async startParts(folder, { job, parts }) {
      return immediately(() => {
        const { readings } = start.get(folder, job, parts.length)!;
        const known = new Set(parts);
        const gone = rows.all(folder).filter(({ part }) => !known.has(part));
        for (const { part } of gone) forget.run(folder, part);
        return { reading: readings, gone: gone.filter(({ written }) => written !== null).map(({ part }) => part) };
      });
    },
    async parts(folder, part) {
      const found = part === undefined ? rows.all(folder) : [row.get(folder, part)].filter((one) => one !== undefined);
      return found.map((one): PartRecord => {
        const { part, version, written } = one;
        return { part, version, isHeld: isHeld(one), written: written === null ? null : JSON.parse(written) };
      });
    },
    async partFolders({ job } = {}) {
      return folders.all({ job: job ?? null }).map((one) => {
        const parts = rows.all(one.folder);
        const writing = parts.filter(isHeld);
        const written = parts.filter((part) => part.written !== null && !isHeld(part));
        return { ...one, written: written.length, writing: writing.length };
      });
    },
    async claimPart({ folder, part, version, run, leaseMs }: PartClaim) {
      return immediately(() => {
        const before = row.get(folder, part);
        if ((before?.version ?? 0) !== version || (before !== undefined && isHeld(before))) return null;
        const ticket = { folder, part, version: version + 1 };
        claim.run({ folder, part, next: ticket.version, run, owner: owner.name, lease: time.now() + leaseMs });
        return ticket;
      });
    },
    async renewPart(ticket, leaseMs) {
      return immediately(() => renew.run({ ...ticket, lease: time.now() + leaseMs }).changes > 0);
    },
    async finishPart(ticket, written) {
      return endClaim(ticket, written);
    },
    async releasePart(ticket) {
      endClaim(ticket, null);
    },
  };
}
