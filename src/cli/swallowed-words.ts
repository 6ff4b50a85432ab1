import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { PerilbookError } from '../base/errors.ts';
import { usageError } from './options/command.ts';

/** Refuses an argument that has taken what follows it. Programs of Windows read `\"` as a quote that belongs to the word, so of
 * `"my books\" --yes` all is one name. PowerShell completes the name of a folder with such a backslash. @throws USAGE */
export function refuseSwallowedWords(
  args: readonly string[],
  folder: string,
  system = process.platform,
): void {
  if (system !== 'win32') return;
  for (const arg of args) {
    // No file of Windows has a quote in its name, but a column may.
    const before = /^(?:--[\w-]+=)?([^"]+)"(?: |$)/.exec(arg)?.[1];
    if (before !== undefined && existsSync(resolve(folder, before)))
      throw swallowedError(arg, before);
  }
}

function swallowedError(arg: string, folder: string): PerilbookError {
  const message = `A \\ before a quote makes the quote part of the name: ${arg}`;
  return usageError(message, `Write the folder without it: "${folder}".`);
}
