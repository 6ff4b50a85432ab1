import { styleText } from 'node:util';

interface Environment {
  readonly env: Readonly<Record<string, string | undefined>>;
}

type Format = Parameters<typeof styleText>[0];

/** Colors a text, or returns it unchanged. */
export type Color = (format: Format, text: string) => string;

export const noColor: Color = (_, text) => text;

/** Whether the terminal can only print plain lines. */
export function isDumb({ env }: Environment): boolean {
  return env.TERM === 'dumb';
}

/** Colors on a terminal, unless NO_COLOR is set or the terminal is dumb. FORCE_COLOR overrides all: 0 is off, else on. */
export function colorFor(context: Environment, stream: { readonly isTTY?: boolean }): Color {
  const { NO_COLOR, FORCE_COLOR } = context.env;
  const isForced = FORCE_COLOR !== undefined && FORCE_COLOR !== '';
  const isOn = isForced ? FORCE_COLOR !== '0' : !NO_COLOR && !isDumb(context) && stream.isTTY === true;
  return isOn ? (format, text) => styleText(format, text, { validateStream: false }) : noColor;
}
