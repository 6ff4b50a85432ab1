import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { runnableCommands } from '../../src/cli/options/command.ts';
import { COMMANDS } from '../../src/cli/options/command-table.ts';
import { ROOT } from '../cli/command-line.ts';
import { readSections, type Section, type Told } from './json-shapes.ts';
import { checkSection } from './quoted-sessions.ts';

/* Long, because TypeScript reads the whole source: 2 s. */

const FILE = join(ROOT, 'docs/reference/json.md');

const ofCommands = runnableCommands(COMMANDS)
  .filter(({ options }) => options !== undefined && 'json' in options)
  .map(
    ({ name }): Told => ({
      title: `perilbook ${name} --json`,
      file: 'src/cli/json/printed-values.ts',
      type: 'PrintedValues',
      member: name,
      isSnaked: name === 'report',
    }),
  );

const told: readonly Told[] = [
  ...ofCommands,
  { title: 'Errors', file: 'src/cli/options/exit-codes.ts', type: 'ErrorReport' },
  { title: 'on_finish', file: 'src/cli/json/run-finished.ts', type: 'RunFinished' },
  { title: 'Lines of --log json', file: 'src/cli/json/run-finished.ts', type: 'LogEvents' },
];

const { values, shared } = readSections(told);
const cell = (text: string): string => text.replaceAll('|', '\\|');

const tableOf = ({ title, meaning, rows }: Section): string => {
  const lines = rows.map((row) => `| \`${row.path}\` | ${cell(row.type)} | ${cell(row.meaning)} |`);
  const head = ['', '| member | type | meaning |', '|---|---|---|'];
  return [`### ${title}`, '', meaning, ...(lines.length === 0 ? [] : [...head, ...lines])].join(
    '\n',
  );
};

for (const [name, sections] of Object.entries({ values, shared })) {
  test(`docs/reference/json.md: ${name} are the program's`, () => {
    checkSection(FILE, name, sections.map(tableOf).join('\n\n'));
  });
}

test('each member of JSON has a meaning of at most 25 words', () => {
  const sections = [...values, ...shared];
  const rows = sections.flatMap(({ title, rows: of }) =>
    of.map(({ path, meaning }) => ({ at: `${title}: ${path}`, words: meaning.split(/\s+/) })),
  );
  assert.ok(rows.length > 500, `${rows.length} members`);
  const wrong = rows.filter(({ words }) => words[0] === '' || words.length > 25);
  assert.deepEqual(
    wrong.map(({ at }) => at),
    [],
  );
  assert.deepEqual(
    sections.filter(({ meaning }) => meaning === '').map(({ title }) => title),
    [],
  );
});
