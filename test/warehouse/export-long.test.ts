import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../../src/clock.ts';
import { columnsOf } from '../../src/columns/topic-columns.ts';
import { freshnessOf } from '../../src/run/plan/freshness.ts';
import { makeJob } from '../../src/run/settings/settings.ts';
import type { CellAnswers } from '../../src/store/port.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import { exportAnswers } from '../../src/warehouse/export-answers.ts';
import { startBin } from '../cli/bin-process.ts';
import { perilbook } from '../cli/command-line.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { openDuckdb, textsOf } from './duckdb.ts';
import { openService, PLACES } from './two-stores.ts';

test('an export has the columns of a run, typed, and DuckDB reads each value back from every format', async (t) => {
  const { command, write, file } = await openService(t);
  write('places.csv', PLACES);
  const bought = ['-t', 'all', '--budget', '200', '--store', 's.db'];
  const ran = await command('places', 'places.csv', '-o', 'output.parquet', ...bought);
  assert.ok([0, 3].includes(ran.code), ran.stderr);
  for (const [format, output] of [
    ['parquet', 'answers'],
    ['csv', 'answers.csv'],
    ['ndjson', 'answers.ndjson.gz'],
  ] as const) {
    const exported = await command('cache', 'export', '--format', format, '-o', output, '--store', 's.db');
    assert.match(exported.stderr, /^Wrote 3 places to answers/, exported.stderr);
  }
  const engine = await openDuckdb();
  t.after(() => engine.close());
  const parquet = `read_parquet('${file('answers')}/**/*.parquet')`;
  const described = await engine.query(`DESCRIBE SELECT * FROM ${parquet}`);
  const types = new Map(described.map(([name, type]) => [name, type]));
  const wanted = ['source', 'lat', 'lat7', 'hazard_as_of', 'wildfire_score', 'hail_reports', 'wildfire_as_of'];
  assert.deepEqual(
    wanted.map((name) => types.get(name)),
    ['VARCHAR', 'DOUBLE', 'INTEGER', 'TIMESTAMP WITH TIME ZONE', 'DOUBLE', 'INTEGER', 'TIMESTAMP WITH TIME ZONE'],
  );
  // The columns that the run wrote are the same, value by value, but the status: failures count in their run only.
  const ofRun = (await engine.query(`DESCRIBE SELECT * FROM '${file('output.parquet')}'`)).map(([name]) => name!);
  const answered = ofRun.slice(ofRun.indexOf('hazard_as_of')).filter((name) => types.has(name));
  assert.ok(answered.length > 80);
  const columns = answered.map((name) => `"${name}"`).join(', ');
  const both = [parquet, `'${file('output.parquet')}'`];
  const [one, other] = await Promise.all(
    both.map((from) => engine.query(`SELECT ${columns} FROM ${from} ORDER BY lat`)),
  );
  assert.deepEqual(one, other);
  assert.equal(one!.length, 3);
  // CSV and NDJSON say the same in text.
  const numbers = described.filter(([, type]) => type !== 'TIMESTAMP WITH TIME ZONE').map(([name]) => `"${name}"`);
  const values = (from: string) =>
    engine.query(`SELECT ${numbers.map((name) => `${name}::VARCHAR`)} FROM ${from} ORDER BY lat7`);
  const cast = (from: string) =>
    engine.query(
      `SELECT ${described.filter(([, type]) => type !== 'TIMESTAMP WITH TIME ZONE').map(([name, type]) => `"${name}"::${type}::VARCHAR`)} FROM ${from} ORDER BY lat7::INTEGER`,
    );
  assert.deepEqual(await cast(textsOf(file('answers.csv'))), await values(parquet));
  assert.deepEqual(
    await cast(`read_json('${file('answers.ndjson.gz')}', format = 'newline_delimited')`),
    await values(parquet),
  );
});

/** A store with two sources and so many cells in each. */
async function madeStore(t: Parameters<typeof temporaryFolder>[0], cells: number) {
  const folder = temporaryFolder(t);
  const store = openSqliteStore(
    join(folder, 's.db'),
    systemClock,
    { name: 'test', isAlive: () => true },
    (topic) => columnsOf(topic).length,
  );
  for (const name of ['https://a.example.com', 'https://b.example.com']) {
    const source = await store.source(name);
    for (let from = 0; from < cells; from += 5_000) {
      const batch = Array.from({ length: Math.min(5_000, cells - from) }, (_, index): CellAnswers => {
        const lat7 = (from + index) * 1_000;
        const fields = columnsOf('wildfire').map(({ type }) => (type === 'text' ? name : lat7));
        return {
          cell: { lat7, lng7: -lat7 },
          answers: [{ topic: 'wildfire', asOf: 1e12 + lat7, fields }],
          failures: [],
        };
      });
      await store.putAnswers(source, batch);
    }
  }
  t.after(() => store.close());
  return { folder, store };
}

test('a Parquet folder has files of one source each, of a limited number of places', async (t) => {
  const { folder, store } = await madeStore(t, 10_000);
  const output = join(folder, 'answers');
  const job = makeJob([{ input: 'x.csv' }], { dataFolder: folder, workingFolder: folder });
  const exported = await exportAnswers({
    ...{ store, output, stdout: process.stdout, format: 'parquet', topics: null, placesAFile: 4_096 },
    ...{ freshness: freshnessOf(job, Date.now()), isSampleSource: () => false },
  });
  assert.deepEqual([exported.places, exported.files], [20_000, 6]);
  assert.deepEqual(readdirSync(output).sort(), ['source-1', 'source-2']);
  const engine = await openDuckdb();
  t.after(() => engine.close());
  const from = `read_parquet('${output}/**/*.parquet')`;
  const sums = `SELECT source, count(DISTINCT lat7), min(wildfire_rating), sum(wildfire_score - lat7), any_value(hazard_status) FROM ${from} GROUP BY source ORDER BY 1`;
  assert.deepEqual(
    await engine.query(sums),
    ['https://a.example.com', 'https://b.example.com'].map((name) => [name, '10000', name, '0', 'deferred']),
  );
});

test('an export that a signal ends leaves nothing that the next one would meet', async (t) => {
  const { folder } = await madeStore(t, 8_000);
  const isStarted = () =>
    readdirSync(folder, { recursive: true }).some((name) => /\.tmp(?:\/|$)/.test(String(name).replaceAll('\\', '/')));
  for (const words of [
    ['--format', 'parquet', '-o', 'answers'],
    ['-o', 'answers.csv'],
  ]) {
    const args = ['cache', 'export', '--store', 's.db', ...words];
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      const bin = startBin(t, args, folder);
      while (!isStarted()) {
        assert.ok(bin.isRunning, 'it ended before it was killed');
        await delay(1);
      }
      bin.kill(signal);
      const ended = await bin.ended;
      assert.deepEqual([ended.code, ended.signal], signal === 'SIGTERM' ? [130, null] : [null, signal], ended.stderr);
      assert.equal(isStarted(), signal === 'SIGKILL', 'temporary files are left by a kill alone');
    }
    assert.equal((await startBin(t, args, folder).ended).code, 0);
    assert.ok(!isStarted(), 'temporary files are left');
  }
});

test('export refuses a folder with files, a format without a name, and Parquet on stdout', async (t) => {
  const { folder } = await madeStore(t, 1);
  const said = async (...words: string[]) =>
    await perilbook(['cache', 'export', '--store', 's.db', ...words], { folder });
  assert.match((await said('--format', 'parquet', '-o', '.')).stderr, /is not empty\n.*\[OUTPUT_UNWRITABLE\]/);
  assert.match((await said('-o', 'answers')).stderr, /Cannot tell the format of answers/);
  assert.match((await said('--format', 'parquet')).stderr, /needs a file or a folder/);
  assert.match((await said('--format', 'xlsx', '-o', 'a')).stderr, /Unknown value of --format: "xlsx"/);
  assert.match((await said('--format', 'csv', '-o', 's.db')).stderr, /holds the store/);
  const csv = await said('--format', 'csv', '-t', 'wildfire,hail');
  assert.match(csv.stdout, /^source,lat,lng,lat7,lng7,hazard_status,/);
  assert.equal(csv.stdout.trimEnd().split('\n').length, 3);
  const one = await said('-o', 'one.parquet');
  assert.deepEqual([one.code, readFileSync(join(folder, 'one.parquet')).toString('latin1', 0, 4)], [0, 'PAR1']);
});
