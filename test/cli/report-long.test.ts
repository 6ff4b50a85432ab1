import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openAccounts } from '../../src/service/accounts/open-accounts.ts';
import { FastClock } from '../fast-clock.ts';
import { folderWith, provideSampleData } from '../sample-database.ts';
import { usage } from '../service/account-usage.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { perilbook } from './command-line.ts';

const BOOK = 'id,name,lat,lng,BuildingTIV\n1,Tower,34.0522,-118.2437,100\n2,Shed,29.7604,-95.3698,50\n3,Nowhere,,,1\n';

const WORDS = [
  'book.csv',
  '-t',
  'hail,wildfire,park',
  '--store',
  'store.db',
  '-o',
  'out.csv',
  '--order-by',
  'tiv',
  '--max-invalid',
  '50%',
];

function folderWithBook(t: TestContext): string {
  const folder = folderWith(t, { 'book.csv': BOOK }, 'store.db');
  return folder;
}

/** What the ledger says, and what the service has charged. */
async function spentIn(folder: string, clock: FastClock): Promise<{ ledger: unknown; charged: number }> {
  const words = ['quota', 'book.csv', '--store', 'store.db', '--by', 'day', '--json'];
  const { stdout } = await perilbook(words, { folder, clock });
  const accounts = openAccounts(join(folder, 'sample-data-accounts.db'));
  try {
    const charged = usage(
      accounts,
      'embedded: 10000 a month, 1000000000 a minute, resets on day 1',
      clock.now(),
    ).totalCredits;
    return { ledger: JSON.parse(stdout).statement, charged };
  } finally {
    accounts.close();
  }
}

test('report says that a job has not run, and writes the page', async (t) => {
  const folder = folderWithBook(t);
  const { code, stderr } = await perilbook(['report', ...WORDS], { folder });
  assert.equal(code, 0, stderr);
  assert.match(stderr, /^perilbook: Job "book" has not run on book\.csv: .*\n {2}Run it first \(perilbook run\)/);
  assert.ok(existsSync(join(folder, 'out.report.html')));
});

test('run --report writes the page at the end of a run; report writes the same one afterwards and spends nothing', async (t) => {
  const folder = folderWithBook(t);
  const clock = new FastClock('2026-03-15T12:00:10Z', 1);
  const ran = await perilbook(['run', ...WORDS, '--yes', '--report', 'page.html'], { folder, clock });
  assert.equal(ran.code, 0, ran.stderr);
  assert.match(ran.stderr, /Wrote the report to page\.html/);
  const page = readFileSync(join(folder, 'page.html'), 'utf8');
  const before = await spentIn(folder, clock);
  assert.equal(before.charged, 6, 'on the side of the service');
  const reported = await perilbook(['report', ...WORDS], { folder, clock });
  assert.deepEqual([reported.code, reported.stdout], [0, ''], reported.stderr);
  assert.match(reported.stderr, /^Wrote the report to out\.report\.html\n$/, 'no word of a job that has not run');
  assert.equal(readFileSync(join(folder, 'out.report.html'), 'utf8'), page);
  assert.deepEqual(await spentIn(folder, clock), before);
  for (const said of [
    '<strong>Sample data.</strong> The answers are made up',
    '2 rows of 3 (66.7 %) have a usable location',
    'Latitude or longitude is empty.</bdi></th><td class="n">1</td><td>4</td>',
    '<dt>Planned</dt><dd>6</dd>',
    '<dt>Spent</dt><dd>6</dd>',
    'Single topic</th><td class="n">6</td><td class="n">0</td><td class="n">0</td><td class="n">6</td>',
    'Nothing left to buy.',
  ]) {
    assert.ok(page.includes(said), said);
  }
});

test('report -o names the page where it is called so', async (t) => {
  const folder = folderWithBook(t);
  const words = ['report', 'book.csv', '-t', 'hail', '--store', 'store.db', '-o'];
  const { code, stderr } = await perilbook([...words, 'mine.html'], { folder });
  assert.equal(code, 0, stderr);
  assert.match(stderr, /Wrote the report to mine\.html/);
  assert.ok(readFileSync(join(folder, 'mine.html'), 'utf8').startsWith('<!doctype html>'));
  await perilbook([...words, 'out.csv'], { folder });
  assert.ok(existsSync(join(folder, 'out.report.html')) && !existsSync(join(folder, 'out.csv')));
});

test('before any run the page says what is missing; nothing is bought, no service is started', async (t) => {
  const folder = folderWith(t, { 'book.csv': BOOK });
  const { code, stdout, stderr } = await perilbook(['report', ...WORDS, '--report', '-'], { folder });
  assert.equal(code, 0, stderr);
  assert.ok(stdout.startsWith('<!doctype html>') && stdout.endsWith('</html>\n'));
  assert.ok(stdout.includes('No run yet') && stdout.includes('<b>6 credits</b> for 2 places'));
  assert.equal(existsSync(join(folder, 'sample-data.db')), false);
  assert.equal(existsSync(join(folder, 'out.csv')), false);
});

test('a run that stops at its budget says on the page what is left and why', async (t) => {
  const folder = folderWithBook(t);
  const ran = await perilbook(['run', ...WORDS, '--budget', '3', '--report', 'page.html', '--quiet'], { folder });
  assert.equal(ran.code, 4, ran.stderr);
  const page = readFileSync(join(folder, 'page.html'), 'utf8');
  assert.ok(page.includes('The last run stopped early: <bdi>The budget of 3 credits is reached.</bdi>'));
  assert.ok(page.includes('<b>3 credits</b> for 1 place left to buy.'));
  assert.match(page, /resets on 20\d\d-\d\d-01 00:00 UTC/);
  assert.ok(page.includes('<code>deferred</code></th><td class="n">1</td>'));
});

test('the page names the sample account, kilometres where they were asked for, and values below 1', async (t) => {
  const folder = folderWithBook(t);
  writeFileSync(join(folder, 'book.csv'), BOOK.replaceAll(/,(100|50)\n/g, ',0.3\n'));
  const custom = 'input: book.csv\nsubscription: {credits_per_month: 600, credits_per_minute: 1200}\n';
  writeFileSync(join(folder, 'job.yaml'), `${custom}store: store.db\nmax_invalid: 50 %\norder_by: tiv\n`);
  await perilbook(['run', 'job.yaml', '-t', 'wildfire,park', '--budget', '2', '--units', 'km', '--report', 'r.html'], {
    folder,
  });
  const page = readFileSync(join(folder, 'r.html'), 'utf8');
  assert.match(page, /<li><bdi>Sample account<\/bdi>: 598 of 600 credits left;/);
  assert.match(page, /circles with a radius of 1 km/);
  assert.match(page, /<td class="n">0\.60<\/td>/);
  const words = page.replace(/<(script|style)\b[\s\S]*?<\/\1>/g, '').replace(/<[^>]+>/g, ' ');
  assert.doesNotMatch(words, /\bmiles?\b|embedded-/);
});

test('a run that stops at its budget leaves the price without savings as it is: each row on its own', async (t) => {
  const folder = temporaryFolder(t);
  provideSampleData(join(folder, 'store.db'));
  // 4 places of 2 rows each, 3 topics: 24 credits for each row on its own.
  const rows = Array.from({ length: 8 }, (_, row) => `${row},${40 + Math.floor(row / 2) / 10},-99.9\n`);
  writeFileSync(join(folder, 'book.csv'), `id,lat,lng\n${rows.join('')}`);
  const words = ['book.csv', '-t', 'hail,wildfire,park', '--store', 'store.db', '-o', 'out.csv', '--report', 'p.html'];
  const price = () =>
    /Price without savings<\/th><td class="n">(\d+)</.exec(readFileSync(join(folder, 'p.html'), 'utf8'))![1];
  const saved = () =>
    /Saved: rows at the same place<\/th><td class="n">(\d+)</.exec(readFileSync(join(folder, 'p.html'), 'utf8'))![1];
  for (const [budget, code] of [
    ['3', 4],
    ['3', 4],
    ['100', 0],
  ] as const) {
    const ran = await perilbook(['run', ...words, '--budget', budget], { folder });
    assert.equal(ran.code, code, ran.stderr);
    assert.deepEqual([price(), saved()], ['24', '12'], `after the run with a budget of ${budget}`);
  }
});

test('the rows of standard input are reported on too', async (t) => {
  const folder = folderWithBook(t);
  const words = [
    'run',
    '-',
    '-t',
    'hail',
    '--store',
    'store.db',
    '--budget',
    '9',
    '--report',
    'page.html',
    '--max-invalid',
    '50%',
  ];
  const { code, stderr } = await perilbook(words, { folder, stdin: BOOK });
  assert.equal(code, 0, stderr);
  assert.ok(readFileSync(join(folder, 'page.html'), 'utf8').includes('<bdi>standard input</bdi>'));
});

test('the report over part files: the same figures as over one file, lines with their part', async (t) => {
  const folder = temporaryFolder(t);
  provideSampleData(join(folder, 'store.db'));
  const [header, ...rows] = BOOK.trimEnd().split('\n') as [string, ...string[]];
  mkdirSync(join(folder, 'parts'));
  for (const [index, row] of rows.entries()) {
    writeFileSync(join(folder, 'parts', `${index + 1}.csv`), `${header}\n${row}\n`);
  }
  writeFileSync(join(folder, 'book.csv'), BOOK);
  const words = ['-t', 'hail,wildfire,park', '--store', 'store.db', '--order-by', 'tiv', '--max-invalid', '50%'];
  const ran = await perilbook(['run', 'parts', ...words, '-o', 'out', '--yes', '--report', 'parts.html'], { folder });
  assert.equal(ran.code, 0, ran.stderr);
  const reported = await perilbook(['report', 'parts', ...words, '-o', 'out', '--report', 'again.html'], { folder });
  assert.equal(reported.code, 0, reported.stderr);
  const whole = await perilbook(['report', 'book.csv', ...words, '--report', 'book.html'], { folder });
  assert.equal(whole.code, 0, whole.stderr);
  const [parts, again, book] = ['parts.html', 'again.html', 'book.html'].map((name) =>
    readFileSync(join(folder, name), 'utf8'),
  ) as [string, string, string];
  const section = (page: string, id: string) => new RegExp(`<section id="${id}"[\\s\\S]*?\\n</section>`).exec(page)![0];
  assert.equal(section(again, 'locations'), section(parts, 'locations'));
  for (const id of ['risk', 'hazards', 'sites']) assert.equal(section(parts, id), section(book, id), id);
  // Lines 2 to 4 of the one file are each line 2 of a part.
  assert.ok(section(book, 'quality').includes('<td class="n">1</td><td>4</td>'));
  assert.ok(section(parts, 'quality').includes('<td class="n">1</td><td>3.csv:2</td>'));
  assert.match(section(parts, 'accumulation'), /<bdi>1 · Tower<\/bdi>.*?<td class="n">1\.csv:2<\/td>/);
  const inParts = [...section(parts, 'locations').matchAll(/data-v="\d+" data-csv="(.*?)"/g)].map(([, place]) => place);
  const inBook = [...section(book, 'locations').matchAll(/data-v="\d+" data-csv="(.*?)"/g)].map(([, line]) => line);
  assert.ok(inBook.length > 0);
  assert.deepEqual(
    inParts,
    inBook.map((line) => `${Number(line) - 1}.csv:2`),
  );
});

test('a report that could not be written is refused before anything is bought', async (t) => {
  const folder = folderWithBook(t);
  for (const [name, says] of [
    ['nowhere/page.html', /nowhere/],
    ['book.csv', /book\.csv/],
    ['out.csv', /is the output and the report/],
    ['-', /run --report needs a file of its own/],
  ] as const) {
    const { code, stderr } = await perilbook(['run', ...WORDS, '--yes', '--report', name], { folder });
    assert.equal(code, 2, name);
    assert.match(stderr, says);
  }
  assert.equal(existsSync(join(folder, 'out.csv')), false);
  assert.equal(readFileSync(join(folder, 'book.csv'), 'utf8'), BOOK);
  const { stdout } = await perilbook(['status', '--store', 'store.db', '--json'], { folder });
  assert.deepEqual(JSON.parse(stdout), []);
});
