import { LOADERS } from '../data/loaders/loader-table.ts';
import { SOURCES } from '../data/sources/source-table.ts';
import { STATES } from '../data/tables/states.ts';
import { jobFileJsonSchema } from '../job/job-file.ts';
import type { SettingsSchema } from '../job/setting-issues.ts';
import { TOPIC_NAMES } from '../job/topic-choice.ts';
import { type Command, dashed, findCommand } from './command.ts';

/** The values of options that take a list with commas. */
export const LIST_VALUES: Readonly<Record<string, readonly string[]>> = { topics: TOPIC_NAMES, states: [...STATES] };

const SOURCE_NAMES = SOURCES.map(({ name }) => name);

/** The names that may follow a command. After the loader of `data load` come files. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  'data get': [...TOPIC_NAMES, ...SOURCE_NAMES],
  'data update': SOURCE_NAMES,
  'data check': SOURCE_NAMES,
  'data remove': SOURCE_NAMES,
  'data load': ['sample', ...LOADERS.keys()],
};

/** The completions that yargs does not know: values of settings, lists with commas, names of topics and sources; empty where a file is
 * wanted, which the shell completes. Null: commands and options, which yargs completes.
 * @param typed the command line; the last word is under the cursor. The scripts for bash and zsh give the program's name, too */
export function findCompletions(typed: readonly string[], commands: readonly Command[]): readonly string[] | null {
  const words = /(^|\/)perilbook$/.test(typed[0] ?? '') ? typed.slice(1) : typed;
  const current = words.at(-1) ?? '';
  const command = findCommand(words.slice(0, -1), commands);
  if (command === null) return null;
  const [, written, value] = /^--([a-z-]+)=(.*)$/.exec(current) ?? [];
  if (written !== undefined) return completeValue(command, written, value!).map((text) => `--${written}=${text}`);
  // Bash makes three words of --option=value.
  const hasSign = words.at(-2) === '=' || current === '=';
  const before = hasSign ? words.findLast((word) => word.startsWith('-')) : words.at(-2);
  const option = Object.entries(command.options ?? {}).find(([name, { alias = name }]) =>
    [name, alias].some((text) => dashed(text) === before),
  );
  if (option !== undefined && option[1].type !== 'boolean') {
    return completeValue(command, option[0], current === '=' ? '' : current);
  }
  const { name, subcommands, argument } = command;
  if (current.startsWith('-') || (subcommands.length > 0 && argument === undefined)) return null;
  const isFile = name === 'data load' && words.length > 3;
  return isFile ? [] : (NAMES[name] ?? []).filter((text) => text.startsWith(current));
}

function completeValue({ options = {} }: Command, option: string, begun: string): string[] {
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
  return setting === undefined ? [] : schemaWords(setting);
}

function schemaWords({ enum: words = [], examples = [], anyOf = [] }: SettingsSchema): string[] {
  return [...words, ...examples, ...anyOf.flatMap(schemaWords)];
}
