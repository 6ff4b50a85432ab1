import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fakeService } from '../fake-service.ts';
import { openHarness, places } from '../run/harness.ts';
import { perilbook } from './command-line.ts';

// The store's record of a file counts where the file has not changed since: this needs the clock of the file system.
test('the answers of one service are not replaced by those of another, nor by a run that fails on the way', async (t) => {
  const harness = await openHarness(t, {
    clock: { start: Date.now(), factor: 1, origin: Date.now() },
  });
  const { folder, charged } = harness;
  const [one, other] = [await fakeService(t, harness.url), await fakeService(t, harness.url)];
  const rows = places(6).map(([lat, lng]) => `${lat},${lng}\n`);
  writeFileSync(join(folder, 'book.csv'), `lat,lng\n${rows.join('')}`);
  const output = () => readFileSync(join(folder, 'book.hazards.csv'), 'utf8');
  const run = (url: string, words: string) =>
    perilbook(`run book.csv -t wildfire --concurrency 1 ${words}`.split(' '), {
      folder,
      env: {
        PERILBOOK_BASE_URL: url,
        PERILBOOK_API_KEY: harness.key().secret,
        XDG_DATA_HOME: folder,
      },
    });
  assert.equal((await run(one.url, '--yes')).code, 0);
  const first = output();
  const refused = await run(other.url, '--yes');
  assert.match(
    refused.stderr,
    new RegExp(`has answers of ${one.url}, .* replace them by those of ${other.url}\\n`),
  );
  assert.deepEqual([refused.code, charged(), output()], [2, 6, first]);
  // The plan would complete all rows: what this run cannot know before it buys.
  const failed = await run(one.url, '--store other.db --yes');
  assert.equal(failed.code, 0);
  one.script([{ requests: [4, 1_000], status: 401, body: { error: { code: 'UNAUTHENTICATED' } } }]);
  const kept = await run(one.url, '--store third.db --yes');
  assert.match(kept.stderr, /Kept: book\.hazards\.csv as it was, because it has more rows with/);
  assert.deepEqual([kept.code, charged(), output().includes('deferred')], [5, 15, false]);
  one.script([{ requests: [2, 1_000], status: 401, body: { error: { code: 'UNAUTHENTICATED' } } }]);
  const forced = await run(one.url, '--store third.db --yes --force');
  assert.equal(forced.code, 5);
  assert.match(output(), /deferred/);
});
