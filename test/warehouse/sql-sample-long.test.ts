import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { perilbook, ROOT } from '../cli/command-line.ts';
import { provideSampleData } from '../sample-database.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { openDuckdb, textsOf } from './duckdb.ts';

test('by the command line, sample data included, the join gives the very rows of perilbook run', async (t) => {
  const folder = temporaryFolder(t);
  const file = (name: string) => join(folder, name);
  cpSync(join(ROOT, 'sample-data/portfolio-oed.csv'), file('portfolio.csv'));
  provideSampleData(file('store.db'));
  const command = async (...words: string[]) => {
    const { code, stdout, stderr } = await perilbook(words, { folder });
    assert.equal(code, 0, stderr);
    return stdout;
  };
  const engine = await openDuckdb();
  t.after(() => engine.close());
  await engine.execute(`CREATE TABLE portfolio AS SELECT * FROM ${textsOf(file('portfolio.csv'))}`);
  const options = ['-t', 'wildfire,park', '--store', 'store.db', '--yes', '--max-invalid', '10%'];
  const sql = [
    'sql',
    '--dialect',
    'duckdb',
    '--lat',
    'Latitude',
    '--lng',
    'Longitude',
    '-t',
    'wildfire,park',
    '--only',
  ];
  await engine.execute(`COPY (${await command(...sql, 'places')}) TO '${file('places.csv')}'`);
  await command('places', 'places.csv', '-o', 'answers.csv', ...options);
  await engine.loadAnswers(file('answers.csv'));
  const ran = JSON.parse(await command('run', 'portfolio.csv', '-o', 'output.csv', ...options, '--json'));
  assert.equal(ran.credits, 0, 'the places were all that a run needs');
  assert.ok(ran.status.invalid > 3 && ran.status.ok > 100 && ran.status.outside_us > 0);
  const note = "replace(hazard_note, ' --coordinates lenient would read it.', '') AS hazard_note";
  const expected = `SELECT * REPLACE (${note}) FROM ${textsOf(file('output.csv'))}`;
  const joined = await command(...sql, 'join');
  assert.deepEqual(await engine.query(`(${joined}) EXCEPT ALL (${expected})`), []);
  assert.deepEqual(await engine.query(`(${expected}) EXCEPT ALL (${joined})`), []);
  const [[marked]] = (await engine.query(`SELECT count(*) FROM (${joined}) WHERE hazard_note LIKE 'sample data%'`)) as [
    string[],
  ];
  const { invalid, outside_us } = ran.status;
  assert.equal(Number(marked), ran.rows - invalid - outside_us, 'rows without an answer are no sample data');
});
