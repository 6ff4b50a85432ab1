import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { parse } from 'csv-parse/sync';
import { customSubscription } from '../../src/contract/subscriptions.ts';
import { TOPIC_SLUGS } from '../../src/contract/topics.ts';
import { openDataDatabase } from '../../src/data/tables/data-database.ts';
import { between, makeRandom } from '../../src/sample/random.ts';
import { perilbook, wordsIn } from '../cli/command-line.ts';
import { FastClock } from '../fast-clock.ts';
import { provideLocalData } from '../sample-database.ts';
import { createAccount, createKey } from '../service/file-accounts.ts';
import { coverOnly, openAccountsOf, releaseLater, start } from '../service/small-data.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { times } from '../tier.ts';

const PLACES = times({ long: 400, soak: 4_000 });
const NOW = '2027-03-15T12:00:00Z';

/** Alaska on both sides of the 180th meridian, Hawaii, Puerto Rico, Guam, DC, a state line, the coast, Canada, Mexico, the sea. */
const SPECIAL =
  '51.88,-176.65 52.9,172.9 61.2181,-149.9003 21.3069,-157.8583 18.4655,-66.1057 13.4443,144.7937 38.9072,-77.0369 36.5501,-76.2 36.5499,-76.2 40.5795,-74 25.7617,-80.1918 24.5551,-81.78 45.5,-73.6 32.5,-117.05 30,-60 49.0001,-95.2 48.9999,-120'
    .split(' ')
    .map((location) => location.split(',').map(Number));

test(`${PLACES} places answered from local data are what the service says of them, column by column`, async (t) => {
  const folder = temporaryFolder({ after: (release: () => void) => releaseLater(t, release) });
  const clock = new FastClock(NOW, 20);
  const dataFile = provideLocalData(folder, clock.now() - 3_600_000);
  const partly = new Database(dataFile);
  partly.exec(coverOnly('NV,UT', 'radon', 'records:hail'));
  partly.exec("DELETE FROM datasets WHERE name = 'records:wildfire.current'");
  partly.close();
  writeBook(join(folder, 'book.csv'));

  const data = openDataDatabase(dataFile);
  releaseLater(t, () => data.close());
  const accounts = openAccountsOf(t, join(folder, 'data.db'));
  const subscription = customSubscription(10_000_000, 10_000_000);
  const { name } = createAccount(accounts, { name: 'all', subscription, signedUpAt: Date.UTC(2027, 0, 1) }, clock);
  const { key: secret } = createKey(accounts, name, ['bundle', ...TOPIC_SLUGS], clock);
  const service = await start(t, { data, accounts, clock });

  writeFileSync(join(folder, 'key'), secret, { mode: 0o600 });
  const plenty = 'subscription: {credits_per_month: 10000000, credits_per_minute: 10000000}';
  const job = `input: book.csv\noutput: out.csv\ntopics: all\noptimize: calls\n${plenty}\n`;
  writeFileSync(join(folder, 'job.yaml'), job);
  const answered = async (from: string) => {
    const words = wordsIn(`run job.yaml ${from}`);
    const { code, stderr } = await perilbook(words, { folder, clock, env: { XDG_DATA_HOME: folder } });
    assert.ok(code === 0 || code === 3, stderr);
    const rows = parse(readFileSync(join(folder, 'out.csv')), { columns: true }) as Record<string, string>[];
    return rows.map(({ hazard_note: _, hazard_as_of: __, ...row }) => row);
  };
  const bought = await answered(`--base-url ${service.url} --api-key-file key --yes`);
  const lookedUp = await answered('--service local');
  assert.equal(lookedUp.length, PLACES);
  for (const [index, row] of lookedUp.entries()) assert.deepEqual(row, bought[index]);
  const statuses = Map.groupBy(lookedUp, ({ hazard_status }) => hazard_status);
  assert.deepEqual([...statuses.keys()].sort(), ['ok', 'outside_us', 'partial']);
});

/** The special places, then places all over the states: few near cities, where a bundle has megabytes. */
function writeBook(file: string): void {
  const random = makeRandom(20, 'local');
  const spots = [
    ...SPECIAL,
    ...Array.from({ length: PLACES - SPECIAL.length }, () => [between(random, 31, 48.5), between(random, -123, -84)]),
  ];
  const lines = spots.map(([lat, lng], index) => `${index},${lat!.toFixed(4)},${lng!.toFixed(4)}`);
  writeFileSync(file, `id,lat,lng\n${lines.join('\n')}\n`);
}
