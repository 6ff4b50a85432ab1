import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Field } from '../../src/contract/answer.ts';
import { openRowFile } from '../../src/rows/open/open-row-file.ts';
import { putPlace } from '../../src/rows/placed-fields.ts';
import type { PlacedFields } from '../../src/rows/port.ts';
import { temporaryFolder } from './book-fixture.ts';
import { ALL_TYPES, madeParquet } from './parquet-fixture.ts';

const folder = temporaryFolder();
const ROWS = 40_000;
const PLACES = 2_000;
const DAY = Date.UTC(2026, 4, 1);

/** Many places, nulls that begin late, texts of every kind. */
function fieldsAt(place: number): Field[] {
  if (place % 11 === 0) return ['invalid', `row "${place}", µ`, null, null, null];
  const time = place > 1500 ? null : new Date(DAY + place).toISOString();
  return ['ok', place % 5 === 0 ? null : `note ${place % 9}`, time, place / 7, place % 13];
}

/** Writes with the fields of all places, with those of the places that come, or with each row as a place; counts the fields that are made. */
async function written(
  input: string,
  by: 'all' | 'some' | 'rows',
): Promise<{ bytes: Buffer; made: number }> {
  let made = 0;
  let row = 0;
  const placeOf = (number: number) => (number * 7919) % PLACES;
  const give: PlacedFields['give'] = async (sink, places) => {
    for (const place of places) {
      made++;
      putPlace(sink, fieldsAt(by === 'rows' ? placeOf(place) : place));
    }
  };
  const everyPlace = Array.from({ length: PLACES }, (_, place) => place);
  const placed: PlacedFields = {
    give,
    next: (count) =>
      Int32Array.from({ length: count }, () => (by === 'rows' ? row++ : placeOf(row++))),
    ...(by === 'all' && { all: { count: PLACES, give: (sink) => give(sink, everyPlace) } }),
  };
  const output = `${input}.out`;
  await (await openRowFile(input)).write({ output, dropFrom: null, added: ALL_TYPES, placed });
  return { bytes: readFileSync(output), made };
}

for (const name of ['shared.csv', 'shared.parquet']) {
  test(`${name}: rows that share their fields come out as rows that do not, and their fields are made once`, async () => {
    const input = join(folder, name);
    if (name.endsWith('.csv')) {
      writeFileSync(
        input,
        `id,x\n${Array.from({ length: ROWS }, (_, i) => `${i},"a\nb"\r\n`).join('')}`,
      );
    } else {
      await madeParquet(
        `select i as id from range(0, ${ROWS}) t(i)`,
        input,
        'row_group_size 20480',
      );
    }
    const [all, some, rows] = [
      await written(input, 'all'),
      await written(input, 'some'),
      await written(input, 'rows'),
    ];
    assert.ok(some.bytes.equals(rows.bytes));
    assert.ok(all.bytes.equals(rows.bytes));
    assert.equal(all.made, PLACES);
    // Once in each of two row groups.
    assert.equal(some.made, name.endsWith('.csv') ? PLACES : 2 * PLACES);
    assert.equal(rows.made, ROWS);
  });
}

test('200,000 rows are read and written within a heap of 48 MB', () => {
  const [input, output] = [join(folder, 'big.csv'), join(folder, 'big-out.csv')];
  const texts = '"some, text",7,'.repeat(7).slice(0, -1);
  const lines = Array.from(
    { length: 200_000 },
    (_, i) => `${30 + (i % 997) / 100},-100.${i},${texts}\n`,
  );
  writeFileSync(
    input,
    `lat,lng,${Array.from({ length: 14 }, (_, i) => `c${i}`).join()}\n${lines.join('')}`,
  );
  const script = `
    import { openRowFile } from ${JSON.stringify(new URL('../../src/rows/open/open-row-file.ts', import.meta.url).href)};
    const book = await openRowFile(${JSON.stringify(input)});
    let rows = 0;
    for await (const batch of book.read([0, 1])) rows += batch.length;
    const added = Array.from({ length: 54 }, (_, i) => ({ name: 'h' + i, type: 'number' }));
    let row = 0;
    const placed = {
      next: (count) => Int32Array.from({ length: count }, () => row++),
      give: async (sink, places) => {
        for (const place of places) {
          for (let i = 0; i < added.length; i++) sink.put(place + 1 + i / 8);
          sink.endPlace();
        }
      },
    };
    const written = await book.write({ output: ${JSON.stringify(output)}, dropFrom: null, added, placed });
    console.log(JSON.stringify({ rows, written }));`;
  const flags = ['--max-old-space-size=48', '--input-type=module', '--eval', script];
  const { rows, written } = JSON.parse(execFileSync(process.execPath, flags, { encoding: 'utf8' }));
  assert.equal(rows, lines.length);
  assert.deepEqual(written, { rows, bytes: statSync(output).size });
});
