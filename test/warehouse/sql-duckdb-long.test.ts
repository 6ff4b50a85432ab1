import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../temporary-folder.ts';
import { times } from '../tier.ts';
import { coordinateNumbers, coordinateTexts } from './coordinates.ts';
import { openDuckdb, textsOf } from './duckdb.ts';
import { compareWithRun, writeRowsCsv } from './warehouse-trial.ts';

const ROWS = times({ long: 5_000, soak: 1_000_000 });

test('DuckDB: both statements give the columns of a run, for texts of any notation', async (t) => {
  const folder = temporaryFolder(t);
  const input = join(folder, 'portfolio.csv');
  for (const precision of ROWS > 100_000 ? [4] : [4, 7, 0]) {
    const engine = await openDuckdb();
    t.after(() => engine.close());
    writeRowsCsv(input, coordinateTexts(ROWS, precision));
    await engine.execute(`CREATE TABLE portfolio AS SELECT * FROM ${textsOf(input)}`);
    const { statuses, atLimit, places } = await compareWithRun(t, { input, engine, precision });
    t.diagnostic(
      `precision ${precision}: ${JSON.stringify(statuses)}, ${places} places, ${atLimit} at the coverage limit`,
    );
    for (const status of ['ok', 'deferred', 'invalid', 'outside_us']) assert.ok(statuses[status]! > 10, status);
  }
});

for (const type of ['DOUBLE', 'DECIMAL(18, 9)', 'FLOAT']) {
  for (const isNumeric of [false, true]) {
    // The text of a float names it in fewer digits than its double has, and a run reads the text.
    if (type === 'FLOAT' && isNumeric) continue;
    test(`DuckDB: ${type} columns${isNumeric ? ' read as numbers' : ''} are rounded as in a run of the same file`, async (t) => {
      const folder = temporaryFolder(t);
      const engine = await openDuckdb();
      t.after(() => engine.close());
      const csv = join(folder, 'numbers.csv');
      const isSpecial = (value: number) => type === 'DECIMAL(18, 9)' && !(Math.abs(value) < 1e9);
      const numbers = coordinateNumbers(Math.min(ROWS, 100_000) / 2, 7).map(
        (pair) => pair.map((value) => (isSpecial(value) ? '' : String(value))) as [string, string],
      );
      writeRowsCsv(csv, numbers);
      const cast = (name: string) => `TRY_CAST(${name} AS ${type}) AS ${name}`;
      await engine.execute(`CREATE TABLE portfolio AS SELECT id, ${cast('lat')}, ${cast('lng')} FROM ${textsOf(csv)}`);
      const input = join(folder, 'portfolio.parquet');
      await engine.execute(`COPY portfolio TO '${input}'`);
      const { statuses } = await compareWithRun(t, { input, engine, precision: 4, isNumeric });
      assert.ok(statuses.ok! > 100 && statuses.invalid! > 10, JSON.stringify(statuses));
    });
  }
}
