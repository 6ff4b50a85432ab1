import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Field } from '../../src/contract/answer.ts';
import { keptSuffixes } from '../../src/rows/csv/kept-suffixes.ts';
import { suffixWriter } from '../../src/rows/csv/suffix.ts';
import { gatherBytes } from '../../src/rows/files/gather-bytes.ts';
import { openBook } from '../../src/rows/open-book.ts';
import { NO_KEY, type WriteRequest } from '../../src/rows/port.ts';
import { temporaryFolder } from './book-fixture.ts';
import { ALL_TYPES, madeParquet } from './parquet-fixture.ts';

const folder = temporaryFolder();
const ROWS = 9_000;
const DAY = Date.UTC(2026, 4, 1);

/** Many places, some rows that stand for themselves, nulls that begin late, texts of every kind. */
function fieldsOf(number: number): Field[] {
  const key = keyOf(number);
  if (key === NO_KEY) return ['invalid', `row "${number}", µ`, null, null, null];
  const time = key > 1500 ? null : new Date(DAY + key).toISOString();
  return ['ok', key % 5 === 0 ? null : `note ${key % 9}`, time, key / 7, key % 13];
}

const keyOf = (number: number): number => (number % 11 === 0 ? NO_KEY : (number * 7919) % 2_000);

const fill: WriteRequest['fill'] = async (rows) => rows.map(({ number }) => fieldsOf(number));

function keyed(): Pick<WriteRequest, 'fill' | 'fillKeyed'> {
  let before = 0;
  return {
    fill: () => Promise.reject(new Error('fill is not for a writer that knows keys')),
    fillKeyed: async (count) => {
      const first = before + 1;
      before += count;
      const keys = Int32Array.from({ length: count }, (_, index) => keyOf(first + index));
      return { keys, fields: (index) => fieldsOf(first + index) };
    },
  };
}

async function written(input: string, how: Pick<WriteRequest, 'fill' | 'fillKeyed'>): Promise<Buffer> {
  const output = `${input}.out`;
  const book = await openBook(input);
  await book.write({ output, columns: [0], dropFrom: null, added: ALL_TYPES, ...how });
  return readFileSync(output);
}

test('a CSV file comes out the same by keys as row by row', async () => {
  const input = join(folder, 'keyed.csv');
  writeFileSync(input, `id,x\n${Array.from({ length: ROWS }, (_, i) => `${i},"a\nb"\r\n`).join('')}`);
  assert.deepEqual(await written(input, keyed()), await written(input, { fill }));
});

test('a Parquet file comes out the same by keys as row by row, in each row group', async () => {
  const input = join(folder, 'keyed.parquet');
  await madeParquet(`select i as id from range(0, ${ROWS}) t(i)`, input, 'row_group_size 2048');
  assert.deepEqual(await written(input, keyed()), await written(input, { fill }));
});

test('a batch with too few keys is refused', async () => {
  const fillKeyed: WriteRequest['fillKeyed'] = async () => ({ keys: new Int32Array(1), fields: () => [] });
  for (const name of ['keyed.csv', 'keyed.parquet']) {
    await assert.rejects(written(join(folder, name), { fill, fillKeyed }), { code: 'BUG' });
  }
});

test('suffixes that are too many to keep are made anew', async () => {
  const out: Buffer[] = [];
  const gathered = gatherBytes(async (bytes) => void out.push(Buffer.from(bytes)));
  const add = keptSuffixes(suffixWriter({ delimiter: ',', encoding: 'utf-8', width: 1 }), 1024 * 1024);
  const textOf = (key: number) => `${key};${'x'.repeat(999)}`;
  const keys = Int32Array.from({ length: 4_000 }, (_, i) => i % 2_000);
  for (let i = 0; i < keys.length; i++) {
    add(i, { keys, fields: (index) => [textOf(keys[index]!)] }, gathered);
    await gathered.flushIfFull();
  }
  await gathered.finish();
  assert.equal(Buffer.concat(out).toString(), Array.from(keys, textOf).join(''));
});
