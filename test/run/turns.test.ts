import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Turns } from '../../src/run/buy/turns.ts';
import { fc } from '../properties.ts';

test('the holder of a turn goes, also again; others wait until it is disposed of', async () => {
  const turns = new Turns();
  const [first, second] = [{}, {}];
  {
    using _ = turns.ending(first);
    assert.equal(turns.take(first, ['radon']), null);
    assert.equal(turns.take(first, ['radon', 'key']), null, 'its own');
    assert.equal(turns.take(second, ['park']), null, 'another matter');
    assert.equal(turns.take(second, []), null);
    const over = turns.take(second, ['key', 'service']);
    assert.ok(over instanceof Promise);
    assert.equal(turns.take({}, ['service']), null, 'a call that waits holds nothing');
    setImmediate(() => turns.ending(first)[Symbol.dispose]());
    await over;
  }
  assert.equal(turns.take(second, ['key']), null);
});

test('two holders never have one turn, and after all ends each is free', () => {
  const names = fc.subarray(['service', 'hail', 'price', 'key']);
  const act = fc.record({ who: fc.nat({ max: 3 }), needed: names, isEnd: fc.boolean() });
  fc.assert(
    fc.property(fc.array(act), (acts) => {
      const turns = new Turns();
      const holders = [{}, {}, {}, {}];
      const held = new Map<string, number>();
      for (const { who, needed, isEnd } of acts) {
        if (isEnd) {
          turns.ending(holders[who]!)[Symbol.dispose]();
          for (const [name, of] of held) if (of === who) held.delete(name);
          continue;
        }
        const isFree = needed.every((name) => (held.get(name) ?? who) === who);
        assert.equal(turns.take(holders[who]!, needed) === null, isFree);
        if (isFree) for (const name of needed) held.set(name, who);
      }
    }),
  );
});
