import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { LEADING_COLUMNS } from '../../src/columns/row.ts';
import { ROW_STATUSES, type RowStatus } from '../../src/columns/row-status.ts';
import { columnsOf } from '../../src/columns/topic-columns.ts';
import { type Category, TIME_TO_LIVE, TOPICS } from '../../src/contract/topics.ts';
import { ROOT } from '../cli/command-line.ts';
import { checkSection } from './quoted-sessions.ts';

const FILE = join(ROOT, 'docs/reference/columns.md');

const LEADING_MEANING: Readonly<Record<string, string>> = {
  hazard_status: 'how complete the row is, see below',
  hazard_note: 'the reason in words; `sample data` where the answers are made up',
  hazard_as_of: 'the time of the oldest answer used',
};

const STATUS_MEANING: Readonly<Record<RowStatus, string>> = {
  ok: 'every topic has a fresh answer',
  partial: 'everything was tried; some topics have no answer',
  deferred: 'not bought yet (quota, budget or time): the next run buys it',
  failed: 'everything was tried; no topic has an answer: the next run tries again',
  rejected: 'the service rejects this location',
  outside_us: 'outside the states and territories; no call was made',
  invalid: 'the location cannot be used; `hazard_note` says why',
};

const CATEGORY_TITLES: Readonly<Record<Category, string>> = {
  natural: 'Natural hazards',
  proximity: 'Sites nearby',
  measurement: 'Measurements',
};

function freshFor(seconds: number | null): string {
  if (seconds === null) return 'ever';
  return seconds < 86_400 ? `${seconds / 3_600} h` : `${seconds / 86_400} d`;
}

const tableOf = (category: Category): string => {
  const topics = TOPICS.filter((topic) => topic.category === category);
  const rows = topics.map(({ slug, title, cadence }) => {
    const columns = columnsOf(slug).map(({ name, type }) => `\`${name}\` ${type}`);
    return `| \`${slug}\` | ${title} | ${freshFor(TIME_TO_LIVE[cadence])} | ${columns.join(', ')} |`;
  });
  return [
    `### ${CATEGORY_TITLES[category]} (${topics.length})`,
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
  test(`docs/reference/columns.md: ${name} are the program's`, () => {
    const made = make();
    assert.ok(!made.includes('undefined'));
    checkSection(FILE, name, made);
  });
}

test('docs/analyst/columns.md explains the columns of every kind', () => {
  const explained = readFileSync(join(ROOT, 'docs/analyst/columns.md'), 'utf8');
  const kindOf = (name: string) =>
    /_days$/.test(name)
      ? '…_days'
      : (/(_rating|_score|_frequency|_count|_nearest_m|_value|_unit|_measured_at)$/.exec(name)?.[1] ?? name);
  const kinds = new Set(
    [...LEADING_COLUMNS, ...TOPICS.flatMap(({ slug }) => columnsOf(slug))].map(({ name }) => kindOf(name)),
  );
  assert.ok(kinds.size > 20);
  const unexplained = [...kinds].filter((kind) => !explained.includes(`${kind}\``));
  assert.deepEqual(unexplained, []);
});
