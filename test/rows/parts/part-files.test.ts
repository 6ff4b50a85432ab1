import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { listParts } from '../../../src/rows/parts/list-parts.ts';
import { openPart, openPartFiles } from '../../../src/rows/parts/part-files.ts';
import type { RowSource } from '../../../src/rows/port.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

type Contents = Readonly<Record<string, string | Buffer>>;

async function opened(t: TestContext, contents: Contents) {
  const folder = join(temporaryFolder(t), 'in');
  mkdirSync(folder);
  for (const [name, content] of Object.entries(contents)) writeFileSync(join(folder, name), content);
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
  const expected = ['a.csv:2 -99|1', 'a.csv:3 -98|2', 'b.csv.gz:2 -97|3\n3', 'b.csv.gz:4 -96|4', 'c.csv.zst:2 -95|5'];
  assert.deepEqual(await rowsOf(files, 'lng', 'id'), expected);
  assert.deepEqual(await rowsOf(files, 'lng', 'id'), expected);
});

test('an empty part is written as it is, compressed or not', async (t) => {
  const { folder, files } = await opened(t, { 'a.csv': 'lat,lng\n', 'b.csv': '', 'c.csv.gz': gzipSync('') });
  for (const part of files.parts.slice(1)) {
    const output = join(folder, `out-${part.name}`);
    const rowFile = await openPart(part, {});
    const placed = { next: () => new Int32Array(), give: async () => {} };
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
  await refused('{"lat":1}\n', 'The parts a.csv and b.ndjson have different formats: csv and ndjson', 'b.ndjson');
});

test('parts that are all empty are refused, and a part that changes after it was listed', async (t) => {
  await assert.rejects(opened(t, { 'a.csv': '', 'b.csv': '' }), {
    code: 'INPUT_UNREADABLE',
    message: /a\.csv is empty, as all parts are/,
  });
  const { folder, files } = await opened(t, { 'a.csv': 'lat,lng\n1,2\n', 'b.csv': 'lat,lng\n1,2\n' });
  utimesSync(join(folder, 'b.csv'), 1, 1);
  await assert.rejects(rowsOf(files, 'lat'), { code: 'INPUT_UNREADABLE', message: /b\.csv has changed/ });
});
