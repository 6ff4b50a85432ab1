import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { byteSize, grouped } from '../../src/base/format-numbers.ts';
import { downloadPlanMessages } from '../../src/cli/messages/download-messages.ts';
import { JOB_OPTIONS, runnableCommands, usageOf } from '../../src/cli/options/command.ts';
import { COMMANDS } from '../../src/cli/options/command-table.ts';
import { EXIT_MEANINGS } from '../../src/cli/options/exit-codes.ts';
import { LEADING_COLUMNS } from '../../src/columns/row.ts';
import { ROW_STATUSES, type RowStatus } from '../../src/columns/row-status.ts';
import { columnsOf } from '../../src/columns/topic-columns.ts';
import {
  allLayers,
  type Category,
  declareLayers,
  isBuiltIn,
  type LayerSlug,
  NATURAL_SLUGS,
  TIME_TO_LIVE,
  TOPICS,
  topicOf,
  withBrought,
} from '../../src/contract/topics.ts';
import type { Source } from '../../src/data/sources/source.ts';
import { SOURCES } from '../../src/data/sources/source-table.ts';
import { SEARCH_RADII } from '../../src/data/topics/coverage.ts';
import { jobFileJsonSchema } from '../../src/job/job-file.ts';
import { SETTING_LIST } from '../../src/job/setting-table.ts';
import { OUTPUT_ENDINGS, READ_FORMATS } from '../../src/rows/open/file-formats.ts';
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
  checkSection(
    fileOf('commands.md'),
    'commands',
    ['| command | what it does |', '|---|---|', ...rows].join('\n'),
  );
});

test("docs/reference/exit-codes.md lists the program's exit codes", () => {
  const rows = EXIT_MEANINGS.map(([code, meaning]) => `| ${code} | ${meaning} |`);
  checkSection(
    fileOf('exit-codes.md'),
    'exit-codes',
    ['| code | meaning |', '|---|---|', ...rows].join('\n'),
  );
});

test('docs/reference/job-file.md lists the settings, and the options and variables that give them', () => {
  const { properties } = jobFileJsonSchema() as {
    properties: Record<string, { description?: string }>;
  };
  const groups = Map.groupBy(SETTING_LIST, ([, { group }]) => group);
  const listed = [...groups.values()].flatMap((lines) => lines.map(([name]) => name));
  assert.deepEqual(listed.sort(), Object.keys(properties).sort());
  const tables = [...groups].map(([group, lines]) => {
    const rows = lines.flatMap(([name]) => {
      const meaning = properties[name]!.description!;
      const options = JOB_OPTIONS.filter(({ setting }) => setting === name);
      const named = options.map(({ flag, alias, env, help }) => ({
        help,
        names: [
          `\`--${flag}\``,
          ...(alias ? [`\`-${alias}\``] : []),
          ...(env ? [`\`${env}\``] : []),
        ].join(', '),
      }));
      const [only] = named;
      return named.length === 1 && only!.names.startsWith(`\`--${name.replaceAll('_', '-')}\``)
        ? [`| \`${name}\` | ${only!.names} | ${cell(meaning)} |`]
        : [
            `| \`${name}\` | | ${cell(meaning)} |`,
            ...named.map(({ names, help }) => `| | ${names} | ${cell(help)} |`),
          ];
    });
    return [
      `### ${group}`,
      '',
      '| setting | option, environment | meaning |',
      '|---|---|---|',
      ...rows,
    ].join('\n');
  });
  checkSection(fileOf('job-file.md'), 'settings', tables.join('\n\n'));
});

test('each format that is read is named where a user chooses a file', () => {
  const { input } = Object.fromEntries(SETTING_LIST);
  for (const [place, text] of [
    ['the setting input, src/job/setting-table.ts', input!.help],
    [
      'the first step of the page',
      readFileSync(join(ROOT, 'src/page/assets/file-step.js'), 'utf8'),
    ],
    ['docs/reference/files.md', readFileSync(fileOf('files.md'), 'utf8')],
  ] as const) {
    for (const title of READ_FORMATS)
      assert.ok(text.includes(title), `${title} is not named by ${place}`);
  }
});

test('docs/reference/files.md lists the endings of outputs', () => {
  const rows = OUTPUT_ENDINGS.map(({ format, endings, isOfCopies }) => {
    const from = isOfCopies ? `a file of the same format` : 'any';
    return `| ${format} | ${endings.map((ending) => `\`${ending}\``).join(', ')} | ${from} |`;
  });
  const head = ['| format of the output | endings | made from |', '|---|---|---|'];
  checkSection(fileOf('files.md'), 'endings', [...head, ...rows].join('\n'));
});

test('docs/operator/own-service.md lists the search radii of the service', () => {
  const rows = Object.entries(SEARCH_RADII).map(
    ([searched, meters]) => `| \`${searched}\` | ${grouped(meters)} |`,
  );
  checkSection(
    join(ROOT, 'docs/operator/own-service.md'),
    'radii',
    ['| topic or event | metres |', '|---|---:|', ...rows].join('\n'),
  );
});

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
    checkSection(fileOf('columns.md'), name, made);
  });
}

test('docs/analyst/columns.md explains the columns of every kind', () => {
  const explained = readFileSync(join(ROOT, 'docs/analyst/columns.md'), 'utf8');
  const kindOf = (name: string) =>
    /_days$/.test(name)
      ? '…_days'
      : (/(_rating|_score|_frequency|_count|_nearest_m|_value|_unit|_measured_at)$/.exec(
          name,
        )?.[1] ?? name);
  const kinds = new Set(
    [...LEADING_COLUMNS, ...TOPICS.flatMap(({ slug }) => columnsOf(slug))].map(({ name }) =>
      kindOf(name),
    ),
  );
  assert.ok(kinds.size > 20);
  const unexplained = [...kinds].filter((kind) => !explained.includes(`${kind}\``));
  assert.deepEqual(unexplained, []);
});

const WHEN: Readonly<Record<string, string>> = {
  base: 'every topic',
  named: 'only by name',
  states: 'only with states',
};

function rowOf({
  name,
  title,
  topics,
  when,
  bytes,
  isMeasured,
  rows,
  least,
  cadence,
  vintage,
  else: others = [],
}: Source): string {
  const all = topics.length === NATURAL_SLUGS.length ? 'all natural topics' : topics.join(', ');
  const for_ = [all, when === undefined ? '' : WHEN[when]!].filter(Boolean).join('; ');
  const size = `${isMeasured ? '' : 'about '}${byteSize(bytes)}`;
  const count = rows === undefined ? '' : grouped(rows);
  const changes =
    vintage === undefined || vintage === 'edited' ? cadence : `${cadence}; ${vintage}`;
  const second = others.map(({ from }) => from).join('; ') || '–';
  const fewest = least ? grouped(least) : '–';
  return `| \`${name}\` | ${title} | ${for_} | ${size} | ${count} | ${fewest} | ${changes} | ${second} |`;
}

test('docs/reference/sources.md lists the sources', () => {
  const head = [
    '| source | what | for | size | rows | at least | changes | second address |',
    '|---|---|---|---:|---:|---:|---|---|',
  ];
  const made = [...head, ...SOURCES.map(rowOf)].join('\n');
  assert.match(made, /nri-tracts/);
  checkSection(fileOf('sources.md'), 'sources', made);
});

test('docs/reference/sources.md has the licences as data get shows them', () => {
  const words = downloadPlanMessages(
    SOURCES.map((source) => ({ source, slices: ['US'] })),
    null,
  );
  const licences = words.filter((line) => line.startsWith('Licence of '));
  assert.ok(licences.length > 5);
  checkSection(
    fileOf('sources.md'),
    'licences',
    licences.map((line) => `- ${line.slice('Licence of '.length)}`).join('\n'),
  );
});

test('docs/reference/sources.md and docs/analyst/layers.md name each layer that Perilbook brings', (t) => {
  t.after(() => declareLayers([]));
  declareLayers(withBrought([]));
  const brought = allLayers().flatMap(({ layer }) =>
    isBuiltIn(topicOf(layer as LayerSlug)) ? [] : layer,
  );
  assert.ok(brought.length > 1, brought.join());
  for (const page of [fileOf('sources.md'), join(ROOT, 'docs/analyst/layers.md')]) {
    const text = readFileSync(page, 'utf8');
    const unnamed = brought.filter((layer) => !text.includes(`\`${layer}\``));
    assert.deepEqual(unnamed, [], page);
  }
});
