import { LOADERS } from '../data/loaders/loader-table.ts';
import { SOURCES } from '../data/sources/source-table.ts';
import { STATES } from '../data/tables/states.ts';
import { jobFileJsonSchema } from '../job/settings/job-file.ts';
import type { SettingsSchema } from '../job/settings/setting-issues.ts';
import { TOPIC_NAMES } from '../job/settings/topic-choice.ts';
import { type Command, dashed, nameOfCommand } from './command.ts';

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

/** What the names after an action of `data` may be. Files follow the loader of `data load`. */
const DATA_NAMES: Readonly<Record<string, readonly string[]>> = {
  get: [...TOPIC_NAMES, ...SOURCE_NAMES],
  update: SOURCE_NAMES,
  check: SOURCE_NAMES,
  remove: SOURCE_NAMES,
  load: ['sample', ...LOADERS.keys()],
};

/**
 * The possible values of the last word. Empty where it is a file, which the shell completes; null where it is a command or an option,
 * which yargs completes.
 *
 * @param words the command line without the program's name; the last one is under the cursor
 */
export function valueCompletions(words: readonly string[], commands: readonly Command[]): readonly string[] | null {
  const command = commands.find((one) => nameOfCommand(one) === words[0]);
  const current = words.at(-1) ?? '';
  if (command === undefined || words.length < 2) return null;
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
  if (words.length === 2) return starting(command.positionals?.action?.choices);
  const isFile = words[1] === 'load' && words.length > 3;
  return words[0] === 'data' && !isFile ? starting(DATA_NAMES[words[1]!]) : [];
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
