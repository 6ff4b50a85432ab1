import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { DIALECT_NAMES } from '../../src/warehouse/sql-dialects.ts';
import { perilbook } from '../cli/command-line.ts';

const GOLDEN = join(import.meta.dirname, 'golden', 'differences.sql');

/** What both statements are in a dialect. */
async function statementsOf(dialect: string): Promise<string> {
  const columns = '--table acme.book --lng lon --weight tiv --prefix hz_ -t wildfire'.split(' ');
  const { code, stdout, stderr } = await perilbook(['sql', '--dialect', dialect, '--lat', 'Site latitude', ...columns]);
  assert.equal(code, 0, stderr);
  // Functions whose rounding differs between dialects.
  assert.doesNotMatch(stdout, /\b(?:ROUND|TRUNC|DECIMAL)\b/);
  return stdout;
}

/** The dialects that other tests execute: each shows one of the two ways to add helper columns. */
const EXECUTED = ['duckdb', 'postgres'] as const;

test('the other dialects differ from those that are executed in the reviewed lines, and in nothing else (UPDATE_SQL=1 writes them)', async () => {
  const linesOf = async (dialect: string) => (await statementsOf(dialect)).split('\n');
  const executed = new Map(await Promise.all(EXECUTED.map(async (name) => [name, await linesOf(name)] as const)));
  const executedLines = new Set([...executed.values()].flat());
  const differences: string[] = [];
  for (const dialect of DIALECT_NAMES.filter((name) => !EXECUTED.some((other) => other === name))) {
    const lines = await linesOf(dialect);
    const likeness = lines.some((line) => line.includes('LATERAL')) ? 'postgres' : 'duckdb';
    const like = executed.get(likeness)!;
    // What they share stands in the same order.
    const [own, shared] = [new Set(lines), new Set(like)];
    assert.deepEqual(
      lines.filter((line) => shared.has(line)),
      like.filter((line) => own.has(line)),
      dialect,
    );
    // The lines of the longitude are those of the latitude.
    const others = lines.filter((line) => !executedLines.has(line)).map((line) => line.replaceAll('_lng', '_lat'));
    differences.push(`-- ${dialect}, beside ${likeness}`, ...new Set(others), '');
  }
  const text = differences.join('\n');
  if (process.env.UPDATE_SQL === '1') writeFileSync(GOLDEN, text);
  assert.equal(text, readFileSync(GOLDEN, 'utf8'));
});

test('one statement alone has no semicolon, numeric columns need no texts, and mistakes are explained', async () => {
  const places = await perilbook(['sql', '--dialect', 'duckdb', '--only', 'places', '--numeric']);
  assert.match(places.stdout, /^SELECT\n/);
  assert.doesNotMatch(places.stdout, /;|REGEXP|_text/);
  const join = await perilbook([
    'sql',
    '--dialect',
    'duckdb',
    '--only',
    'join',
    '-t',
    'wildfire,park',
    '--prefix',
    'x_',
  ]);
  assert.match(join.stdout, /\bx_wildfire_perimeters\b[\s\S]*\bx_park_nearest_m\b/);
  assert.doesNotMatch(join.stdout, /;|hail/);
  const unknown = await perilbook(['sql', '--dialect', 'duckbd']);
  assert.deepEqual(
    [unknown.code, /Unknown value of --dialect: "duckbd"; did you mean duckdb\?/.test(unknown.stderr)],
    [2, true],
  );
  assert.match(
    (await perilbook(['sql'])).stderr,
    /--dialect is missing\n.*duckdb, postgres, spark, bigquery, snowflake, trino/,
  );
  assert.match(
    (await perilbook(['sql', '--dialect', 'trino', '--only', 'joins'])).stderr,
    /Unknown value of --only: "joins"/,
  );
});
