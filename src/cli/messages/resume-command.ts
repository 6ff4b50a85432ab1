import { periodLimit } from '../../run/plan/account-state.ts';
import type { Plan } from '../../run/plan/planning.ts';
import type { RunResult } from '../../run/run-job.ts';
import { type Job, NO_OUTPUT } from '../../run/settings/settings.ts';

/**
 * A command line that resumes a run. It names what is left of the budget, because the full budget could be spent twice, or what the
 * rest costs if that is less. People read it, so it leaves `--json` out.
 *
 * @param rest of `costOfRest`; 0: nothing known is missing
 */
export function resumeCommand(
  args: readonly string[],
  job: Pick<Job, 'budget'>,
  result: RunResult,
  rest: number,
): string {
  const budget = resumeBudget(job, result, rest);
  const shown = args.filter((arg, at) => arg !== '--json' || at > endOfOptions(args));
  return commandLine(budget === null || budget === job.budget ? shown : withBudget(shown, budget));
}

/** Options with a value that only concern a run. */
const OF_RUN = /^(?:--(?:plan|budget|on-finish|metrics|log)|-b)(?:=|$)/;

/** The command that writes the report of a run; null where its rows were not written to a file. */
export function reportCommand(
  args: readonly string[],
  { input, output }: Pick<Job, 'input' | 'output'>,
): string | null {
  if (input === '-' || output === '-' || output === NO_OUTPUT) return null;
  const others: string[] = [];
  for (let at = 0; at < args.length; at++) {
    const arg = args[at]!;
    if (OF_RUN.test(arg)) at += arg.includes('=') ? 0 : 1;
    else if (!/^(?:--yes|-y|--debug|--json)$/.test(arg)) others.push(arg);
  }
  return commandLine(others.map((arg, index) => (arg === 'run' && index === others.indexOf('run') ? 'report' : arg)));
}

function commandLine(args: readonly string[]): string {
  const quoted = (arg: string) => (/^[\w./:=,@+-]+$/.test(arg) ? arg : `'${arg.replaceAll("'", "'\\''")}'`);
  return ['perilbook', ...args.map((arg, at) => quoted(withoutPath(arg, args[at - 1])))].join(' ');
}

/** The path of a webhook is often its secret, and this line goes into logs and mails. */
function withoutPath(arg: string, before: string | undefined): string {
  if (before !== '--on-finish' && !arg.startsWith('--on-finish=')) return arg;
  return arg.replace(/(https?:\/\/[^/?#]*)[/?#].*/i, '$1/…');
}

/**
 * The price of the missing answers, at most what the billing period that pays has: this one, or the next if this one has nothing left.
 *
 * @param plan made after the run, which may have learned that bundles return more
 */
export function costOfRest({ price, available, accounts }: Plan, stop: RunResult['stop']): number {
  const isSpent = available === 0 || stop?.reason === 'quota';
  return Math.min(
    price.credits,
    isSpent ? accounts.reduce((sum, { account }) => sum + periodLimit(account), 0) : available,
  );
}

/** The budget that a run needs to go on. Null: the run had none. */
function resumeBudget({ budget }: Pick<Job, 'budget'>, { stop, summary }: RunResult, rest: number): number | null {
  if (budget === null) return null;
  if (stop?.reason === 'budget') return rest;
  const left = budget - summary.credits_spent - summary.credits_unknown;
  const most = left > 0 ? left : budget;
  return rest > 0 ? Math.min(most, rest) : most;
}

/** The index of `--`, after which only files follow. */
function endOfOptions(args: readonly string[]): number {
  return args.includes('--') ? args.indexOf('--') : args.length;
}

/** The arguments with another budget; a budget of the job file or the environment is overridden. */
function withBudget(args: readonly string[], budget: number): string[] {
  const end = endOfOptions(args);
  const at = args.findIndex((arg, index) => index < end && /^(?:--budget|-b)(?:=|$)/.test(arg));
  if (at < 0) return [...args.slice(0, end), '--budget', String(budget), ...args.slice(end)];
  const [flag, value] = args[at]!.split('=');
  return value === undefined
    ? [...args.slice(0, at + 1), String(budget), ...args.slice(at + 2)]
    : [...args.slice(0, at), `${flag}=${budget}`, ...args.slice(at + 1)];
}
