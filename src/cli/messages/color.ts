import { styleText } from 'node:util';
import type { CliContext } from '../context.ts';

type Format = Parameters<typeof styleText>[0];

/** Puts a colour on a text, or leaves it as it is. */
export type Color = (format: Format, text: string) => string;

export const noColor: Color = (_, text) => text;

/** Whether an environment can be asked for more than plain lines. */
export function isDumb({ env }: Pick<CliContext, 'env'>): boolean {
  return env.TERM === 'dumb';
}

/**
 * Colours for one of the two streams: on a terminal, unless NO_COLOR is set or the terminal is dumb; FORCE_COLOR (anything
 * but 0) puts them anywhere, and stands above all.
 */
export function colorFor(context: Pick<CliContext, 'env'>, stream: { readonly isTTY?: boolean }): Color {
  const { NO_COLOR, FORCE_COLOR } = context.env;
  const isForced = FORCE_COLOR !== undefined && FORCE_COLOR !== '';
  const isOn = isForced ? FORCE_COLOR !== '0' : !NO_COLOR && !isDumb(context) && stream.isTTY === true;
  return isOn ? (format, text) => styleText(format, text, { validateStream: false }) : noColor;
}

/** Whether letters beyond ASCII can be expected to be shown: the locale says so. */
export function isUnicode({ env }: Pick<CliContext, 'env'>): boolean {
  return /utf-?8/i.test(env.LC_ALL || env.LC_CTYPE || env.LANG || '');
}
