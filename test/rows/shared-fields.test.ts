import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Field } from '../../src/contract/answer.ts';
import { openRowFile } from '../../src/rows/open-row-file.ts';
import type { PlaceSink, RowFields, WriteRequest } from '../../src/rows/port.ts';
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

/** Writes with the places of rows, with one function for all rows of a place, or with one for each row; counts the arrays that are
 * made. */
async function written(input: string, by: 'places' | 'shared' | 'rows'): Promise<{ bytes: Buffer; made: number }> {
  let made = 0;
  const maker =
    (place: number): RowFields =>
    () => {
      made++;
      return fieldsAt(place);
    };
  const shared = Array.from({ length: PLACES }, (_, place) => maker(place));
  let row = 0;
  const next = (count: number) => Int32Array.from({ length: count }, () => (row++ * 7919) % PLACES);
  const fill: WriteRequest['fill'] = async (count) =>
    Array.from(next(count), (place) => (by === 'shared' ? shared[place]! : maker(place)));
  const each = async (sink: PlaceSink) => {
    for (const make of shared) {
      for (const field of make()) sink.put(field);
      sink.endPlace();
    }
  };
  const placed = by === 'places' ? { placed: { count: PLACES, each, next, inThreads: null } } : {};
  const output = `${input}.out`;
  await (await openRowFile(input)).write({ output, dropFrom: null, added: ALL_TYPES, fill, ...placed });
  return { bytes: readFileSync(output), made };
}

for (const name of ['shared.csv', 'shared.parquet']) {
  test(`${name}: rows that share their fields come out as rows that do not, and their fields are made once`, async () => {
    const input = join(folder, name);
    if (name.endsWith('.csv')) {
      writeFileSync(input, `id,x\n${Array.from({ length: ROWS }, (_, i) => `${i},"a\nb"\r\n`).join('')}`);
    } else {
      await madeParquet(`select i as id from range(0, ${ROWS}) t(i)`, input, 'row_group_size 20480');
    }
    const [placed, shared, apart] = [
      await written(input, 'places'),
      await written(input, 'shared'),
      await written(input, 'rows'),
    ];
    assert.ok(shared.bytes.equals(apart.bytes));
    assert.ok(placed.bytes.equals(apart.bytes));
    assert.equal(placed.made, PLACES);
    // Once in each of two row groups.
    assert.equal(shared.made, name.endsWith('.csv') ? PLACES : 2 * PLACES);
    assert.equal(apart.made, ROWS);
  });

  test(`${name}: a batch with too few rows, or a row with too few fields, is refused`, async () => {
    const book = await openRowFile(join(folder, name));
    for (const fill of [
      async () => [() => []],
      async (count: number) => new Array<RowFields>(count).fill(() => ['ok']),
    ]) {
      const request = { output: join(folder, 'refused'), dropFrom: null, added: ALL_TYPES, fill };
      await assert.rejects(book.write(request), { code: 'BUG' });
    }
  });
}
