import { type Job, NO_OUTPUT } from '../../job/settings.ts';
import { periodLimit } from '../../run/plan/account-state.ts';
import type { Plan } from '../../run/plan/planning.ts';
import type { RunResult } from '../../run/run-job.ts';
import { COMMAND_TABLE } from '../command-table.ts';
import { commandLine, type OptionValues } from './command-line.ts';

/** The command line that resumes a run. With a budget it names another, because the same one could be spent twice. People read it, so it
 * leaves `--json` out.
 * @param rest of `costOfRest`; 0: nothing known is missing */
export function resumeCommand(
  words: readonly string[],
  flags: OptionValues,
  job: Pick<Job, 'budget'>,
  result: RunResult,
  rest: number,
): string {
  const budget = resumeBudget(job, result, rest);
  const others = { ...flags, json: undefined, ...(result.stop?.reason === 'rows' && { limit: undefined }) };
  return commandLine('run', words, budget === null || budget === job.budget ? others : { ...others, budget });
}

/** The command line that writes the report of a run; null where its rows were not written to a file. A report of a job file takes the
 * options of the run, one of an input file remembers them. */
export function reportCommand(
  words: readonly string[],
  flags: OptionValues,
  { input, output, jobFile }: Pick<Job, 'input' | 'output' | 'jobFile'>,
): string | null {
  if (input === '-' || output === '-' || output === NO_OUTPUT) return null;
  if (jobFile === null) return commandLine('report', words, { store: flags.store });
  const shared = Object.entries(flags).filter(
    ([name]) => name in COMMAND_TABLE.report.options && !OF_RUN.includes(name),
  );
  return commandLine('report', words, Object.fromEntries(shared));
}

/** Options of a report that a run has too, and that concern the run alone. */
const OF_RUN: readonly string[] = ['budget', 'force', 'json', 'limit', 'report'];

/** The price of the missing answers, at most what the billing period that pays has: this one, or the next if this one has nothing left.
 * @param plan made after the run, which may have learned that bundles return more */
export function costOfRest({ price, available, account }: Plan, stop: RunResult['stop']): number {
  const isSpent = available === 0 || stop?.reason === 'quota';
  return Math.min(price.credits, isSpent && account !== null ? periodLimit(account.account) : available);
}

/** The budget that a run needs to go on: what is still missing, but where the run's own budget did not end it, no more than what is left of
 * that. Null: the run had none. */
function resumeBudget({ budget }: Pick<Job, 'budget'>, { stop, summary }: RunResult, rest: number): number | null {
  if (budget === null) return null;
  const left = budget - summary.credits_spent - summary.credits_unknown;
  if (rest === 0) return left > 0 ? left : budget;
  // The budget of a trial with the first rows is not meant for all.
  const isOver = left <= 0 || ['budget', 'price', 'rows'].includes(stop?.reason ?? '');
  return isOver ? rest : Math.min(left, rest);
}
