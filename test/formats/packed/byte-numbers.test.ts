import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ByteNumbers } from '../../../src/formats/packed/byte-numbers.ts';
import { fc } from '../../properties.ts';

test('equal runs of bytes have one number, wherever they stand, and come back in order', () => {
  const runs = fc.array(fc.uint8Array({ maxLength: 9, max: 2 }), { maxLength: 200 });
  fc.assert(
    fc.property(runs, fc.nat(200), (all, split) => {
      const numbers = new ByteNumbers();
      const known = new Map<string, number>();
      let first = 0;
      for (const [index, run] of all.entries()) {
        if (index === split) first = numbers.size;
        const framed = Uint8Array.from([7, ...run, 7]);
        const key = run.join();
        if (!known.has(key)) known.set(key, known.size);
        assert.equal(numbers.numberOf(framed, 1, 1 + run.length), known.get(key));
        assert.equal(numbers.size, known.size);
      }
      const kept = [...known.keys()].slice(first).join().split(',').filter(Boolean);
      assert.deepEqual([...numbers.bytesFrom(first)], kept.map(Number));
    }),
  );
});

test('as many runs as a large book has tracts are told apart', () => {
  const numbers = new ByteNumbers();
  const runOf = (number: number) => Buffer.alloc(170, `${number}-`);
  for (let pass = 0; pass < 2; pass++)
    for (let number = 0; number < 5_000; number++)
      assert.equal(numbers.numberOf(runOf(number), 0, 170), number);
  assert.equal(numbers.size, 5_000);
  assert.ok(Buffer.from(numbers.bytesFrom(4_999)).equals(runOf(4_999)));
});
