import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { parse } from 'csv-parse/sync';
import { systemClock } from '../src/base/clock.ts';
import { openDataDatabase } from '../src/data/tables/data-database.ts';
import { openAccounts, sqliteAccounts } from '../src/service/accounts/open-accounts.ts';
import { startService } from '../src/service/http/start-service.ts';
import { perilbook, ROOT } from './cli/command-line.ts';
import { checkSection, checkSessions, runShellBlocks } from './docs/quoted-sessions.ts';
import { provideLocalData } from './sample-database.ts';
import { temporaryFolder } from './temporary-folder.ts';

/* The README quotes the program; this holds the two together. `npm run readme` writes what the program says into the README
 * instead of comparing, for review in the diff. */
const FILE = join(ROOT, 'README.md');

/** The columns of the README's table: the most telling ones of three topics. */
const SHOWN = [
  ...[
    'id',
    'hazard_status',
    'hurricane_rating',
    'hurricane_score',
    'wildfire_rating',
    'wildfire_frequency',
  ],
  ...['superfund_count', 'superfund_nearest_m'],
];

/** The address of the service that a reader starts, by its default port. */
const PROVIDER = 'http://127.0.0.1:8737';

/** Starts the service with the data and the accounts that the README's lines have made. */
async function startProvider(t: TestContext, folder: string): Promise<string> {
  const data = openDataDatabase(join(folder, 'provider.db'));
  const accounts = openAccounts(join(folder, 'provider-accounts.db'));
  const service = await startService({
    data,
    accounts: sqliteAccounts(accounts, systemClock),
    port: 0,
  });
  t.after(async () => {
    await service.close();
    accounts.close();
    data.close();
  });
  return service.url;
}

test('the sessions in the README are what the program says on a machine without data and key', async (t) => {
  const folder = temporaryFolder(t);
  runShellBlocks(FILE, folder);
  const service = await startProvider(t, folder);
  // What a reader downloads comes from the agencies; here the same datasets, made up.
  const before = (line: string) => {
    if (line.endsWith('grep -m1 free')) provideLocalData(folder);
  };
  assert.ok((await checkSessions(FILE, folder, { example: PROVIDER, service, before })) >= 6);

  const { code, stderr } = await perilbook(
    [
      ...['run', 'houses.csv', '-o', 'shown.csv', '--topics'],
      ...['hurricane,wildfire,superfund', '--service', 'sample', '--yes'],
    ],
    { folder, env: { PERILBOOK_STORE: join(folder, '.perilbook', 'store.db') } },
  );
  assert.equal(code, 0, stderr);
  const rows: Record<string, string>[] = parse(readFileSync(join(folder, 'shown.csv')), {
    columns: true,
  });
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const table = [
    SHOWN,
    SHOWN.map(() => '---'),
    ...rows.map((row) => SHOWN.map((name) => row[name]!)),
  ].map(line);
  checkSection(FILE, 'rows', table.join('\n'));
});

test('the README is short, and names the main command and the test command', () => {
  const text = readFileSync(FILE, 'utf8');
  assert.ok(text.split('\n').length <= 201, `${text.split('\n').length - 1} lines`);
  assert.match(text, /^ {4}npm ci && npm start /m);
  assert.match(text, /^ {4}npm ci && npm test /m);
});
