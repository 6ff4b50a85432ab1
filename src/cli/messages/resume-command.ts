import type { RunResult } from '../../run/run-job.ts';
import { type Job, NO_OUTPUT } from '../../run/settings/settings.ts';

/**
 * A command line that goes on with a run. It names what is left of the budget: the same budget again could spend it twice. People
 * read it, so it leaves `--json` out.
 *
 * @param rest what the missing answers cost after a run that its budget ended: the run may have learned that bundles return more
 */
export function resumeCommand(args: readonly string[], job: Pick<Job, 'budget'>, result: RunResult, rest = 0): string {
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

/** What is left of the budget; after the end of a budget what the rest costs, as far as this billing period has it. Null: the run
 * had no budget. */
function resumeBudget({ budget }: Pick<Job, 'budget'>, { stop, summary }: RunResult, rest: number): number | null {
  if (budget === null) return null;
  const spent = summary.credits_spent + summary.credits_unknown;
  if (stop?.reason !== 'budget') return budget > spent ? budget - spent : budget;
  const left = Math.max(0, summary.credits_available - spent);
  // A new period, where this one has nothing left.
  return left === 0 ? rest : Math.min(rest, left);
}

/** Where `--` stands: only files follow it. */
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
