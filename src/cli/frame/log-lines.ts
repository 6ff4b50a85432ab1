/* Messages as JSON lines (`--log json`), and those that main.ts prints. Imports almost nothing: an interrupt may come before the program
 * is loaded. */
import { printableJson } from '../../base/printable.ts';
import type { LogEvents } from '../json/run-finished.ts';

export type LogLevel = 'info' | 'warning' | 'error';

export type Log = <Event extends keyof LogEvents>(
  level: LogLevel,
  event: Event,
  fields: LogEvents[Event],
) => void;

/** Whether a command line asks for JSON lines. Read before it is parsed, so that an error in it is a line too. */
export function wantsJsonLog(args: readonly string[]): boolean {
  return args.some(
    (arg, at) => arg === '--log=json' || (arg === '--log' && args[at + 1] === 'json'),
  );
}

/** A line of the log: JSON with time, level and event first. */
export function logLine<Event extends keyof LogEvents>(
  now: number,
  level: LogLevel,
  event: Event,
  fields: LogEvents[Event],
): string {
  return `${printableJson({ time: new Date(now).toISOString(), level, event, ...fields })}\n`;
}

const IN_ORDER = ['run', 'ui', 'service', 'data'];

/** Whether a command completes work in progress after an interrupt. Other commands end at once: their files appear whole or not at all. */
export function endsInOrder(args: readonly string[]): boolean {
  return IN_ORDER.includes(fromCommand(args)[0] ?? '');
}

/** Options may come before the command. Which of them take a value is unknown here, so a value such as `run` counts as the command. */
function fromCommand(args: readonly string[]): readonly string[] {
  const at = args[0]?.startsWith('-') ? args.findIndex((arg) => IN_ORDER.includes(arg)) : 0;
  return args.slice(Math.max(0, at));
}

/** Printed at an interrupt: what the program still completes, and how to stop at once. */
export function stopMessage(args: readonly string[], now = 0): string {
  const text = stopText(args);
  if (wantsJsonLog(args)) return logLine(now, 'warning', 'stopping', { message: text });
  return `\nperilbook: ${text}\n`;
}

function stopText(args: readonly string[]): string {
  const [command, action] = fromCommand(args);
  if (!endsInOrder(args)) return 'stopped';
  const again = 'Press Ctrl-C again to quit at once.';
  if (command === 'run' || command === 'ui') {
    return `stopping: finishing work in progress, then writing the output. ${again}`;
  }
  const serves = command === 'service' && action === 'start';
  return `stopping${serves ? ': finishing requests in flight' : ''}. ${again}`;
}

/** Printed where standard output takes no more, as on a full disk. */
export function lostOutputMessage(args: readonly string[], reason: string, now: number): string {
  const text = `Standard output could not be written: ${reason}`;
  const hint =
    'What the command did is done; what it printed is lost. A key that was lost can be revoked.';
  if (wantsJsonLog(args)) return logLine(now, 'error', 'output lost', { message: text, hint });
  return `error: ${text}\n  hint: ${hint}\n`;
}
