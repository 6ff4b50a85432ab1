import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { DIALECT_NAMES } from '../../src/warehouse/sql-dialects.ts';
import { perilbook } from '../cli/command-line.ts';

const GOLDEN = join(import.meta.dirname, 'golden');

for (const dialect of DIALECT_NAMES) {
  test(`perilbook sql prints the statements of ${dialect} (UPDATE_SQL=1 writes them again)`, async () => {
    const words = [
      '--table',
      'acme.book',
      '--lat',
      'Site latitude',
      '--lng',
      'lon',
      '--weight',
      'tiv',
      '--prefix',
      'hz_',
    ];
    const { code, stdout, stderr } = await perilbook(['sql', '--dialect', dialect, ...words, '-t', 'wildfire']);
    assert.equal(code, 0, stderr);
    const file = join(GOLDEN, `${dialect}.sql`);
    if (process.env.UPDATE_SQL === '1') writeFileSync(file, stdout);
    assert.ok(existsSync(file));
    assert.equal(stdout, readFileSync(file, 'utf8'));
    // Functions whose rounding differs between dialects.
    assert.doesNotMatch(stdout, /\b(?:ROUND|TRUNC|DECIMAL)\b/);
  });
}

test('one statement alone has no semicolon, numeric columns need no texts, and mistakes are explained', async () => {
  const places = await perilbook(['sql', '--dialect', 'duckdb', '--only', 'places', '--numeric']);
  assert.match(places.stdout, /^SELECT\n/);
  assert.doesNotMatch(places.stdout, /;|REGEXP|_text/);
  const unknown = await perilbook(['sql', '--dialect', 'duckbd']);
  assert.deepEqual([unknown.code, /Unknown dialect: duckbd; did you mean duckdb\?/.test(unknown.stderr)], [2, true]);
  assert.match(
    (await perilbook(['sql'])).stderr,
    /Missing --dialect\n.*duckdb, postgres, spark, bigquery, snowflake, trino/,
  );
  assert.match((await perilbook(['sql', '--dialect', 'trino', '--only', 'joins'])).stderr, /Unknown statement: joins/);
});
