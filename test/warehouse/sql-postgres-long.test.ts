import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'csv-parse/sync';
import { Client } from 'pg';
import { sharedPostgres } from '../postgres-server.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { times } from '../tier.ts';
import { coordinateNumbers, coordinateTexts } from './coordinates.ts';
import { compareWithRun, type Engine, writeRowsCsv } from './warehouse-trial.ts';

const server = await sharedPostgres();
const ROWS = times({ long: 5_000, soak: 1_000_000 });
/** An array of this many texts goes in one message. */
const ROWS_A_MESSAGE = 20_000;

async function openPostgres(): Promise<
  Engine & { client: Client; loadTexts(table: string, rows: string[][]): Promise<void> }
> {
  // A schema of its own for each test.
  const client = new Client({ connectionString: await server.schema() });
  await client.connect();
  const loadTexts = async (table: string, [names, ...rows]: string[][]) => {
    await client.query(`CREATE TABLE ${table} (${names!.map((name) => `${name} text`).join(', ')})`);
    const lists = names!.map((_, index) => `$${index + 1}::text[]`).join(', ');
    for (let from = 0; from < rows.length; from += ROWS_A_MESSAGE) {
      const batch = rows.slice(from, from + ROWS_A_MESSAGE);
      const columns = names!.map((_, index) => batch.map((row) => row[index] || null));
      await client.query(`INSERT INTO ${table} SELECT * FROM unnest(${lists})`, columns);
    }
  };
  return {
    dialect: 'postgres',
    client,
    loadTexts,
    loadAnswers: (file) => loadTexts('answers', parse(readFileSync(file, 'utf8'))),
    async query(sql) {
      const { rows } = await client.query({ text: sql, rowMode: 'array' });
      return rows.map((row: unknown[]) => row.map((value) => (value === null ? null : String(value))));
    },
  };
}

for (const precision of ROWS > 100_000 ? [4] : [4, 7]) {
  test(`PostgreSQL: both statements give the columns of a run, for texts of any notation, at precision ${precision}`, async (t) => {
    const input = join(temporaryFolder(t), 'portfolio.csv');
    const engine = await openPostgres();
    t.after(() => engine.client.end());
    writeRowsCsv(input, coordinateTexts(ROWS, precision + 10));
    await engine.loadTexts('portfolio', parse(readFileSync(input, 'utf8')));
    const { statuses, atLimit, places } = await compareWithRun(t, { input, engine, precision });
    t.diagnostic(`${JSON.stringify(statuses)}, ${places} places, ${atLimit} at the coverage limit`);
    for (const status of ['ok', 'deferred', 'invalid', 'outside_us']) assert.ok(statuses[status]! > 10, status);
  });
}

for (const [type, isNumeric] of [
  ['double precision', false],
  ['double precision', true],
  ['numeric', false],
  ['numeric', true],
] as const) {
  test(`PostgreSQL: ${type} columns${isNumeric ? ' read as numbers' : ''} are rounded as in a run`, async (t) => {
    const input = join(temporaryFolder(t), 'portfolio.csv');
    const engine = await openPostgres();
    t.after(() => engine.client.end());
    const numbers = coordinateNumbers(ROWS / 2, 9).map((pair) => pair.map(String) as [string, string]);
    writeRowsCsv(input, numbers);
    await engine.loadTexts('texts', parse(readFileSync(input, 'utf8')));
    const cast = (name: string) => `${name}::${type} AS ${name}`;
    await engine.client.query(`CREATE TABLE portfolio AS SELECT id, ${cast('lat')}, ${cast('lng')} FROM texts`);
    const { statuses } = await compareWithRun(t, { input, engine, precision: 4, isNumeric });
    assert.ok(statuses.ok! > 100 && statuses.invalid! > 10, JSON.stringify(statuses));
  });
}
