import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { listParts, patternFolder } from '../../../src/rows/parts/list-parts.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

function folderOf(t: TestContext, ...names: string[]): string {
  const folder = temporaryFolder(t);
  for (const name of names) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), name);
  }
  return folder;
}

async function named(folder: string, ...sources: string[]) {
  const { parts, unfinished } = await listParts(
    folder,
    sources.map((source) => join(folder, source)),
  );
  return { parts: parts.map(({ name }) => name), unfinished };
}

test('a folder stands for its files at any depth, without hidden ones and those of Spark and Hadoop', async (t) => {
  const data = ['b.csv', 'a.csv', 'year=2024/part-0.csv', 'year=2025/part-0.csv', 'no extension'];
  const others = [
    ...['_SUCCESS', '.a.csv.crc', 'a.csv.crc', '.hidden.csv'],
    ...['_temporary/0/part-9.csv', '.git/x.csv', '.DS_Store'],
  ];
  const folder = folderOf(t, ...data, ...others, 'c.csv.tmp', 'd.csv._COPYING_', 'year=2025/e.csv.part');
  assert.deepEqual(await named(folder, '.'), {
    parts: ['a.csv', 'b.csv', 'no extension', 'year=2024/part-0.csv', 'year=2025/part-0.csv'],
    unfinished: ['c.csv.tmp', 'd.csv._COPYING_', 'year=2025/e.csv.part'],
  });
});

test('a pattern stands for files, a list for the files of all its sources, each once', async (t) => {
  const folder = folderOf(
    t,
    'a.csv',
    'b.csv',
    'c.ndjson',
    'old/a.csv',
    'old/deep/z.csv',
    '_x.csv',
    '.y.csv',
    'w.csv.tmp',
  );
  assert.deepEqual((await named(folder, '*.csv')).parts, ['a.csv', 'b.csv']);
  assert.deepEqual((await named(folder, '*')).parts, ['a.csv', 'b.csv', 'c.ndjson']);
  assert.deepEqual((await named(folder, '**/*.csv')).parts, ['a.csv', 'b.csv', 'old/a.csv', 'old/deep/z.csv']);
  assert.deepEqual((await named(folder, '{a,c}.*')).parts, ['a.csv', 'c.ndjson']);
  const { parts } = await named(folder, 'b.csv', '*.csv', 'old', 'a.csv');
  assert.deepEqual(parts, ['a.csv', 'b.csv', 'old/a.csv', 'old/deep/z.csv']);
  // What is named is taken, however it is called.
  assert.deepEqual((await named(folder, '_x.csv', 'w.csv.tmp')).parts, ['_x.csv', 'w.csv.tmp']);
  assert.equal(patternFolder('/data/portfolio/20*/x.csv'), '/data/portfolio');
});

test('a link to a file is a part; a link that leads nowhere is none', async (t) => {
  const folder = folderOf(t, 'real/a.csv');
  mkdirSync(join(folder, 'in'));
  symlinkSync(join(folder, 'real/a.csv'), join(folder, 'in/b.csv'));
  symlinkSync(join(folder, 'nowhere'), join(folder, 'in/c.csv'));
  assert.deepEqual((await named(folder, 'in')).parts, ['in/b.csv']);
});

test('sources without files are refused, each with its reason', async (t) => {
  const folder = folderOf(t, 'a.csv', 'A.csv', 'empty/.keep', 'busy/x.csv.tmp', 'locked/x.csv');
  const refused = (source: string, message: RegExp) =>
    assert.rejects(named(folder, source), { code: 'INPUT_UNREADABLE', message });
  await refused('b.csv', /b\.csv does not exist; did you mean a\.csv\?/i);
  await refused('*.parquet', /\*\.parquet matches no file/);
  await refused('empty', /empty has no files/);
  await refused('busy', /has only temporary files \(busy\/x\.csv\.tmp\)/);
  await refused('*.csv', /The parts A\.csv and a\.csv differ only in case or accents/);
  if (process.getuid?.() === 0) return;
  chmodSync(join(folder, 'locked'), 0);
  t.after(() => chmodSync(join(folder, 'locked'), 0o755));
  await refused('locked', /cannot be listed/);
});
