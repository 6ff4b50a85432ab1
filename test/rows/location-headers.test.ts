import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { resultOrNull } from '../../src/base/errors.ts';
import { locationByNames } from './location-of.ts';

const HEADERS = readFileSync(join(import.meta.dirname, 'location-headers.txt'), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => line.split(' | ') as [source: string, columns: string, pair: string]);

function pairOf(columns: readonly string[]): string {
  const found = resultOrNull(() => locationByNames(columns));
  return found === null ? 'none' : `${columns[found.lat]}, ${columns[found.lng]}`;
}

test('in the headers of public files the pair of coordinates is found, or none where there is none', () => {
  assert.ok(HEADERS.length >= 150, `${HEADERS.length} headers`);
  const wrong = HEADERS.map(
    ([source, columns, pair]) => [source, pairOf(columns.trim().split(';')), pair.trim()] as const,
  );
  assert.deepEqual(
    wrong.filter(([, found, pair]) => found !== pair),
    [],
  );
});
