import assert from 'node:assert/strict';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { EXIT_MEANINGS } from '../src/cli/exit-codes.ts';
import { JOB_OPTIONS } from '../src/cli/job-options.ts';
import { addedColumns, LEADING_COLUMNS } from '../src/columns/row.ts';
import { TOPICS } from '../src/contract/topics.ts';
import { parseJobFile } from '../src/job/settings/read-job-file.ts';
import { perilbook, ROOT } from './cli/command-line.ts';
import { FastClock } from './fast-clock.ts';
import { provideSampleData } from './sample-database.ts';
import { temporaryFolder } from './temporary-folder.ts';

/*
 * The README quotes the program; this holds the two together. `npm run readme` writes what the program says into the
 * README instead of comparing, for review in the diff.
 */
const FILE = join(ROOT, 'README.md');
const UPDATE = process.env.UPDATE_README === '1';

function compare(found: string, expected: string, replace: (text: string) => string): void {
  if (UPDATE && found !== expected) writeFileSync(FILE, replace(readFileSync(FILE, 'utf8')));
  else
    assert.equal(
      found,
      expected,
      'the README says something else than the program: npm run readme, and look at the diff',
    );
}

test('the sessions in the README are what the program says', async (t) => {
  const folder = temporaryFolder(t);
  for (const name of ['sample-data', 'jobs']) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  const store = join(folder, '.perilbook', 'store.db');
  provideSampleData(store);
  const clock = new FastClock('2026-11-20T12:00:00Z', 1);
  const env = { PERILBOOK_STORE: store };
  const blocks = [...readFileSync(FILE, 'utf8').matchAll(/```console\n([\s\S]*?)```/g)].map(([, block]) => block!);
  const commands = blocks.flatMap((block) => block.split(/^(?=\$ )/m)).filter((part) => part.startsWith('$ perilbook'));
  assert.ok(commands.length >= 3);
  for (const part of commands) {
    const [line, ...rest] = part.split('\n');
    const args = line!
      .slice('$ perilbook '.length)
      .match(/"[^"]*"|\S+/g)!
      .map((word) => word.replace(/^"|"$/g, ''));
    const { stdout, stderr } = await perilbook(args, { folder, clock, env });
    const said = `${stderr}${stdout}`.trimEnd();
    const quoted = rest.join('\n').trimEnd();
    compare(quoted, said, (text) => text.replace(part.trimEnd(), `${line}\n${said}`));
  }
});

const GENERATED: Readonly<Record<string, () => string>> = {
  columns: () => {
    const rows = TOPICS.map(({ slug, title }) => {
      const names = addedColumns([slug])
        .slice(LEADING_COLUMNS.length)
        .map(({ name }) => `\`${name}\``);
      return `| \`${slug}\` | ${title} | ${names.join(' ')} |`;
    });
    return ['| topic | | columns |', '|---|---|---|', ...rows].join('\n');
  },
  'exit-codes': () =>
    ['| code | meaning |', '|---|---|', ...EXIT_MEANINGS.map(([code, meaning]) => `| ${code} | ${meaning} |`)].join(
      '\n',
    ),
  options: () => {
    const rows = JOB_OPTIONS.map(({ flag, alias, env, describe }) => {
      const name = `\`--${flag}\`${alias ? `, \`-${alias}\`` : ''}`;
      return `| ${name} | ${env ? `\`${env}\`` : ''} | ${describe} |`;
    });
    return ['| option | environment | |', '|---|---|---|', ...rows].join('\n');
  },
};

for (const [name, make] of Object.entries(GENERATED)) {
  test(`the README's table of ${name} is the program's`, () => {
    const section = new RegExp(`(<!-- ${name} -->\n)([\\s\\S]*?)(\n<!-- end -->)`);
    const [, , found] = section.exec(readFileSync(FILE, 'utf8')) ?? [];
    assert.ok(found !== undefined, `README.md has no section ${name}`);
    compare(found, make(), (text) => text.replace(section, (_, before, _found, after) => before + make() + after));
  });
}

test('the job file in the README is one', () => {
  const [, yaml] = /```yaml\n([\s\S]*?)```/.exec(readFileSync(FILE, 'utf8')) ?? [];
  assert.ok(parseJobFile(yaml!, 'README.md').topics);
});
