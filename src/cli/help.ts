import { type Command, type CommandOption, dashed } from './command.ts';
import { EXIT_MEANINGS } from './exit-codes.ts';
import { listed, wrapped } from './messages/format.ts';
import { COMMON_OPTIONS } from './parse-command-line.ts';

const ABOUT =
  'Adds hazard ratings to a file of US locations: prices the answers, buys them once, and never spends beyond the plan.';

const EXAMPLES = [
  'plan portfolio.csv --topics natural                            show the cost',
  'run portfolio.csv -o out.csv --topics wildfire,riverineFlood   buy and write',
  'run jobs/nightly.yaml                                          run a job file; run it again to resume',
  'status                                                         list runs and when to resume',
];

/** The width of help, where the terminal has room for it. */
const HELP_WIDTH = 100;

/**
 * The help of the program (null) or of a command. It begins with examples: most people look for a line to copy.
 *
 * @param isAll shows rarely used options too
 * @param columns the width of the terminal; 0 and undefined where it is unknown
 */
export function helpText(
  command: Command | null,
  commands: readonly Command[],
  isAll: boolean,
  columns: number | undefined,
): string {
  const width = Math.min(HELP_WIDTH, columns || HELP_WIDTH);
  const { options = {}, subcommands = command === null ? commands : [] } = command ?? {};
  const list = (pairs: readonly (readonly [string, string])[]) => listed(pairs, '  ', width).join('\n');
  const sections = [
    [
      'Examples',
      examplesOf(command)
        .map((example) => `  perilbook ${example}`)
        .join('\n'),
    ],
    ['', `perilbook ${command?.usage ?? 'COMMAND'}`],
    ['', wrapped((command?.describe ?? ABOUT).split(' '), width, ' ').join('\n')],
    ['Commands', list(subcommands.map(({ usage, describe }) => [`perilbook ${usage}`, describe]))],
    [
      'Arguments',
      command?.argument === undefined ? '' : list([[/\[(\w+)/.exec(command.usage)![1]!, command.argument]]),
    ],
    ...[...Map.groupBy(shownOptions(options, isAll), ([, { group = 'Options' }]) => group)].map(([group, members]) => [
      group,
      list(members.map(([name, option]) => [nameAndValue(name, option), option.describe])),
    ]),
    ['', command === null ? wrapped(exitCodes(), width).join('\n') : ''],
  ];
  return sections
    .filter(([, text]) => text !== '')
    .map(([heading, text]) => (heading === '' ? text : `${heading}:\n${text}`))
    .join('\n\n');
}

function examplesOf(command: Command | null): readonly string[] {
  return command === null ? EXAMPLES : (command.examples ?? (command.subcommands ?? []).flatMap(examplesOf));
}

/** The options that help shows; options without a group come last. */
function shownOptions(options: NonNullable<Command['options']>, isAll: boolean): [string, CommandOption][] {
  const own = Object.entries(options);
  const shown = own.filter(([, { hidden }]) => isAll || !hidden);
  const describe = `with --help: show all ${own.length} options`;
  const all: [string, CommandOption][] = own.some(([, { hidden }]) => hidden)
    ? [['all', { type: 'boolean', describe }]]
    : [];
  return [
    ...shown.filter(([, { group }]) => group !== undefined),
    ...shown.filter(([, { group }]) => group === undefined),
    ...all,
    ...Object.entries(COMMON_OPTIONS),
  ];
}

/** `-b, --budget NUMBER` */
function nameAndValue(name: string, { alias, type }: CommandOption): string {
  const letter = alias === undefined ? '    ' : `${dashed(alias)}, `;
  return `${letter}${dashed(name)}${type === 'boolean' ? '' : type === 'number' ? ' NUMBER' : ' VALUE'}`;
}

function exitCodes(): string[] {
  return EXIT_MEANINGS.map(([code, meaning], index) => `${index === 0 ? 'Exit codes: ' : ''}${code} ${meaning}`);
}
