import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { drawBetween, drawWhole, makeRandom, pick, type Random } from '../../src/sample/random.ts';
import type { Claim } from '../../src/store/ledger/port.ts';
import { openDatabase, openSqliteStore } from '../../src/store/sqlite-store.ts';
import { MovedClock } from '../moved-clock.ts';
import { ANSWER, callAt, chargedFor, termsOf } from '../store/claims.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { firstSeed, times } from '../tier.ts';

/*
 * What a power cut does to a file: what was synced is there; of what was written since, any part may be: none of it, a
 * beginning that ends in the middle of a page, pages of zeros where the file had grown and the data had not come, old bytes
 * of the disk. SQLite in WAL mode appends to the file `-wal`; with synchronous=FULL each commit ends in a sync of it, so when
 * a claim has resolved the file is on the disk up to its length at that moment. With NORMAL nothing is synced until a
 * checkpoint: then the promised end is 0 and not the length, and any cut of this test may come before a call that was
 * already sent. (Where strace is at hand, it shows one fdatasync of -wal for each commit under FULL, and none under NORMAL.)
 */

/** A moment at which the store promised that what it holds is durable; `walBytes` of the -wal file were on the disk. */
type Promised = Readonly<Record<'walBytes' | 'claimed' | 'settled', number>>;

/** Claims and settles calls in small batches, and notes after each what a power cut may no longer take away. */
async function writeLedger(folder: string, random: Random) {
  const file = join(folder, 'store.db');
  const clock = new MovedClock('2026-03-10T12:00:00Z');
  const store = openSqliteStore(file, clock, { name: 'here/1', isAlive: () => true });
  const terms = await termsOf(store);
  const promised: Promised[] = [];
  const open: Claim[] = [];
  let [claimed, settled] = [0, 0];
  const note = () => promised.push({ walBytes: statSync(`${file}-wal`).size, claimed, settled });
  note();
  while (claimed < 60) {
    const requests = Array.from({ length: drawWhole(random, 1, 4) }, () => callAt(claimed++));
    open.push(...(await store.claim(terms, requests)));
    note();
    const landed = open.splice(0, drawWhole(random, 0, open.length));
    if (landed.length === 0) continue;
    const answers = () => [{ ...ANSWER, fields: ['x'.repeat(drawWhole(random, 1, 3_000))] }];
    await store.settle(landed.map((claim) => chargedFor(claim, 15, { answers: answers() })));
    settled += landed.length;
    note();
  }
  // While the store is open: closing it would tidy up.
  const written = { base: readFileSync(file), wal: readFileSync(`${file}-wal`), promised };
  await store.close();
  return written;
}

/** Cuts the power just after a promise, and opens what is left as the next run would. */
function cutPower(
  folder: string,
  written: Awaited<ReturnType<typeof writeLedger>>,
  nth: number,
  random: Random,
): void {
  const at = written.promised[nth]!;
  const next = written.promised[nth + 1] ?? { ...at, walBytes: written.wal.length };
  const since = written.wal.subarray(at.walBytes, Math.max(at.walBytes, next.walBytes));
  const part = since.subarray(0, Math.floor(drawBetween(random, 0, since.length)));
  const old = Buffer.from(
    Array.from({ length: drawWhole(random, 1, 9_000) }, () => drawWhole(random, 0, 255)),
  );
  const [remains, tail] = pick(random, [
    ['nothing', []],
    ['a beginning', [part]],
    ['zeros', [Buffer.alloc(since.length)]],
    ['old bytes', [old]],
    ['a beginning and old bytes', [part, old]],
  ] as const);
  const file = join(folder, 'cut.db');
  writeFileSync(file, written.base);
  writeFileSync(`${file}-wal`, Buffer.concat([written.wal.subarray(0, at.walBytes), ...tail]));
  using database = openDatabase(file);
  const count = (what: string) =>
    database.prepare<[], number>(`SELECT count(*) FROM ${what}`).pluck().get()!;
  // Of a settled call there is the charge and the answer, in one transaction.
  const settled = Math.max(count("calls WHERE charge = 'charged'"), count('cells'));
  const where = `promise ${nth}, then ${remains}`;
  assert.equal(database.pragma('integrity_check', { simple: true }), 'ok', where);
  // What was not promised is there as a whole transaction or not at all.
  const states = [at, next].map((moment) => `${moment.claimed} claims, ${moment.settled} answers`);
  const state = `${count('calls')} claims, ${settled} answers`;
  assert.ok(states.includes(state), `${where}: ${state}, in place of ${states.join(' or ')}`);
}

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
      for (let cut = 0; cut < CUTS; cut++) cutPower(folder, written, nth, random);
    }
  }
});

test('the store is opened with synchronous=FULL in WAL mode', (t) => {
  const database = openDatabase(join(temporaryFolder(t), 'store.db'));
  const modes = ['journal_mode', 'synchronous'].map((name) =>
    database.pragma(name, { simple: true }),
  );
  assert.deepEqual(modes, ['wal', 2]);
  database.close();
});
