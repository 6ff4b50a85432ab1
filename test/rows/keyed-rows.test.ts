import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Field } from '../../src/contract/answer.ts';
import { keptSuffixes } from '../../src/rows/csv/kept-suffixes.ts';
import { suffixWriter } from '../../src/rows/csv/suffix.ts';
import { gatherBytes } from '../../src/rows/files/gather-bytes.ts';
import { openRowFile } from '../../src/rows/open-row-file.ts';
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
  const book = await openRowFile(input);
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

/** Suffixes as they come out for these keys, where one is as long as `lengthOf` says, and how often each was made. */
async function suffixesOf(keys: Int32Array, lengthOf: (key: number) => number, mebibytesKept: number) {
  const out: Buffer[] = [];
  const made = new Map<number, number>();
  const gathered = gatherBytes(async (bytes) => void out.push(Buffer.from(bytes)));
  const writer = suffixWriter({ delimiter: ',', encoding: 'utf-8', width: 1 });
  const add = keptSuffixes(writer, mebibytesKept * 1024 * 1024);
  const textOf = (key: number) => `key ${key};`.padEnd(lengthOf(key), 'x');
  const fields = (index: number) => {
    const key = keys[index]!;
    made.set(key, (made.get(key) ?? 0) + 1);
    return [textOf(key)];
  };
  for (let i = 0; i < keys.length; i++) {
    add(i, { keys, fields }, gathered);
    await gathered.flushIfFull();
  }
  await gathered.finish();
  const expected = Buffer.from(Array.from(keys, textOf).join(''));
  assert.ok(Buffer.concat(out).equals(expected), 'each row has the suffix of its key');
  return made;
}

test('the suffix of a key is made once, of a row without a key each time', async () => {
  // Of 1,024 bytes each, so that they fill pieces of 1 MiB to the last byte; out of order, and with keys far apart.
  const keys = Int32Array.from({ length: 12_000 }, (_, i) => (i % 5 === 4 ? NO_KEY : ((i % 3_000) * 7_919) % 40_009));
  const made = await suffixesOf(keys, () => 1024, 3);
  assert.equal(made.get(NO_KEY), 2_400);
  made.delete(NO_KEY);
  assert.equal(made.size, 2_400);
  assert.deepEqual([...new Set(made.values())], [1]);
});

test('suffixes that are too many, or too long, to keep are made anew', async () => {
  const tooMany = await suffixesOf(
    Int32Array.from({ length: 6_000 }, (_, i) => i % 3_000),
    () => 1024,
    2,
  );
  assert.equal([...tooMany.values()].filter((times) => times === 1).length, 2_048);
  const long = await suffixesOf(
    Int32Array.of(1, 2, 1, 2, 3, 3),
    (key) => (key === 1 ? 1024 * 1024 + 1 : 1024 * 1024),
    4,
  );
  assert.deepEqual([...long.values()], [2, 1, 1]);
});
