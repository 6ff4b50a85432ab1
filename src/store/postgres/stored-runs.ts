import type { Session } from '../../sql/postgres-pool.ts';
import type { AccountTerms, KnownAccount, NewRun, Owner, RunEnd, RunRecord, Spending } from '../port.ts';
import { storable } from './ledger-moves.ts';

type StoredRun = Omit<RunRecord, 'summary'> & { readonly summary: string | null; readonly owner: string };

const LATEST = 200;

/** Records a run and the terms of its accounts. @param now the server's time, as SQL */
export async function insertRun(session: Session, run: NewRun, owner: Owner, now: string): Promise<number> {
  const texts = [run.job, run.input, run.output, run.account, owner.name].map(storable);
  const [row] = await session.rows<{ id: number }>(
    `INSERT INTO runs (job, input, output, account, owner, started_at, state, planned_credits, budget, plan)
     VALUES ($1, $2, $3, $4, $5, ${now}, 'running', $6, $7, $8) RETURNING id`,
    [...texts, run.plannedCredits, run.budget, run.plan ?? null],
  );
  for (const { name, subscription, anniversaryDay, reserve, overageCredits, spentElsewhere } of run.accounts ?? []) {
    const terms: AccountTerms = { subscription, anniversaryDay, reserve, overageCredits, spentElsewhere };
    await session.rows(
      `INSERT INTO account_terms (account, terms, run) VALUES ($1, $2, $3)
       ON CONFLICT (account) DO UPDATE SET terms = excluded.terms, run = excluded.run`,
      [name, JSON.stringify(terms), row!.id],
    );
  }
  return row!.id;
}

export async function endRun(session: Session, run: number, end: RunEnd, now: string): Promise<void> {
  await session.rows(
    `UPDATE runs SET state = $2, finished_at = ${now}, resume_after = $3, summary = $4 WHERE id = $1`,
    [run, end.state, end.resumeAfter, JSON.stringify(end.summary)],
  );
}

/** The accounts that runs could spend, that of the latest run first. */
export async function readAccounts(session: Session): Promise<KnownAccount[]> {
  const rows = await session.rows<{ account: string; terms: string }>(
    'SELECT account, terms FROM account_terms ORDER BY run DESC, account',
  );
  return rows.map(({ account, terms }) => ({ name: account, ...(JSON.parse(terms) as AccountTerms) }));
}

/** The latest runs, newest first. */
export async function readRuns(session: Session, job: string | undefined, owner: Owner): Promise<RunRecord[]> {
  const rows = await session.rows<StoredRun & Record<string, unknown>>(
    `SELECT id AS run, job, input, output, account, owner, started_at AS "startedAt", finished_at AS "finishedAt", state,
       planned_credits AS "plannedCredits", budget, charged, unknown, open, resume_after AS "resumeAfter", summary
     FROM runs WHERE $1::text IS NULL OR job = $1 ORDER BY id DESC LIMIT ${LATEST}`,
    [job ?? null],
  );
  return rows.map(({ owner: by, ...row }) => ({
    ...row,
    // A process that was killed could not say so. One on another machine counts as running.
    state: row.state === 'running' && by !== owner.name && !owner.isAlive(by) ? 'cut off' : row.state,
    summary: row.summary === null ? null : JSON.parse(row.summary),
  }));
}

export async function runSums(session: Session, run: number): Promise<Spending> {
  const [sums] = await session.rows<Spending & Record<string, unknown>>(
    'SELECT charged, unknown, open FROM runs WHERE id = $1',
    [run],
  );
  return sums!;
}

/** What all runs under a plan have spent. */
export async function planSums(session: Session, plan: string): Promise<Spending> {
  const [sums] = await session.rows<Spending & Record<string, unknown>>(
    `SELECT coalesce(sum(charged), 0)::bigint AS charged, coalesce(sum(unknown), 0)::bigint AS unknown,
       coalesce(sum(open), 0)::bigint AS open FROM runs WHERE plan = $1`,
    [plan],
  );
  return sums!;
}
