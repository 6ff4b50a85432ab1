import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { runnableCommands } from '../../src/cli/command.ts';
import { COMMANDS } from '../../src/cli/command-table.ts';
import { ROOT } from '../cli/command-line.ts';

/** Options of every command; `all` goes with `help`. */
const COMMON = ['help', 'all', 'version'];

/** The commands in inline code and in blocks, up to a comment, a pipe, a continuation or the next sentence. */
function commandsIn(text: string): string[] {
  const code = [...text.matchAll(/^```\w*\n([\s\S]*?)^```/gm), ...text.matchAll(/`([^`]+)`/g)].map(([, part]) => part!);
  return code.flatMap((part) =>
    [...part.matchAll(/(?:^|[\s(])perilbook ([a-z].*)/gm)].map(([, words]) =>
      words!.split(/\s#|[|;>&]|\$\(|\)|\. [A-Z]/)[0]!.trim(),
    ),
  );
}

/** What is wrong with a command line, by the table of commands. */
function problemOf(line: string): string | null {
  const words = line.split(/\s+/);
  const [name] = words;
  const commands = runnableCommands(COMMANDS).toSorted((a, b) => b.name.length - a.name.length);
  const command = commands.find((candidate) => `${words.join(' ')} `.startsWith(`${candidate.name} `));
  if (command === undefined) {
    // A text may name a group of commands: `perilbook service`.
    return COMMANDS.some((group) => group.name === name) && words.length < 3 ? null : `no command ${line}`;
  }
  const known = new Set(COMMON);
  for (const [option, { alias }] of Object.entries(command.options ?? {}) as [string, { alias?: string }][]) {
    known.add(option).add(`no-${option}`);
    if (alias !== undefined) known.add(alias);
    if (option.startsWith('no-')) known.add(option.slice(3));
  }
  const unknown = words
    .filter((word) => /^--?[a-z]/.test(word))
    .map((word) => word.replace(/^--?/, '').replace(/[=.,:].*$/, ''))
    .find((word) => !known.has(word));
  return unknown === undefined ? null : `${name} has no option ${unknown}`;
}

test('every command that the documents name is one, with options that it has', () => {
  let commands = 0;
  const wrong = globSync(['*.md', 'docs/**/*.md'], { cwd: ROOT })
    // Its sessions show wrong commands on purpose.
    .filter((page) => page !== 'docs/reference/errors.md')
    .flatMap((page) =>
      commandsIn(readFileSync(join(ROOT, page), 'utf8')).flatMap((line) => {
        commands += 1;
        const problem = problemOf(line);
        return problem === null ? [] : [`${page}: perilbook ${line}: ${problem}`];
      }),
    );
  assert.deepEqual(wrong, []);
  assert.ok(commands > 150, `${commands} commands`);
});
