import { PerilbookError } from '../errors.ts';
import type { Flags } from './command.ts';

/** The whole number that an option gives, or undefined. @throws USAGE when it is out of range */
export function wholeNumberOf(flags: Flags, name: string, least: number, most: number): number | undefined {
  const value = flags[name] as number | undefined;
  if (value === undefined || (Number.isInteger(value) && value >= least && value <= most)) return value;
  throw new PerilbookError(
    'USAGE',
    `--${name} ${value} is out of range`,
    `Give a whole number from ${least} to ${most}.`,
  );
}

/** The port that `--port` gives; 0 means any free port. */
export function portOf(flags: Flags): number | undefined {
  return wholeNumberOf(flags, 'port', 0, 65_535);
}

/** @param name as it was typed: `--budget`, or the name of an environment variable */
export function notANumber(name: string): PerilbookError {
  return new PerilbookError('USAGE', `${name} expects a number`, 'Write it in digits without commas, like 5000.');
}
