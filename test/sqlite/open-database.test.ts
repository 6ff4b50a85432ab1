import assert from 'node:assert/strict';
import { once } from 'node:events';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { type DatabaseFormat, openSqlite } from '../../src/sqlite/open-database.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const FORMAT: DatabaseFormat = {
  migrations: new URL('../../src/store/sqlite/migrations/', import.meta.url),
  steps: {},
  pragmas: [],
  busyTimeoutMs: 30_000,
  tooNew: () => new Error('too new'),
};

/** A new file whose first write another program holds for some milliseconds. */
async function heldFile(t: TestContext, holdMs: number): Promise<string> {
  const file = join(temporaryFolder(t), 'new.db');
  const writer = new Worker(new URL('./first-writer.ts', import.meta.url), { workerData: { file, holdMs } });
  t.after(() => writer.terminate());
  await once(writer, 'message');
  return file;
}

test('a new file that another program writes first is waited for', async (t) => {
  const file = await heldFile(t, 300);
  using database = openSqlite(file, FORMAT);
  assert.equal(database.pragma('journal_mode', { simple: true }), 'wal');
  assert.equal(database.prepare('SELECT count(*) FROM made_first').pluck().get(), 0);
});

test('a file that is held for longer than the timeout is refused as busy', async (t) => {
  const file = await heldFile(t, 60_000);
  assert.throws(() => openSqlite(file, { ...FORMAT, busyTimeoutMs: 50 }), { code: 'SQLITE_BUSY' });
});
