/* Messages as JSON lines (`--log json`). Imports almost nothing, because main.ts needs it before all other modules. */
import { printableJson } from '../base/printable.ts';

export type LogLevel = 'info' | 'warning' | 'error';

export type Log = (level: LogLevel, event: string, fields: Readonly<Record<string, unknown>>) => void;

/** Whether a command line asks for JSON lines. Read before it is parsed, so that an error in it is a line too. */
export function wantsJsonLog(args: readonly string[]): boolean {
  return args.some((arg, at) => arg === '--log=json' || (arg === '--log' && args[at + 1] === 'json'));
}

export function logLine(now: number, ...[level, event, fields]: Parameters<Log>): string {
  return `${printableJson({ time: new Date(now).toISOString(), level, event, ...fields })}\n`;
}
