import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { LEADING_COLUMNS } from '../../src/columns/row.ts';
import { ROW_STATUSES, type RowStatus } from '../../src/columns/row-status.ts';
import { columnsOf } from '../../src/columns/topic-columns.ts';
import { type Category, TIME_TO_LIVE, TOPICS } from '../../src/contract/topics.ts';
import { ROOT } from '../cli/command-line.ts';
import { LONG } from '../tier.ts';
import { checkSessions, compare, readersFolder, runShellBlocks } from './quoted-sessions.ts';

const FOLDER = join(ROOT, 'docs');
const documents = readdirSync(FOLDER).filter((name) => name.endsWith('.md'));

test('docs/README.md and the README lead to every document, and no link leads nowhere', () => {
  const index = readFileSync(join(FOLDER, 'README.md'), 'utf8');
  for (const name of documents)
    if (name !== 'README.md') assert.ok(index.includes(`](${name})`), `${name} is not linked`);
  assert.match(readFileSync(join(ROOT, 'README.md'), 'utf8'), /\]\(docs\/README\.md\)/);
  for (const name of documents) {
    const links = readFileSync(join(FOLDER, name), 'utf8').matchAll(/\]\(([^)#:]+)(#[^)]*)?\)/g);
    for (const [, target] of links) assert.ok(existsSync(join(FOLDER, target!)), `${name} leads to ${target}`);
  }
});

test('every test, benchmark and source file that docs/reliability.md names exists', () => {
  const text = readFileSync(join(FOLDER, 'reliability.md'), 'utf8');
  const named = new Set(text.match(/\b(?:test|bench|src)\/[\w./-]+\.ts\b/g));
  assert.ok(named.size > 50);
  assert.deepEqual(
    [...named].filter((file) => !existsSync(join(ROOT, file))),
    [],
  );
});

for (const name of documents) {
  const text = readFileSync(join(FOLDER, name), 'utf8');
  if (name === 'errors.md' || !/^```(console|sh)$/m.test(text)) continue;
  // It builds the sample data anew, which takes 6 s.
  const options = name === 'running-your-own-service.md' ? LONG : {};
  test(`the commands in docs/${name} do what it says`, options, async (t) => {
    const folder = readersFolder(t);
    await checkSessions(join(FOLDER, name), folder);
    runShellBlocks(join(FOLDER, name), folder);
  });
}

const COLUMNS = join(FOLDER, 'columns.md');

const LEADING_MEANING: Readonly<Record<string, string>> = {
  hazard_status: 'how complete the row is, see below',
  hazard_note: 'why, in words; `sample data` where the answers are made up',
  hazard_as_of: 'the time of the oldest answer used',
};

const STATUS_MEANING: Readonly<Record<RowStatus, string>> = {
  ok: 'every topic has a fresh answer',
  partial: 'everything was tried, some topic has no answer',
  deferred: 'not bought yet, for want of quota, budget or time: the next run goes on',
  failed: 'everything was tried, no topic has an answer: the next run tries again',
  rejected: 'the service refuses this place',
  outside_us:
    'outside the states and territories; no call was made (unless `coverage: trust` leaves it to the service)',
  invalid: 'the location cannot be read; `hazard_note` says why',
};

const CATEGORY_TITLES: Readonly<Record<Category, string>> = {
  natural: 'Natural hazards (18)',
  proximity: 'What is near (14)',
  measurement: 'Measurements (5)',
};

function freshFor(seconds: number | null): string {
  if (seconds === null) return 'ever';
  return seconds < 86_400 ? `${seconds / 3_600} h` : `${seconds / 86_400} d`;
}

const tableOf = (category: Category): string => {
  const topics = TOPICS.filter((topic) => topic.category === category);
  assert.ok(CATEGORY_TITLES[category].includes(String(topics.length)));
  const rows = topics.map(({ slug, title, cadence }) => {
    const columns = columnsOf(slug).map(({ name, type }) => `\`${name}\` ${type}`);
    return `| \`${slug}\` | ${title} | ${freshFor(TIME_TO_LIVE[cadence])} | ${columns.join(', ')} |`;
  });
  return [
    `### ${CATEGORY_TITLES[category]}`,
    '',
    '| topic | | fresh for | columns |',
    '|---|---|---|---|',
    ...rows,
  ].join('\n');
};

const GENERATED: Readonly<Record<string, () => string>> = {
  leading: () =>
    `| column | type | what it holds |\n|---|---|---|\n${LEADING_COLUMNS.map(({ name, type }) => `| \`${name}\` | ${type} | ${LEADING_MEANING[name]} |`).join('\n')}`,
  status: () =>
    `| status | meaning |\n|---|---|\n${ROW_STATUSES.map((status) => `| \`${status}\` | ${STATUS_MEANING[status]} |`).join('\n')}`,
  topics: () => (['natural', 'proximity', 'measurement'] as const).map(tableOf).join('\n\n'),
};

for (const [name, make] of Object.entries(GENERATED)) {
  test(`docs/columns.md: ${name} are the program's`, () => {
    const section = new RegExp(`(<!-- ${name} -->\n)([\\s\\S]*?)(<!-- end -->)`);
    const [, , found] = section.exec(readFileSync(COLUMNS, 'utf8'))!;
    const made = `${make()}\n\n`;
    assert.ok(!made.includes('undefined'));
    compare(COLUMNS, found!, made, (text) =>
      text.replace(section, (_, before, _found, after) => before + made + after),
    );
  });
}
