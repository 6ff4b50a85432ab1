import { LOADERS } from '../data/loaders/loader-table.ts';
import { SOURCES } from '../data/sources/source-table.ts';
import { STATES } from '../data/tables/states.ts';
import { PerilbookError } from '../errors.ts';
import { didYouMean } from '../nearest-name.ts';
import { jobFileJsonSchema } from '../run/settings/job-file.ts';
import type { SettingsSchema } from '../run/settings/setting-issues.ts';
import { TOPIC_NAMES } from '../run/settings/topic-choice.ts';
import { type Command, commandOf, dashed, type Flags, nameOfCommand, optionNames, wordOfCommand } from './command.ts';
import { type CliContext, printData } from './context.ts';
import { EXIT } from './exit-codes.ts';

/** The values of options that take a list with commas. */
export const LIST_VALUES: Readonly<Record<string, readonly string[]>> = {
  topics: TOPIC_NAMES,
  tiers: TOPIC_NAMES,
  states: [...STATES],
};

const SOURCE_NAMES = SOURCES.map(({ name }) => name);

/** The names that may follow a command. After the loader of `data load` come files. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  'data get': [...TOPIC_NAMES, ...SOURCE_NAMES],
  'data update': SOURCE_NAMES,
  'data check': SOURCE_NAMES,
  'data remove': SOURCE_NAMES,
  'data load': ['sample', ...LOADERS.keys()],
  completion: ['bash', 'zsh', 'fish'],
};

/**
 * `perilbook completion`: the script for a shell, by default the user's. With the words of a command line (at least the program and the one under
 * the cursor), as that script asks, the completions of the last one, a line each; none where it is a file, which the shell completes.
 *
 * @throws USAGE for a shell without a script
 */
export async function printCompletion(
  context: CliContext,
  flags: Flags,
  commands: readonly Command[],
): Promise<number> {
  const words = flags.shell as readonly string[];
  const text =
    words.length < 2
      ? scriptOf(words[0] ?? /zsh|fish/.exec(context.env.SHELL ?? '')?.[0] ?? 'bash')
      : [...new Set(completionsOf(words.slice(1), commands))].join('\n');
  if (text !== '') printData(context, text);
  return EXIT.complete;
}

function scriptOf(shell: string): string {
  const shells = Object.keys(SCRIPTS);
  if (shells.includes(shell)) return SCRIPTS[shell]!;
  const message = `There is no completion script for the shell ${JSON.stringify(shell)}${didYouMean(shell, shells)}`;
  throw new PerilbookError('USAGE', message, `Use one of: ${shells.join(', ')}.`);
}

const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `_perilbook() {
  local IFS=$'\\n'
  COMPREPLY=($(perilbook completion -- "\${COMP_WORDS[@]:0:COMP_CWORD+1}"))
}
complete -o default -o bashdefault -F _perilbook perilbook`,
  // Without compinit there is no compdef; -i leaves out files of other users, about which it would ask.
  zsh: `#compdef perilbook
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i; }
_perilbook() {
  local -a reply=("\${(@f)$(perilbook completion -- "\${(@)words[1,CURRENT]}")}")
  if [[ -n $reply ]]; then compadd -a reply; else _files; fi
}
compdef _perilbook perilbook`,
  // -f leaves files out; without an offer the rule does not hold, and fish completes files.
  fish: `function __perilbook_offer
  set -l current (commandline -ct)
  set -g __perilbook_offered (perilbook completion -- (commandline -opc) "$current")
  test -n "$__perilbook_offered"
end
complete -c perilbook -n __perilbook_offer -f -a '$__perilbook_offered'`,
};

/** @param words the command line without the program's name; the last one is under the cursor */
function completionsOf(words: readonly string[], commands: readonly Command[]): readonly string[] {
  const current = words.at(-1) ?? '';
  const starting = (values: readonly string[] = []) => values.filter((text) => text.startsWith(current));
  const command = commandOf(words.slice(0, -1), commands);
  if (command === null) return starting(commands.map(nameOfCommand));
  const [, written, value] = /^--([a-z-]+)=(.*)$/.exec(current) ?? [];
  if (written !== undefined) return valuesOf(command, written, value!).map((text) => `--${written}=${text}`);
  // Bash makes three words of --option=value.
  const hasSign = words.at(-2) === '=' || current === '=';
  const before = hasSign ? words.findLast((word) => word.startsWith('-')) : words.at(-2);
  const option = Object.entries(command.options ?? {}).find(([name, { alias = name }]) =>
    [name, alias].some((text) => dashed(text) === before),
  );
  if (option !== undefined && option[1].type !== 'boolean') {
    return valuesOf(command, option[0], current === '=' ? '' : current);
  }
  if (current.startsWith('-')) return starting(optionNames(command.options).map(dashed));
  if (command.subcommands !== undefined && command.argument === undefined) {
    return starting(command.subcommands.map(wordOfCommand));
  }
  const name = nameOfCommand(command);
  const isFile = name === 'data load' && words.length > 3;
  return isFile ? [] : starting(NAMES[name]);
}

function valuesOf({ options = {} }: Command, option: string, begun: string): string[] {
  const list = LIST_VALUES[option];
  if (list === undefined) {
    const values = options[option]?.choices ?? wordsOfSetting(option);
    return values.filter((text) => text.startsWith(begun));
  }
  const at = Math.max(begun.lastIndexOf(','), begun.lastIndexOf(';')) + 1;
  const [before, current] = [begun.slice(0, at), begun.slice(at)];
  const taken = before.split(/[,;]/);
  return list.filter((text) => text.startsWith(current) && !taken.includes(text)).map((text) => before + text);
}

/** The words that a setting of the same name as the option takes. */
function wordsOfSetting(option: string): readonly string[] {
  const setting = jobFileJsonSchema().properties?.[option.replaceAll('-', '_')];
  return setting === undefined ? [] : wordsOf(setting);
}

function wordsOf({ enum: words = [], examples = [], anyOf = [] }: SettingsSchema): string[] {
  return [...words, ...examples, ...anyOf.flatMap(wordsOf)];
}
