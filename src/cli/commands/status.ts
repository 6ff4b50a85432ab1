import { z } from 'zod';
import { counted, dateTime, grouped, isoTime } from '../../base/format-numbers.ts';
import { isFreeAccount, isSampleAccount } from '../../job/account-settings.ts';
import { NO_OUTPUT } from '../../job/settings.ts';
import { plainCsv } from '../../rows/csv/field-bytes.ts';
import { shownAddress } from '../../sql/postgres-address.ts';
import type { StatementRow } from '../../store/ledger/port.ts';
import type { RunRecord } from '../../store/runs/port.ts';
import { lineWidth, print, printData, sayJson } from '../frame/context.ts';
import { readOptionalJob } from '../frame/job-of-options.ts';
import { openExistingStore } from '../frame/open-store.ts';
import type { StatusRunJson } from '../json/ledger-json.ts';
import { fittingTable } from '../messages/format.ts';
import type { RunCommand } from '../options/command.ts';
import type { Flags } from '../options/command-table.ts';

const SHOWN = 20;

type Calls = StatementRow['calls'];

const NO_CALLS: Calls = { charged: 0, free: 0, unknown: 0, inFlight: 0 };

/** `perilbook status`: the runs of a job, or of all jobs, newest first. */
export const statusCommand: RunCommand<Flags<'status'>> = async (context, flags, words) => {
  const [target] = words;
  const job = readOptionalJob(context, words, flags);
  await using store = await openExistingStore(context, job, flags);
  const which = target === undefined ? {} : { job: job.name };
  const runs = await store.runs(which);
  const counts = new Map(
    (await store.statement({ by: 'run', ...which })).map(({ name, calls }) => [name, calls]),
  );
  const callsOf = ({ run }: RunRecord) => counts.get(run) ?? NO_CALLS;
  if (flags.json) {
    const values = runs.map((run) => asJson(run, callsOf(run)));
    sayJson(context, values);
  } else if (flags.csv) {
    printData(context, asCsv(runs, callsOf).trimEnd());
  } else if (runs.length === 0) {
    print(
      context,
      `No runs${target === undefined ? '' : ` of ${job.name}`} in ${shownAddress(job.store)}`,
    );
  } else {
    const groups = groupRuns(runs);
    const shown = groups.slice(0, SHOWN);
    const lines = asTable(shown, callsOf, lineWidth(context.stdout));
    lines.push(...ofSample(shown), ...whenToResume(runs, context.clock.now()));
    const earlier = groups.slice(SHOWN).flat().length;
    if (earlier > 0) lines.push(`and ${counted(earlier, 'earlier run')} (see --json)`);
    print(context, lines.join('\n'));
  }
};

/** Runs that a line shows together, the newest first. */
type RunGroup = readonly [RunRecord, ...RunRecord[]];

/** A program begins a run with each call of the library, and a look-up is one: those of one kind that follow each other are one line. */
function groupRuns(runs: readonly RunRecord[]): RunGroup[] {
  const kindOf = ({ job, input, account, state, resumeAfter }: RunRecord) =>
    JSON.stringify([job, input, account, state, resumeAfter]);
  const groups: [RunRecord, ...RunRecord[]][] = [];
  for (const run of runs) {
    const last = groups.at(-1);
    const isMore =
      last !== undefined &&
      [run, last[0]].every(({ output }) => output === NO_OUTPUT) &&
      kindOf(run) === kindOf(last[0]);
    if (isMore) last.push(run);
    else groups.push([run]);
  }
  return groups;
}

/** `12`, or `3 to 12`. */
function numbersOf(group: RunGroup): string {
  const [{ run: newest }, oldest] = [group[0], group.at(-1)!.run];
  return newest === oldest ? String(newest) : `${oldest} to ${newest}`;
}

function asTable(
  groups: readonly RunGroup[],
  callsOf: (run: RunRecord) => Calls,
  screen: number,
): string[] {
  // Most runs have ended, and have no calls in flight.
  const runs = groups.flat();
  const inFlight = runs.some(({ open }) => open > 0)
    ? [['in flight', (run: RunRecord) => run.open] as const]
    : [];
  const spending: readonly (readonly [string, (run: RunRecord) => number])[] = [
    ['planned', (run) => run.plannedCredits],
    ['charged', (run) => run.charged],
    ['unknown', (run) => run.unknown],
    ...inFlight,
    ['free calls', (run) => callsOf(run).free],
  ];
  const shown = runs.every(isFree) ? [] : spending;
  const head = ['run', 'job', 'started', 'state', ...shown.map(([name]) => name), 'resume after'];
  const rows = groups.map((group) => {
    const [{ job, startedAt, state, resumeAfter }] = group;
    const sumOf = (of: (run: RunRecord) => number) => group.reduce((sum, run) => sum + of(run), 0);
    return [
      ...[numbersOf(group), job, dateTime(startedAt), state],
      ...shown.map(([, of]) => (isFree(group[0]) ? '' : grouped(sumOf(of)))),
      resumeAfter === null ? '' : dateTime(resumeAfter),
    ];
  });
  return fittingTable(head, rows, DISPENSABLE, '', screen);
}

/** Whether a run spends nothing: local data has no account, and the sample charges none. */
function isFree({ account }: RunRecord): boolean {
  return account === '' || isFreeAccount(account);
}

/** What the credits of sample runs are that show what a subscription does. */
function ofSample(groups: readonly RunGroup[]): string[] {
  const madeUp = groups.filter(([run]) => isMadeUp(run) && !isFree(run));
  if (madeUp.length === 0) return [];
  const numbers = madeUp.map(numbersOf).join(', ');
  const which = madeUp.flat().length === 1 ? `Run ${numbers} is` : `Runs ${numbers} are`;
  return [
    `${which} of sample data: nothing was charged. The credits are those that a paid service would charge.`,
  ];
}

function isMadeUp({ account }: RunRecord): boolean {
  return isSampleAccount(account);
}

/** Columns to drop, in this order, on a narrow terminal. */
const DISPENSABLE = ['free calls', 'in flight', 'unknown', 'run', 'started', 'planned'];

/** One line for each job whose latest run was paused or cut off. */
function whenToResume(runs: readonly RunRecord[], now: number): string[] {
  const latest = new Map<string, RunRecord>();
  for (const run of runs) if (!latest.has(run.job)) latest.set(run.job, run);
  return [...latest.values()]
    .filter(({ state }) => state === 'paused' || state === 'cut off')
    .map(({ job, state, resumeAfter, summary }) => {
      if (state === 'cut off')
        return `${job} was cut off: its process ended without finishing. Run it again to resume; stored answers are kept.`;
      if (resumeAfter !== null && resumeAfter > now)
        return `${job} is paused. Run it again after ${dateTime(resumeAfter)}.`;
      // A resume date in the past is no longer useful; a budget that was too small still is.
      const why = resumeAfter === null ? storedReason.parse(summary) : '';
      return why === ''
        ? `${job} is paused. Run it again to resume.`
        : `${job} is paused: ${why} Run it again to resume.`;
    });
}

/** Why a run stopped, by its summary. A summary of another version may lack it. */
const storedReason = z
  .object({ stopped: z.string() })
  .transform(({ stopped }) => stopped)
  .catch('');

function asCsv(runs: readonly RunRecord[], callsOf: (run: RunRecord) => Calls): string {
  const head = [
    ...[
      'run',
      'job',
      'account',
      'state',
      'started_at',
      'finished_at',
      'resume_after',
      'planned_credits',
      'budget',
    ],
    ...[
      'charged',
      'unknown',
      'in_flight',
      'calls_charged',
      'calls_free',
      'calls_unknown',
      'calls_in_flight',
    ],
  ];
  const rows = runs.map((run) => {
    const {
      input: _input,
      output: _output,
      summary: _summary,
      credits_made_up: _madeUp,
      calls,
      ...figures
    } = asJson(run, callsOf(run));
    return [...Object.values(figures), ...Object.values(calls)];
  });
  return plainCsv(head, rows);
}

function asJson(run: RunRecord, calls: Calls): StatusRunJson {
  return {
    run: run.run,
    job: run.job,
    input: run.input,
    output: run.output,
    account: run.account,
    state: run.state,
    started_at: isoTime(run.startedAt)!,
    finished_at: isoTime(run.finishedAt),
    resume_after: isoTime(run.resumeAfter),
    planned_credits: run.plannedCredits,
    budget: isFree(run) ? null : run.budget,
    credits_made_up: isMadeUp(run),
    charged: run.charged,
    unknown: run.unknown,
    in_flight: run.open,
    calls: {
      charged: calls.charged,
      free: calls.free,
      unknown: calls.unknown,
      in_flight: calls.inFlight,
    },
    summary: run.summary,
  };
}
