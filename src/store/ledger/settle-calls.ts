import { CLOCKS_APART_MS } from '../../contract/billing-period.ts';
import {
  read,
  readRows,
  readTogether,
  type SqlWork,
  statement,
  write,
} from '../../sql/sql-work.ts';
import { mergeCells } from '../answers/merged-cells.ts';
import { packChanges } from '../answers/packed-changes.ts';
import { mergeAreas } from '../answers/stored-areas.ts';
import type { StoredCells } from '../answers/stored-cells.ts';
import { type LedgerTime, lockAccounts } from './account-locks.ts';
import { type LedgerCall, moveCalls, type SettledCall } from './ledger-moves.ts';
import type { Settlement } from './port.ts';
import { rememberObservations } from './seen-services.ts';

/** Writes outcomes and answers, in one transaction. The answers come first: they take longest, and the accounts' locks are held only for
 * the ledger's own rows. */
export function* settleCalls(
  ledger: LedgerTime & StoredCells,
  settlements: readonly Settlement[],
): SqlWork<void> {
  const { dialect } = ledger.database;
  const [calls] = yield* read(
    statement<LedgerCall & { now: number }>(
      `SELECT id, source, account, period_start, key, lat7, lng7, claimed_at, credits_left, ${dialect.now} AS now
       FROM calls WHERE id IN ${dialect.list('$1', 'bigint')}`,
      [JSON.stringify(settlements.map(({ call }) => call))],
    ),
  );
  const stored = new Map(calls.map((call) => [call.id, call]));
  const settled = settlements.flatMap((settlement): SettledCall[] => {
    const call = stored.get(settlement.call);
    return call ? [{ settlement, call }] : [];
  });
  if (settled.length === 0) return;
  const { now } = calls[0]!;
  const changes = settled.map(({ settlement: { answers, failures }, call }) => {
    return { source: call.source, cell: call, answers, failures };
  });
  yield* mergeCells(ledger, packChanges(ledger, changes));
  yield* mergeAreas(ledger.database, settled, now);
  yield* rememberObservations(ledger.database, settled, now);
  const moves = settled.map(({ settlement }) => settlement);
  yield* moveCalls(ledger, moves);
  for (const { settlement, call } of settled) {
    // Just after an anniversary the provider's clock may still be before it, and its refusal concerns the old quota.
    if (!settlement.exhausted || call.claimed_at < call.period_start + CLOCKS_APART_MS) continue;
    // A refusal counts for the period in which the call was claimed: if it arrives after the anniversary, it concerns the old quota,
    // and would block the new period for a month. A call claimed before a correction tells nothing about the time after it.
    // Of the same terms the first refusal counts; of others the newest.
    const sql = `UPDATE periods SET exhausted_at = $1, exhausted_left = $2, exhausted_limit = $6, exhausted_key = $7
      WHERE account = $3 AND period_start = $4 AND coalesce(corrected_at, $5) <= $5
      AND (exhausted_at IS NULL OR exhausted_limit <> $6 OR exhausted_key <> $7)`;
    const { account, period_start, claimed_at, key } = call;
    const limit = settlement.periodLimit ?? null;
    const values = [now, call.credits_left, account, period_start, claimed_at, limit, key];
    yield* write(statement(sql, values));
  }
}

/** Settles calls of processes that have died: they may have been sent and charged, so their charge is unknown. */
export function* giveUpCalls(ledger: LedgerTime, calls: readonly number[]): SqlWork<void> {
  const ids = JSON.stringify(calls);
  const ofCalls = `FROM calls WHERE id IN ${ledger.database.dialect.list('$1', 'bigint')}`;
  const [rows] = yield* read(statement<{ account: string }>(`SELECT account ${ofCalls}`, [ids]));
  const accounts = rows.map(({ account }) => account);
  const [, open] = yield* readTogether(
    lockAccounts(ledger, accounts),
    // After the lock: a settlement that another process has written meanwhile is right.
    readRows(statement<{ id: number }>(`SELECT id ${ofCalls} AND charge = 'sent'`, [ids])),
  );
  const moves = open.map(
    ({ id }) => ({ call: id, charge: 'unknown', outcome: 'process ended' }) as const,
  );
  yield* moveCalls(ledger, moves);
}
