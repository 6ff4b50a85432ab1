import assert from 'node:assert/strict';
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { listParts, patternFolder } from '../../../src/rows/parts/list-parts.ts';
import { openPart, openPartFiles } from '../../../src/rows/parts/part-files.ts';
import type { RowSource } from '../../../src/rows/port.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { placedRows } from '../book-fixture.ts';

function folderOf(t: TestContext, contents: Readonly<Record<string, string | Buffer>>): string {
  const folder = temporaryFolder(t);
  for (const [name, content] of Object.entries(contents)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return folder;
}

/** Files with their names in them. */
const named = (...names: string[]) => Object.fromEntries(names.map((name) => [name, name]));

async function listed(folder: string, ...sources: string[]) {
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
  const folder = folderOf(
    t,
    named(...data, ...others, 'c.csv.tmp', 'd.csv._COPYING_', 'year=2025/e.csv.part'),
  );
  assert.deepEqual(await listed(folder, '.'), {
    parts: ['a.csv', 'b.csv', 'no extension', 'year=2024/part-0.csv', 'year=2025/part-0.csv'],
    unfinished: ['c.csv.tmp', 'd.csv._COPYING_', 'year=2025/e.csv.part'],
  });
});

test('a pattern stands for files, a list for the files of all its sources, each once', async (t) => {
  const files = [
    'a.csv',
    'b.csv',
    'c.ndjson',
    'old/a.csv',
    'old/deep/z.csv',
    '_x.csv',
    '.y.csv',
    'w.csv.tmp',
  ];
  const folder = folderOf(t, named(...files));
  assert.deepEqual((await listed(folder, '*.csv')).parts, ['a.csv', 'b.csv']);
  assert.deepEqual((await listed(folder, '*')).parts, ['a.csv', 'b.csv', 'c.ndjson']);
  assert.deepEqual((await listed(folder, '**/*.csv')).parts, [
    'a.csv',
    'b.csv',
    'old/a.csv',
    'old/deep/z.csv',
  ]);
  assert.deepEqual((await listed(folder, '{a,c}.*')).parts, ['a.csv', 'c.ndjson']);
  const { parts } = await listed(folder, 'b.csv', '*.csv', 'old', 'a.csv');
  assert.deepEqual(parts, ['a.csv', 'b.csv', 'old/a.csv', 'old/deep/z.csv']);
  // What is named is taken, however it is called.
  assert.deepEqual((await listed(folder, '_x.csv', 'w.csv.tmp')).parts, ['_x.csv', 'w.csv.tmp']);
  assert.equal(patternFolder('/data/portfolio/20*/x.csv'), '/data/portfolio');
});

test('a link to a file is a part; a link that leads nowhere is none', async (t) => {
  const folder = folderOf(t, named('real/a.csv'));
  mkdirSync(join(folder, 'in'));
  symlinkSync(join(folder, 'real/a.csv'), join(folder, 'in/b.csv'));
  symlinkSync(join(folder, 'nowhere'), join(folder, 'in/c.csv'));
  assert.deepEqual((await listed(folder, 'in')).parts, ['in/b.csv']);
});

test('sources without files are refused, each with its reason', async (t) => {
  const folder = folderOf(
    t,
    named('a.csv', 'A.csv', 'empty/.keep', 'busy/x.csv.tmp', 'locked/x.csv'),
  );
  const refused = (source: string, message: RegExp) =>
    assert.rejects(listed(folder, source), { code: 'INPUT_UNREADABLE', message });
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

async function opened(t: TestContext, contents: Parameters<typeof folderOf>[1]) {
  const folder = folderOf(t, contents);
  const { parts } = await listParts(folder, [folder]);
  return { folder, files: await openPartFiles(parts, {}) };
}

/** `part:line fields` of each row. */
async function rowsOf(source: RowSource, ...names: string[]): Promise<string[]> {
  const rows: string[] = [];
  for await (const batch of source.read(names.map((name) => source.columns.indexOf(name)))) {
    for (const { part, line, fields } of batch) rows.push(`${part}:${line} ${fields.join('|')}`);
  }
  return rows;
}

test('the rows of all parts come in order, with the name and the line of their part', async (t) => {
  const { files } = await opened(t, {
    'a.csv': 'id,lat,lng\n1,40,-99\n2,41,-98\n',
    'b.csv.gz': gzipSync('id;lat;lng\r\n"3\n3";42;-97\r\n4;43;-96\r\n'),
    'c.csv.zst': zstdCompressSync(Buffer.from('id,lat,lng\n5,44,-95\n')),
    'd.csv': 'id,lat,lng\n',
    'e.csv': '',
    'f.csv.gz': gzipSync(''),
  });
  assert.deepEqual(files.columns, ['id', 'lat', 'lng']);
  const expected = [
    'a.csv:2 -99|1',
    'a.csv:3 -98|2',
    'b.csv.gz:2 -97|3\n3',
    'b.csv.gz:4 -96|4',
    'c.csv.zst:2 -95|5',
  ];
  assert.deepEqual(await rowsOf(files, 'lng', 'id'), expected);
  assert.deepEqual(await rowsOf(files, 'lng', 'id'), expected);
});

test('tables of text may have different delimiters, whatever their names', async (t) => {
  const { files } = await opened(t, {
    'a.csv': 'id,lat,lng\n1,40,-99\n',
    'b.csv': 'id\tlat\tlng\n2\t41\t-98\n',
    'c.psv': 'id|lat|lng\n3|42|-97\n',
  });
  assert.deepEqual(await rowsOf(files, 'id', 'lng'), [
    ...['a.csv:2 1|-99', 'b.csv:2 2|-98', 'c.psv:2 3|-97'],
  ]);
});

test('what a row of a part has beside its fields is known: that it is empty', async (t) => {
  const empty = '{"type":"Feature","properties":null,"geometry":null}';
  const point =
    '{"type":"Feature","properties":{},"geometry":{"type":"Point","coordinates":[-99,40]}}';
  const collection = (...features: string[]) =>
    `{"type":"FeatureCollection","features":[${features.join(',')}]}`;
  const { files } = await opened(t, {
    'a.geojson': collection(point),
    'b.geojson': collection(empty, point),
  });
  const found: unknown[] = [];
  for await (const batch of files.read([0]))
    for (const { part, fields, noLocation } of batch) found.push([part, fields, noLocation]);
  assert.deepEqual(found, [
    ['a.geojson', ['40'], undefined],
    ['b.geojson', [''], 'empty_row'],
    ['b.geojson', ['40'], undefined],
  ]);
});

test('an empty part is written as it is, compressed or not', async (t) => {
  const { folder, files } = await opened(t, {
    'a.csv': 'lat,lng\n',
    'b.csv': '',
    'c.csv.gz': gzipSync(''),
  });
  for (const part of files.parts.slice(1)) {
    const output = join(folder, `out-${part.name}`);
    const rowFile = await openPart(part, {});
    const placed = placedRows(0, async () => []);
    assert.equal((await rowFile.write({ output, dropFrom: null, added: [], placed })).rows, 0);
    assert.deepEqual(readFileSync(output), readFileSync(part.path));
  }
});

test('objects may have different members: a member that a part does not have is empty there', async (t) => {
  const { files } = await opened(t, {
    'a.ndjson': '{"id":1,"lat":40,"lng":-99}\n',
    'b.ndjson': '{"lng":-98,"site":"x","id":2,"lat":41}\n{"lng":-97,"lat":42}\n',
  });
  // Before the next column of its own part that others have: so what Perilbook added stays at the end.
  assert.deepEqual(files.columns, ['site', 'id', 'lat', 'lng']);
  assert.deepEqual(await rowsOf(files, 'lat', 'site', 'id'), [
    ...['a.ndjson:1 40||1', 'b.ndjson:1 41|x|2', 'b.ndjson:2 42||'],
  ]);
});

test('a part with another header or format is refused with both names and the column', async (t) => {
  const refused = async (other: string, message: string, name = 'b.csv') => {
    await assert.rejects(opened(t, { '0.csv': '', 'a.csv': 'id,lat,lng\n', [name]: other }), {
      ...{ code: 'INPUT_COLUMNS', message },
    });
  };
  const columns = 'The parts a.csv and b.csv have different columns: column';
  await refused('id,lat,lon\n', `${columns} 3 is "lng" in a.csv, and "lon" in b.csv`);
  await refused('id,lat\n', `${columns} 3 is "lng" in a.csv, and missing in b.csv`);
  await refused('id,lat,lng,site\n', `${columns} 4 is missing in a.csv, and "site" in b.csv`);
  // Whoever reads the output as one table expects one order.
  await refused('lat,lng,id\n', `${columns} 1 is "id" in a.csv, and "lat" in b.csv`);
  await refused(
    '{"lat":1}\n',
    'The parts a.csv and b.ndjson have different formats: csv and ndjson',
    'b.ndjson',
  );
});

test('parts that are all empty are refused, and a part that changes after it was listed', async (t) => {
  await assert.rejects(opened(t, { 'a.csv': '', 'b.csv': '' }), {
    code: 'INPUT_UNREADABLE',
    message: /a\.csv is empty, as all parts are/,
  });
  const { folder, files } = await opened(t, {
    'a.csv': 'lat,lng\n1,2\n',
    'b.csv': 'lat,lng\n1,2\n',
  });
  utimesSync(join(folder, 'b.csv'), 1, 1);
  await assert.rejects(rowsOf(files, 'lat'), {
    code: 'INPUT_UNREADABLE',
    message: /b\.csv has changed/,
  });
});
