import {
  read,
  type SqlDatabase,
  type SqlWork,
  statement,
  storable,
  write,
} from '../../sql/sql-work.ts';
import { storedJson } from '../answers/stored-json.ts';
import type { Owner } from '../port.ts';
import type {
  AccountTerms,
  LedgerAccount,
  NewRun,
  RunConclusion,
  RunLimits,
  RunRecord,
} from './port.ts';

type StoredRun = Omit<RunRecord, 'settings' | 'summary'> & {
  readonly settings: string | null;
  readonly summary: string | null;
  readonly owner: string;
};

const LATEST = 200;

/** Records a run that begins, and the terms of its account where they changed. @returns its number */
export function* insertRun({ dialect }: SqlDatabase, run: NewRun, owner: Owner): SqlWork<number> {
  const texts = [run.job, run.input, run.output, run.account, owner.name].map(storable);
  const [[row]] = yield* read(
    statement<{ id: number }>(
      `INSERT INTO runs (job, input, output, account, owner, started_at, state, planned_credits, budget, settings)
       VALUES ($1, $2, $3, $4, $5, ${dialect.now}, 'running', $6, $7, $8) RETURNING id`,
      [
        ...texts,
        run.plannedCredits,
        run.budget,
        run.settings === undefined ? null : JSON.stringify(run.settings),
      ],
    ),
  );
  if (run.terms !== undefined) {
    const { subscription, anniversaryDay, reserve, overageCredits, isAssumed, isDayAssumed } =
      run.terms;
    const assumed = { isAssumed: isAssumed === true, isDayAssumed: isDayAssumed === true };
    const terms: AccountTerms = {
      subscription,
      anniversaryDay,
      reserve,
      overageCredits,
      ...assumed,
    };
    const sql = `INSERT INTO account_terms (account, terms, run) VALUES ($1, $2, $3)
      ON CONFLICT (account) DO UPDATE SET terms = excluded.terms, run = excluded.run`;
    yield* write(statement(sql, [run.account, JSON.stringify(terms), row!.id]));
  }
  return row!.id;
}

/** Records the limits of a run that begins again. */
export function replanRun(run: number, { plannedCredits, budget }: RunLimits): SqlWork<void> {
  const sql = 'UPDATE runs SET planned_credits = $2, budget = $3 WHERE id = $1';
  return write(statement(sql, [run, plannedCredits, budget]));
}

/** Records how a run has ended. */
export function endRun({ dialect }: SqlDatabase, run: number, end: RunConclusion): SqlWork<void> {
  const sql = `UPDATE runs SET state = $2, finished_at = ${dialect.now}, resume_after = $3, summary = $4 WHERE id = $1`;
  return write(statement(sql, [run, end.state, end.resumeAfter, JSON.stringify(end.summary)]));
}

/** The accounts, each under the terms of the last run that could spend it; that of the latest run first. */
export function* readAccounts(): SqlWork<LedgerAccount[]> {
  const sql = 'SELECT account, terms FROM account_terms ORDER BY run DESC, account';
  const [rows] = yield* read(statement<{ account: string; terms: string }>(sql));
  return rows.map(({ account, terms }) => ({
    name: account,
    ...storedJson(terms, `the subscription of the account ${account}`, hasFigures)!,
  }));
}

/** The figures without which no period can be counted. */
function hasFigures({
  subscription,
  anniversaryDay,
  reserve,
  overageCredits,
}: AccountTerms): boolean {
  const { creditsPerMonth, creditsPerMinute } = subscription;
  const figures = [creditsPerMonth, creditsPerMinute, anniversaryDay, reserve, overageCredits];
  return figures.every(Number.isFinite) && anniversaryDay >= 1 && anniversaryDay <= 31;
}

/** The latest runs, of one job or of all, newest first. */
export function* readRuns(job: string | undefined, owner: Owner): SqlWork<RunRecord[]> {
  const sql = `SELECT id AS run, job, input, output, account, owner, started_at AS "startedAt", finished_at AS "finishedAt", state,
      planned_credits AS "plannedCredits", budget, charged, unknown, open, resume_after AS "resumeAfter", settings, summary
    FROM runs WHERE forgotten_at IS NULL AND (CAST($1 AS text) IS NULL OR job = $1) ORDER BY id DESC LIMIT ${LATEST}`;
  const [rows] = yield* read(statement<StoredRun>(sql, [job ?? null]));
  return rows.map(({ owner: by, ...row }) => ({
    ...row,
    // A killed process cannot record its end. A process on another machine counts as running.
    state:
      row.state === 'running' && by !== owner.name && !owner.isAlive(by) ? 'cut off' : row.state,
    settings: storedJson(row.settings, `the settings of run ${row.run}`),
    summary: storedJson(row.summary, `the summary of run ${row.run}`),
  }));
}

/** Forgets runs that ended before a time: their files, settings and summaries. @returns how many */
export function* forgetRuns({ dialect }: SqlDatabase, before: number): SqlWork<number> {
  const which = 'forgotten_at IS NULL AND finished_at < $1';
  const [[row]] = yield* read(
    statement<{ runs: number }>(`SELECT count(*) AS runs FROM runs WHERE ${which}`, [before]),
  );
  const nothing = "input = '', output = '', settings = NULL, summary = NULL";
  yield* write(
    statement(`UPDATE runs SET forgotten_at = ${dialect.now}, ${nothing} WHERE ${which}`, [before]),
  );
  return row!.runs;
}
