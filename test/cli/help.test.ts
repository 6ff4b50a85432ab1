import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import stringWidth from 'string-width';
import { fittingTable, listed, table, wrapParts } from '../../src/cli/messages/format.ts';
import { optionNames, runnableCommands } from '../../src/cli/options/command.ts';
import { COMMANDS } from '../../src/cli/options/command-table.ts';
import { parseCommandLine } from '../../src/cli/parser.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { perilbook, ROOT, wordsIn } from './command-line.ts';

const HELP = ['--help', '--version', '--all'];

async function helpOf(words: readonly string[], columns?: number): Promise<string> {
  const { code, stdout, stderr } = await perilbook(
    [...words, '--help'],
    columns === undefined ? {} : { columns },
  );
  assert.deepEqual([code, stderr], [0, '']);
  return stdout;
}

/** The long options that a help text lists. */
const optionsIn = (help: string) =>
  [...help.matchAll(/^ +(?:-\w, )?(--[a-z-]+)/gm)].map(([, name]) => name!);

const headings = (help: string) => [...help.matchAll(/^(\w[\w ]+):$/gm)].map(([, name]) => name!);

test('help of run shows the ten options that most people need, by group; --all shows the rest', async () => {
  const few = await helpOf(['run']);
  assert.equal(optionsIn(few).filter((name) => !HELP.includes(name)).length, 10);
  assert.match(few, /--all +with --help: show all \d+ options/);
  const all = await helpOf(['run', '--all']);
  const { options } = COMMANDS.find(({ name }) => name === 'run')!;
  const own = Object.keys(options!).map((name) => `--${name}`);
  assert.deepEqual(new Set(optionsIn(all)), new Set([...own, ...HELP]));
  assert.deepEqual(headings(all), [
    ...['Input', 'Columns and locations', 'What to ask', 'Where answers come from'],
    ...['Money and time', 'Output', 'Store', 'Options', 'Examples'],
  ]);
  assert.equal((await perilbook(['run', '--help=true'])).stdout, few);
  assert.equal((await perilbook(['run', '--all'])).code, 2);
});

const commands = runnableCommands(COMMANDS);

test('the help of a subcommand lists its options, and those of no other', async () => {
  for (const command of commands.filter(({ name }) => name.includes(' '))) {
    const help = await helpOf(command.name.split(' '));
    const own = Object.keys(command.options ?? {}).map((name) => `--${name}`);
    assert.deepEqual(optionsIn(help).toSorted(), [...own, '--help', '--version'].toSorted());
  }
});

test('an option that has no effect for a subcommand is refused, and the one that has it is named', async () => {
  for (const command of commands) {
    const words = command.name.split(' ');
    const top = COMMANDS.filter((other) => other.name === words[0]);
    const needed = Object.entries(command.options ?? {}).flatMap(
      ([name, { demandOption, choices, type }]) =>
        demandOption ? [`--${name}=${choices?.[0] ?? (type === 'number' ? 1 : 'x')}`] : [],
    );
    const others = runnableCommands(top).flatMap((other) => Object.keys(other.options ?? {}));
    const foreign = others.filter((name) => !optionNames(command.options).includes(name));
    // One that takes a value and one that takes none.
    for (const name of new Set([foreign[0], foreign.at(-1)])) {
      if (name === undefined) continue;
      await assert.rejects(
        parseCommandLine([...words, ...needed, `--${name}=true`], COMMANDS, ''),
        {
          code: 'USAGE',
          message: new RegExp(`^Unknown option: --${name}; it is an option of ${words[0]}`),
        },
      );
    }
  }
  const { code, stderr } = await perilbook(['cache', 'stats', '--older-than', '3d']);
  const said =
    'Unknown option: --older-than; it is an option of cache prune\n  hint: See perilbook cache stats --help. [USAGE]';
  assert.deepEqual([code, stderr], [2, `error: ${said}\n`]);
});

test('no help breaks inside a word on a terminal of 60 columns', async () => {
  // Help of subcommands is made as that of commands is.
  const names = ['', 'run --all', ...COMMANDS.map(({ name }) => name)];
  const wordsOf = (help: string) => help.split(/[\s[\]]+/);
  for (const name of names) {
    const words = name.split(' ').filter(Boolean);
    const wide = new Set(wordsOf(await helpOf(words, 300)));
    const broken = wordsOf(await helpOf(words, 60)).filter((word) => !wide.has(word));
    assert.deepEqual(broken, [], name);
  }
});

test('a column lines up on the screen, where a wide letter takes two places and an accent none', () => {
  const rows = Object.entries({ 株式会社: '1', 'Zu\u0308rich': '1,200' });
  const lines = table(['name', 'rows'], rows, '');
  assert.deepEqual(lines, ['name       rows', '株式会社      1', 'Zu\u0308rich    1,200']);
  assert.deepEqual([...new Set(lines.map((line) => stringWidth(line)))], [15]);
  const names = Object.entries({ é: 'a', 株: 'b' });
  assert.deepEqual(listed(names, ''), ['é   a', '株  b']);
});

test('what is too wide goes on below itself; nothing is lost', () => {
  assert.deepEqual(wrapParts(['one', 'two', 'three'], 9), ['one · two', 'three']);
  assert.deepEqual(listed([['note', 'a text of some words that is long']], '', 28), [
    'note  a text of some words',
    '      that is long',
  ]);
  const [head, ...rows] = table(
    ['line', 'reason'],
    [['7', 'The place is outside the US, by far.']],
    '',
    30,
  );
  assert.equal(head, 'line  reason');
  assert.deepEqual(rows, ['   7  The place is outside the', '      US, by far.']);
});

test('a table leaves out what can be done without, in that order', () => {
  const head = ['way', 'credits', 'calls', 'time'];
  const rows = [['fewest', '1,040', '130', 'a minute']];
  const at = (screen: number) => fittingTable(head, rows, ['calls', 'time'], '', screen)[0];
  assert.equal(at(80), 'way     credits  calls  time');
  assert.equal(at(28), 'way     credits  time');
  for (const screen of [20, 5]) assert.equal(at(screen), 'way     credits');
});

/** Lines that are too wide although they could have been broken at a space. */
const tooWide = (text: string, columns: number) =>
  text.split('\n').filter((line) => stringWidth(line) > columns && line.trim().includes(' '));

for (const columns of [60, 100]) {
  test(`what is printed fits a terminal of ${columns} columns: overview, help, lists, hints and a plan`, async (t) => {
    const folder = temporaryFolder(t);
    const options = { folder, env: { XDG_DATA_HOME: folder, NO_COLOR: '1' }, columns };
    for (const words of [[], ['help'], ['run', '--help'], ['topics'], ['data'], ['data', 'load']]) {
      const { stdout } = await perilbook(words, options);
      assert.ok(stdout.length > 100);
      assert.deepEqual(tooWide(stdout, columns), [], words.join(' '));
    }
    for (const line of ['plan none.csv', 'data get', 'data load wells', 'cache prune']) {
      const { stderr } = await perilbook(wordsIn(line), options);
      assert.match(stderr, /\[[A-Z_]+\]/);
      assert.deepEqual(tooWide(stderr, columns), [], line);
    }
    // What is too long continues below its column.
    assert.match(
      (await perilbook(['topics'], options)).stdout,
      /^slug +.*columns$[\s\S]*\n {20,}air_quality.*\n/m,
    );
    const book = join(ROOT, 'sample-data/portfolio-oed.csv');
    const plan = wordsIn(
      `plan ${book} -t natural,park --store s.db --order-by tiv --budget 600 --service sample`,
    );
    const [narrow, wide] = [await perilbook(plan, options), await perilbook(plan, { folder })];
    const verdict = wide.stdout.split('\n').find((line) => line.includes('credits needed.'))!;
    const [head] = narrow.stdout.split('\n\n');
    assert.deepEqual(tooWide(narrow.stdout.replaceAll(book, ''), columns), []);
    assert.ok(
      head!.replace(/\s+/g, ' ').endsWith(verdict),
      'the verdict is whole, and above the tables',
    );
    assert.match(
      narrow.stdout,
      /^ +cheaper +standard bundles,/m,
      'a cheaper way is named in every width',
    );
  });
}
