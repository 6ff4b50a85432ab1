import { PerilbookError } from '../base/errors.ts';
import { checkSettings, type JobFile } from '../job/job-file.ts';
import { KEY_HINT } from '../job/key-shapes.ts';
import { definedOnly } from '../job/merge-settings.ts';

/** Settings of a job file that a program passed; undefined ones are left out. @throws USAGE with the first error */
export function checkedSettings(given: object): JobFile {
  const { settings, issues } = checkSettings(definedOnly(given));
  const [first] = issues;
  if (first === undefined) return settings;
  const { path, message, isName, hint: advice } = first;
  const isSecret = path.includes('api_keys');
  const name = isName || isSecret ? path.slice(0, -1) : path;
  const correct = advice ?? 'Correct this setting: docs/reference/job-file.md lists them.';
  const hint = isSecret ? KEY_HINT : correct;
  throw new PerilbookError(
    'USAGE',
    `${name.length === 0 ? '' : `${name.join('.')}: `}${message}`,
    hint,
  );
}

/** Options of a call that are not settings. TypeScript checks their types, a program in JavaScript does not. @throws USAGE */
export function checkOptions(
  options: Partial<Record<'signal' | 'onEvent' | 'locate', unknown>>,
): void {
  requireType(
    'options',
    options,
    isObjectOrArray,
    'Pass an object with the options: docs/developer/library.md has them.',
  );
  const { signal = NO_SIGNAL, onEvent = NO_FUNCTION, locate = NO_FUNCTION } = options;
  requireType(
    'signal',
    signal,
    (value) => value instanceof AbortSignal,
    'Pass the signal of an AbortController.',
  );
  for (const [name, value] of Object.entries({ onEvent, locate })) {
    requireType(
      name,
      value,
      (value) => typeof value === 'function',
      'Pass a function, or leave it out.',
    );
  }
}

const NO_SIGNAL = new AbortController().signal;
const NO_FUNCTION = () => {};

/** @throws INTERRUPTED */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (!signal?.aborted) return;
  const hint = 'Ask again: what was answered is in the store and is not bought again.';
  throw new PerilbookError('INTERRUPTED', 'The signal was aborted', hint, {}, signal.reason);
}

/** Whether a program gave an object, an array among them. */
export function isObjectOrArray(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** Whether a program gave a text. */
export function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** Refuses an argument of another type than a function takes. @throws USAGE */
export function requireType(
  name: string,
  value: unknown,
  holds: (value: unknown) => boolean,
  hint: string,
): void {
  if (!holds(value)) throw new PerilbookError('USAGE', `${name} is ${typeName(value)}`, hint);
}

/** `null`, `undefined`, `a number`, `an object`. */
export function typeName(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
