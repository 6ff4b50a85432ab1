import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { stringify } from 'yaml';
import { PerilbookError } from '../../src/base/errors.ts';
import { TOPIC_SLUGS } from '../../src/contract/topics.ts';
import { type JobFile, jobFileSchema } from '../../src/job/job-file.ts';
import { checkJobText, parseJobFile, readJobFile } from '../../src/job/read-job-file.ts';
import { fc } from '../properties.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { LONG } from '../tier.ts';

test('a file says what stands in it: nothing, with line ends of Windows, units by their abbreviations', () => {
  for (const [text, said] of [
    ...['', '# nothing yet\n', 'null\n', '---\n'].map((empty) => [empty, {}] as const),
    ['\ufeffinput: in.csv\r\nbudget: 5\r\n', { input: 'in.csv', budget: 5 }],
    ['units: km\n', { units: 'kilometers' }],
    ['units: mi\n', { units: 'miles' }],
    ['units: kilometers\n', { units: 'kilometers' }],
  ] as const) {
    assert.deepEqual(parseJobFile(text, 'job.yaml'), said);
  }
});

function errorOf(text: string): PerilbookError {
  try {
    parseJobFile(text, 'job.yaml');
  } catch (error) {
    assert.ok(error instanceof PerilbookError, String(error));
    assert.equal(error.code, 'JOB_FILE');
    return error;
  }
  return assert.fail('it was accepted');
}

const ALIASES = `a: &a [x,x,x,x,x,x,x,x,x]\n${['b', 'c', 'd', 'e']
  .map((name, i) => `${name}: &${name} [${new Array(9).fill(`*${'abcd'[i]}`).join(',')}]\n`)
  .join('')}`;

/** `at` is the line and column that the message begins with; without a column, the line. */
const wrong: readonly (readonly [what: string, text: string, at: string, says: RegExp])[] = [
  [
    'a broken list',
    'input: a\ntopics: [park\nbudget: 1\n',
    '3:1',
    /: a list that begins with \[ is not closed/,
  ],
  ['an open map', 'service: {base_url: x\n', '', /: a \{ before this place is not closed: add }/],
  ['an open quote', 'input: "a\n', '', /: a double quote \("\) before this place is not closed/],
  ['a colon in a value', 'input: a: b\n', '1:8', /: the line has a second colon/],
  ['a setting that is indented', 'input: a\n  topics: b\n', '1:8', /the next line is indented/],
  [
    'a path of Windows',
    'input: "C:\\query.csv"\n',
    '1:11',
    /: a backslash in double quotes begins an escape/,
  ],
  [
    'a value that begins with @',
    'input: @a\n',
    '1:8',
    /: a value cannot begin with this character; put the/,
  ],
  ['a bracket too many', 'input: a\n]\n', '2:1', /: YAML cannot read this character here/],
  ['a list among settings', '- a\nb: c\n', '2:1', /: YAML cannot read/],
  [
    'a directive',
    '%YAML 9\ninput: a\n',
    '1:7',
    /: YAML reads a line that begins with % as a directive/,
  ],
  ['an anchor without a name', 'input: & a\n', '1:8', /: YAML reads &, \* and ! here as an anchor/],
  [
    'a tab for spaces',
    'service:\n\tbase_url: x\n',
    '2:1',
    /: the line is indented with a tab; use spaces/,
  ],
  [
    'a * where YAML reads an alias',
    'input: *.csv\n',
    '1:8',
    /: YAML reads what begins with \* as an alias/,
  ],
  ['an alias that names nothing', 'topics: *mine\n', '1:9', /as an alias, and it is not defined/],
  ['aliases of aliases without end', ALIASES, '1:1', /: it has too many aliases/],
  ['a setting twice', 'input: a\nbudget: 1\nbudget: 2\n', '3:1', /: this setting is given twice/],
  ['two documents', 'input: a\n---\ninput: b\n', '2:1', /: a second document begins here/],
  [
    'a list of settings',
    '- input: a\n',
    '1:1',
    /expected settings such as input: portfolio\.csv, found a list$/m,
  ],
  [
    'a text instead of settings',
    'in.csv\n',
    '1:1',
    /expected settings such as input: portfolio\.csv, found a text$/m,
  ],
  [
    'an unknown setting',
    'input: a\ntopcis: all\n',
    '2',
    /unknown setting "topcis"; did you mean topics\?/,
  ],
  [
    'an unknown setting with content below',
    'input: a\ntopcis:\n  - park\n',
    '2:1',
    /unknown setting "topcis"/,
  ],
  [
    'a misplaced setting',
    'service: {base_url: "https://h.example", store: s.db}\n',
    '1:42',
    /at the top level$/,
  ],
  [
    'a setting of a setting, outside it',
    'lat: Y\n',
    '1:1',
    /"lat", which belongs in location: \{lat: …\}$/m,
  ],
  [
    'a setting of a service, outside it',
    'base_url: "h"\n',
    '1:1',
    /belongs in service: \{base_url: …\}$/m,
  ],
  [
    'an option',
    'service: {base_url: "https://h.example", api_key_file: k}\n',
    '1:42',
    /in a job file it is service: \{api_keys: \[\{file: …\}\]\}$/m,
  ],
  ['an option at the top', 'no-header: true\n', '1:1', /in a job file it is header: false$/m],
  ['an unknown setting near none', 'zzzzzz: 1\n', '1', /unknown setting "zzzzzz"$/m],
  [
    'a misspelt topic',
    'topics: wildfir\n',
    '1:9',
    /unknown topic "wildfir"; did you mean wildfire\?/,
  ],
  [
    'a misspelt topic of a list',
    'topics:\n  - park\n  - wildfir\n',
    '3:5',
    /topics\.1: .*"wildfir"; did you mean/,
  ],
  ['no topic at all', 'topics: []\n', '1:9', /topics: /],
  [
    'an amount that is text',
    'budget: many\n',
    '1:9',
    /budget: expected a whole number, found "many"/,
  ],
  [
    'an amount without end',
    'budget: .inf\n',
    '1:9',
    /budget: expected a whole number, found Infinity/,
  ],
  [
    'minutes without end',
    'max_minutes: .inf\n',
    '1:14',
    /max_minutes: expected a number, found Infinity/,
  ],
  ['a broken amount', 'input: a\n\nbudget: 1.5\n', '3:9', /budget: expected a whole number/],
  ['a negative amount', 'reserve: -1\n', '1:10', /reserve: /],
  ['too many decimals', 'precision: 8\n', '1:12', /precision: /],
  ['a day that no month has', 'anniversary_day: 32\n', '1:18', /anniversary_day: /],
  ['a day before the first', 'anniversary_day: 0\n', '1:18', /anniversary_day: /],
  [
    'percents without their sign',
    'max_invalid: 40\n',
    '1:14',
    /max_invalid: must be a share: 40% or 0\.4$/m,
  ],
  [
    'a share of more than all',
    'max_invalid: 400%\n',
    '1:14',
    /must be a share between 0 and 1 \(100 %\)$/m,
  ],
  [
    'a currency that does not exist',
    'currency: USX\n',
    '1:11',
    /currency: there is no currency USX: give an ISO 4217 code such as USD$/m,
  ],
  ['a currency in words', 'currency: dollars\n', '1:11', /currency: must be an ISO 4217 code/],
  [
    'the column to order by without its member',
    'order_by: Price\n',
    '1:11',
    /order_by: "Price" is not file, tiv or a map with column or direction; did you mean \{column: Price\}\?$/m,
  ],
  [
    'a ceiling without its member',
    'overages: 50\n',
    '1:11',
    /overages: expected a map with ceiling, found a number; did you mean \{ceiling: 50\}\?$/m,
  ],
  [
    'a location in a word',
    'location: coords\n',
    '1:11',
    /expected a map with lat, lng, column or order, /,
  ],
  ['no concurrency', 'concurrency: 0\n', '1:14', /concurrency: /],
  ['a delimiter of two letters', 'delimiter: "::"\n', '1:12', /delimiter: /],
  ['a time without a unit', 'time_to_live:\n  park: 30\n', '2:9', /time_to_live\.park: /],
  [
    'a time that is none',
    'time_to_live: {park: soon}\n',
    '1:22',
    /a time such as 90s, 30m, 12h or 30d, or never/,
  ],
  [
    'a time of no topic',
    'time_to_live: {wildfir: 1d}\n',
    '1:16',
    /unknown topic "wildfir"; did you mean wildfire\?/,
  ],
  [
    'an address without a protocol',
    'service: {base_url: h.example}\n',
    '1:21',
    /https:\/\/ or http:\/\//,
  ],
  [
    'an address of a file',
    'service: {base_url: "file:///etc"}\n',
    '1:21',
    /https:\/\/ or http:\/\//,
  ],
  ['a NUL in an input', 'input: "a\\0.csv"\n', '1:8', /NUL|control character/],
  ['a NUL in an output', 'output: "a\\0.csv"\n', '1:9', /NUL|control character/],
  ['a NUL in a program', 'on_finish: ["a\\0"]\n', '1:13', /NUL|control character/],
  ['a NUL in a store', 'store: "a\\0"\n', '1:8', /NUL|control character/],
  [
    'a service that is neither',
    'service: sampel\n',
    '1:10',
    /is not local, sample or a map.*; did you mean sample\?/,
  ],
  ['a misspelt subscription', 'subscription: profesional\n', '1:15', /did you mean professional\?/],
  [
    'a misspelt setting of a setting',
    'location: {lta: Y}\n',
    '1:12',
    /unknown setting "lta"; did you mean lat\?/,
  ],
  ['an encoding that is none', 'encoding: utf-9\n', '1:11', /"utf-9" is not a supported encoding/],
  [
    'a subscription without its minute',
    'subscription:\n  credits_per_month: 5\n',
    '2:3',
    /\.credits_per_minute: /,
  ],
  [
    'a key with two places',
    'service: {base_url: "http://h", api_keys: [{env: A, file: b}]}\n',
    '1:44',
    /never put the key/,
  ],
];

for (const [what, text, at, says] of wrong) {
  test(`${what}: reported with its line and column`, () => {
    const { message, context } = errorOf(text);
    assert.match(message, says);
    const [, line, column] = /^job\.yaml:(\d+):(\d+): /.exec(message)!;
    assert.deepEqual(
      [context.file, context.line, context.column],
      ['job.yaml', Number(line), column],
    );
    if (at !== '') assert.equal(at.includes(':') ? `${line}:${column}` : line, at);
    const shown = text.split('\n')[Number(line) - 1]!.trim();
    // A key may stand anywhere in `service` and `on_finish`, a password in `store`, so none of their lines is shown.
    if (/^(?:service|on_finish|store):/.test(text))
      return assert.ok(!message.includes('\n'), message);
    assert.ok(shown === '' || message.includes(`\n    ${shown}\n    `), message);
    assert.ok(shown === '' || /\n {4} *\^$/.test(message), message);
  });
}

test('the line of a problem is shown around the place of its caret; what may hold a key is not', (t) => {
  const shownOf = (text: string) => checkJobText(text).problems.map(({ shown }) => shown);
  const below = (shown: string, at: number) => `\n    ${shown}\n    ${' '.repeat(at)}^`;
  const [late, early] = [
    `topics: [${'park, '.repeat(30)}wildfir]`,
    `topics: [wildfir${', park'.repeat(40)}]`,
  ];
  const whole = `topics: [${'park,'.repeat(16)}   wildfir]`;
  assert.equal(whole.length, 100);
  for (const [text, shown] of [
    [
      'subscription:\n  credits_per_month: x\n  credits_per_minute: 5\n',
      below('credits_per_month: x', 19),
    ],
    [`${late}\n`, below(late.slice(139, 239), 50)],
    [`${early}\n`, below(early.slice(0, 100), 9)],
    [`${whole}\n`, below(whole, 92)],
    ['input: "a\n', ''],
  ] as const) {
    assert.deepEqual(shownOf(text), [shown]);
  }
  const around = shownOf('budget: x\nservice:\n  bad: 1\nname: a\nprecision: y\n');
  assert.deepEqual(around.map(Boolean), [true, false, false, true]);
  // In broken YAML nobody knows where a setting ends.
  assert.deepEqual(shownOf('service:\n  api_keys: [x\nbudget: 1\n'), ['']);
  for (const [service, isSecret] of [
    ['{api_keys: abc}', true],
    ['{base_url: "https://h.example", api_keys: [abc]}', true],
    ['{base_url: "https://h.example", api_keys: [{env: 5}]}', false],
  ] as const) {
    const found = checkJobText(`service: ${service}\n`).problems.some(
      (problem) => problem.isSecret,
    );
    assert.equal(found, isSecret, service);
  }
  const path = join(temporaryFolder(t), 'job.yaml');
  writeFileSync(path, `${'#'.repeat(999_999)}\n`);
  assert.deepEqual(readJobFile(path, 'job.yaml'), {});
});

test('all problems in the order of the file, each beginning with the setting that it is in; the first says that there are more', () => {
  const told = (text: string) =>
    checkJobText(text).problems.map(({ line, column, message }) => [
      line,
      column,
      message.replace(/[;,].*/, ''),
    ]);
  const places = (text: string) => told(text).map(([line, column]) => `${line}:${column}`);
  assert.deepEqual(places('zzz: 1\nprecision: x\nbudget: x\n'), ['1:1', '2:12', '3:9']);
  assert.deepEqual(places('{zzz: 1, precision: x, budget: x}\n'), ['1:2', '1:21', '1:32']);
  assert.deepEqual(places('input: @a\nname: @b\n'), ['1:8', '2:7']);
  assert.deepEqual(told('location: {lta: Y}\nzzz: 1\n'), [
    [1, 12, 'location: unknown setting "lta"'],
    [2, 1, 'unknown setting "zzz"'],
  ]);
  assert.equal(errorOf('budget: x\n').hint, 'Correct this line.');
  assert.equal(
    errorOf('budget: x\nprecision: y\n').hint,
    'Correct this line. The file has more errors: perilbook job check job.yaml lists them.',
  );
  assert.throws(() => parseJobFile('budget: x\nprecision: y\n', 'a&b.yaml'), {
    hint: /job check (["'])a&b\.yaml\1 lists/,
  });
  const { problemAt } = checkJobText('input: a\nbudget: 5\n');
  const shown = '\n    budget: 5\n            ^';
  assert.deepEqual(problemAt(['budget'], 'why'), {
    line: 2,
    column: 9,
    message: 'why',
    shown,
    isSecret: false,
  });
  assert.equal(problemAt(['name'], 'why').line, 1);
});

test('a key in place of its file is refused with what to do instead', () => {
  const service = 'service:\n  base_url: https://h.example\n  ';
  for (const text of [
    `${service}api_keys:\n    - {key: x}\n`,
    `${service}api_key: x\n`,
    'API-Key: x\n',
  ]) {
    assert.match(errorOf(text).hint, /chmod 600/);
  }
  const shaped = 'pb_4fQx9Zk2LmN8rTv1WyB3cD5eF7gH0jKpSuXaYbMdQeR';
  assert.ok(!errorOf(`topics: ${shaped}\n`).message.includes(shaped), 'where nobody looks for it');
});

test('every problem of YAML is told in our own words', LONG, () => {
  const pieces = [...'a[]{},"\'\n\t&*!|>%@#', '  ', ': ', '- ', '? ', '---\n'];
  const terms =
    /flow|scalar|token|implicit|mapping|collection|directives-end|indicator|sequence item|node|resolve|parseAll/i;
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 12 }), (parts) => {
      for (const { message } of checkJobText(parts.join('')).problems)
        assert.doesNotMatch(message, terms);
    }),
    { numRuns: 800 },
  );
});

test('a job file that is not there, that is a folder, or that is too large', (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'dir.yaml'));
  writeFileSync(join(folder, 'large.yaml'), `topics: ${'x'.repeat(30_000_000)}\n`);
  for (const [file, message] of [
    ['no.yaml', /^Job file no\.yaml does not exist$/],
    ['dir.yaml', /^Cannot read job file dir\.yaml: /],
    ['large.yaml', /^Job file large\.yaml has 30,000,009 bytes, and at most 1,000,000 are read$/],
  ] as const) {
    assert.throws(() => readJobFile(join(folder, file), file), {
      code: 'JOB_FILE',
      message,
      context: { file },
    });
  }
  writeFileSync(join(folder, 'job.yaml'), 'budget: 5\n');
  assert.deepEqual(readJobFile(join(folder, 'job.yaml'), 'job.yaml'), { budget: 5 });
});

const word = fc.string({ minLength: 1 });
const anyJob: fc.Arbitrary<JobFile> = fc.record(
  {
    name: word,
    input: word,
    topics: fc.subarray([...TOPIC_SLUGS, 'all', 'natural'], { minLength: 1 }),
    location: fc.record({ lat: word, lng: word }, { requiredKeys: [], noNullPrototype: true }),
    precision: fc.integer({ min: 0, max: 7 }),
    prefix: fc.string(),
    delimiter: fc.constantFrom(',', ';', '\t', '|', ':', '#'),
    service: fc.constantFrom('local' as const, 'sample' as const, {
      base_url: 'http://127.0.0.1:80/x',
      api_keys: [{ env: 'A' }],
    }),
    anniversary_day: fc.integer({ min: 1, max: 31 }),
    budget: fc.nat(),
    optimize: fc.constantFrom('credits' as const, 'calls' as const),
    time_to_live: fc.dictionary(
      fc.constantFrom(...TOPIC_SLUGS),
      fc.constantFrom('1s', '2 d', '0.5h', 'never'),
      {
        noNullPrototype: true,
      },
    ),
    concurrency: fc.integer({ min: 1, max: 64 }),
  },
  { requiredKeys: [], noNullPrototype: true },
);

test('settings have the same value in every notation of YAML', () => {
  fc.assert(
    fc.property(anyJob, fc.boolean(), (said, flow) => {
      const text = stringify(said, flow ? { collectionStyle: 'flow' } : {});
      assert.deepEqual(parseJobFile(text, 'job.yaml'), said);
    }),
  );
});

test('no setting of a wrong kind gets through, and the error names the line that it stands on', () => {
  const settings = Object.keys(jobFileSchema.shape);
  fc.assert(
    fc.property(fc.constantFrom(...settings), fc.nat({ max: 5 }), (name, before) => {
      const text = `${'# comment\n'.repeat(before)}${name}: [[true]]\n`;
      const { message, context } = errorOf(text);
      assert.equal(context.line, before + 1);
      assert.ok(message.includes(`${name}`), message);
    }),
  );
});
