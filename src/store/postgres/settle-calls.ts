import { CLOCKS_APART_MS } from '../../contract/billing-period.ts';
import type { Transaction } from '../../sql/postgres-pool.ts';
import type { Settlement } from '../port.ts';
import { accountLocks } from './account-locks.ts';
import { moveStatement, type SettledCall, storedCalls } from './ledger-moves.ts';
import { rememberObservations } from './seen-services.ts';
import type { StoreParts } from './store-parts.ts';
import { mergeAreas } from './stored-areas.ts';
import { mergeCells } from './stored-cells.ts';
import { keepDetails } from './stored-details.ts';

/**
 * Writes outcomes and answers, in one transaction. The answers come first: they take longest, and the accounts' locks, for which
 * all claims wait, are held only for the ledger's own rows. The row
 * of a call is read before its account is locked: what is used of it (cell, account, key, claim) never changes.
 */
export async function settleCalls(
  tx: Transaction,
  parts: StoreParts,
  settlements: readonly Settlement[],
): Promise<void> {
  const ids = settlements.map(({ call }) => call);
  const [calls, [clock]] = await Promise.all([
    storedCalls(tx, ids),
    tx.rows<{ now: number }>(`SELECT ${parts.serverTime()} AS now`),
  ]);
  const known = new Map(calls.map((call) => [call.id, call]));
  const settled = settlements.flatMap((settlement): SettledCall[] => {
    const call = known.get(settlement.call);
    return call ? [{ settlement, call }] : [];
  });
  if (settled.length === 0) return;
  await mergeCells(
    tx,
    parts.texts,
    parts.codec,
    settled.map(({ settlement: { answers, failures }, call }) => ({
      source: call.source,
      cell: call,
      answers,
      failures,
    })),
  );
  await keepDetails(tx, settled);
  await mergeAreas(tx, settled, clock!.now);
  await rememberObservations(tx, settled, clock!.now);
  for (const statement of accountLocks(settled.map(({ call }) => call.account))) tx.last(...statement);
  const moves = settled.map(({ settlement: { call, charge, credits, period, outcome, requestId } }) => ({
    ...{ call, charge, credits, period: period.start, outcome, requestId },
  }));
  tx.last(...moveStatement(moves, parts.serverTime));
  for (const { settlement, call } of settled) {
    // Just after an anniversary the provider's clock may still be before it: then it means the old quota.
    if (!settlement.exhausted || call.claimed_at < call.period_start + CLOCKS_APART_MS) continue;
    // It counts for the period in which the call was claimed: a refusal that arrives after the anniversary means the old quota,
    // and would block the new period for a month. A call claimed before a correction says nothing about the time after it.
    tx.last(
      `UPDATE periods SET exhausted_at = $1, exhausted_left = $2 WHERE account = $3 AND period_start = $4
         AND exhausted_at IS NULL AND coalesce(corrected_at, $5) <= $5`,
      [clock!.now, call.credits_left, call.account, call.period_start, call.claimed_at],
    );
  }
}
