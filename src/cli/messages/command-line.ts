import { shellWord } from '../../base/shell-words.ts';

/** The values of options, as they are parsed. */
export type OptionValues = Readonly<Record<string, string | number | boolean | undefined>>;

/** A command line from values, as a shell reads it. A value that begins with a dash is written after `=`, because a parser takes it for an
 * option.
 * @param words what follows the command's name
 * @param flags by the long names of options; a switch that is off is left out */
export function commandLine(command: string, words: readonly string[], flags: OptionValues): string {
  const options = Object.entries(flags).flatMap(([name, value]) => {
    if (value === undefined || value === false) return [];
    if (value === true) return [`--${name}`];
    const text = String(value);
    return /^-|^$/.test(text) ? [shellWord(`--${name}=${text}`)] : [`--${name}`, shellWord(text)];
  });
  const files = words.map((word) => shellWord(/^-./.test(word) ? `./${word}` : word));
  return ['perilbook', command, ...files, ...options].join(' ');
}
