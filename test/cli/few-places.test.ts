import assert from 'node:assert/strict';
import { test } from 'node:test';
import { folderWith } from '../sample-database.ts';
import { perilbook } from './command-line.ts';

test('a plan says in one line that many rows are at few places, and of other files nothing', async (t) => {
  const rows = (count: number, places: number) =>
    `lat,lng\n${Array.from({ length: count }, (_, row) => `${40 + (row % places) / 100},-99.9\n`).join('')}`;
  const folder = folderWith(t, {
    'few.csv': rows(240, 12),
    'some.csv': rows(240, 13),
    'small.csv': rows(199, 1),
  });
  const planOf = async (file: string) => {
    const { stdout } = await perilbook(['plan', file, '--topics', 'hail', '--service', 'sample'], {
      folder,
    });
    return stdout.split('\n').filter((line) => line.includes('few places'));
  };
  const [line] = await planOf('few.csv');
  assert.match(
    line!,
    /240 rows at 12 places: if these are centres of ZIP codes, counties or states,/,
  );
  assert.deepEqual([await planOf('some.csv'), await planOf('small.csv')], [[], []]);
});
