import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { grouped } from '../../src/base/format-numbers.ts';
import { runnableCommands, usageOf } from '../../src/cli/command.ts';
import { COMMANDS } from '../../src/cli/command-table.ts';
import { EXIT_MEANINGS } from '../../src/cli/exit-codes.ts';
import { JOB_OPTIONS } from '../../src/cli/job-options.ts';
import { SEARCH_RADII } from '../../src/data/topics/search-radii.ts';
import { jobFileJsonSchema } from '../../src/job/job-file.ts';
import { SETTING_LIST } from '../../src/job/setting-table.ts';
import { READ_FORMATS } from '../../src/rows/file-formats.ts';
import { ROOT } from '../cli/command-line.ts';
import { checkSection } from './quoted-sessions.ts';

/* The reference pages quote the program's tables. `npm run docs` writes what the program says into them instead of comparing,
 * for review in the diff. */
const fileOf = (page: string): string => join(ROOT, 'docs/reference', page);

/** A `|` would end the cell of a table. */
const cell = (text: string): string => text.replaceAll('|', '\\|');

test("docs/reference/commands.md lists the program's commands", () => {
  const rows = runnableCommands(COMMANDS).map(
    (command) => `| \`perilbook ${cell(usageOf(command))}\` | ${cell(command.describe)} |`,
  );
  checkSection(fileOf('commands.md'), 'commands', ['| command | what it does |', '|---|---|', ...rows].join('\n'));
});

test("docs/reference/exit-codes.md lists the program's exit codes", () => {
  const rows = EXIT_MEANINGS.map(([code, meaning]) => `| ${code} | ${meaning} |`);
  checkSection(fileOf('exit-codes.md'), 'exit-codes', ['| code | meaning |', '|---|---|', ...rows].join('\n'));
});

test('docs/reference/job-file.md lists the settings, and the options and variables that give them', () => {
  const { properties } = jobFileJsonSchema() as { properties: Record<string, { description?: string }> };
  const groups = Map.groupBy(SETTING_LIST, ([, { group }]) => group);
  const listed = [...groups.values()].flatMap((lines) => lines.map(([name]) => name));
  assert.deepEqual(listed.sort(), Object.keys(properties).sort());
  const tables = [...groups].map(([group, lines]) => {
    const rows = lines.flatMap(([name]) => {
      const meaning = properties[name]!.description!;
      const options = JOB_OPTIONS.filter(({ setting }) => setting === name);
      const named = options.map(({ flag, alias, env, help }) => ({
        help,
        names: [`\`--${flag}\``, ...(alias ? [`\`-${alias}\``] : []), ...(env ? [`\`${env}\``] : [])].join(', '),
      }));
      const [only] = named;
      return named.length === 1 && only!.names.startsWith(`\`--${name.replaceAll('_', '-')}\``)
        ? [`| \`${name}\` | ${only!.names} | ${cell(meaning)} |`]
        : [`| \`${name}\` | | ${cell(meaning)} |`, ...named.map(({ names, help }) => `| | ${names} | ${cell(help)} |`)];
    });
    return [`### ${group}`, '', '| setting | option, environment | meaning |', '|---|---|---|', ...rows].join('\n');
  });
  checkSection(fileOf('job-file.md'), 'settings', tables.join('\n\n'));
});

test('each format that is read is named where a user chooses a file', () => {
  const { input } = Object.fromEntries(SETTING_LIST);
  for (const [place, text] of [
    ['the setting input, src/job/setting-table.ts', input!.help],
    ['the first step of the page', readFileSync(join(ROOT, 'src/page/assets/file-step.js'), 'utf8')],
    ['docs/reference/files.md', readFileSync(fileOf('files.md'), 'utf8')],
  ] as const) {
    for (const title of READ_FORMATS) assert.ok(text.includes(title), `${title} is not named by ${place}`);
  }
});

test('docs/operator/own-service.md lists the search radii of the service', () => {
  const rows = Object.entries(SEARCH_RADII).map(([searched, meters]) => `| \`${searched}\` | ${grouped(meters)} |`);
  checkSection(
    join(ROOT, 'docs/operator/own-service.md'),
    'radii',
    ['| topic or event | metres |', '|---|---:|', ...rows].join('\n'),
  );
});
