import assert from 'node:assert/strict';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import { MovedClock } from '../moved-clock.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { callAt, termsOf } from './claims.ts';

/** Files that are written meet this error from now on; null: none. @returns how many were tried */
function failWrites(t: TestContext, code: string | null): { readonly tried: number } {
  const real = fs.writeFileSync;
  const counted = { tried: 0 };
  t.mock.method(fs, 'writeFileSync', (...given: Parameters<typeof real>) => {
    counted.tried++;
    if (code !== null) throw Object.assign(new Error('write'), { code });
    real(...given);
  });
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
  return counted;
}

test('no call is claimed where the disk, a quota or a limit on files leaves no room for its answer', async (t) => {
  for (const [code, outcome, trials] of [
    ['ENOSPC', /^The store \S+ has no room left on its disk: answers need 4 MB$/, 2],
    ['EDQUOT', /has no room left/, 2],
    ['EFBIG', /has no room left/, 2],
    // A folder that may not be written: the store itself says so when it is written.
    ['EACCES', 'granted', 1],
    [null, 'granted', 1],
  ] as const) {
    await t.test(String(code), async (t) => {
      const folder = temporaryFolder(t);
      const owner = { name: 'me', isAlive: () => true };
      const clock = new MovedClock('2026-03-10T12:00:00Z');
      await using store = openSqliteStore(join(folder, 'store.db'), clock, owner);
      const terms = await termsOf(store);
      const counted = failWrites(t, code);
      // Room that was made is found: the trial is made again, until it succeeds.
      for (const number of [1, 2]) {
        const claimed = store.claim(terms, [callAt(number)]);
        if (typeof outcome === 'string') assert.equal((await claimed)[0]!.outcome, outcome);
        else await assert.rejects(claimed, { code: 'STORE_UNUSABLE', message: outcome });
      }
      assert.equal(counted.tried, trials);
      assert.deepEqual(
        fs.readdirSync(folder).filter((name) => name.includes('room')),
        [],
      );
    });
  }
});
