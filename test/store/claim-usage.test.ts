import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { sqliteDriver } from '../../src/sql/sqlite-driver.ts';
import { periodSpendingOf } from '../../src/store/ledger/claim-usage.ts';
import { openDatabase } from '../../src/store/sqlite-store.ts';
import { temporaryFolder } from '../temporary-folder.ts';

test('the sums of a period read no calls of all earlier periods: each claim asks for them', (t) => {
  using database = openDatabase(join(temporaryFolder(t), 'store.db'));
  const prepared: string[] = [];
  const prepare = database.prepare.bind(database);
  database.prepare = ((sql: string) => {
    prepared.push(sql);
    return prepare(sql);
  }) as typeof database.prepare;
  sqliteDriver(database, systemClock).readNow(() => periodSpendingOf('tester', 1));
  const steps = prepared.flatMap((sql) => {
    const parameters = sql.match(/\?/g)?.map(() => null) ?? [];
    return prepare(`EXPLAIN QUERY PLAN ${sql}`).all(parameters) as { detail: string }[];
  });
  const ofCalls = steps.map(({ detail }) => detail).filter((detail) => /\bcalls\b/.test(detail));
  assert.ok(ofCalls.length > 1);
  for (const detail of ofCalls)
    assert.match(detail, /account=\? AND period_start=\? AND claimed_at/);
});
