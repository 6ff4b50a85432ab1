import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeRandom } from '../../src/sample/random.ts';
import { openDatabase } from '../../src/store/sqlite-store.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { firstSeed, times } from '../tier.ts';
import { cutPower, writeLedger } from './power-loss.ts';

const LEDGERS = times({ long: 1, soak: 40 });
/** Cuts after each promise. How much is left of the bytes after it is random. */
const CUTS = 4;

test('a power cut at any moment: what was claimed before a call was sent is in the ledger, what was answered is kept', {
  timeout: 300_000,
}, async (t) => {
  for (let ledger = 0; ledger < LEDGERS; ledger++) {
    const folder = temporaryFolder(t);
    const random = makeRandom(firstSeed(1) + ledger, 'power');
    const written = await writeLedger(folder, random);
    assert.ok(written.promised.length > 30);
    for (let nth = 0; nth < written.promised.length; nth++) {
      for (let cut = 0; cut < CUTS; cut++) assert.deepEqual(await cutPower(folder, written, nth, random), []);
    }
  }
});

test('the store is opened with synchronous=FULL in WAL mode', (t) => {
  const database = openDatabase(join(temporaryFolder(t), 'store.db'));
  const modes = ['journal_mode', 'synchronous'].map((name) => database.pragma(name, { simple: true }));
  assert.deepEqual(modes, ['wal', 2]);
  database.close();
});
