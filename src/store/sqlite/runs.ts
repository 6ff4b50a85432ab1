import type Database from 'better-sqlite3';
import type { Clock } from '../../clock.ts';
import type { NewRun, Owner, RunEnd, RunRecord, Spending } from '../port.ts';

type RunRow = Omit<RunRecord, 'summary'> & { readonly summary: string | null; readonly owner: string };

const LATEST = 200;

/** The list of runs. `start` and `finish` run inside the caller's transaction. */
export function runStatements(database: Database.Database, clock: Clock, owner: Owner) {
  const insert = database.prepare(
    `INSERT INTO runs (job, input, output, account, owner, started_at, state, planned_credits, budget, plan)
     VALUES (@job, @input, @output, @account, @owner, @now, 'running', @plannedCredits, @budget, @plan)`,
  );
  const end = database.prepare(
    'UPDATE runs SET state = @state, finished_at = @now, resume_after = @resumeAfter, summary = @summary WHERE id = @run',
  );
  const list = database.prepare<{ job: string | null }, RunRow>(
    `SELECT id AS run, job, input, output, account, owner, started_at AS startedAt, finished_at AS finishedAt, state,
       planned_credits AS plannedCredits, budget, charged, unknown, open, resume_after AS resumeAfter, summary
     FROM runs WHERE @job IS NULL OR job = @job ORDER BY id DESC LIMIT ${LATEST}`,
  );

  const underPlan = database.prepare<[string], Spending>(
    `SELECT coalesce(sum(charged), 0) AS charged, coalesce(sum(unknown), 0) AS unknown, coalesce(sum(open), 0) AS open
     FROM runs WHERE plan = ?`,
  );

  return {
    underPlan: (plan: string): Spending => underPlan.get(plan)!,
    start: ({ accounts: _, ...run }: NewRun): number =>
      Number(insert.run({ plan: null, ...run, owner: owner.name, now: clock.now() }).lastInsertRowid),
    finish: (run: number, { state, resumeAfter, summary }: RunEnd): void => {
      end.run({ run, state, resumeAfter, now: clock.now(), summary: JSON.stringify(summary) });
    },
    /** The latest runs, newest first. */
    list: ({ job }: { readonly job?: string }): RunRecord[] =>
      list.all({ job: job ?? null }).map(({ owner: by, ...row }) => ({
        ...row,
        // A process that was killed could not say so.
        state: row.state === 'running' && by !== owner.name && !owner.isAlive(by) ? 'cut off' : row.state,
        summary: row.summary === null ? null : JSON.parse(row.summary),
      })),
  };
}
