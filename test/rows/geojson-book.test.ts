import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { findLocationColumns } from '../../src/rows/location-columns.ts';
import { openRowFile } from '../../src/rows/open-row-file.ts';
import { noRealData, realFile } from '../real-data.ts';
import { allRows, fillWith, temporaryFolder, writeRows } from './book-fixture.ts';

const folder = temporaryFolder();
const MEMBERS = '"hazard_status":"ok","hazard_note":null,"hail_score":1.5';
const request = { fill: fillWith(['ok', null, 1.5]) };

const SOURCE = `{ "type": "FeatureCollection", "name": "x",
"features": [
  {"type":"Feature","properties":{"id": 1.0},"geometry":{"type":"Point","coordinates":[-90.5, 30.25, 7]}},
  {"type":"Feature","properties":null,"geometry":null},
  {"type":"Feature","geometry":{"type":"LineString","coordinates":[[1,2],[3,4]]}}
] }
`;

test('features are rows, and their properties get the new members', async () => {
  const [file, output] = [join(folder, 'a.geojson'), join(folder, 'b.geojson')];
  writeFileSync(file, SOURCE);
  const book = await openRowFile(file);
  assert.deepEqual([book.format, ...book.columns], ['geojson', 'geometry.latitude', 'geometry.longitude', 'id']);
  assert.deepEqual(findLocationColumns(book.columns), { lat: 0, lng: 1, note: null });
  assert.deepEqual(await allRows(book, [0, 1, 2]), [
    { number: 1, line: 1, fields: ['30.25', '-90.5', '1'] },
    { number: 2, line: 2, fields: ['', '', ''] },
    { number: 3, line: 3, fields: ['', '', ''], problem: 'The geometry is a LineString, not a Point.' },
  ]);
  await writeRows(book, { ...request, output });
  const expected = SOURCE.replace('{"id": 1.0}', `{"id": 1.0,${MEMBERS}}`)
    .replace('"properties":null', `"properties":{${MEMBERS}}`)
    .replace('[3,4]]}}', `[3,4]]},"properties":{${MEMBERS}}}`);
  assert.equal(readFileSync(output, 'utf8'), expected);
  const again = await openRowFile(output);
  const dropFrom = again.columns.indexOf('hazard_status');
  await writeRows(again, { ...request, dropFrom, output: file });
  assert.equal(readFileSync(file, 'utf8'), expected);
});

test('GeoJSON that is cut off or damaged is refused', async () => {
  const file = join(folder, 'bad.geojson');
  for (const text of [
    SOURCE.slice(0, 200),
    SOURCE.slice(0, -5),
    SOURCE.replace('null,"geo', 'nul,"geo'),
    `${SOURCE}x`,
  ]) {
    writeFileSync(file, text);
    await assert.rejects(openRowFile(file), { code: 'INPUT_UNREADABLE', message: /damaged or cut off/ });
  }
});

test('real points come back with all their bytes', { skip: noRealData }, async () => {
  for (const [name, count] of [
    ['quakes/earthquakes.geojson', 6107],
    ['sites/nuclear_power_plants.geojson', 55],
    ['sites/seattle_parks.geojson', 1514],
  ] as const) {
    const file = realFile(name);
    const output = join(folder, 'real.geojson');
    const book = await openRowFile(file);
    const result = await writeRows(book, { ...request, output });
    assert.equal(result.rows, count);
    const bare = readFileSync(output, 'utf8').replaceAll(`,${MEMBERS}`, '');
    assert.equal(bare, readFileSync(file, 'utf8'));
  }
});

test('the id of a feature goes into a table, and stays where it is in GeoJSON', async () => {
  const [file, output] = [join(folder, 'ids.geojson'), join(folder, 'ids.out.geojson')];
  const point = '"geometry":{"type":"Point","coordinates":[-90.5,30.25]}';
  const features = [`{"type":"Feature","id":"a",${point},"properties":{"id":1}}`, `{"type":"Feature",${point}}`];
  writeFileSync(file, `{"type":"FeatureCollection","features":[${features.join(',')}]}`);
  const book = await openRowFile(file);
  await writeRows(book, { ...request, output: join(folder, 'ids.csv') });
  const lines = readFileSync(join(folder, 'ids.csv'), 'utf8').trimEnd().split('\n');
  assert.deepEqual(lines, [
    'geometry.latitude,geometry.longitude,feature.id,id,hazard_status,hazard_note,hail_score',
    '30.25,-90.5,a,1,ok,,1.5',
    '30.25,-90.5,,,ok,,1.5',
  ]);
  await writeRows(book, { ...request, output });
  const again = await openRowFile(output);
  await writeRows(again, { ...request, dropFrom: again.columns.indexOf('hazard_status'), output: file });
  assert.equal(readFileSync(file, 'utf8'), readFileSync(output, 'utf8'));
});

test('an empty collection, a single feature, and features one after the other are rows too', async () => {
  const feature = (id: number) =>
    `{"type":"Feature","properties":{"id":${id}},"geometry":{"type":"Point","coordinates":[-9${id},4${id}]}}`;
  const cases: readonly (readonly [content: string, ids: readonly string[]])[] = [
    ['{"type":"FeatureCollection","features":[]}', []],
    [feature(1), ['1']],
    [`\ufeff${JSON.stringify(JSON.parse(feature(1)), null, 2)}\n`, ['1']],
    [`${feature(1)}\n${feature(2)}\n\n`, ['1', '2']],
    [`\x1e${feature(1)}\n\x1e${JSON.stringify(JSON.parse(feature(2)), null, 1)}\n`, ['1', '2']],
  ];
  const [file, output] = [join(folder, 'seq.geojson'), join(folder, 'seq-out.geojson')];
  for (const [content, ids] of cases) {
    writeFileSync(file, content);
    const book = await openRowFile(file);
    assert.deepEqual([book.format, book.unit], ['geojson', 'feature'], content);
    assert.equal(findLocationColumns(book.columns).lat, 0);
    const rows = await allRows(book, [0, 1, ...(ids.length > 0 ? [2] : [])]);
    const told = rows.map(({ line, fields }) => `${line} ${fields}`);
    assert.deepEqual(
      told,
      ids.map((id) => `${id} 4${id},-9${id},${id}`),
    );
    await writeRows(book, { ...request, output });
    const isPretty = content.includes('\n  "') || content.includes('\n "');
    if (!isPretty) assert.equal(readFileSync(output, 'utf8'), content.replaceAll(/("id":\d)/g, `$1,${MEMBERS}`));
    assert.equal((await allRows(await openRowFile(output), [])).length, ids.length);
  }
  writeFileSync(file, `${feature(1)}\n${feature(2).slice(0, -9)}\n`);
  await assert.rejects(openRowFile(file), /damaged or cut off/);
});
