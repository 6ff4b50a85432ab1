import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nearestName, nearestNames } from '../../src/base/nearest-name.ts';
import { TOPIC_SLUGS } from '../../src/contract/topics.ts';
import { fc } from '../properties.ts';

test('a letter missing, too many, wrong, or exchanged with its neighbour', () => {
  for (const misspelt of ['wildfir', 'wildfirre', 'wildfore', 'widlfire', ' WILDFIRE ']) {
    assert.equal(nearestName(misspelt, TOPIC_SLUGS), 'wildfire', misspelt);
  }
  assert.deepEqual(nearestNames('lgn', ['Latitude', ' lng ']), [' lng ']);
});

test('what is like nothing gets no suggestion', () => {
  for (const text of ['', '  ', 'zzzzzzzz', 'x'])
    assert.equal(nearestName(text, TOPIC_SLUGS), null, text);
  assert.equal(nearestName('wildfire', []), null);
  assert.deepEqual(nearestNames('a', ['', ' ']), []);
});

test('several that are as near are all named, at most three, each once, in their own writing', () => {
  assert.deepEqual(nearestNames('pm1', ['pm25', 'pm10', 'PM1 ', 'pm10']), ['PM1 ', 'pm10']);
  assert.deepEqual(nearestNames('lat', ['lat1', 'lat2', 'lat3', 'lat4']), ['lat1', 'lat2', 'lat3']);
});

/** Letters to insert, delete or replace, told by trying all ways. */
function distance(a: string, b: string): number {
  if (a === '' || b === '') return a.length + b.length;
  const [x, y] = [a.slice(1), b.slice(1)];
  const swapped = a.length > 1 && b.length > 1 && a[0] === b[1] && a[1] === b[0];
  return Math.min(
    distance(x, y) + (a[0] === b[0] ? 0 : 1),
    distance(x, b) + 1,
    distance(a, y) + 1,
    swapped ? distance(a.slice(2), b.slice(2)) + 1 : Number.POSITIVE_INFINITY,
  );
}

test('it is the nearest of all, and no farther than a third of the letters', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 6 });
  fc.assert(
    fc.property(word, fc.array(word, { maxLength: 6 }), (misspelt, all) => {
      // Two of four or five letters may differ where the first one is the same: tested by its own.
      const names = all.filter(
        (name) => misspelt.length < 4 || misspelt.length > 5 || name[0] !== misspelt[0],
      );
      const most = Math.max(1, Math.floor(misspelt.length / 3));
      const distances = names.filter((name) => name !== '').map((name) => distance(misspelt, name));
      const nearest = Math.min(...distances);
      const found = nearestName(misspelt, names);
      assert.equal(found === null, nearest > most);
      if (found !== null) assert.equal(distance(misspelt, found), nearest);
      const several = nearestNames(misspelt, names);
      assert.ok(several.length <= 3 && new Set(several).size === several.length);
      for (const name of several)
        assert.ok(distance(misspelt, name) <= Math.min(most, nearest + 1));
    }),
  );
});

test('two letters of a short word may differ after the same first letter', () => {
  assert.equal(nearestName('hale', ['hail', 'park']), 'hail');
  assert.equal(nearestName('male', ['hail', 'park']), null);
});
