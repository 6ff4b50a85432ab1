import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CellFields } from '../../src/job/cell-fields.ts';

const fieldsOf = (cell: number) => ['ok', null, `note ${cell % 7}`, cell / 1e6, 'n'.repeat(1000) + cell];

const noneFromStore = () => assert.fail('no cell was packed by the store');

test('cells come back from memory and from the temporary file, however much of each there is', () => {
  const cells = 12_000;
  // 2 kB a cell are 24 MB, in chunks of 4 MB: all in the file but the one being filled, up to all in memory.
  for (const chunksInMemory of [0, 1, 2, 5, 16]) {
    const kept = new CellFields(cells + 1, 5, noneFromStore, chunksInMemory * 4 * 1024 * 1024);
    for (let cell = 0; cell < cells; cell++) kept.put((cell * 7919) % cells, fieldsOf((cell * 7919) % cells));
    for (let cell = 0; cell < cells; cell++) {
      assert.ok(kept.has(cell));
      assert.deepEqual(kept.get(cell), fieldsOf(cell));
    }
    assert.equal(kept.has(cells), false);
    kept.close();
    assert.equal(kept.has(0), false);
  }
});

test('without room for a temporary file, what does not fit in memory is not kept, and the rest comes back', (t) => {
  const folder = process.env.TMPDIR;
  t.after(() => {
    if (folder === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = folder;
  });
  process.env.TMPDIR = '/nowhere';
  const cells = 12_000;
  const kept = new CellFields(cells, 5, noneFromStore, 4 * 1024 * 1024);
  for (let cell = 0; cell < cells; cell++) kept.put(cell, fieldsOf(cell));
  const ofThem = Array.from({ length: cells }, (_, cell) => cell).filter((cell) => kept.has(cell));
  // The chunk in memory and the one that was being filled.
  assert.ok(ofThem.length > 4_000 && ofThem.length < 4_200, `${ofThem.length}`);
  for (const cell of ofThem) assert.deepEqual(kept.get(cell), fieldsOf(cell));
});

test('fields that are too long are not kept: they are read from the store', () => {
  const kept = new CellFields(2, 1, noneFromStore);
  kept.put(0, ['x'.repeat(40_000)]);
  kept.put(1, ['deferred']);
  assert.equal(kept.status(1), 'deferred');
  assert.deepEqual([kept.has(0), kept.has(1)], [false, true]);
});

test('cells that the store has packed come back through it, from memory and from the temporary file', () => {
  const cells = 12_000;
  const bytesOf = (cell: number) => Buffer.alloc(1000 + (cell % 50), `${cell};`);
  const finish = (asOf: number, bytes: Buffer, from: number) => [
    'ok',
    asOf,
    bytes.toString('latin1', from, from + 1000 + (asOf % 50)),
  ];
  const kept = new CellFields(cells, 3, finish, 4 * 1024 * 1024);
  for (let cell = 0; cell < cells; cell++) {
    if (cell % 3 === 0) kept.put(cell, ['partial', cell, null]);
    else kept.putPacked(cell, { asOf: cell, bytes: bytesOf(cell) });
  }
  for (let cell = 0; cell < cells; cell++) {
    const isOwn = cell % 3 === 0;
    assert.equal(kept.status(cell), isOwn ? 'partial' : 'ok');
    const expected = isOwn ? ['partial', cell, null] : ['ok', cell, bytesOf(cell).toString('latin1')];
    assert.deepEqual(kept.get(cell), expected);
  }
  kept.close();
});
