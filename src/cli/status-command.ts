import { isoTime } from '../job/summary.ts';
import type { RunRecord } from '../store/port.ts';
import { openSqliteStore } from '../store/sqlite-store.ts';
import { EXIT } from './exit-codes.ts';
import { anyJobOf } from './job-options.ts';
import type { Flags } from './program.ts';
import { dateTime, grouped, table } from './words.ts';
import { sayJson, type World } from './world.ts';

const SHOWN = 20;

/** `perilbook status`: the runs of a job, or of all, the newest first. */
export async function statusCommand(world: World, flags: Flags): Promise<number> {
  const target = flags.job as string | undefined;
  const job = anyJobOf(world, target, flags);
  const store = openSqliteStore(job.store, world.clock, world.owner);
  try {
    const runs = await store.runs(target === undefined ? {} : { job: job.name });
    if (flags.json) {
      sayJson(world, runs.map(asJson));
      return EXIT.complete;
    }
    if (runs.length === 0) {
      world.stdout.write(`No runs${target === undefined ? '' : ` of ${job.name}`} in ${job.store}\n`);
      return EXIT.complete;
    }
    const head = ['run', 'job', 'started', 'state', 'planned', 'charged', 'unknown', 'resume after'];
    const rows = runs
      .slice(0, SHOWN)
      .map((run) => [
        String(run.run),
        run.job,
        dateTime(run.startedAt),
        run.state,
        grouped(run.plannedCredits),
        grouped(run.charged),
        grouped(run.unknown + run.open),
        run.resumeAfter === null ? '' : dateTime(run.resumeAfter),
      ]);
    world.stdout.write(`${table(head, rows, '').join('\n')}\n`);
    if (runs.length > SHOWN)
      world.stdout.write(`and ${grouped(runs.length - SHOWN)} earlier runs (--json lists them)\n`);
    return EXIT.complete;
  } finally {
    await store.close();
  }
}

function asJson(run: RunRecord): unknown {
  return {
    run: run.run,
    job: run.job,
    input: run.input,
    output: run.output,
    account: run.account,
    state: run.state,
    started_at: isoTime(run.startedAt),
    finished_at: isoTime(run.finishedAt),
    resume_after: isoTime(run.resumeAfter),
    planned_credits: run.plannedCredits,
    budget: run.budget,
    charged: run.charged,
    unknown: run.unknown,
    in_flight: run.open,
    summary: run.summary,
  };
}
