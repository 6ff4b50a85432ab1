import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** As in the first line of bin/perilbook.cjs. */
export const FLAGS = ['--max-semi-space-size=4'];

/** Runs a module in a process of its own, as the program starts: with its flags, and with the code that an earlier start has compiled. A
 * run that is not counted makes it: a process that compiles types itself takes 20 MB and half a second more.
 * @param args the module, and its arguments
 * @param compiled the folder of the compiled code: one for all runs that load the same
 * @returns the JSON that it prints */
export function runApart<Told>(args: readonly string[], compiled: string): Told {
  const env = { ...process.env, NODE_COMPILE_CACHE: compiled };
  const told = () => execFileSync(process.execPath, [...FLAGS, ...args], { encoding: 'utf8', env });
  if (!existsSync(compiled)) told();
  return JSON.parse(told()) as Told;
}
