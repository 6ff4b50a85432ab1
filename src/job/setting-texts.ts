import {
  type NameFault,
  unreplacedVariable,
  variableFault,
  withoutQuotes,
} from '../base/path-names.ts';
import { printable } from '../base/printable.ts';

const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** A time such as `90s`, `30m`, `12h`, `30d`. */
export const DURATION = /^(\d+(?:\.\d+)?)\s*([smhd])$/;

/** Milliseconds of a duration, or null if the text is no duration. */
export function durationMs(text: string): number | null {
  const [, amount, unit] = DURATION.exec(text.trim()) ?? [];
  return amount === undefined ? null : Number(amount) * UNIT_MS[unit!]!;
}

/** The parts of a text with commas. */
export const listOf = (given: string | number | boolean): string[] =>
  String(given)
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);

/** Longer ones are mistakes. */
const MAX_ACCOUNT = 200;

/** Reads the name of an account as a user types it. Another spelling would be an account of its own, with a whole quota. */
export function readAccountName(text: string): string | NameFault {
  const name = withoutQuotes(text);
  const variable = unreplacedVariable(name);
  if (variable !== null) return { fault: variableFault(variable) };
  if (name === '') return { fault: 'it is empty' };
  if (printable(name) !== name || /[\t\n]/.test(name))
    return { fault: 'it has a control character' };
  return name.length > MAX_ACCOUNT ? { fault: `it has more than ${MAX_ACCOUNT} characters` } : name;
}
