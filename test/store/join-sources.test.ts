import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import type { TopicSlug } from '../../src/contract/topics.ts';
import { cellStatements } from '../../src/store/sqlite/answers.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { textDictionary } from '../../src/store/sqlite/text-dictionary.ts';
import { collected } from '../collected.ts';
import { MovedClock } from '../moved-clock.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const MIGRATIONS = new URL('../../src/store/sqlite/migrations/', import.meta.url);
const ADDRESS = 'https://api.example.com/hazards';
const SPELLINGS = ['HTTPS://API.example.com/hazards/', `${ADDRESS}//`, 'https://api.example.com:443/hazards'];

/** A store of version 7, which kept addresses as they were spelled. */
function openOldStore(file: string): Database.Database {
  const database = new Database(file);
  const steps = readdirSync(MIGRATIONS).filter((name) => name < '0008');
  for (const name of steps.sort()) database.exec(readFileSync(new URL(name, MIGRATIONS), 'utf8'));
  database.exec('ALTER TABLE cells DROP COLUMN answers_json');
  database.pragma(`user_version = ${steps.length}`);
  const insert = database.prepare('INSERT INTO sources (name) VALUES (?)');
  for (const name of [...SPELLINGS, 'embedded 2026-01', 'http://other.example.com:81']) insert.run(name);
  return database;
}

test('what earlier versions bought under several spellings of an address is found under one', async (t) => {
  const file = join(temporaryFolder(t), 'store.db');
  const old = openOldStore(file);
  const cells = cellStatements(old, textDictionary(old, file), () => null);
  const put = (source: number, lat7: number, topic: TopicSlug, asOf: number, field = `by ${source}`) =>
    cells.merge(source, { lat7, lng7: 5 }, [{ topic, asOf, fields: [field] }], []);
  const fail = (source: number, lat7: number, topic: TopicSlug, at: number, note: string) =>
    cells.merge(source, { lat7, lng7: 5 }, [], [{ topic, reason: 'failed', note, at }]);
  old.exec('BEGIN');
  for (let lat7 = 100; lat7 < 1_200; lat7++) put(2, lat7, 'hail', 1);
  put(1, 1, 'hail', 10);
  put(2, 1, 'hail', 20);
  put(3, 1, 'hail', 15);
  put(3, 1, 'wildfire', 5);
  put(2, 2, 'ozone', 7);
  fail(1, 3, 'radon', 1, 'older');
  fail(2, 3, 'radon', 2, 'newer');
  put(4, 1, 'hail', 99);
  put(5, 1, 'hail', 98);
  old.exec(`
    INSERT INTO runs (id, job, input, output, account, owner, started_at, state, planned_credits, budget)
      VALUES (1, 'j', 'i', 'o', 'a', 'w', 0, 'complete', 1, 1);
    INSERT INTO calls (run, source, account, period_start, key, kind, lat7, lng7, price, charge, credits, owner, claimed_at, lease_until)
      SELECT 1, id, 'a', 0, 'k', 'standard', 1, 1, 15, 'charged', 15, 'w', 0, 0 FROM sources;
    INSERT INTO bundles VALUES (1, 'standard', '["hail"]', 10), (2, 'standard', '["ozone"]', 20), (3, 'enterprise', '["radon"]', 5);
    INSERT INTO refused_scopes VALUES (1, 'k', 'hail', 10), (3, 'k', 'hail', 30), (3, 'k', 'bundle', 9);
    INSERT INTO areas (source, area, answers, mismatched_at) VALUES
      (1, 'county 01001', '{"hail":[1,["old"]],"radon":[4,["r"]]}', NULL), (2, 'county 01001', '{"hail":[2,["new"]]}', 6),
      (3, 'county 01003', '{"hail":[3,["x"]]}', NULL);
    INSERT INTO details (cell, topic, as_of, bytes, json)
      SELECT id, 'hail', source, 1, x'' FROM cells WHERE lat7 = 1 AND source <= 3;
  `);
  old.exec('COMMIT');
  old.close();

  const store = openSqliteStore(file, new MovedClock(40), { name: 'me', isAlive: () => true });
  t.after(() => store.close());
  const source = await store.source(ADDRESS);
  const read = async (lat7: number) => (await store.read(source, [{ lat7, lng7: 5 }]))[0]!;
  const answers = [...(await read(1)).answers.values()].map(({ topic, fields }) => [topic, ...fields]);
  assert.deepEqual(answers.sort(), [
    ['hail', 'by 2'],
    ['wildfire', 'by 3'],
  ]);
  assert.deepEqual([...(await read(2)).answers.keys()], ['ozone']);
  assert.equal((await read(3)).failures.get('radon')!.note, 'newer');
  const { sources, calls, details } = await store.stats();
  assert.deepEqual(
    sources.map((one) => [one.source, one.cells]),
    [
      ['embedded 2026-01', 1],
      ['http://other.example.com:81', 1],
      [ADDRESS, 1_103],
    ],
  );
  assert.deepEqual([calls.charged, details.answers], [5, 1]);
  assert.deepEqual(await store.bundleContents(source), { standard: ['ozone'], enterprise: ['radon'] });
  assert.deepEqual([...(await store.refusedScopes(source, 'k'))].sort(), ['bundle', 'hail']);
  const [county, other] = await store.readAreas(source, ['county 01001', 'county 01003']);
  assert.deepEqual([...county!.answers.values()].map(({ fields }) => fields[0]).sort(), ['new', 'r']);
  assert.deepEqual([county!.mismatchedAt, other!.answers.size], [6, 1]);
  assert.equal((await collected(store.cells())).length, 1_105);
});
