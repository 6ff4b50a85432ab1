import assert from 'node:assert/strict';
import { globSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { runnableCommands } from '../../src/cli/options/command.ts';
import { COMMANDS } from '../../src/cli/options/command-table.ts';
import { ROOT } from '../cli/command-line.ts';

/** Options of every command; `all` goes with `help`. */
const COMMON = ['help', 'all', 'version'];

/** The commands in inline code and in blocks, up to a comment, a pipe, a continuation or the next sentence. */
function commandsIn(text: string): string[] {
  const code = [...text.matchAll(/^```\w*\n([\s\S]*?)^```/gm), ...text.matchAll(/`([^`]+)`/g)].map(
    ([, part]) => part!,
  );
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
  const command = commands.find((candidate) =>
    `${words.join(' ')} `.startsWith(`${candidate.name} `),
  );
  if (command === undefined) {
    // A text may name a group of commands: `perilbook service`.
    return COMMANDS.some((group) => group.name === name) && words.length < 3
      ? null
      : `no command ${line}`;
  }
  const known = new Set(COMMON);
  for (const [option, { alias }] of Object.entries(command.options ?? {}) as [
    string,
    { alias?: string },
  ][]) {
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

test('the pictures are linked from the README, are marked as sample data, and take less than 300 kB together', () => {
  const folder = join(ROOT, 'docs/pictures');
  const names = readdirSync(folder);
  assert.deepEqual(names, ['report.jpg', 'terminal.svg']);
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  for (const name of names)
    assert.match(readme, new RegExp(`!\\[[^\\]]+\\]\\(docs/pictures/${name}\\)`));
  const bytes = names.map((name) => statSync(join(folder, name)).size);
  assert.ok(bytes.every((size) => size > 1_000));
  assert.ok(bytes.reduce((sum, size) => sum + size) < 300_000);
  assert.match(
    readFileSync(join(folder, 'terminal.svg'), 'utf8'),
    /Sample data from the embedded service: made up/,
  );
});
