import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { makeLandBorder } from './land-border-source.ts';

const FILE = new URL('../../src/geo/land-border.json', import.meta.url);

test('land-border.json is what its source makes of country-coder (UPDATE_LAND_BORDER=1 writes it anew)', () => {
  const made = `${JSON.stringify(makeLandBorder())}\n`;
  if (process.env.UPDATE_LAND_BORDER) writeFileSync(FILE, made);
  assert.equal(readFileSync(FILE, 'utf8'), made);
});
