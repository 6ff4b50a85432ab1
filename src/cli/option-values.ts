import { PerilbookError } from '../errors.ts';
import type { Flags } from './command.ts';
import type { OptionTable } from './usage-error.ts';

/**
 * Refuses what yargs lets through: a number that is an empty text (it would be 0, and a reserve of 0 is no reserve) or no
 * number (NaN), and an option that is given more than once (an array).
 *
 * @throws PerilbookError USAGE
 */
export function refuseOddValues(
  args: readonly string[],
  flags: Flags,
  { key, number, array, alias }: OptionTable,
): void {
  for (const name of Object.keys(key)) {
    const value = flags[name];
    if (Array.isArray(value) && !array.includes(name)) {
      throw new PerilbookError('USAGE', `${dashed(name)} is given ${value.length} times`, 'Give it once.');
    }
  }
  for (const name of number) {
    if (isEmpty(args, [name, ...(alias[name] ?? [])].map(dashed))) {
      throw new PerilbookError(
        'USAGE',
        `${dashed(name)} is empty, where a number is expected`,
        'Give the number, or leave the option out. (Is a variable of the shell empty?)',
      );
    }
    if (Number.isNaN(flags[name])) {
      throw new PerilbookError(
        'USAGE',
        `${dashed(name)} expects a number`,
        'A number has digits and a point, and no commas.',
      );
    }
  }
}

/**
 * The whole number that an option gives; undefined where it is left out.
 *
 * @throws PerilbookError USAGE when it is out of range
 */
export function wholeNumberOf(flags: Flags, name: string, least: number, most: number): number | undefined {
  const value = flags[name] as number | undefined;
  if (value === undefined || (Number.isInteger(value) && value >= least && value <= most)) return value;
  throw new PerilbookError(
    'USAGE',
    `--${name} ${value} is out of range`,
    `Give a whole number from ${least} to ${most}.`,
  );
}

/** The port that `--port` gives; 0 is for any that is free. */
export function portOf(flags: Flags): number | undefined {
  return wholeNumberOf(flags, 'port', 0, 65_535);
}

function dashed(name: string): string {
  return name.length === 1 ? `-${name}` : `--${name}`;
}

function isEmpty(args: readonly string[], names: readonly string[]): boolean {
  return args.some((arg, index) => {
    const [name, ...rest] = arg.split('=');
    if (!names.includes(name!)) return false;
    const value = rest.length === 0 ? args[index + 1] : rest.join('=');
    return value?.trim() === '';
  });
}
