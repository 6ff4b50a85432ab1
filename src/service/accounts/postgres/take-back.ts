import type { PoolClient } from 'pg';

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

/** Which pending charges are taken back: some, by their ids, or all that an instance left. */
const CHOICES = {
  ids: 'id = ANY($1::bigint[]) AND pending_by IS NOT NULL',
  instance: 'pending_by = $1',
} as const;

/**
 * Takes pending charges back, in one transaction and one round trip. The accounts are locked first, in the order of their
 * ids, as for charging. What is final or gone is not touched, so this may be done twice.
 */
export async function takeBack(
  connection: PoolClient,
  choice: keyof typeof CHOICES,
  values: readonly unknown[],
): Promise<void> {
  const where = CHOICES[choice];
  await Promise.all([
    connection.query('BEGIN'),
    connection.query({
      name: `lock accounts by ${choice}`,
      text: `SELECT id FROM accounts WHERE id IN (SELECT account FROM charges WHERE ${where}) ORDER BY id FOR UPDATE`,
      values: [...values],
    }),
    connection.query({
      name: `take back by ${choice}`,
      text: `WITH gone AS (DELETE FROM charges WHERE ${where} RETURNING account, kind, credits, charged_at, period_start),${SUBTRACT} SELECT`,
      values: [...values],
    }),
    connection.query('COMMIT'),
  ]);
}

/** Takes back what instances left pending whose lease has ended, and removes them. The charges are named by their ids, so
 * that an instance which comes back meanwhile loses no new ones. */
export async function releaseCrashed(connection: PoolClient): Promise<void> {
  const { rows } = await connection.query<{ id: number }>(
    `SELECT id FROM charges WHERE pending_by IS NOT NULL
       AND NOT EXISTS (SELECT FROM instances i WHERE i.id = pending_by AND i.leased_until > clock_ms())`,
  );
  if (rows.length > 0) await takeBack(connection, 'ids', [rows.map(({ id }) => id)]);
  await connection.query('DELETE FROM instances WHERE leased_until <= clock_ms()');
}
