import { copyFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { between, type Random, whole } from '../../src/sample/random.ts';
import type { Claim } from '../../src/store/ledger/port.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import { MovedClock } from '../moved-clock.ts';
import { ANSWER, callAt, chargedFor, termsOf } from '../store/claims.ts';

/*
 * What a power cut does to a file: what was synced is there; of what was written since, any part may be: none of it, a
 * beginning that ends in the middle of a page, pages of zeros where the file had grown and the data had not come, old bytes
 * of the disk. SQLite in WAL mode appends to the file `-wal`; with synchronous=FULL each commit ends in a sync of it, so when
 * a claim has resolved the file is on the disk up to its length at that moment. With NORMAL nothing is synced until a
 * checkpoint: then the promised end is 0 and not the length, and any cut of this test may come before a call that was
 * already sent. (Where strace is at hand, it shows one fdatasync of -wal for each commit under FULL, and none under NORMAL.)
 */

/** A moment at which the store promised that what it holds is durable. */
export interface Promised {
  /** The bytes of the -wal file that were on the disk. */
  readonly walBytes: number;
  readonly claimed: number;
  readonly settled: number;
}

export interface Written {
  readonly file: string;
  /** Copies of the files as they were last, taken while the store was open: closing it would tidy up. */
  readonly base: Buffer;
  readonly wal: Buffer;
  /** In the order in which it was promised. */
  readonly promised: readonly Promised[];
}

/** Claims and settles calls in small batches, and notes after each what a power cut may no longer take away. */
export async function writeLedger(folder: string, random: Random): Promise<Written> {
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
    const requests = Array.from({ length: whole(random, 1, 4) }, () => callAt(claimed++));
    open.push(...(await store.claim(terms, requests)));
    note();
    const landed = open.splice(0, whole(random, 0, open.length));
    if (landed.length === 0) continue;
    const answers = () => [{ ...ANSWER, fields: ['x'.repeat(whole(random, 1, 3_000))] }];
    await store.settle(landed.map((claim) => chargedFor(claim, 15, { answers: answers() })));
    settled += landed.length;
    note();
  }
  const written = { file, base: readFileSync(file), wal: readFileSync(`${file}-wal`), promised };
  await store.close();
  return written;
}

/** What may follow the synced bytes on the disk after a cut. */
const REMAINS = ['nothing', 'a beginning', 'zeros', 'old bytes', 'a beginning and old bytes'] as const;

/** Cuts the power just after a promise, reopens what is left, and says what is wrong with it. */
export async function cutPower(folder: string, written: Written, nth: number, random: Random): Promise<string[]> {
  const at = written.promised[nth]!;
  const next = written.promised[nth + 1] ?? { ...at, walBytes: written.wal.length };
  const remains = REMAINS[whole(random, 0, REMAINS.length - 1)]!;
  const kept = written.wal.subarray(0, at.walBytes);
  const since = written.wal.subarray(at.walBytes, Math.max(at.walBytes, next.walBytes));
  const part = since.subarray(0, Math.floor(between(random, 0, since.length)));
  const old = Buffer.from(Array.from({ length: whole(random, 1, 9_000) }, () => whole(random, 0, 255)));
  const tail = {
    nothing: Buffer.alloc(0),
    'a beginning': part,
    zeros: Buffer.alloc(since.length),
    'old bytes': old,
    'a beginning and old bytes': Buffer.concat([part, old]),
  }[remains];
  const file = join(folder, `cut-${nth}.db`);
  writeFileSync(file, written.base);
  writeFileSync(`${file}-wal`, Buffer.concat([kept, tail]));
  const { claimed, settled, health } = afterCrash(file);
  const wrong: string[] = [];
  const where = `promise ${nth}, then ${remains}`;
  if (health !== 'ok') wrong.push(`${where}: ${health}`);
  if (claimed < at.claimed || settled < at.settled) {
    wrong.push(`${where}: ${claimed} claims, ${settled} answers; promised were ${at.claimed} and ${at.settled}`);
  }
  // What was not promised is there as a whole transaction or not at all.
  if (![at, next].some((moment) => moment.claimed === claimed && moment.settled === settled)) {
    wrong.push(`${where}: a state that never was: ${claimed} claims, ${settled} answers`);
  }
  return wrong;
}

/** Opens a store after a crash, as the next run would. */
function afterCrash(file: string): { claimed: number; settled: number; health: string } {
  copyFileSync(file, `${file}.look`);
  copyFileSync(`${file}-wal`, `${file}.look-wal`);
  const database = new Database(`${file}.look`);
  try {
    const count = (what: string) => database.prepare<[], number>(what).pluck().get()!;
    return {
      claimed: count('SELECT count(*) FROM calls'),
      // Of a settled call there is the charge and the answer, in one transaction.
      settled: Math.max(
        count("SELECT count(*) FROM calls WHERE charge = 'charged'"),
        count('SELECT count(*) FROM cells'),
      ),
      health: database.pragma('integrity_check', { simple: true }) as string,
    };
  } finally {
    database.close();
  }
}
