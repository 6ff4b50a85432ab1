import type { CallKind } from '../../contract/credits.ts';
import {
  type EngineDialect,
  read,
  type SqlStatement,
  type SqlWork,
  statement,
  write,
} from '../../sql/sql-work.ts';

interface TakenBack {
  readonly account: number;
  readonly kind: CallKind;
  readonly credits: number;
  readonly chargedAt: number;
  readonly periodStart: number;
}

type PeriodSums = Record<CallKind | 'credits', number> & Pick<TakenBack, 'account' | 'periodStart'>;

/** Makes the pending charges of an instance final. */
export function makeFinal(
  dialect: EngineDialect,
  instance: number,
  ids: readonly number[],
): SqlWork<void> {
  // The + prevents SQLite from using its index of all pending charges.
  const sql = `UPDATE charges SET pending_by = NULL WHERE +pending_by = $1 AND id IN ${dialect.list('$2', 'bigint')}`;
  return write(statement(sql, [instance, JSON.stringify(ids)]));
}

/** Reverses pending charges of an instance, and subtracts them from the sums of minute and period. Final charges stay. */
export function* takeBack(
  dialect: EngineDialect,
  instance: number,
  ids: readonly number[],
): SqlWork<void> {
  const WHERE = `WHERE +pending_by = $1 AND id IN ${dialect.list('$2', 'bigint')}`;
  const values = [instance, JSON.stringify(ids)];
  // In the order of their ids, as all who lock several accounts.
  const lock = `SELECT id FROM accounts WHERE id IN (SELECT account FROM charges ${WHERE}) ORDER BY id ${dialect.forUpdate}`;
  yield* read(statement(lock, values));
  const sql = `DELETE FROM charges ${WHERE}
    RETURNING account, kind, credits, charged_at AS "chargedAt", period_start AS "periodStart"`;
  const [removed] = yield* read(statement<TakenBack>(sql, values));
  yield* write(...subtractions(removed));
}

function subtractions(charges: readonly TakenBack[]): SqlStatement[] {
  const periods = new Map<string, PeriodSums>();
  for (const { account, kind, credits, periodStart } of charges) {
    const name = `${account} ${periodStart}`;
    const sums = periods.get(name) ?? {
      account,
      periodStart,
      credits: 0,
      single: 0,
      standard: 0,
      enterprise: 0,
    };
    sums.credits += credits;
    sums[kind] += 1;
    periods.set(name, sums);
  }
  const ofPeriod = `UPDATE periods SET credits = credits - $3, single = single - $4, standard = standard - $5,
    enterprise = enterprise - $6 WHERE account = $1 AND period_start = $2`;
  const ofMinute =
    'UPDATE minutes SET minute_credits = minute_credits - $2 WHERE account = $1 AND minute_from < $3';
  return [
    ...[...periods.values()].map(
      ({ account, periodStart, credits, single, standard, enterprise }) =>
        statement(ofPeriod, [account, periodStart, credits, single, standard, enterprise]),
    ),
    ...charges.map(({ account, credits, chargedAt }) =>
      statement(ofMinute, [account, credits, chargedAt]),
    ),
  ];
}

/** Reverses the pending charges of an instance; with request ids, only those of these requests. */
export function* takeBackPending(
  dialect: EngineDialect,
  instance: number,
  requestIds?: ReadonlySet<string>,
): SqlWork<void> {
  const sql = 'SELECT id, request_id AS "requestId" FROM charges WHERE pending_by = $1';
  const [pending] = yield* read(
    statement<{ readonly id: number; readonly requestId: string }>(sql, [instance]),
  );
  const chosen = pending
    .filter(({ requestId }) => requestIds?.has(requestId) ?? true)
    .map(({ id }) => id);
  yield* takeBack(dialect, instance, chosen);
}
