import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { folderWith } from '../sample-database.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { perilbook, ROOT } from './command-line.ts';

const BOOK = 'id,lat,lng,TRACT\n1,34.0522,-118.2437,06037207400\n';

async function check(t: TestContext, yaml: string, env: Record<string, string> = {}) {
  const folder = folderWith(t, { 'book.csv': BOOK, 'empty.csv': '', 'job.yaml': yaml });
  const { code, stdout } = await perilbook(['job', 'check', 'job.yaml', '--json'], { folder, env });
  assert.deepEqual(readdirSync(folder).sort(), ['book.csv', 'empty.csv', 'job.yaml'], 'no store is made');
  const said = JSON.parse(stdout);
  const places = (found: { line: number; column: number; message: string }[]) =>
    found.map(({ line, column, message }) => `${line}:${column} ${message}`);
  return { code, ok: said.ok, problems: places(said.problems), warnings: places(said.warnings) };
}

test('all problems of a job file are said at once, in the order of its lines', async (t) => {
  const { code, ok, problems } = await check(
    t,
    [
      'input: book.csv',
      'topics: [wildfir, hail, prak]',
      'budgte: 5',
      'subscription: strater',
      'service:',
      '  base_url: http://h.example',
      '  api_keys: [{evn: A}, {file: k, scopes: [bundel]}]',
      'time_to_live: {wildfire: soon, hial: 3d}',
      'on_quota: wiat',
      '',
    ].join('\n'),
  );
  assert.deepEqual([code, ok], [2, false]);
  assert.deepEqual(problems, [
    '2:10 topics.0: unknown topic "wildfir"; did you mean wildfire? (perilbook topics lists them)',
    '2:25 topics.2: unknown topic "prak"; did you mean park? (perilbook topics lists them)',
    '3:1 unknown setting "budgte"; did you mean budget?',
    '4:15 subscription: "strater" is not starter, professional or a map of settings; did you mean starter?',
    '7:15 service.api_keys.0: unknown setting "evn"; did you mean env?',
    '7:43 service.api_keys.1.scopes.0: unknown topic "bundel"; did you mean bundle? (perilbook topics lists them)',
    '8:26 time_to_live.wildfire: must be a time such as 90s, 30m, 12h or 30d, or never',
    '8:32 time_to_live: unknown topic "hial"; did you mean hail? (perilbook topics lists them)',
    '9:11 on_quota: "wiat" is not stop or wait; did you mean wait?',
  ]);
});

test('what breaks YAML itself is said, every place of it', async (t) => {
  const { problems } = await check(t, 'input: *.csv\nbudget: 1\nbudget: 2\n');
  assert.equal(problems.length, 2, problems.join('\n'));
});

test('what only the whole job shows is a problem at its setting', async (t) => {
  const { code, problems } = await check(
    t,
    'input: book.csv\nsubscription: {credits_per_month: 5, credits_per_minute: 5}\noverages: {ceiling: 5}\n',
  );
  assert.equal(code, 2);
  assert.match(problems.join('\n'), /^3:11 overages: a ceiling in dollars needs/);
});

test('a key that is not in the environment here is a warning, and so is an input that is not there yet', async (t) => {
  const service = 'service: {base_url: "http://h.example", api_keys: [{env: NO_SUCH_KEY}]}';
  const { code, ok, warnings } = await check(t, `topics: all\ninput: boook.csv\n${service}\n`);
  assert.deepEqual([code, ok, warnings.length], [0, true, 2]);
  assert.match(warnings[0]!, /^3:52 environment variable NO_SUCH_KEY is not set$/);
  assert.match(warnings[1]!, /^2:8 .*boook\.csv does not exist/);
});

for (const [what, yaml, says] of [
  ['a job file that says nothing', '# nothing\n', /^1:1 the file is empty/],
  ['an input that is empty', 'input: empty.csv\n', /^1:8 .*empty\.csv is empty/],
  ['a latitude column that is not there', 'input: book.csv\nlocation: {lat: latt}\n', /^2:17 .*did you mean "lat"\?/],
  ['a tract column that is not there', 'input: book.csv\nareas: {tract: TRACTT}\n', /^2:16 .*did you mean TRACT\?/],
  [
    'a value column that is not there',
    'input: book.csv\norder_by: {column: vlaue}\n',
    /^2:11 order_by: no column vlaue/,
  ],
  [
    'a key file that is not there',
    `input: book.csv\nservice: {base_url: "http://h", api_keys: [{file: no-key}]}\n`,
    /^2:44 key file .*no-key does not exist$/,
  ],
  ['an output whose folder is not there', 'input: book.csv\noutput: no/out.csv\n', /^2:9 .*no.out\.csv/],
  ['an output that cannot be made', 'input: book.csv\noutput: out.csv.bz2\n', /^2:9 .*gives no \.bz2 file/],
] as const) {
  test(`${what}: a problem at its setting`, async (t) => {
    const { code, problems } = await check(t, yaml);
    assert.equal(code, 2);
    assert.equal(problems.length, 1, problems.join('\n'));
    assert.match(problems[0]!, says);
  });
}

test('boundaries that a job needs and that are not here are a warning, unless its answers are local', async (t) => {
  const paid = 'input: book.csv\nservice: {base_url: "http://h.example"}\nareas: tract\n';
  const { code, warnings } = await check(t, paid, { PERILBOOK_API_KEY: 'k' });
  assert.equal(code, 0);
  assert.deepEqual(warnings, [
    '3:8 There are no census tract boundaries on this machine. Run: perilbook data get areas --for book.csv',
  ]);
  assert.deepEqual((await check(t, 'input: book.csv\nservice: local\nareas: tract\n')).warnings, []);
});

test('a job without an input is told that plan and run need one', async (t) => {
  const { code, warnings } = await check(t, 'topics: all\n');
  assert.deepEqual([code, warnings.length], [0, 1]);
  assert.match(warnings[0]!, /no input: plan and run need one/);
});

test('a right job has nothing to be said of it, with a key in its place', async (t) => {
  const yaml = 'input: book.csv\nservice: {base_url: "http://h.example", api_keys: [{env: A_KEY}]}\n';
  assert.deepEqual(await check(t, yaml, { A_KEY: 'x' }), { code: 0, ok: true, problems: [], warnings: [] });
});

test('in words: the line is shown with a caret, and the verdict comes last', async (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'jobs'));
  writeFileSync(join(folder, 'jobs/job.yaml'), 'name: "株式会社"\nprecision:   9\n');
  const { code, stdout, stderr } = await perilbook(['job', 'check', 'jobs/job.yaml'], { folder });
  assert.deepEqual([code, stderr], [2, '']);
  assert.equal(
    stdout,
    'jobs/job.yaml:2:14: precision: must be at most 7\n    precision:   9\n                 ^\n1 error: this job cannot run.\n',
  );
});

test('the jobs in jobs/ are right', async () => {
  for (const name of readdirSync(join(ROOT, 'jobs')).filter((file) => file.endsWith('.yaml'))) {
    const { code, stdout } = await perilbook(['job', 'check', `jobs/${name}`]);
    assert.deepEqual([code, stdout], [0, `jobs/${name} is valid.\n`]);
  }
});

test('job check without a file, of none, and job schema', async (t) => {
  const folder = temporaryFolder(t);
  assert.match((await perilbook(['job', 'check'], { folder })).stderr, /Missing job file.*\n.*\[USAGE\]/);
  assert.match((await perilbook(['job', 'check', 'no.yaml'], { folder })).stderr, /Job file no\.yaml/);
  assert.equal(JSON.parse((await perilbook(['job', 'schema'], { folder })).stdout).title, 'Perilbook job file');
  assert.ok(!existsSync(join(folder, 'perilbook')));
});

test('an output in a file of the job is a problem; one that Perilbook did not write is a warning', async (t) => {
  const service = 'service: {base_url: https://h.example, api_keys: [{file: empty.csv}]}\n';
  const key = await check(t, `input: book.csv\noutput: empty.csv\n${service}`);
  assert.deepEqual([key.code, key.problems.length], [2, 1]);
  assert.match(key.problems[0]!, /^2:\d+ .*empty\.csv holds an API key of the job\. Choose another output file\.$/);
  const metrics = await check(t, 'input: book.csv\nmetrics: job.yaml\n');
  assert.match(metrics.problems[0]!, /^2:\d+ .*job\.yaml is the job file/);
  const foreign = await check(t, 'input: empty.csv\noutput: book.csv\n');
  assert.match(foreign.warnings.at(-1)!, /^2:\d+ .*book\.csv exists, and Perilbook did not write it/);
});
