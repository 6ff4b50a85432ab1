import { LOADERS } from '../data/loaders/loader-table.ts';
import { SOURCES } from '../data/sources/source-table.ts';
import { STATES } from '../data/tables/states.ts';
import { jobFileJsonSchema } from '../run/settings/job-file.ts';
import type { SettingsSchema } from '../run/settings/setting-issues.ts';
import { TOPIC_NAMES } from '../run/settings/topic-choice.ts';
import { type Command, dashed, nameOfCommand, wordOfCommand } from './command.ts';

/** The values of options that take one of a few and give no setting, by the option's name. */
export const OPTION_VALUES: Readonly<Record<string, readonly string[]>> = {
  log: ['text', 'json'],
  by: ['run', 'job', 'key', 'day'],
};

/** The values of options that take a list with commas. */
export const LIST_VALUES: Readonly<Record<string, readonly string[]>> = {
  topics: TOPIC_NAMES,
  tiers: TOPIC_NAMES,
  states: [...STATES],
};

const SOURCE_NAMES = SOURCES.map(({ name }) => name);

/** What the names after a command may be. Files follow the loader of `data load`. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  'data get': [...TOPIC_NAMES, ...SOURCE_NAMES],
  'data update': SOURCE_NAMES,
  'data check': SOURCE_NAMES,
  'data remove': SOURCE_NAMES,
  'data load': ['sample', ...LOADERS.keys()],
};

/**
 * The possible values of the last word. Empty where it is a file, which the shell completes; null where it is a command or an option,
 * which yargs completes.
 *
 * @param words the command line without the program's name; the last one is under the cursor
 */
export function valueCompletions(words: readonly string[], commands: readonly Command[]): readonly string[] | null {
  const current = words.at(-1) ?? '';
  const command = commandBefore(words.slice(0, -1), commands);
  if (command === null) return null;
  const [, written, value] = /^--([a-z-]+)=(.*)$/.exec(current) ?? [];
  if (written !== undefined) return valuesOf(written, value!).map((text) => `--${written}=${text}`);
  // Bash makes three words of --option=value.
  const hasSign = words.at(-2) === '=' || current === '=';
  const before = hasSign ? words.findLast((word) => word.startsWith('-')) : words.at(-2);
  const option = Object.entries(command.options ?? {}).find(([name, { alias = [] }]) =>
    [name, ...[alias].flat()].some((one) => dashed(one) === before),
  );
  if (option !== undefined && option[1].type !== 'boolean') return valuesOf(option[0], current === '=' ? '' : current);
  if (current.startsWith('-')) return null;
  const starting = (values: readonly string[] = []) => values.filter((text) => text.startsWith(current));
  if (command.subcommands !== undefined && command.positionals === undefined) {
    return starting(command.subcommands.map(wordOfCommand));
  }
  const name = nameOfCommand(command);
  const isFile = name === 'data load' && words.length > 3;
  return isFile ? [] : starting(NAMES[name]);
}

/** The command that the first words name. */
function commandBefore([word, ...more]: readonly string[], commands: readonly Command[]): Command | null {
  const command = commands.find((candidate) => wordOfCommand(candidate) === word);
  return command === undefined ? null : (commandBefore(more, command.subcommands ?? []) ?? command);
}

function valuesOf(option: string, begun: string): string[] {
  const list = LIST_VALUES[option];
  if (list === undefined)
    return (OPTION_VALUES[option] ?? wordsOfSetting(option)).filter((text) => text.startsWith(begun));
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
