import { PerilbookError } from '../../../errors.ts';
import { openSqlite, type SqliteDatabase } from '../../../sql/open-sqlite.ts';

declare const holdsAccounts: unique symbol;

/** The open accounts file: accounts, keys, charges and running instances. Whoever opens it closes it. The mark, which only
 * the compiler sees, keeps a data file from being taken for it. */
export type AccountsDatabase = SqliteDatabase & { readonly [holdsAccounts]: true };

/** Longest wait for another process's transaction, in milliseconds. Transactions take milliseconds. */
const BUSY_TIMEOUT_MS = 5_000;

/**
 * Opens the accounts file, makes it when there is none, and brings it up to the newest version.
 *
 * @param file path of the SQLite file; its directory must exist. `:memory:` makes one that only this handle sees
 * @throws PerilbookError SERVICE_ACCOUNT when the file cannot be opened, is another database, or is of another
 *   version
 */
export function openAccounts(file: string): AccountsDatabase {
  try {
    const database = openSqlite(file, {
      migrations: new URL('./migrations/', import.meta.url),
      // NORMAL: a commit survives the death of the process; only a power cut can lose the last ones.
      // A checkpoint waits for the disk for 6 to 20 ms, whether it is of 1,000 pages, SQLite's default, or of 4,000 (16 MB).
      pragmas: ['synchronous = NORMAL', 'foreign_keys = ON', 'wal_autocheckpoint = 4000'],
      busyTimeoutMs: BUSY_TIMEOUT_MS,
      otherVersion: (version, known) =>
        new Error(
          version < known
            ? 'it was made by an earlier development version of Perilbook'
            : `it has version ${version}, and this program knows up to ${known}`,
        ),
    });
    return database as AccountsDatabase;
  } catch (error) {
    throw new PerilbookError(
      'SERVICE_ACCOUNT',
      `Cannot open the accounts file "${file}": ${error instanceof Error ? error.message : String(error)}`,
      'Check that the directory exists and can be written, that the file is an accounts file, and that Perilbook is up to date.',
      { file },
      error,
    );
  }
}
