import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  statfsSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { hasSystemCode, isRoomUsedUp, PerilbookError, resultOrNull } from '../base/errors.ts';
import { damagedStore } from '../formats/packed/damaged-store.ts';
import { openSqlite, type SqliteDatabase } from '../sql/open-sqlite.ts';
import { statement, write } from '../sql/sql-work.ts';
import { type SqliteDriver, sqliteDriver } from '../sql/sqlite-driver.ts';
import type { WidthOf } from './answers/cell-answers.ts';
import { giveUpDead, makeTables, storeOn } from './database-store.ts';
import type { Compaction, Owner, Store } from './port.ts';
import { asStoreError, STORE_DATABASE } from './store-address.ts';

/** How long a process waits for another's transaction. Transactions last milliseconds; half a minute means a fault. */
const BUSY_TIMEOUT_MS = 30_000;

/** The store on one machine: a SQLite file that several processes may have open at the same time. On opening, calls of
 * processes that have died are settled as `unknown`.
 * @param isFree only answers that cost nothing are written. A commit then waits for no disk (5 ms): after a power cut, which may
 * take the last ones, they are looked up again
 * @throws STORE_TOO_NEW, STORE_UNUSABLE */
export function openSqliteStore(
  file: string,
  clock: Clock,
  owner: Owner,
  widthOf: WidthOf = () => null,
  isFree = false,
): Store {
  const handle = openDatabase(file);
  try {
    const moved = watchFile(file);
    const database = sqliteDriver(handle, clock, (error) =>
      asStoreError(file, moved() ?? damageBehind(handle, file, error)),
    );
    const tables = makeTables({ name: file, database, time: () => LEDGER_TIME, owner, widthOf });
    startClock(database);
    database.transactNow(() => giveUpDead(tables));
    // After what was written above, which is of the ledger.
    if (isFree) handle.pragma('synchronous = NORMAL');
    return storeOn(tables, {
      moved,
      requireRoom: roomChecker(file),
      bytes: async () => sizeOf(file),
      compact: async () => compact(handle, file),
      async close() {
        // SQLite leaves the WAL of a moved file under the old name: its transactions would be lost.
        if (handle.open && moved() !== null) handle.pragma('wal_checkpoint(TRUNCATE)');
        handle.close();
      },
    });
  } catch (error) {
    handle.close();
    throw asStoreError(file, error);
  }
}

/** The WAL holds the changes that are not yet in the file, and may be larger than it. */
function sizeOf(file: string): number {
  return statSync(file).size + (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0);
}

/** Writes the file anew without its empty pages, while no other program has it open: `watchFile` takes a file that has become smaller for
 * another one. SQLite leaves the WAL mode only for the last connection. */
function compact(handle: SqliteDatabase, file: string): Compaction {
  const before = sizeOf(file);
  try {
    handle.pragma('busy_timeout = 0');
    if (handle.pragma('journal_mode = DELETE', { simple: true }) !== 'delete')
      return { kind: 'busy' };
    handle.exec('VACUUM');
    return { kind: 'done', freed: before - sizeOf(file) };
  } catch (error) {
    if (hasSystemCode(error, 'SQLITE_FULL')) return { kind: 'no_room' };
    if (hasSystemCode(error, 'SQLITE_BUSY') || hasSystemCode(error, 'SQLITE_LOCKED'))
      return { kind: 'busy' };
    throw asStoreError(file, error);
  } finally {
    handle.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`);
    handle.pragma('journal_mode = WAL');
  }
}

const LEDGER_TIME = '(SELECT steady_ms() + "offset" FROM ledger_clock)';

/** Starts the ledger's clock, which all processes of a machine share: the machine's monotonic clock and an offset that the first
 * process wrote. It starts at the time of the wall clock, and setting the wall clock does not change it. After a restart of the machine
 * (the monotonic clock is earlier than the newest settlement) it starts again, never earlier than that settlement. */
function startClock(database: SqliteDriver): void {
  const latest = '(SELECT coalesce(max(latest), 0) FROM accounts)';
  const begin = statement(
    `INSERT INTO ledger_clock AS old (id, "offset") VALUES (1, max(now_ms(), ${latest}) - steady_ms())
     ON CONFLICT (id) DO UPDATE SET "offset" = excluded."offset" WHERE steady_ms() + old."offset" < ${latest}`,
  );
  database.transactNow(() => write(begin));
}

/** Opens (and makes, and brings up to date) the SQLite file of the store.
 *
 * WAL lets several processes read while one writes. `synchronous=FULL`, because a charge that was written before its
 * call left must survive a power cut; in WAL mode the default, NORMAL, may lose the last transactions.
 * @throws STORE_TOO_NEW for a file of a later version, STORE_UNUSABLE for one of an earlier version, that cannot be opened or is no store */
export function openDatabase(file: string): SqliteDatabase {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    refuseSecondName(file);
    return openSqlite(file, {
      migrations: new URL('./migrations/sqlite/', import.meta.url),
      // 16 MB of pages: with the default of 2 MB, a large plan reads index pages again for each cell and takes a fifth longer.
      pragmas: ['synchronous = FULL', 'foreign_keys = ON', 'cache_size = -16384'],
      busyTimeoutMs: BUSY_TIMEOUT_MS,
      isPrivate: true,
      otherVersion(version, supported) {
        if (version < supported) {
          const message = `The store ${file} was made by an earlier development version of Perilbook`;
          return new PerilbookError('STORE_UNUSABLE', message, 'Name another file with --store.', {
            file,
          });
        }
        const message = `The store ${file} was written by a later Perilbook (version ${version}, this one knows ${supported})`;
        const hint = 'Update Perilbook, or name another file with --store.';
        return new PerilbookError('STORE_TOO_NEW', message, hint, { file });
      },
    });
  } catch (error) {
    const storeError = asStoreError(file, error);
    if (storeError instanceof PerilbookError) throw storeError;
    const reason = error instanceof Error ? error.message : String(error);
    const message = `The store ${file} cannot be ${existsSync(file) ? 'used' : 'made'}: ${reason}`;
    const hint = 'Check the disk and the permissions, or name another file with --store.';
    throw new PerilbookError('STORE_UNUSABLE', message, hint, { file }, error);
  }
}

/** SQLite names its WAL after the database: two programs that open one file by two names (hard links; symbolic links are
 * resolved) do not see each other's WAL and corrupt the database. */
function refuseSecondName(file: string): void {
  const stats = statSync(file, { throwIfNoEntry: false });
  const names = stats?.isFile() ? stats.nlink : 1;
  if (names <= 1) return;
  const message = `The store ${file} has ${names} names (hard links): programs that open it by different names would corrupt it`;
  const hint = 'Copy it and use the copy with --store, or remove the other names.';
  throw new PerilbookError('STORE_UNUSABLE', message, hint, { file });
}

/** Room that a store needs before a call: its WAL grows to 1,000 pages of 4 KiB before they go to the file, and the answers of the calls in
 * flight must be in it. */
const ROOM_BYTES = 4 * 1024 * 1024;

/** Makes a check that the disk has room for answers. The first writes so many bytes and removes them, because a quota of a user or a limit
 * on files is seen in no other way; later ones ask for the free bytes, in microseconds. */
function roomChecker(file: string): () => void {
  const trial = `${file}.room-${process.pid}`;
  let isTried = false;
  return () => {
    try {
      if (isTried) {
        const { bavail, bsize } = statfsSync(dirname(file));
        if (bavail * bsize < ROOM_BYTES) throw noRoom(file);
        return;
      }
      isTried = true;
      writeUnnamed(trial, Buffer.alloc(ROOM_BYTES));
    } catch (error) {
      const isFull = isRoomUsedUp(error);
      isTried = !isFull;
      if (isFull || error instanceof PerilbookError) throw noRoom(file);
      // A folder that may not be written: SQLite says what the store itself lacks.
    }
  };
}

/** Writes a new file that has no name any more: a kill leaves nothing of it. */
function writeUnnamed(path: string, bytes: Buffer): void {
  const file = openSync(path, 'wx', 0o600);
  try {
    unlinkSync(path);
    writeFileSync(file, bytes, { flush: true });
  } finally {
    closeSync(file);
  }
}

function noRoom(file: string): PerilbookError {
  const message = `The store ${file} has no room left on its disk: answers need ${ROOM_BYTES / 1024 / 1024} MB`;
  const hint = `Make room, ${STORE_DATABASE.thenAgain}`;
  return new PerilbookError('STORE_UNUSABLE', message, hint, { file });
}

/** An error that is no statement's own may come of rows that were damaged, exchanged or replaced below this program; a check of all pages
 * tells, so that a bug is only what happens in a whole store. */
function damageBehind(handle: SqliteDatabase, file: string, error: unknown): unknown {
  const isOfFile = error instanceof PerilbookError || asStoreError(file, error) !== error;
  if (isOfFile || !handle.open) return error;
  if (hasSystemCode(error, 'SQLITE_CONSTRAINT_FOREIGNKEY')) return replacedError(file);
  const found = resultOrNull(() => handle.pragma('integrity_check(1)', { simple: true }));
  return found === 'ok' ? error : damagedStore('a page of it', file);
}

/** The rows of this run are no longer there: a copy from before it was laid over the file, with the same name and the same inode. */
function replacedError(file: string): PerilbookError {
  const message = `The store ${file} was overwritten or cut off while this run used it`;
  const hint =
    'Put back a copy of it. What was bought since that copy is not in its ledger: perilbook quota set corrects the credits.';
  return new PerilbookError('STORE_MOVED', message, hint, { file });
}

/** Remembers the opened file of a store; returns a check that gives the error if it was deleted, moved or replaced, else null. A process
 * can write to an open file after it was deleted or renamed: the next run would not find the answers bought after that, and would buy
 * them again. A check is one `stat` of about 2 µs; a durable transaction takes milliseconds.
 *
 * A file that has become smaller was overwritten in place or cut off: a store shrinks only by `cache prune`, while no run uses it.
 *
 * The file must not be opened a second time for the check: closing that handle would drop SQLite's locks (POSIX). */
function watchFile(file: string): () => PerilbookError | null {
  const opened = statSync(file);
  let largest = opened.size;
  return () => {
    const there = statSync(file, { throwIfNoEntry: false });
    if (there?.ino === opened.ino && there.dev === opened.dev) {
      largest = Math.max(largest, there.size);
      return there.size < largest ? replacedError(file) : null;
    }
    const replaced = there === undefined ? '' : ', and another file is in its place';
    const message = `The store ${file} was moved or deleted while this run used it${replaced}`;
    const hint =
      'Move it back before the next run, or name it with --store: else its answers are bought again.';
    return new PerilbookError('STORE_MOVED', message, hint, { file });
  };
}
