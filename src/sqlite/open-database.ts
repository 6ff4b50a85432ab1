import { readdirSync, readFileSync } from 'node:fs';
import Database from 'better-sqlite3';

/** An open SQLite file. Whoever opens it closes it, with `using` or `close()`. */
export type SqliteDatabase = Database.Database & Disposable;

/** How one kind of SQLite file is opened and brought up to its newest version. */
export interface DatabaseFormat {
  /** Folder of numbered SQL files. A database's `user_version` is the number of those that have run. */
  readonly migrations: URL;
  /** What a migration does beyond its SQL, in the same transaction; by the name of its file. */
  readonly steps?: Readonly<Record<string, (database: Database.Database) => void>>;
  readonly pragmas: readonly string[];
  /** Longest wait for another process's transaction, in milliseconds. */
  readonly busyTimeoutMs: number;
  /** Makes the error for a file that a later program has written. */
  readonly tooNew: (version: number, known: number) => Error;
}

/**
 * Opens a SQLite file in WAL mode, makes it when there is none, and runs the migrations that it lacks, all in one
 * transaction: a process that is killed leaves the version that was there.
 */
export function openSqlite(file: string, format: DatabaseFormat): SqliteDatabase {
  return opened(new Database(file, { timeout: format.busyTimeoutMs }), (database) => {
    switchToWal(database, format.busyTimeoutMs);
    for (const pragma of format.pragmas) database.pragma(pragma);
    migrate(database, format);
  });
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
      const isBusy = (error as { code?: unknown }).code === 'SQLITE_BUSY';
      if (!isBusy || waitedMs >= timeoutMs) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BUSY_PAUSE_MS);
    }
  }
}

/** Opens a file so that this process cannot write it. Only a file that is missing or of an older version is written first. */
export function openSqliteReadOnly(file: string, format: DatabaseFormat): SqliteDatabase {
  const options = { timeout: format.busyTimeoutMs, readonly: true };
  if (!isNewest(file, format)) openSqlite(file, format).close();
  return opened(new Database(file, options), (database) => {
    for (const pragma of format.pragmas) database.pragma(pragma);
  });
}

function opened(database: Database.Database, prepare: (database: Database.Database) => void): SqliteDatabase {
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
    if ((error as { code?: unknown }).code === 'SQLITE_CANTOPEN') return false;
    throw error;
  }
  try {
    return versionOf(database) === migrationsOf(format).length;
  } finally {
    database.close();
  }
}

function migrate(database: Database.Database, format: DatabaseFormat): void {
  const names = migrationsOf(format);
  const version = versionOf(database);
  if (version > names.length) throw format.tooNew(version, names.length);
  if (version === names.length) return;
  // IMMEDIATE, and the version is read again: two processes may open a new file at the same time.
  database
    .transaction(() => {
      for (let next = versionOf(database); next < names.length; next++) {
        const name = names[next]!;
        database.exec(readFileSync(new URL(name, format.migrations), 'utf8'));
        format.steps?.[name]?.(database);
        database.pragma(`user_version = ${next + 1}`);
      }
    })
    .immediate();
}

function migrationsOf({ migrations }: DatabaseFormat): string[] {
  return readdirSync(migrations)
    .filter((name) => name.endsWith('.sql'))
    .sort();
}

function versionOf(database: Database.Database): number {
  return database.pragma('user_version', { simple: true }) as number;
}
