import assert from 'node:assert/strict';
import { copyFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { folderWith, provideSampleData } from '../sample-database.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { perilbook } from './command-line.ts';

const HEADER = 'policyID,lat,lng,tiv_2012,LocCurrency\n';
const LA = '34.0522,-118.2437';
const HOUSTON = '29.7604,-95.3698';
const MIAMI = '25.7617,-80.1918';

const WORDS = [
  'book.csv',
  '-t',
  'hail,wildfire,hurricane',
  '--store',
  'store.db',
  '-o',
  'out.csv',
  '--order-by',
  'tiv_2012',
];

async function folderAfterRun(t: TestContext, rows: string): Promise<string> {
  const folder = folderWith(t, { 'book.csv': HEADER + rows }, 'store.db');
  const ran = await perilbook(['run', ...WORDS, '--yes', '--quiet'], { folder });
  assert.equal(ran.code, 0, ran.stderr);
  return folder;
}

const ALL_KNOWN = { without_value: 0, other_currencies: [] };

interface Sum {
  readonly rows: number;
  readonly value: number;
}

interface Bridge {
  readonly before: Sum;
  readonly steps: readonly {
    readonly step: string;
    readonly rows: number;
    readonly change: Sum;
    readonly examples: readonly { readonly line: number; readonly part?: string; readonly key: string }[];
  }[];
  readonly now: Sum;
}

interface Compared {
  readonly report: string;
  readonly changes: {
    readonly matched_by: string;
    readonly currency: string | null;
    readonly before: unknown;
    readonly now: unknown;
    readonly new: unknown;
    readonly gone: unknown;
    readonly relocated: { readonly rows: number };
    readonly bridge: Bridge;
    readonly topics: readonly {
      readonly topic: string;
      readonly bridge: Bridge;
      readonly moved: readonly (Sum & {
        readonly from: string;
        readonly to: string;
        readonly is_worse: boolean;
        readonly is_high: boolean;
      })[];
      readonly answered_then: Sum;
      readonly answered_now: Sum;
    }[];
  };
}

/** The first rows behind a step of all value. */
const rowsOf = ({ bridge }: Compared['changes'], wanted: string) =>
  bridge.steps.find(({ step }) => step === wanted)?.examples ?? [];

async function compared(folder: string, ...more: string[]): Promise<Compared['changes']> {
  const { code, stdout, stderr } = await perilbook(['report', ...WORDS, '--json', ...more], { folder });
  assert.equal(code, 0, stderr);
  return (JSON.parse(stdout) as Compared).changes;
}

test('report --compare: new and gone rows, ratings that moved, value before and now, by id', async (t) => {
  const folder = await folderAfterRun(t, `a,${LA},100,USD\nb,${HOUSTON},200,USD\nc,${MIAMI},400,USD\n`);
  const output = readFileSync(join(folder, 'out.csv'), 'utf8');
  const columns = output.split('\n')[0]!.split(',');
  const lines = output
    .trimEnd()
    .split('\n')
    .map((line) => line.split(','));
  const hail = columns.indexOf('hail_rating');
  const [was, wildfire] = [lines[1]![hail]!, columns.indexOf('wildfire_rating')];
  const other = was === 'Very High' ? 'Very Low' : 'Very High';
  lines[1]![hail] = other;
  lines[2]![wildfire] = '';
  writeFileSync(join(folder, 'earlier.csv'), `${lines.map((line) => line.join(',')).join('\n')}\n`);
  // a stays and grows, b stays in another line, c is gone, d is new.
  writeFileSync(join(folder, 'book.csv'), `${HEADER}d,${MIAMI},50,USD\nb,${HOUSTON},200,USD\na,${LA},150,USD\n`);
  const found = await compared(folder, '--compare', 'earlier.csv', '--report', 'page.html');
  assert.deepEqual(
    [found.matched_by, found.before, found.now, found.new, found.gone, found.relocated.rows],
    [
      'policyID',
      { rows: 3, value: 700, ...ALL_KNOWN },
      { rows: 3, value: 400, ...ALL_KNOWN },
      { rows: 1, value: 50, ...ALL_KNOWN },
      { rows: 1, value: 400, ...ALL_KNOWN },
      0,
    ],
  );
  assert.equal(found.currency, 'USD');
  const topic = (name: string) => found.topics.find((one) => one.topic === name)!;
  assert.deepEqual([rowsOf(found, 'new'), rowsOf(found, 'gone')], [[{ line: 2, key: 'd' }], [{ line: 4, key: 'c' }]]);
  assert.deepEqual(found.bridge, {
    before: { rows: 3, value: 700 },
    steps: [
      { step: 'gone', rows: 1, change: { rows: -1, value: -400 }, examples: [{ line: 4, key: 'c' }] },
      { step: 'new', rows: 1, change: { rows: 1, value: 50 }, examples: [{ line: 2, key: 'd' }] },
      { step: 'revalued', rows: 1, change: { rows: 0, value: 50 }, examples: [{ line: 4, key: 'a' }] },
    ],
    now: { rows: 3, value: 400 },
  });
  const isWorse = was === 'Very High';
  assert.deepEqual(
    topic('hail').moved.map(({ is_high: _, ...move }) => move),
    [{ from: other, to: was, rows: 1, value: 150, is_worse: isWorse }],
  );
  assert.deepEqual(
    [topic('wildfire').moved, topic('wildfire').answered_then, topic('wildfire').answered_now],
    [[], { rows: 2, value: 500 }, { rows: 3, value: 400 }],
  );
  const page = readFileSync(join(folder, 'page.html'), 'utf8');
  for (const said of [
    '<h2 id="changes-title">Changes</h2>',
    '<b>New</b> 1 row ($50); <b>gone</b> 1 row ($400)',
    '<th scope="row">All value</th><td class="n">$700</td><td class="n">−$400</td><td class="n">+$50</td><td class="n">+$50</td>',
  ]) {
    assert.ok(page.includes(said), said);
  }
});

test('a policy number identifies a row too', async (t) => {
  const folder = await folderAfterRun(t, `a,${LA},1,USD\nb,${HOUSTON},2,USD\n`);
  for (const file of ['book.csv', 'out.csv']) {
    writeFileSync(join(folder, file), readFileSync(join(folder, file), 'utf8').replace('policyID', 'policy'));
  }
  copyFileSync(join(folder, 'out.csv'), join(folder, 'earlier.csv'));
  writeFileSync(join(folder, 'book.csv'), `policy,lat,lng\nb,${HOUSTON}\nc,${LA}\n`);
  const words = ['report', 'book.csv', '-t', 'hail', '--store', 'store.db', '--compare', 'earlier.csv', '--json'];
  const { stdout, stderr } = await perilbook(words, { folder });
  const { changes: comparison } = JSON.parse(stdout);
  assert.deepEqual(
    [comparison.matched_by, rowsOf(comparison, 'new'), rowsOf(comparison, 'gone')],
    ['policy', [{ line: 3, key: 'c' }], [{ line: 2, key: 'a' }]],
    stderr,
  );
});

test('--id names the column by which rows are matched; one that is missing is refused', async (t) => {
  const folder = await folderAfterRun(t, `a,${LA},1,USD\nb,${HOUSTON},2,USD\n`);
  const rename = (file: string) =>
    writeFileSync(join(folder, file), readFileSync(join(folder, file), 'utf8').replace('policyID', 'Site'));
  rename('out.csv');
  copyFileSync(join(folder, 'out.csv'), join(folder, 'earlier.csv'));
  writeFileSync(join(folder, 'book.csv'), `Site,lat,lng\nb,${LA}\na,${HOUSTON}\n`);
  const words = ['report', 'book.csv', '-t', 'hail', '--store', 'store.db', '--compare', 'earlier.csv', '--json'];
  const { changes: comparison } = JSON.parse((await perilbook([...words, '--id', 'site'], { folder })).stdout);
  assert.deepEqual([comparison.matched_by, comparison.relocated.rows], ['Site', 2]);
  assert.equal(JSON.parse((await perilbook(words, { folder })).stdout).changes.relocated.rows, 0, 'by place');
  const wrong = await perilbook([...words, '--id', 'Sites'], { folder });
  assert.equal(wrong.code, 2);
  assert.match(wrong.stderr, /id: no column Sites; did you mean Site\?\n.*\[INPUT_COLUMNS\]/);
});

test('rows with one id are matched by their places first: one that goes does not move the others', async (t) => {
  const folder = await folderAfterRun(t, `p,${LA},1,USD\np,${HOUSTON},2,USD\np,${HOUSTON},3,USD\nq,${LA},4,USD\n`);
  copyFileSync(join(folder, 'out.csv'), join(folder, 'earlier.csv'));
  writeFileSync(join(folder, 'book.csv'), `${HEADER}q,${MIAMI},4,USD\np,${HOUSTON},2,USD\np,${HOUSTON},3,USD\n`);
  const found = await compared(folder, '--compare', 'earlier.csv');
  assert.deepEqual(
    [found.new, found.gone, found.relocated.rows],
    [{ rows: 0, value: 0, ...ALL_KNOWN }, { rows: 1, value: 1, ...ALL_KNOWN }, 1],
    'q has moved',
  );
  assert.deepEqual(rowsOf(found, 'gone'), [{ line: 2, key: 'p' }]);
});

test('without an id rows are matched by place and order', async (t) => {
  const folder = await folderAfterRun(t, `,${LA},1,USD\n,${LA},2,USD\n,${HOUSTON},4,USD\n`);
  copyFileSync(join(folder, 'out.csv'), join(folder, 'earlier.csv'));
  writeFileSync(join(folder, 'book.csv'), `${HEADER},${HOUSTON},4,USD\n,${LA},1,USD\n`);
  const found = await compared(folder, '--compare', 'earlier.csv');
  assert.deepEqual(
    [found.new, found.gone],
    [
      { rows: 0, value: 0, ...ALL_KNOWN },
      { rows: 1, value: 2, ...ALL_KNOWN },
    ],
  );
  assert.deepEqual(rowsOf(found, 'gone'), [{ line: 3, key: 'place: 34.0522, -118.2437' }]);
  assert.ok(found.topics.every(({ moved }) => moved.length === 0));
});

test('a run is named by its number; a replaced output and a file of others are refused', async (t) => {
  const folder = await folderAfterRun(t, `a,${LA},100,USD\n`);
  assert.deepEqual((await compared(folder, '--compare', '1')).before, { rows: 1, value: 100, ...ALL_KNOWN });
  writeFileSync(join(folder, 'book.csv'), `${HEADER}a,${LA},100,USD\nb,${MIAMI},1,USD\n`);
  await perilbook(['run', ...WORDS, '--yes', '--quiet'], { folder });
  for (const [said, message] of [
    ['1', /The output of run 1 was replaced by run 2/],
    ['9', /There is no run 9 in the store/],
    ['book.csv', /book\.csv is not an output of Perilbook/],
    ['none.csv', /none\.csv/],
  ] as const) {
    const { code, stderr } = await perilbook(['report', ...WORDS, '--compare', said], { folder });
    assert.equal(code, 2, said);
    assert.match(stderr, message);
  }
});

test('values of new and gone rows: by currency, and not known is not zero', async (t) => {
  const folder = await folderAfterRun(t, `a,${LA},100,USD\nb,${HOUSTON},,USD\nc,${MIAMI},5,CAD\nd,${MIAMI},2,USD\n`);
  copyFileSync(join(folder, 'out.csv'), join(folder, 'earlier.csv'));
  writeFileSync(join(folder, 'book.csv'), `${HEADER}a,${LA},100,USD\ne,${LA},7,EUR\nf,${LA},9,\ng,${LA},many,USD\n`);
  const found = await compared(folder, '--compare', 'earlier.csv', '--report', 'page.html');
  assert.deepEqual(found.gone, {
    ...{ rows: 3, value: 2, without_value: 1 },
    other_currencies: [{ currency: 'CAD', rows: 1, value: 5 }],
  });
  assert.deepEqual(found.new, {
    ...{ rows: 3, value: null, without_value: 1 },
    other_currencies: [
      { currency: 'EUR', rows: 1, value: 7 },
      { currency: null, rows: 1, value: 9 },
    ],
  });
  const page = readFileSync(join(folder, 'page.html'), 'utf8');
  for (const said of [
    '<b>gone</b> 3 rows ($2, CAD 5, 1 without a value)',
    '<b>New</b> 3 rows (EUR 7, 9 without a currency, 1 without a value)',
  ]) {
    assert.ok(page.includes(said), said);
  }
  writeFileSync(
    join(folder, 'book.csv'),
    `${HEADER}a,${LA},100,USD\nb,${HOUSTON},,USD\nc,${MIAMI},5,CAD\nd,${MIAMI},2,USD\nh,${LA},,USD\n`,
  );
  await compared(folder, '--compare', 'earlier.csv', '--report', 'page.html');
  assert.ok(readFileSync(join(folder, 'page.html'), 'utf8').includes('<b>New</b> 1 row (no value known); '));
});

test('part files on both sides: by folder, by the number of the run, by the name of its job', async (t) => {
  const folder = temporaryFolder(t);
  provideSampleData(join(folder, 'store.db'));
  mkdirSync(join(folder, 'parts'));
  const write = (name: string, rows: string) => writeFileSync(join(folder, 'parts', name), HEADER + rows);
  write('1.csv', `a,${LA},100,USD\nb,${HOUSTON},200,USD\n`);
  write('2.csv', `c,${MIAMI},400,USD\n`);
  const words = ['parts', '-t', 'hail', '--store', 'store.db', '--order-by', 'tiv_2012', '--name', 'nightly'];
  const ran = await perilbook(['run', ...words, '-o', 'out', '--yes', '--quiet'], { folder });
  assert.equal(ran.code, 0, ran.stderr);
  cpSync(join(folder, 'out'), join(folder, 'earlier'), { recursive: true });
  write('2.csv', `d,${MIAMI},50,USD\n`);
  const byFolder = async (said: string) => {
    const { code, stdout, stderr } = await perilbook(
      ['report', ...words, '-o', 'out', '--report', 'page.html', '--compare', said, '--json'],
      { folder },
    );
    assert.equal(code, 0, stderr);
    return (JSON.parse(stdout) as Compared).changes;
  };
  const found = await byFolder('earlier');
  assert.deepEqual(
    [found.before, found.now, found.new, found.gone],
    [
      { rows: 3, value: 700, ...ALL_KNOWN },
      { rows: 3, value: 350, ...ALL_KNOWN },
      { rows: 1, value: 50, ...ALL_KNOWN },
      { rows: 1, value: 400, ...ALL_KNOWN },
    ],
  );
  const page = readFileSync(join(folder, 'page.html'), 'utf8');
  assert.deepEqual(rowsOf(found, 'new'), [{ line: 2, part: '2.csv', key: 'd' }]);
  assert.ok(page.includes('of the earlier output: 2.csv:2 <bdi>c</bdi>'));
  for (const said of ['1', 'nightly', 'out', 'earlier/*.csv']) {
    const { earlier: _, ...same } = (await byFolder(said)) as Compared['changes'] & { earlier: string };
    const { earlier: __, ...first } = found as Compared['changes'] & { earlier: string };
    assert.deepEqual(same, first, said);
  }
});

test('currencies are never added: each has its total, and the figures are of one', async (t) => {
  const folder = await folderAfterRun(
    t,
    `a,${LA},1000000,USD\nb,${HOUSTON},2000000,usd\nc,${MIAMI},5000000,CAD\nd,${MIAMI},7,\n`,
  );
  const pageOf = async (...more: string[]) => {
    const { code, stdout, stderr } = await perilbook(['report', ...WORDS, '--report', '-', ...more], { folder });
    assert.equal(code, 0, stderr);
    return stdout;
  };
  const inDollars = await pageOf();
  assert.ok(inDollars.includes('<dt>Value</dt><dd>$3.00 m<small>'));
  assert.ok(inDollars.includes('$3.00 m (2 locations), CAD 5.00 m (1 location), 7 without a currency (1 location)'));
  assert.doesNotMatch(inDollars, /8\.00 m/);
  const inCanadian = await pageOf('--currency', 'cad');
  assert.ok(inCanadian.includes('<dt>Value</dt><dd>CAD 5.00 m<small>'));
});
