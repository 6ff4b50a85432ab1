import assert from 'node:assert/strict';
import { test } from 'node:test';
import { optionNames, runnableCommands } from '../../src/cli/command.ts';
import { COMMANDS } from '../../src/cli/command-table.ts';
import { parseCommandLine } from '../../src/cli/parser.ts';
import { perilbook } from './command-line.ts';

const HELP = ['--help', '--version', '--all'];

async function helpOf(words: readonly string[], columns?: number): Promise<string> {
  const { code, stdout, stderr } = await perilbook([...words, '--help'], columns === undefined ? {} : { columns });
  assert.deepEqual([code, stderr], [0, '']);
  return stdout;
}

/** The long options that a help text lists. */
const listed = (help: string) => [...help.matchAll(/^ +(?:-\w, )?(--[a-z-]+)/gm)].map(([, name]) => name!);

const headings = (help: string) => [...help.matchAll(/^(\w[\w ]+):$/gm)].map(([, name]) => name!);

test('help of run shows the ten options that most people need, by group; --all shows the rest', async () => {
  const few = await helpOf(['run']);
  assert.equal(listed(few).filter((name) => !HELP.includes(name)).length, 10);
  assert.match(few, /--all +with --help: show all \d+ options/);
  const all = await helpOf(['run', '--all']);
  const { options } = COMMANDS.find(({ name }) => name === 'run')!;
  const own = Object.keys(options!).map((name) => `--${name}`);
  assert.deepEqual(new Set(listed(all)), new Set([...own, ...HELP]));
  assert.deepEqual(headings(all), [
    ...['Input', 'Columns and locations', 'What to ask', 'Where answers come from'],
    ...['Money and time', 'Output', 'Store', 'Options', 'Examples'],
  ]);
  assert.equal((await perilbook(['run', '--all'])).code, 2);
});

const commands = runnableCommands(COMMANDS);

test('the help of a subcommand lists its options, and those of no other', async () => {
  for (const command of commands.filter(({ name }) => name.includes(' '))) {
    const help = await helpOf(command.name.split(' '));
    const own = Object.keys(command.options ?? {}).map((name) => `--${name}`);
    assert.deepEqual(listed(help).toSorted(), [...own, '--help', '--version'].toSorted());
  }
});

test('an option that has no effect for a subcommand is refused, and the one that has it is named', async () => {
  for (const command of commands) {
    const words = command.name.split(' ');
    const top = COMMANDS.filter((other) => other.name === words[0]);
    const needed = Object.entries(command.options ?? {}).flatMap(([name, { demandOption, choices, type }]) =>
      demandOption ? [`--${name}=${choices?.[0] ?? (type === 'number' ? 1 : 'x')}`] : [],
    );
    const others = runnableCommands(top).flatMap((other) => Object.keys(other.options ?? {}));
    for (const name of others) {
      if (optionNames(command.options).includes(name)) continue;
      await assert.rejects(parseCommandLine([...words, ...needed, `--${name}=true`], COMMANDS, ''), {
        code: 'USAGE',
        message: new RegExp(`^Unknown option: --${name}; it is an option of ${words[0]}`),
      });
    }
  }
  const { code, stderr } = await perilbook(['cache', 'stats', '--older-than', '3d']);
  const said =
    'Unknown option: --older-than; it is an option of cache prune\n  See perilbook cache stats --help. [USAGE]';
  assert.deepEqual([code, stderr], [2, `perilbook: ${said}\n`]);
});

test('no help breaks inside a word on a terminal of 60 columns', async () => {
  const names = ['', 'data', 'service', 'run --all', ...commands.map(({ name }) => name)];
  const wordsOf = (help: string) => help.split(/[\s[\]]+/);
  for (const name of names) {
    const words = name.split(' ').filter(Boolean);
    const wide = new Set(wordsOf(await helpOf(words, 300)));
    const broken = wordsOf(await helpOf(words, 60)).filter((word) => !wide.has(word));
    assert.deepEqual(broken, [], name);
  }
});
