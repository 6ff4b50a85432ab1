import assert from 'node:assert/strict';
import { createWriteStream, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { test } from 'node:test';
import { perilbook } from '../cli/command-line.ts';
import { fc } from '../properties.ts';
import { folderWith } from '../sample-database.ts';

const RUN = ['-t', 'hail', '--service', 'sample', '--store', 'store.db', '--yes', '--json', '--max-invalid', '100%'];

/** Enriches an array, and gives the output's text, and the result or the error. */
async function enriched(folder: string, text: string, output = 'out.json') {
  writeFileSync(join(folder, 'in.json'), text);
  const { code, stdout, stderr } = await perilbook(['run', 'in.json', '-o', output, ...RUN, '--force'], { folder });
  return {
    code,
    stderr,
    result: JSON.parse(stdout),
    text: code === 2 ? '' : readFileSync(join(folder, output), 'utf8'),
  };
}

test('a JSON array of objects is read as rows and written back as an array; bytes between and inside the objects stay', async (t) => {
  const folder = folderWith(t, {}, 'store.db');
  const text =
    '\ufeff [\n  {"id": 1.50, "lat": 34.05, "lng": -118.24, "t": "a],{\\"b"} ,\r\n\t{"lng":-80.19,"lat":25.77,"x":[1,{"y":2}]}\n , {"id":3}]\n\n';
  const { code, result, text: out } = await enriched(folder, text);
  assert.deepEqual([code, result.rows, result.located, result.invalid], [0, 3, 2, 1]);
  const added = /,"hazard_status":"[^{}]*?(?=\})/g;
  assert.equal(out.replace(added, ''), text);
  const rows = JSON.parse(out.replace('\ufeff', ''));
  assert.deepEqual(
    rows.map((row: { hazard_status: string }) => row.hazard_status),
    ['ok', 'ok', 'invalid'],
  );
  // Enriched again, it is the same; as CSV, it has a row an element.
  assert.equal((await enriched(folder, out)).text, out);
  assert.equal((await enriched(folder, text, 'out.csv')).text.trim().split('\n').length, 4);
});

test('an array that cannot be read is refused, wherever it is broken', async (t) => {
  const folder = folderWith(t, {}, 'store.db');
  const one = '{"lat":34.05,"lng":-118.24}';
  for (const [text, message] of [
    [`[${one},${one}`, /not closed/],
    [`[${one} ${one}]`, /cannot be read/],
    [`[${one}] x`, /more after its JSON array/],
    [`[${one},${one.slice(0, 9)}`, /not closed/],
    ['[[1,2]]', /is JSON/],
    ['{"rows":[{"lat":1}]}', /./],
  ] as const) {
    const { code, stderr } = await enriched(folder, text);
    assert.equal(code, 2, text);
    assert.match(stderr, message, text);
  }
});

test('any objects come back with their values, however the array is spaced', async (t) => {
  const folder = folderWith(t, {}, 'store.db');
  const space = fc.constantFrom('', ' ', '\n', '\r\n\t');
  const values = fc.dictionary(
    fc.string({ maxLength: 5 }).filter((name) => !/^(hazard|hail|lat|lng)|^$|__proto__|\s/i.test(name)),
    fc.jsonValue(),
    { maxKeys: 3 },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(values, space), { minLength: 1, maxLength: 6 }), async (items) => {
      const objects = items.map(([value]) => ({ lat: 34.05, lng: -118.24, ...value }));
      const text = `[${items.map(([, gap], index) => `${gap}${JSON.stringify(objects[index])}${gap}`).join(',')}]`;
      const { code, stderr, text: out } = await enriched(folder, text);
      assert.equal(code, 0, stderr);
      const rows = JSON.parse(out).map((row: object) =>
        Object.fromEntries(Object.entries(row).filter(([name]) => !/^(hazard|hail)_/.test(name))),
      );
      assert.deepEqual(rows, JSON.parse(JSON.stringify(objects)));
    }),
    { numRuns: 25 },
  );
});

test('a file larger than the window is read and copied whole', async (t) => {
  const folder = folderWith(t, {}, 'store.db');
  const file = createWriteStream(join(folder, 'in.json'));
  const COUNT = 30_000;
  file.write('[');
  for (let index = 0; index < COUNT; index++) {
    file.write(`${index === 0 ? '' : ',\n'}{"id":${index},"lat":34.05,"lng":-118.24,"text":"${'x'.repeat(60)}"}`);
  }
  file.end(']');
  await finished(file);
  const { result, text } = await enriched(folder, readFileSync(join(folder, 'in.json'), 'utf8'));
  assert.equal(result.rows, COUNT);
  const rows = JSON.parse(text);
  assert.deepEqual([rows.length, rows.at(-1).id, rows.at(-1).hazard_status], [COUNT, COUNT - 1, 'ok']);
});
