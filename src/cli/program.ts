import yargs, { type Argv } from 'yargs';
import { PerilbookError } from '../errors.ts';
import type { Command } from './command.ts';
import type { Completable } from './completion-script.ts';
import { type CliContext, say, sayJson } from './context.ts';
import { EXIT, EXIT_MEANINGS, exitCodeOfError } from './exit-codes.ts';
import { ACCOUNT_FLAGS, yargsJobOptions } from './job-options.ts';
import { refuseOddValues } from './option-values.ts';
import { SERVICE_OPTIONS } from './service-options.ts';
import { type OptionTable, optionsOf, tableOf, usageError } from './usage-error.ts';

const jobPosition = { type: 'string', describe: 'a job file (.yaml), or an input file; - for stdin' } as const;

const csv = { csv: { type: 'boolean', describe: 'print the rows as CSV on stdout', conflicts: 'json' } } as const;

const json = { json: { type: 'boolean', describe: 'print one JSON value on stdout' } } as const;

/** The commands' files are loaded when they are called for: `topics` need not wait for the web framework. */
const COMMANDS: readonly (Omit<Command, 'run'> & {
  readonly examples: readonly string[];
  readonly load: () => Promise<Command['run']>;
})[] = [
  {
    command: 'plan [job]',
    describe: 'price it; spends nothing',
    examples: [
      'plan portfolio.csv --topics natural',
      'plan nightly.yaml --json',
      'plan nightly.yaml --out plan.json    (to be approved; then: run nightly.yaml --plan plan.json)',
    ],
    builder: (y) =>
      y.positional('job', jobPosition).options({
        ...yargsJobOptions(),
        ...json,
        out: { type: 'string', describe: 'write the plan to a file, to be approved', requiresArg: true },
      }),
    load: async () => (await import('./commands/plan.ts')).planCommand,
  },
  {
    command: 'run [job]',
    describe: 'buy what is missing, write the output; run again to resume',
    examples: [
      'run portfolio.csv -o out.csv --topics wildfire,riverineFlood',
      'run portfolio.csv -o out.parquet --topics all --order-by tiv --budget 5000',
      'run nightly.yaml --yes --quiet       (from cron)',
    ],
    builder: (y) =>
      y.positional('job', jobPosition).options({
        ...yargsJobOptions(),
        ...json,
        plan: { type: 'string', describe: 'keep to an approved plan (perilbook plan --out)', requiresArg: true },
        yes: { alias: 'y', type: 'boolean', describe: 'spend what the plan says without asking' },
        quiet: { alias: 'q', type: 'boolean', describe: 'say only what went wrong' },
        report: { type: 'string', describe: 'also write the report, a page of HTML, to this file', requiresArg: true },
        debug: { type: 'boolean', describe: 'say each request and what came of it, without keys' },
      }),
    load: async () => (await import('./commands/run.ts')).runCommand,
  },
  {
    command: 'report [job]',
    describe: 'a page to look at: map, ratings, concentration, data quality, money; spends nothing',
    examples: ['report nightly.yaml', 'report portfolio.csv --topics natural --report portfolio.html'],
    builder: (y) =>
      y.positional('job', jobPosition).options({
        ...yargsJobOptions(),
        report: { type: 'string', describe: 'file to write the page to; - for stdout', requiresArg: true },
      }),
    load: async () => (await import('./commands/report.ts')).reportCommand,
  },
  {
    command: 'ui [job]',
    describe: 'a page in the browser, on this machine only: choose a file, see the price, buy, watch, download',
    examples: ['ui', 'ui portfolio.csv', 'ui nightly.yaml --budget 5000'],
    builder: (y) =>
      y
        .positional('job', {
          type: 'string',
          describe: 'a job file (.yaml) with the service and the account, or a file to show first',
        })
        .options({
          ...yargsJobOptions(ACCOUNT_FLAGS),
          port: { type: 'number', describe: 'port to listen on (a free one)', requiresArg: true },
          'max-upload': { type: 'number', describe: 'largest upload in MB (2000)', requiresArg: true },
        }),
    load: async () => (await import('./commands/ui.ts')).uiCommand,
  },
  {
    command: 'status [job]',
    describe: 'runs, what is left, when to resume',
    examples: ['status', 'status nightly.yaml --json'],
    builder: (y) => y.positional('job', jobPosition).options({ ...yargsJobOptions(), ...json, ...csv }),
    load: async () => (await import('./commands/status.ts')).statusCommand,
  },
  {
    command: 'quota [set] [job]',
    describe: 'this period: allowance, spent, reserved, left, resets on; set corrects it',
    examples: ['quota nightly.yaml', 'quota nightly.yaml --by day', 'quota set nightly.yaml --left 4200'],
    builder: (y) =>
      y
        // The first word is `set` or already the job; its name is what the help shows.
        .positional('set', { type: 'string', describe: "set: record what the provider's page says of this period" })
        .positional('job', jobPosition)
        .options({
          ...yargsJobOptions(),
          by: { type: 'string', describe: 'with a statement by run, job, key or day', requiresArg: true },
          left: { type: 'number', describe: 'set: credits that the page says are left', requiresArg: true },
          spent: { type: 'number', describe: 'set: credits that the page says are spent, by all', requiresArg: true },
          ...json,
          ...csv,
        }),
    load: async () => (await import('./commands/quota.ts')).quotaCommand,
  },
  {
    command: 'topics',
    describe: 'the 37, their columns, cost, cadence',
    examples: ['topics', 'topics --json'],
    builder: (y) => y.options(json),
    load: async () => (await import('./commands/topics.ts')).topicsCommand,
  },
  {
    command: 'job <action> [file]',
    describe: 'check FILE: all that is wrong with a job file; schema: its JSON Schema, for editors',
    examples: ['job check nightly.yaml', 'job check nightly.yaml --json', 'job schema > job.schema.json'],
    builder: (y) =>
      y
        .positional('action', { choices: ['check', 'schema'] as const })
        .positional('file', { type: 'string', describe: 'check: a job file (.yaml)' })
        .options(json),
    load: async () => (await import('./commands/job.ts')).jobCommand,
  },
  {
    command: 'completion',
    describe: 'a script that lets bash and zsh complete commands, options and topics',
    examples: ['completion >> ~/.bashrc', 'completion >> ~/.zshrc'],
    load: async () => (await import('./commands/completion.ts')).completionCommand(completable),
  },
  {
    command: 'cache <action>',
    describe: 'stats | prune | export: what the store keeps',
    examples: [
      'cache stats',
      'cache prune --older-than 400d',
      'cache prune --rejected',
      'cache export > answers.ndjson',
    ],
    builder: (y) =>
      y.positional('action', { choices: ['stats', 'prune', 'export'] as const }).options({
        store: { type: 'string', describe: 'file that keeps answers, ledger and runs', requiresArg: true },
        'older-than': {
          type: 'string',
          describe: 'prune: forget answers older than this, e.g. 365d',
          requiresArg: true,
        },
        rejected: {
          type: 'boolean',
          describe: 'prune: forget which locations the service rejected, to ask again (free)',
        },
        yes: { alias: 'y', type: 'boolean', describe: 'prune: forget answers that were paid for without asking' },
        details: { type: 'boolean', describe: 'export: the kept details (run --details keep) instead of the fields' },
        ...json,
      }),
    load: async () => (await import('./commands/cache.ts')).cacheCommand,
  },
  {
    command: 'service <action> [what] [files..]',
    describe:
      'start | load NAME FILE | data | check | account create, list, statement | key create, list, rotate, revoke',
    examples: [
      'service load sample',
      'service account create --account acme --subscription professional',
      'service key create --account acme --scopes all',
      'service start --port 8737',
    ],
    builder: (y) =>
      y
        .positional('action', { choices: ['start', 'load', 'data', 'check', 'account', 'key'] as const })
        .positional('what', { type: 'string' })
        .positional('files', { type: 'string', array: true })
        .options({ ...SERVICE_OPTIONS, ...json }),
    load: async () => (await import('./commands/service.ts')).serviceCommand,
  },
];

const nameOf = (command: string): string => command.split(' ')[0]!;

/** Runs one command line; resolves to the exit code, never rejects. */
export async function program(context: CliContext, version: string): Promise<number> {
  let exitCode: number = EXIT.complete;
  const names = COMMANDS.map(({ command }) => nameOf(command));
  // `help run` is what many people say for `run --help`.
  const [first, ...others] = context.args;
  // What stands behind `completion` are the words of another line.
  const said = first === 'help' ? [...others, '--help'] : first === 'completion' ? [first] : [...context.args];
  const args = withoutDashes(said);
  const parser: Argv = yargs(args)
    .scriptName('perilbook')
    .usage(`perilbook COMMAND\n\n${ABOUT}`)
    .parserConfiguration({ 'boolean-negation': false, 'camel-case-expansion': false })
    .strict()
    .help()
    .alias('h', 'help')
    .version(version)
    .wrap(Math.min(100, context.stderr.columns || 100))
    .epilogue(`Exit codes: ${EXIT_MEANINGS.map(([code, meaning]) => `${code} ${meaning}`).join(' · ')}`)
    .exitProcess(false)
    .demandCommand(1, 'Name a command.')
    .fail((message, error) => {
      // What yargs throws itself (an option without its value) is the user's mistake too.
      const isUsage = error === undefined || error === null || error.name === 'YError';
      throw isUsage ? usageError(message ?? error.message, names, context.args, optionsOf(parser)) : error;
    });
  let table: OptionTable | null = null;
  for (const { command, describe, builder, load } of COMMANDS) {
    parser.command(
      command,
      describe,
      (y: Argv) => {
        const built = builder?.(y) ?? y;
        table = tableOf(built);
        return built;
      },
      async (flags) => {
        refuseOddValues(args, flags, table!);
        const run = await load();
        exitCode = await run(context, flags);
      },
    );
  }
  try {
    let words = '';
    await parser.parseAsync(args, {}, (_error, _argv, output) => {
      words = output;
    });
    if (words !== '') context.stdout.write(`${isHelp(args) ? exampleWords(args[0]) : ''}${words}\n`);
    return exitCode;
  } catch (error) {
    sayError(context, error);
    if (args.some((arg) => /^--json(?:=true)?$/.test(arg))) sayJson(context, { error: errorJson(error) });
    return exitCodeOfError(error);
  }
}

/** What stands behind `--` is no option, whatever it begins with: yargs drops it for the positions of a command. */
function withoutDashes(args: readonly string[]): string[] {
  const at = args.indexOf('--');
  if (at < 0) return [...args];
  const names = args.slice(at + 1).map((name) => (name.startsWith('-') && name !== '-' ? `./${name}` : name));
  return [...args.slice(0, at), ...names];
}

const ABOUT = 'Enriches a book of US locations with hazard columns, at the lowest price, never paying twice.';

const EXAMPLES = [
  'plan portfolio.csv --topics natural                            what it would cost',
  'run portfolio.csv -o out.csv --topics wildfire,riverineFlood   buy and write',
  'run jobs/nightly.yaml                                          a job file; run it again to resume',
  'status                                                         what has run, and when to go on',
];

const isHelp = (args: readonly string[]) => args.some((arg) => /^(--help|-[a-z]*h|help)$/.test(arg));

/** Help begins with examples: most people look for a line to copy. */
function exampleWords(name: string | undefined): string {
  const examples = COMMANDS.find(({ command }) => nameOf(command) === name)?.examples ?? EXAMPLES;
  return `Examples:\n${examples.map((example) => `  perilbook ${example}\n`).join('')}\n`;
}

/** The commands as completion knows them, read from the same table. */
function completable(): Completable[] {
  return COMMANDS.map(({ command, builder }) => {
    const y = yargs([]);
    builder?.(y);
    const { key, boolean, choices, alias } = tableOf(y);
    const dashed = (name: string) => (name.length === 1 ? `-${name}` : `--${name}`);
    const bare = boolean.flatMap((name) => [name, ...(alias[name] ?? [])]).map(dashed);
    const positions = [...command.matchAll(/[<[](\w+)/g)].map(([, name]) => name!);
    const options = Object.keys(key)
      .filter((name) => name.length > 1 && !positions.includes(name))
      .map(dashed);
    return { name: nameOf(command), actions: choices.action ?? [], options, bare };
  });
}

/** An error as `--json` prints it, with the place where it happened. */
function errorJson(error: unknown): Record<string, unknown> {
  if (!(error instanceof PerilbookError)) {
    const message = error instanceof Error ? error.message : String(error);
    return { code: 'BUG', message, hint: 'This is a bug of ours: please report it.' };
  }
  const { code, message, hint, context } = error;
  const { file, line, row, column } = context;
  return { code, message, hint, file, line, row, column };
}

/** An error as the user sees it: what happened, then what to do. The stack only for bugs of ours. */
function sayError(context: CliContext, error: unknown): void {
  if (error instanceof PerilbookError) {
    say(context, `perilbook: ${error.message}\n  ${error.hint} [${error.code}]`);
  } else {
    const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
    say(context, `perilbook: this is a bug of ours. Please report it with the lines below. [BUG]\n${stack}`);
  }
}
