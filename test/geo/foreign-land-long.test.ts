import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { foreignLandAt } from '../../src/geo/us-coverage.ts';
import { makeForeignLand } from './foreign-land-source.ts';

const FILE = new URL('../../src/geo/foreign-land.json', import.meta.url);

test('foreign-land.json is what its source makes of world-atlas (UPDATE_FOREIGN_LAND=1 writes it anew)', () => {
  const made = `${JSON.stringify(makeForeignLand())}\n`;
  if (process.env.UPDATE_FOREIGN_LAND) writeFileSync(FILE, made);
  assert.equal(readFileSync(FILE, 'utf8'), made);
});

test('places in Canada and Mexico lie inside, places in the US do not, and the far ones are far', () => {
  const inside = (lat: number, lng: number) => foreignLandAt({ lat, lng }).isInside;
  assert.deepEqual(
    [inside(42.3, -83), inside(32.5, -116.9), inside(18.43, -64.62), inside(44.88, -66.95)],
    Array(4).fill(true),
  );
  assert.deepEqual(
    [inside(42.4, -83.1), inside(32.6, -116.9), inside(18.34, -64.72)],
    Array(3).fill(false),
  );
  assert.deepEqual(foreignLandAt({ lat: 39.74, lng: -104.99 }), {
    meters: Number.POSITIVE_INFINITY,
    isInside: false,
  });
});
