import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { parse } from 'csv-parse/sync';
import { systemClock } from '../src/clock.ts';
import { openDataDatabase } from '../src/data/tables/data-database.ts';
import { openAccounts } from '../src/service/accounts/sqlite/accounts-database.ts';
import { sqliteAccounts } from '../src/service/accounts/sqlite/sqlite-accounts.ts';
import { startService } from '../src/service/http/start-service.ts';
import { perilbook, ROOT } from './cli/command-line.ts';
import { checkSection, checkSessions, readersFolder, runShellBlocks } from './docs/quoted-sessions.ts';
import { provideLocalData } from './sample-database.ts';

/*
 * The README quotes the program; this holds the two together. `npm run readme` writes what the program says into the README
 * instead of comparing, for review in the diff.
 */
const FILE = join(ROOT, 'README.md');

/** The columns of the README's table: the most telling ones of three topics. */
const SHOWN = [
  ...['id', 'hazard_status', 'hurricane_rating', 'hurricane_score', 'wildfire_rating', 'wildfire_frequency'],
  ...['superfund_count', 'superfund_nearest_m'],
];

/** Starts the service that stands for a provider's, with the data of this folder, and puts a key into the folder. */
async function startProvider(t: TestContext, folder: string, db: string): Promise<string> {
  const account = ['--account', 'acme', '--db', db];
  const created = await perilbook(['service', 'account', 'create', ...account, '--subscription', 'professional'], {
    folder,
  });
  assert.equal(created.code, 0, created.stderr);
  const key = await perilbook(['service', 'key', 'create', ...account, '--scopes', 'all'], { folder });
  writeFileSync(join(folder, 'key.txt'), key.stdout, { mode: 0o600 });
  const data = openDataDatabase(db);
  const accounts = openAccounts(db.replace('.db', '-accounts.db'));
  const service = await startService({ data, accounts: sqliteAccounts(accounts, systemClock), port: 0 });
  t.after(async () => {
    await service.close();
    accounts.close();
    data.close();
  });
  return service.url;
}

test('the sessions in the README are what the program says', async (t) => {
  const folder = readersFolder(t);
  const db = provideLocalData(folder);
  const service = await startProvider(t, folder, db);
  runShellBlocks(FILE, folder);
  assert.ok((await checkSessions(FILE, folder, { service })) >= 5);

  const { code, stderr } = await perilbook(
    [
      'run',
      'houses.csv',
      '-o',
      'shown.csv',
      '--topics',
      'hurricane,wildfire,superfund',
      '--service',
      'sample',
      '--yes',
    ],
    { folder, env: { PERILBOOK_STORE: join(folder, '.perilbook', 'store.db') } },
  );
  assert.equal(code, 0, stderr);
  const rows: Record<string, string>[] = parse(readFileSync(join(folder, 'shown.csv')), { columns: true });
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const table = [SHOWN, SHOWN.map(() => '---'), ...rows.map((row) => SHOWN.map((name) => row[name]!))].map(line);
  checkSection(FILE, 'rows', table.join('\n'));
});

test('the README is short, and names the main command and the test command', () => {
  const text = readFileSync(FILE, 'utf8');
  assert.ok(text.split('\n').length <= 201, `${text.split('\n').length - 1} lines`);
  assert.match(text, /^ {4}npm ci && npm start /m);
  assert.match(text, /^ {4}npm ci && npm test /m);
});
