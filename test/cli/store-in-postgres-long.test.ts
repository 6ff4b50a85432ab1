import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { assertFits } from '../assert-fits.ts';
import { MovedClock } from '../moved-clock.ts';
import { sharedPostgres } from '../postgres-server.ts';
import { provideSampleData } from '../sample-database.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { perilbook } from './command-line.ts';

const server = await sharedPostgres();

test('a job whose store is a database: bought once, listed, and kept out of the output', async (t) => {
  const folder = temporaryFolder(t);
  const store = server.storeAddress();
  const env = { XDG_DATA_HOME: folder };
  writeFileSync(join(folder, 'book.csv'), 'id,lat,lng\n1,29.7604,-95.3698\n2,34.0522,-118.2437\n');
  provideSampleData(join(folder, 'perilbook/store.db'));
  writeFileSync(
    join(folder, 'job.yaml'),
    `input: book.csv\noutput: out.csv\ntopics: [wildfire, hail]\nservice: sample\nbudget: 10\nstore: ${store}\n`,
  );
  const run = () => perilbook(['run', 'job.yaml', '--json'], { folder, env });
  const first = await run();
  assert.equal(first.code, 0, first.stderr);
  assert.equal(JSON.parse(first.stdout).credits_spent, 4);
  const written = readFileSync(join(folder, 'out.csv'), 'utf8');
  assert.match(written, /sample data/);
  const again = await run();
  assert.equal(JSON.parse(again.stdout).credits_spent, 0);
  assert.equal(readFileSync(join(folder, 'out.csv'), 'utf8'), written);
  const flags = ['--store', store];
  const status = await perilbook(['status', '--json', ...flags], { folder, env });
  assertFits(JSON.parse(status.stdout), [{ state: 'complete' }, { state: 'complete' }], 'status');
  const { stdout } = await perilbook(['cache', 'stats', ...flags], { folder, env });
  assert.match(
    stdout,
    /^postgres:\/\/postgres@127\.0\.0\.1:\d+\/postgres\n[\s\S]* sample +4 calls, 4 credits: made up/,
  );
});

test('a server that is away is exit code 6', async (t) => {
  const folder = temporaryFolder(t);
  const clock = new MovedClock('2026-03-15T12:00:00Z');
  const away = await perilbook(['status', '--store', 'postgres://me@127.0.0.1:1/hazards'], {
    folder,
    clock,
  });
  assert.equal(away.code, 6, away.stderr);
  assert.match(
    away.stderr,
    /The store postgres:\/\/me@127\.0\.0\.1:1\/hazards cannot be reached: .*ECONNREFUSED/,
  );
});
