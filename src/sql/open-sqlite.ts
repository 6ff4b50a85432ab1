import {
  chmodSync,
  closeSync,
  existsSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import Database from 'better-sqlite3';
import { hasSystemCode, resultOrNull } from '../base/errors.ts';
import { readHead } from '../base/pipes.ts';
import { isPlanted, PLANTED } from '../base/users.ts';

/** An open SQLite file. The opener closes it, with `using` or `close()`. */
export type SqliteDatabase = Database.Database & Disposable;

/** How to open one kind of SQLite file and bring it up to its newest version. */
export interface DatabaseFormat {
  /** Folder of numbered SQL files. The first makes the whole schema; a database's `user_version` is the number of the last file that was run. */
  readonly migrations: URL;
  /** The work of a migration beyond its SQL, in the same transaction; by the name of its file. */
  readonly steps?: Readonly<Record<string, (database: Database.Database) => void>>;
  readonly pragmas: readonly string[];
  /** Longest wait for another process's transaction, in milliseconds. */
  readonly busyTimeoutMs: number;
  /** Only its owner may read it, whatever the umask says: it holds places, names and spending. */
  readonly isPrivate?: boolean;
  /** Makes the error for a file that cannot be brought to the version `supported`: it is from a later program, or from before the first step. */
  readonly otherVersion: (version: number, supported: number) => Error;
}

/** Opens a SQLite file in WAL mode, makes it when there is none, and runs the migrations that it lacks, all in one
 * transaction: a killed process leaves the old version. */
export function openSqlite(file: string, format: DatabaseFormat): SqliteDatabase {
  const isInFile = format.isPrivate === true && file !== ':memory:';
  const stats = isInFile ? statSync(file, { throwIfNoEntry: false }) : undefined;
  // As root, `protect` would take /dev/null from all other users.
  if (stats && !stats.isFile() && !stats.isDirectory()) throw new Error('it is a pipe or a device');
  refusePlanted(file);
  if (file !== ':memory:') {
    if (existsSync(file)) refuseNoDatabase(file);
    else makeWhole(targetOf(file), format);
  }
  return opened(new Database(file, { timeout: format.busyTimeoutMs }), (database) => {
    refuseForeign(database);
    if (isInFile) protect(file);
    switchToWal(database, format.busyTimeoutMs);
    for (const pragma of format.pragmas) database.pragma(pragma);
    migrate(database, format);
  });
}

/** Only a file that does not exist is a new one: what was in any other is lost, and would be paid for again without a word. SQLite would
 * take a file of 0 or 1 bytes for a new database. */
function refuseNoDatabase(file: string): void {
  const stats = statSync(file);
  // Windows gives a folder no bytes, too.
  if (stats.isDirectory()) return;
  if (stats.size === 0) throw new Database.SqliteError('it has 0 bytes', 'EMPTY_FILE');
  // SQLite says why a file cannot be read.
  const head = resultOrNull(() => readHead(file, HEADER.length));
  if (head !== null && head.toString('latin1') !== HEADER)
    throw new Database.SqliteError('file is not a database', 'SQLITE_NOTADB');
}

/** Where a file is made whose name is a link to a file that does not exist yet: the link stays. */
function targetOf(file: string): string {
  let path = file;
  for (let links = 0; links < 40; links++) {
    const target = resultOrNull(() => readlinkSync(path));
    if (target === null) return path;
    path = resolve(dirname(path), target);
  }
  throw new Error('it is a loop of links');
}

/** Makes a database under another name, and gives it its own when it is whole: a process that is killed, or a full disk, leaves no empty
 * or damaged file there. Without a WAL, each page is in the file when the transaction ends: on a full disk, the close of a WAL writes a
 * part of it and reports no error. Of two processes, one makes it. */
function makeWhole(file: string, format: DatabaseFormat): void {
  const draft = `${file}.new-${process.pid}`;
  rmSync(draft, { force: true });
  try {
    // SQLite would make it by the umask, and gives its WAL the same mode.
    if (format.isPrivate) closeSync(openSync(draft, 'a', 0o600));
    const database = new Database(draft, { timeout: format.busyTimeoutMs });
    try {
      database.pragma('synchronous = FULL');
      migrate(database, format);
    } finally {
      database.close();
    }
    try {
      linkSync(draft, file);
    } catch (error) {
      // A disk without links (FAT, some network shares).
      if (!hasSystemCode(error, 'EEXIST') && !existsSync(file)) renameSync(draft, file);
    }
  } finally {
    for (const suffix of ['', '-journal']) rmSync(draft + suffix, { force: true });
  }
}

/** Refuses a database that another user has laid there, to read it and write it, and the same of the files that SQLite keeps beside it. */
function refusePlanted(file: string): void {
  const paths = ['', '-wal', '-shm', '-journal'].map((suffix) => resolve(file + suffix));
  const planted = paths.find((path) => isPlanted(path));
  if (planted !== undefined) throw new Error(`${planted} ${PLANTED}`);
}

/** Takes from other users what an earlier version left them. A group keeps its rights where it may write: it was given them. */
function protect(file: string): void {
  const { mode } = statSync(file);
  const kept = mode & ((mode & 0o020) === 0 ? 0o700 : 0o770);
  if ((mode & 0o777) === kept) return;
  try {
    for (const path of [file, `${file}-wal`, `${file}-shm`])
      if (existsSync(path)) chmodSync(path, kept);
  } catch {
    // It belongs to another user, who has shared it.
  }
}

/** Refuses a database without a version, before anything is written into it: it has tables of another program, or lost its own. */
function refuseForeign(database: Database.Database): void {
  if (database.name === ':memory:' || readVersion(database) > 0) return;
  const hasTables = database.prepare('SELECT 1 FROM sqlite_schema').get() !== undefined;
  if (hasTables) throw new Error('it is a database of another program');
  throw new Database.SqliteError('it has no tables', 'EMPTY_FILE');
}

const BUSY_PAUSE_MS = 10;

/** SQLite does not apply its busy timeout to the switch to WAL: of two processes that open a new file at the same time, one
 * gets SQLITE_BUSY at once. The pause blocks the thread, as SQLite's own wait does. */
function switchToWal(database: Database.Database, timeoutMs: number): void {
  for (let waitedMs = 0; ; waitedMs += BUSY_PAUSE_MS) {
    try {
      database.pragma('journal_mode = WAL');
      return;
    } catch (error) {
      if (!hasSystemCode(error, 'SQLITE_BUSY') || waitedMs >= timeoutMs) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BUSY_PAUSE_MS);
    }
  }
}

/** Opens a file so that this process cannot write it. A missing file or a file of an older version is written first. */
export function openSqliteReadOnly(file: string, format: DatabaseFormat): SqliteDatabase {
  const options = { timeout: format.busyTimeoutMs, readonly: true };
  refusePlanted(file);
  if (!isNewest(file, format)) openSqlite(file, format).close();
  return opened(new Database(file, options), (database) => {
    for (const pragma of format.pragmas) database.pragma(pragma);
  });
}

function opened(
  database: Database.Database,
  prepare: (database: Database.Database) => void,
): SqliteDatabase {
  try {
    prepare(database);
    return Object.assign(database, { [Symbol.dispose]: () => void database.close() });
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Opens an empty database in a temporary file, which SQLite deletes when it is closed. */
export function openTemporarySqlite(): SqliteDatabase {
  return opened(new Database(''), (database) => {
    database.pragma('journal_mode = OFF');
  });
}

function isNewest(file: string, format: DatabaseFormat): boolean {
  let database: Database.Database;
  try {
    database = new Database(file, { readonly: true, timeout: format.busyTimeoutMs });
  } catch (error) {
    if (hasSystemCode(error, 'SQLITE_CANTOPEN')) return false;
    throw error;
  }
  try {
    return readVersion(database) === migrationSteps(format.migrations).at(-1)!.number;
  } finally {
    database.close();
  }
}

function migrate(database: Database.Database, format: DatabaseFormat): void {
  const steps = migrationSteps(format.migrations);
  const [first, last] = [steps[0]!.number, steps.at(-1)!.number];
  const version = readVersion(database);
  if (version > last || (version > 0 && version < first)) throw format.otherVersion(version, last);
  if (version === last) return;
  // IMMEDIATE, and the version is read again: two processes may open a new file at the same time.
  database
    .transaction(() => {
      const reached = readVersion(database);
      for (const { number, name } of steps) {
        if (number <= reached) continue;
        database.exec(readFileSync(new URL(name, format.migrations), 'utf8'));
        format.steps?.[name]?.(database);
        database.pragma(`user_version = ${number}`);
      }
    })
    .immediate();
}

/** The SQL files of a folder, by the numbers that their names begin with. */
export function migrationSteps(
  migrations: URL,
): { readonly number: number; readonly name: string }[] {
  return readdirSync(migrations)
    .filter((name) => name.endsWith('.sql'))
    .map((name) => ({ number: Number.parseInt(name, 10), name }))
    .sort((a, b) => a.number - b.number);
}

function readVersion(database: Database.Database): number {
  return database.pragma('user_version', { simple: true }) as number;
}

const HEADER = 'SQLite format 3\0';

/** Whether a file is a SQLite database, by its first bytes. False if it does not exist or may not be read. */
export function isSqliteFile(path: string): boolean {
  // Opening a pipe would wait for its writer.
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false;
  return resultOrNull(() => readHead(path, HEADER.length))?.toString('latin1') === HEADER;
}
