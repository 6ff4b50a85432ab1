import { existsSync, readFileSync } from 'node:fs';

/** Written by the build: help texts, by the name of the command; '' for that of all. A checkout has none. */
const PREPARED_HELP = new URL('./help.json', import.meta.url);

/** The width of help, where the terminal has room for it. */
export const HELP_WIDTH = 100;

/** The help that a command line asks for, where the build has made it: loading yargs takes 0.1 s. Null for all else. */
export function preparedHelp(args: readonly string[], columns: number | undefined): string | null {
  const command = helpedCommand(args);
  if (command === null || (columns || HELP_WIDTH) < HELP_WIDTH || !existsSync(PREPARED_HELP)) return null;
  const texts = JSON.parse(readFileSync(PREPARED_HELP, 'utf8')) as Readonly<Record<string, string>>;
  return Object.hasOwn(texts, command) ? texts[command]! : null;
}

/** `help`, `--help`, `help plan`, `plan --help`. */
function helpedCommand(args: readonly string[]): string | null {
  const others = args.filter((arg) => !HELP.has(arg));
  return others.length === args.length - 1 && others.length < 2 ? (others[0] ?? '') : null;
}

const HELP: ReadonlySet<string> = new Set(['help', '--help', '-h']);
