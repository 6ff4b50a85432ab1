import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Field } from '../../src/contract/answer.ts';
import type { OutputPlaces } from '../../src/formats/packed/output-places.ts';
import { FieldPacker } from '../../src/formats/packed/packed-fields.ts';
import { makePlaceTable, placeWriter, takeBlocks } from '../../src/formats/packed/place-table.ts';
import { openUnnamed } from '../../src/rows/files/temporary-files.ts';
import { openRowFile } from '../../src/rows/open/open-row-file.ts';
import type { PlacedFields, RowPiece } from '../../src/rows/port.ts';
import { ThreadPool } from '../../src/threads/thread-pool.ts';
import { placedRows, temporaryFolder } from './book-fixture.ts';
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

/** The places of an output, in blocks of memory or in a file. */
function outputPlaces(memoryBytes: number, file: number | null): OutputPlaces {
  const table = makePlaceTable(PLACES, memoryBytes, file);
  const writer = placeWriter(table);
  const packer = new FieldPacker({ numberOf: () => -1, textOf: () => '' });
  for (let place = 0; place < PLACES; place++) {
    const packed = packer.pack(fieldsAt(place));
    writer.reserve(packed.length);
    writer.room.bytes.set(packed, writer.room.at);
    writer.end(place, packed.length);
  }
  takeBlocks(table, writer.flush());
  const kindOf = new Uint32Array(new SharedArrayBuffer(4 * PLACES));
  const leading = { kinds: [[]], kindOf, times: null, losses: null, empty: 0 };
  return { tables: [{ table, width: ALL_TYPES.length }], ...leading, texts: [], store: '' };
}

/** Writes with the fields of all places, in turn or in pieces, or with each row as a place. */
async function written(input: string, places: OutputPlaces | null, pool?: ThreadPool) {
  let row = 0;
  const placeOf = (number: number) => (number * 7919) % PLACES;
  const numbersOf = (count: number) => Int32Array.from({ length: count }, () => placeOf(row++));
  const opened = await openRowFile(input);
  const pieces: RowPiece[] = [];
  for (const piece of pool === undefined ? [] : opened.inPieces!.pieces) {
    const before = pieces.at(-1);
    const asked = before && piece.isGuess ? { ...piece, from: before.to, isGuess: false } : piece;
    const batches = opened.inPieces!.reader!.readNumbers!(asked, [0])!;
    for (;;) {
      const { done, value } = await batches.next();
      if (done) {
        pieces.push(value);
        break;
      }
    }
  }
  const inThreads = pool === undefined || places === null ? undefined : { pool, pieces, places };
  const placed: PlacedFields =
    places === null
      ? placedRows(ALL_TYPES.length, async (count) => [...numbersOf(count)].map(fieldsAt))
      : { next: async (count) => ({ numbers: numbersOf(count), places }), inThreads };
  const output = `${input}.out`;
  await opened.write({ output, dropFrom: null, added: ALL_TYPES, placed });
  return readFileSync(output);
}

for (const name of ['shared.csv', 'shared.parquet']) {
  test(`${name}: rows get the same fields from memory, from a file, in threads and one by one`, async () => {
    const input = join(folder, name);
    if (name.endsWith('.csv')) {
      writeFileSync(
        input,
        `id,x\n${Array.from({ length: ROWS }, (_, i) => `${i},"a\nb, and ${'c'.repeat(20)}"\r\n`).join('')}`,
      );
    } else {
      await madeParquet(
        `select i as id from range(0, ${ROWS}) t(i)`,
        input,
        'row_group_size 20480',
      );
    }
    const file = openUnnamed();
    const inFile = outputPlaces(0, file);
    const rows = await written(input, null);
    assert.ok(rows.equals(await written(input, outputPlaces(2 ** 23, null))), 'in memory');
    assert.ok(rows.equals(await written(input, inFile)), 'in a file');
    for (const threads of [0, 1, 3]) {
      await using pool = new ThreadPool({ threads, purpose: 'wrote' });
      assert.ok(rows.equals(await written(input, inFile, pool)), `in ${threads} threads`);
    }
    closeSync(file);
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
    import { listedPlaces } from ${JSON.stringify(new URL('../../src/formats/packed/output-places.ts', import.meta.url).href)};
    import { openRowFile } from ${JSON.stringify(new URL('../../src/rows/open/open-row-file.ts', import.meta.url).href)};
    const book = await openRowFile(${JSON.stringify(input)});
    let rows = 0;
    for await (const batch of book.read([0, 1])) rows += batch.length;
    const added = Array.from({ length: 54 }, (_, i) => ({ name: 'h' + i, type: 'number' }));
    let row = 0;
    const listed = listedPlaces(added.length);
    const placed = {
      async next(count) {
        const numbers = Int32Array.from({ length: count }, (_, at) => at);
        listed.fill(Array.from(numbers, () => added.map((_, i) => row + 1 + i / 8, row++)));
        return { numbers, places: listed.places };
      },
    };
    const written = await book.write({ output: ${JSON.stringify(output)}, dropFrom: null, added, placed });
    console.log(JSON.stringify({ rows, written }));`;
  const flags = ['--max-old-space-size=48', '--input-type=module', '--eval', script];
  const { rows, written } = JSON.parse(execFileSync(process.execPath, flags, { encoding: 'utf8' }));
  assert.equal(rows, lines.length);
  assert.deepEqual(written, { rows, bytes: statSync(output).size });
});
