import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { folderWith } from '../sample-database.ts';
import { perilbook } from './command-line.ts';

const GOOD = '34.0522,-118.2437';
const EXCHANGED = '-118.2437,34.0522';
const ABROAD = '51.5,-0.12';

function setup(t: TestContext, rows: readonly string[], header = 'lat,lng\n') {
  const folder = folderWith(t, {}, 'store.db');
  const write = (lines: readonly string[], first = 'lat,lng\n') =>
    writeFileSync(join(folder, 'b.csv'), `${first}${lines.join('\n')}\n`);
  write(rows, header);
  const common = ['b.csv', '-t', 'hail', '--store', 'store.db', '-o', 'out.csv'];
  return {
    write,
    plan: (...more: string[]) => perilbook(['plan', ...common, ...more], { folder }),
    run: (...more: string[]) => perilbook(['run', ...common, '--yes', ...more], { folder }),
  };
}

const rowsOf = (good: number, bad: number, text: string) => [...Array(good).fill(GOOD), ...Array(bad).fill(text)];
const MESSAGE = /20 of 20 rows \(100 %\) cannot be looked up; mostly: Latitude and longitude seem exchanged/;

test('a file whose columns are exchanged: the plan says it before anything is bought, the run ends with 3, quiet or not', async (t) => {
  const { plan, run } = setup(t, rowsOf(0, 20, EXCHANGED));
  const planned = await plan();
  assert.equal(planned.code, 0);
  assert.match(planned.stdout, MESSAGE);
  assert.match(planned.stdout, /Check the columns \(--lat, --lng\), or allow it: --max-invalid 100%\./);
  const loud = await run();
  assert.equal(loud.code, 3);
  assert.match(loud.stderr, new RegExp(`${MESSAGE.source}[\\s\\S]+${MESSAGE.source}`), 'before and after');
  const quiet = await run('--quiet');
  assert.equal(quiet.code, 3);
  assert.match(quiet.stderr, new RegExp(`^perilbook: ${MESSAGE.source}`));
});

test('a reason of few of the rows is not said of most', async (t) => {
  const { plan } = setup(t, [GOOD, '0,0', 'x,1', EXCHANGED, ',']);
  assert.match((await plan()).stdout, /4 of 5 rows \(80 %\) cannot be looked up; 4 reasons, for example: /);
});

test('the share of invalid rows, and how many are allowed, decide the exit code', async (t) => {
  const { write, run } = setup(t, []);
  for (const [what, rows, more, code] of [
    ['5 % invalid', rowsOf(95, 5, EXCHANGED), [], 0],
    ['6 % invalid', rowsOf(94, 6, EXCHANGED), [], 3],
    ['6 % invalid, 10 % allowed', rowsOf(94, 6, EXCHANGED), ['--max-invalid', '10%'], 0],
    ['6 % invalid, 0.1 allowed', rowsOf(94, 6, EXCHANGED), ['--max-invalid', '0.1'], 0],
    ['1 % invalid, none allowed', rowsOf(99, 1, EXCHANGED), ['--max-invalid', '0'], 3],
    ['half abroad: real places, only not here', rowsOf(5, 5, ABROAD), [], 0],
    ['all abroad: nothing can be looked up', rowsOf(0, 5, ABROAD), [], 3],
    ['no rows', [], [], 0],
    ['all allowed to be invalid', rowsOf(0, 5, EXCHANGED), ['--max-invalid', '100 %'], 0],
  ] as const) {
    write(rows);
    const ended = await run('--quiet', ...more);
    assert.equal(ended.code, code, `${what}: ${ended.stderr}`);
    assert.equal(/cannot be looked up/.test(ended.stderr), code === 3, ended.stderr);
  }
});

test('a share that is none is refused', async (t) => {
  const { run } = setup(t, [GOOD]);
  for (const value of ['much', '5', '-1', '']) {
    const { code, stderr } = await run('--max-invalid', value);
    assert.equal(code, 2, value);
    assert.match(stderr, /--max-invalid/);
  }
});

test('columns named by number: a first line that is a location is refused, not taken for names', async (t) => {
  const { write, run, plan } = setup(t, []);
  const byNumber = ['--lat', '1', '--lng', '2'];
  for (const [first, isRefused] of [
    [GOOD, true],
    [EXCHANGED, true],
    [ABROAD, true],
    ['lat,lng', false],
    ['2024,2025', false],
    ['34.5 %,1.5', false],
  ] as const) {
    write([first, GOOD, GOOD], '');
    const ended = await run(...byNumber);
    assert.equal(ended.code, isRefused ? 2 : 0, `${first}: ${ended.stderr}`);
    if (!isRefused) continue;
    assert.match(ended.stderr, /first line is a location .*, not column names\n {2}.*--no-header/);
    const whole = await plan(...byNumber, '--no-header', '--json');
    assert.equal(JSON.parse(whole.stdout).rows, 3, first);
  }
});

for (const [first, good, flags] of [
  ['"(29.76, -95.37)"', '"(38.5, -97.2)"', ['--location', '1']],
  ['POINT(-95.37 29.76)', 'POINT(-97.2 38.5)', ['--location', '1']],
  [`"29°45'36""N, 95°22'12""W"`, '"38.5, -97.2"', ['--location', '1', '--coordinates', 'lenient']],
  [`"29°45'36""N",95°22'W`, '38.5,-97.2', ['--lat', '1', '--lng', '2', '--coordinates', 'lenient']],
  ['"29,76","-95,37"', '38.5,-97.2', ['--lat', '1', '--lng', '2', '--coordinates', 'lenient']],
] as const) {
  test(`the first location, ${first}, is not lost as the name of a column`, async (t) => {
    const { run, plan } = setup(t, [first, good, good], '');
    const { code, stderr } = await run(...flags);
    assert.equal(code, 2, stderr);
    assert.match(stderr, /first line is a location .*, not column names\n {2}.*--no-header/);
    const whole = JSON.parse((await plan(...flags, '--no-header', '--json')).stdout);
    assert.deepEqual([whole.rows, whole.located], [3, 3]);
  });
}
