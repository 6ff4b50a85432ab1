import type { Statement } from 'better-sqlite3';
import type { CallKind } from '../../contract/credits.ts';
import type { AccountsDatabase } from './accounts-database.ts';

/** A charge as its row holds it. */
export interface ChargeRow {
  readonly id: number;
  readonly account: number;
  readonly key: number;
  readonly kind: CallKind;
  readonly topic: string | null;
  readonly credits: number;
  readonly chargedAt: number;
  readonly periodStart: number;
  readonly requestId: string;
}

/** Most rows that one statement writes; the calls of a turn are no more. */
const MOST_ROWS = 64;

/** Writes charges; both to be called in one immediate transaction, so that nobody else takes the ids. */
export interface ChargeRows {
  /** The id of the next charge; those of the charges after it follow one by one. */
  nextId(): number;
  /** Writes charges as pending, all by one statement: to run one for each takes as long again as writing them. */
  insert(rows: readonly ChargeRow[]): void;
}

/** @param instance the number under which the charges are pending */
export function createChargeRows(accounts: AccountsDatabase, instance: number): ChargeRows {
  const highestId = accounts.prepare<[], number | null>('SELECT max(id) FROM charges').pluck();
  const inserts: Statement<unknown[]>[] = [];

  function insertOf(rows: number): Statement<unknown[]> {
    inserts[rows] ??= accounts.prepare<unknown[]>(
      `INSERT INTO charges (id, account, key, kind, topic, credits, charged_at, period_start, request_id, pending_by)
       VALUES ${Array.from({ length: rows }, () => '(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)').join(', ')}`,
    );
    return inserts[rows];
  }

  return {
    nextId: () => (highestId.get() ?? 0) + 1,
    insert(rows) {
      for (let start = 0; start < rows.length; start += MOST_ROWS) {
        const values: unknown[] = [];
        const end = Math.min(start + MOST_ROWS, rows.length);
        for (let index = start; index < end; index++) {
          const { id, account, key, kind, topic, credits, chargedAt, periodStart, requestId } = rows[index]!;
          values.push(id, account, key, kind, topic, credits, chargedAt, periodStart, requestId, instance);
        }
        insertOf(end - start).run(values);
      }
    },
  };
}
