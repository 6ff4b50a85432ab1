import type { Argv } from 'yargs';
import { PerilbookError } from '../errors.ts';
import { nearestName } from '../nearest-name.ts';
import { RENAMED_OPTIONS } from './job-options.ts';

/** The options of a parser, in yargs's own table, which its types leave out. */
export interface OptionTable {
  readonly key: Readonly<Record<string, unknown>>;
  readonly alias: Readonly<Record<string, readonly string[]>>;
  readonly boolean: readonly string[];
  readonly number: readonly string[];
  readonly array: readonly string[];
  readonly choices: Readonly<Record<string, readonly string[]>>;
}

export function tableOf(yargs: Argv): OptionTable {
  return (yargs as unknown as { getOptions(): OptionTable }).getOptions();
}

/** The options that may be said where yargs stopped: those of the command, and of all. */
export function optionsOf(yargs: Argv): string[] {
  return Object.keys(tableOf(yargs).key).filter((name) => name.length > 1);
}

/** What yargs says of a command line, with the nearest right word. */
export function usageError(
  message: string,
  commands: readonly string[],
  args: readonly string[],
  options: readonly string[],
): PerilbookError {
  const command = args.find((arg) => commands.includes(arg));
  const help =
    command === undefined ? 'perilbook --help shows the commands.' : `perilbook ${command} --help shows how.`;
  const choice = /^Invalid values:\s+Argument: (\S+), Given: "(.*)", Choices: (.*)$/.exec(message);
  if (choice) {
    const [, name, given, list] = choice;
    const known = list!.split(', ').map((word) => word.replaceAll('"', ''));
    const near = nearestName(given!, known);
    return new PerilbookError(
      'USAGE',
      `There is no ${command} ${name} ${JSON.stringify(given)}${near ? `; did you mean ${near}?` : ''}`,
      `Say one of: ${known.join(', ')}. ${help}`,
    );
  }
  if (/^Not enough non-option arguments/.test(message) && command !== undefined) {
    return new PerilbookError('USAGE', `What is perilbook ${command} to do?`, help);
  }
  const unknown = /^Unknown (?:command|argument)s?: (.*)$/.exec(message)?.[1]?.split(', ');
  if (unknown === undefined) return new PerilbookError('USAGE', message, help);
  const isOption = (word: string) => args.some((arg) => arg.replace(/=.*/, '') === `--${word}`);
  const place = (word: string) => args.findIndex((arg) => arg === word || arg.replace(/=.*/, '') === `--${word}`);
  // Without a command every option is unknown, and says nothing.
  const words = unknown.filter((word) => command !== undefined || !isOption(word)).sort((a, b) => place(a) - place(b));
  const suggestions = words.flatMap((word) => {
    // Behind a command a word of its own is a file or an action, and no command was meant.
    if (!isOption(word) && command !== undefined) return [];
    const near = isOption(word) ? (RENAMED_OPTIONS[word] ?? nearestName(word, options)) : nearestName(word, commands);
    return near === null ? [] : [`${isOption(word) ? '--' : ''}${near}`];
  });
  const meant = suggestions.length === 0 ? '' : `; did you mean ${suggestions.join(' and ')}?`;
  const what = words.length === 1 ? 'Unknown argument' : 'Unknown arguments';
  return new PerilbookError('USAGE', words.length === 0 ? message : `${what}: ${words.join(', ')}${meant}`, help);
}
