import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { provideSampleData } from '../sample-database.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { perilbook } from './command-line.ts';

const OPTIONS = ['-t', 'hail', '--store', 'store.db'];

function folderOfParts(t: TestContext): string {
  const folder = temporaryFolder(t);
  provideSampleData(join(folder, 'store.db'));
  mkdirSync(join(folder, 'portfolio'));
  const write = (name: string, rows: string) => writeFileSync(join(folder, 'portfolio', name), `id,lat,lng\n${rows}`);
  write('a.csv', '1,34.0522,-118.2437\n2,40.7128,-74.0060\n');
  write('b.csv', '3,34.0522,-118.2437\n4,n/a,\n');
  return folder;
}

test('plan, run, status and report of part files, in words', async (t) => {
  const folder = folderOfParts(t);
  writeFileSync(join(folder, 'portfolio/c.csv.tmp'), '');
  const plan = await perilbook(['plan', 'portfolio/', ...OPTIONS], { folder });
  assert.match(plan.stdout, /^portfolio: 2 parts, 4 rows, 3 located, 1 invalid$/m);
  assert.match(plan.stdout, /^1 temporary file left out \(c\.csv\.tmp\)\.$/m);
  assert.match(plan.stdout, /^ {2}portfolio\/b\.csv:3 +1 {2}Latitude or longitude is not a number\.$/m);
  assert.match(plan.stdout, /\(first: line 3 of b\.csv\)/);
  assert.match(plan.stdout, /^2 credits: fits this period\.$/m);
  const run = ['run', 'portfolio/', ...OPTIONS, '--yes', '--max-invalid', '30%', '-o', 'enriched'];
  const first = await perilbook(run, { folder });
  assert.equal(first.code, 0, first.stderr);
  assert.match(first.stderr, /^wrote {4}enriched: 2 parts \(2 written\), 4 rows \(3 ok, 1 invalid\)$/m);
  const second = await perilbook([...run, '--json', '--report', 'report.html'], { folder });
  assert.match(second.stderr, /^wrote {4}enriched: 2 parts \(0 written, 2 up to date\), 4 rows/m);
  const summary = JSON.parse(second.stdout);
  assert.deepEqual(summary.parts, { total: 2, written: 0, up_to_date: 2, left: 0 });
  assert.equal(summary.findings[0].part, 'b.csv');
  assert.match(readFileSync(join(folder, 'report.html'), 'utf8'), /<td class="n">1<\/td><td>b\.csv:3<\/td>/);
  const status = await perilbook(['status', '--store', 'store.db'], { folder });
  assert.match(status.stdout, /^portfolio: 2 parts in enriched: 2 written\.$/m);
  const json = await perilbook(['status', '--store', 'store.db', '--json'], { folder });
  assert.deepEqual(JSON.parse(json.stdout)[0].parts, { parts: 2, written: 2, writing: 0, left: 0 });
});

test('several files on the command line, and a list in a job file, are parts of one input', async (t) => {
  const folder = folderOfParts(t);
  const files = ['portfolio/a.csv', 'portfolio/b.csv'];
  const { code, stderr } = await perilbook(['run', ...files, ...OPTIONS, '--yes', '--max-invalid', '1'], { folder });
  assert.equal(code, 0, stderr);
  const outputs = () => ['a.csv', 'b.csv'].map((name) => readFileSync(join(folder, 'portfolio.hazards', name), 'utf8'));
  assert.deepEqual(
    outputs().map((text) => text.split('\n').length),
    [4, 4],
  );
  const job = { input: ['portfolio/a.csv', 'portfolio/b*.csv'], topics: ['hail'], store: 'store.db', max_invalid: 1 };
  writeFileSync(join(folder, 'job.yaml'), JSON.stringify(job));
  assert.deepEqual(await perilbook(['job', 'check', 'job.yaml'], { folder }).then((checked) => checked.code), 0);
  const again = await perilbook(['run', 'job.yaml', '--json'], { folder });
  assert.deepEqual(JSON.parse(again.stdout).parts, { total: 2, written: 0, up_to_date: 2, left: 0 });
  const mixed = await perilbook(['run', 'job.yaml', ...files], { folder });
  assert.equal(mixed.code, 2);
  assert.match(mixed.stderr, /The job file job\.yaml cannot be combined with other arguments/);
  for (const words of [
    ['-', ...files],
    [...files, '-'],
  ]) {
    const { stderr: refused } = await perilbook(['plan', ...words, ...OPTIONS], { folder });
    assert.match(refused, /Standard input \(-\) cannot be combined with other input files/);
  }
  assert.match((await perilbook(['status', 'job.yaml', 'x'], { folder })).stderr, /Unexpected argument: x/);
});

test('what is wrong with a job of part files is found by job check, and no folder is made', async (t) => {
  const folder = folderOfParts(t);
  const check = async (settings: object) => {
    writeFileSync(join(folder, 'job.yaml'), JSON.stringify({ topics: ['hail'], ...settings }));
    return await perilbook(['job', 'check', 'job.yaml'], { folder });
  };
  const inside = await check({ input: 'portfolio', output: 'portfolio/out' });
  assert.equal(inside.code, 2);
  assert.match(inside.stdout, /portfolio\/out lies inside the input folder/);
  assert.equal(existsSync(join(folder, 'portfolio/out')), false);
  const none = await check({ input: 'portfolio/*.parquet' });
  assert.match(none.stdout, /matches no file/);
  writeFileSync(join(folder, 'portfolio/b.csv'), 'id,lat\n');
  assert.match((await check({ input: 'portfolio' })).stdout, /a\.csv and b\.csv have different columns/);
});
