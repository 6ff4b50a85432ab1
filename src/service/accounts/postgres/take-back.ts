import type { PostgresPool, Transaction } from '../../../sql/postgres-pool.ts';

/** Subtracts what was deleted from the sums of period and minute. */
const SUBTRACT = `
  of_periods AS (UPDATE periods p SET credits = p.credits - g.credits, single = p.single - g.single,
      standard = p.standard - g.standard, enterprise = p.enterprise - g.enterprise
    FROM (SELECT account, period_start, sum(credits) AS credits, count(*) FILTER (WHERE kind = 'single') AS single,
        count(*) FILTER (WHERE kind = 'standard') AS standard, count(*) FILTER (WHERE kind = 'enterprise') AS enterprise
      FROM gone GROUP BY account, period_start) g
    WHERE p.account = g.account AND p.period_start = g.period_start),
  of_minutes AS (UPDATE minutes m SET minute_credits = m.minute_credits - g.credits
    FROM (SELECT gone.account, sum(gone.credits) AS credits FROM gone JOIN minutes ON minutes.account = gone.account
      WHERE gone.charged_at > minutes.minute_from GROUP BY gone.account) g
    WHERE m.account = g.account)`;

/** Which pending charges are taken back: some, by their ids, of any instance or of one; those of requests of an instance; or all that an
 * instance left. */
const CHOICES = {
  ids: 'id = ANY($1::bigint[]) AND pending_by IS NOT NULL',
  own: 'pending_by = $1 AND id = ANY($2::bigint[])',
  requests: 'pending_by = $1 AND request_id = ANY($2::uuid[])',
  instance: 'pending_by = $1',
} as const;

/** Takes pending charges back at the end of a transaction. The accounts are locked first, in the order of their ids, as for
 * charging. */
export function takeBack(tx: Transaction, choice: keyof typeof CHOICES, values: readonly unknown[]): void {
  const where = CHOICES[choice];
  tx.last(
    `SELECT id FROM accounts WHERE id IN (SELECT account FROM charges WHERE ${where}) ORDER BY id FOR UPDATE`,
    values,
  );
  tx.last(
    `WITH gone AS (DELETE FROM charges WHERE ${where} RETURNING account, kind, credits, charged_at, period_start),${SUBTRACT} SELECT`,
    values,
  );
}

/** Takes back what instances left pending whose lease has ended, and removes them. The charges are named by their ids, so
 * that an instance which comes back meanwhile loses no new ones. */
export async function releaseCrashed(pool: PostgresPool): Promise<void> {
  const [left, ended] = await pool.read((session) =>
    Promise.all([
      session.rows<{ id: number }>(
        `SELECT id FROM charges WHERE pending_by IS NOT NULL
           AND NOT EXISTS (SELECT FROM instances i WHERE i.id = pending_by AND i.leased_until > clock_ms())`,
      ),
      session.rows('SELECT FROM instances WHERE leased_until <= clock_ms()'),
    ]),
  );
  if (left.length === 0 && ended.length === 0) return;
  await pool.transact(async (tx) => {
    if (left.length > 0) takeBack(tx, 'ids', [left.map(({ id }) => id)]);
    tx.last('DELETE FROM instances WHERE leased_until <= clock_ms()');
  });
}
