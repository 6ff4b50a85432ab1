import { readdirSync, readFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { PerilbookError } from '../../errors.ts';

/** The open service database: topics' data, accounts, keys and charges in one SQLite file. Whoever opens it closes it. */
export type ServiceDatabase = Database.Database;

/** How long a statement waits for another process's write transaction before it fails, in milliseconds: a data set is
 * replaced in one transaction, and a small one takes a second or two. */
const DEFAULT_BUSY_TIMEOUT_MS = 5_000;

const MIGRATIONS = new URL('./migrations/', import.meta.url);

/**
 * Opens the service database, makes it when there is none, and brings it up to the newest version.
 *
 * @param file path of the SQLite file; its directory must exist. `:memory:` makes one that only this handle sees
 * @param busyTimeoutMs longest wait for another process's lock, in milliseconds
 * @throws PerilbookError SERVICE_DATA when the file cannot be opened, is no database, or was written by a newer version
 */
export function openServiceDatabase(file: string, busyTimeoutMs: number = DEFAULT_BUSY_TIMEOUT_MS): ServiceDatabase {
  let database: ServiceDatabase | null = null;
  try {
    database = new Database(file, { timeout: busyTimeoutMs });
    database.pragma('journal_mode = WAL');
    // A commit survives the death of the process; only a power cut can lose the last ones.
    database.pragma('synchronous = NORMAL');
    database.pragma('foreign_keys = ON');
    database.pragma('cache_size = -65536');
    migrate(database);
    return database;
  } catch (error) {
    database?.close();
    if (error instanceof PerilbookError) throw error;
    throw new PerilbookError(
      'SERVICE_DATA',
      `Cannot open the service database "${file}": ${error instanceof Error ? error.message : String(error)}`,
      'Check that the directory exists, that it can be written, and that the file is a service database.',
      { file },
      error,
    );
  }
}

function migrate(database: ServiceDatabase): void {
  const files = readdirSync(MIGRATIONS)
    .filter((name) => name.endsWith('.sql'))
    .sort();
  const version = () => database.pragma('user_version', { simple: true }) as number;
  if (version() > files.length) {
    throw new PerilbookError(
      'SERVICE_DATA',
      `Cannot read the service database: it has version ${version()}, and this program knows up to ${files.length}`,
      'Update Perilbook, or name another database.',
      { file: database.name },
    );
  }
  if (version() === files.length) return;
  // IMMEDIATE and the second look at the version: two processes may open a new file at the same time.
  database
    .transaction(() => {
      for (let next = version(); next < files.length; next++) {
        database.exec(readFileSync(new URL(files[next]!, MIGRATIONS), 'utf8'));
        database.pragma(`user_version = ${next + 1}`);
      }
    })
    .immediate();
}
