import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { perilbook } from './cli/command-line.ts';
import { openDuckdb, textsOf } from './duckdb.ts';
import { copySampleDatabase, folderWith } from './sample-database.ts';

const [ROWS, PLACES] = [100_000, 20_000];

/** Made places all over the contiguous states, some of them at sea; every thousandth row has no location. */
const PORTFOLIO = `SELECT range AS id, n % 1000 AS tiv,
    CASE WHEN range % 1000 = 7 THEN NULL ELSE round(25 + 24 * ((n * 7919) % ${PLACES}) / ${PLACES}, 5) END AS lat,
    CASE WHEN range % 1000 = 7 THEN NULL ELSE round(-124 + 57 * ((n * 104729) % ${PLACES}) / ${PLACES}, 5) END AS lng
  FROM (SELECT range, hash(range) % ${PLACES} AS n FROM range(${ROWS}))`;

/** Local data answers from the sample's records, which are free of charge without its mark. */
function provideLocalData(file: string): void {
  copySampleDatabase(file, ['wildfire', 'park', 'radon']);
  const database = new Database(file);
  database.exec('UPDATE datasets SET sample = 0');
  database.close();
}

for (const format of ['parquet', 'csv']) {
  test(`distinct places, a run and a join give the rows of a direct run: ${format}`, async (t) => {
    const folder = folderWith(t, {});
    provideLocalData(join(folder, 'perilbook/data.db'));
    const duckdb = await openDuckdb();
    t.after(() => duckdb.close());
    const path = (name: string) => join(folder, `${name}.${format}`);
    const table = (name: string) => (format === 'csv' ? textsOf(path(name)) : `'${path(name)}'`);
    const run = async (name: string) => {
      const words = [
        'run',
        path(name),
        '-o',
        path(`${name}-out`),
        '--service',
        'local',
        '--store',
        `${name}.db`,
      ];
      const { code, stderr } = await perilbook(
        [...words, '--topics', 'wildfire,park,radon', '--max-invalid', '100%'],
        {
          folder,
          env: { XDG_DATA_HOME: folder },
        },
      );
      assert.ok(code === 0 || code === 3, stderr);
    };

    await duckdb.execute(`COPY (${PORTFOLIO}) TO '${path('portfolio')}'`);
    await duckdb.execute(`CREATE TABLE portfolio AS FROM ${table('portfolio')}`);
    await duckdb.execute(`COPY (SELECT DISTINCT lat, lng FROM portfolio) TO '${path('places')}'`);
    await run('places');
    await run('portfolio');

    const [[places, rows]] = (await duckdb.query(
      `SELECT (SELECT count(*) FROM ${table('places')}), (SELECT count(*) FROM portfolio)`,
    )) as [[string, string]];
    assert.ok(
      Number(places) > 0.95 * PLACES && Number(rows) === ROWS,
      `${places} places, ${rows} rows`,
    );
    await duckdb.execute(
      `CREATE TABLE joined AS SELECT p.*, a.* EXCLUDE (lat, lng) FROM portfolio p LEFT JOIN ${table('places-out')} a
       ON p.lat IS NOT DISTINCT FROM a.lat AND p.lng IS NOT DISTINCT FROM a.lng`,
    );
    await duckdb.execute(`CREATE TABLE direct AS FROM ${table('portfolio-out')}`);
    // Each run looked the places up in a store of its own, at its own time. A place of nothing is a row of nothing, which has a note of its own.
    const rowsOf = (name: string) =>
      `SELECT * EXCLUDE (hazard_as_of) REPLACE (CASE WHEN hazard_status = 'invalid' THEN '' ELSE hazard_note END AS hazard_note) FROM ${name}`;
    const [[ofJoin, ofRun, differ]] = (await duckdb.query(
      `SELECT (SELECT count(*) FROM joined), (SELECT count(*) FROM direct),
         (SELECT count(*) FROM ((${rowsOf('joined')} EXCEPT ${rowsOf('direct')}) UNION ALL (${rowsOf('direct')} EXCEPT ${rowsOf('joined')})))`,
    )) as [[string, string, string]];
    assert.deepEqual([ofJoin, ofRun, differ], [String(ROWS), String(ROWS), '0']);
    const statuses = await duckdb.query(
      'SELECT hazard_status FROM direct GROUP BY ALL ORDER BY ALL',
    );
    assert.deepEqual(statuses.flat(), ['invalid', 'ok', 'outside_us']);
  });
}
