import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { PerilbookError } from '../../errors.ts';
import { openSqlite, type SqliteDatabase } from '../../sql/open-sqlite.ts';
import { asStoreError } from './store-errors.ts';

/** How long a process waits for another's transaction. Transactions last milliseconds; half a minute means trouble. */
const BUSY_TIMEOUT_MS = 30_000;

/**
 * Opens (and makes, and brings up to date) the SQLite file of the store.
 *
 * WAL lets several processes read while one writes. `synchronous=FULL`, because a charge that was written before its
 * call left must survive a power cut; in WAL mode the default, NORMAL, may lose the last transactions.
 *
 * @throws STORE_TOO_NEW for a file of a later version, STORE_UNUSABLE for one of an earlier version, that cannot be opened or is no store
 */
export function openDatabase(file: string): SqliteDatabase {
  try {
    mkdirSync(dirname(file), { recursive: true });
    refuseSecondName(file);
    return openSqlite(file, {
      migrations: new URL('./migrations/', import.meta.url),
      // 16 MB of pages: with the default of 2, each cell of a large plan reads a page of the index again, and takes a fifth longer.
      pragmas: ['synchronous = FULL', 'foreign_keys = ON', 'cache_size = -16384'],
      busyTimeoutMs: BUSY_TIMEOUT_MS,
      otherVersion: (version, known) =>
        version < known
          ? new PerilbookError(
              'STORE_UNUSABLE',
              `The store ${file} was made by an earlier development version of Perilbook`,
              'Name another file with --store.',
              { file },
            )
          : new PerilbookError(
              'STORE_TOO_NEW',
              `The store ${file} was written by a later Perilbook (version ${version}, this one knows ${known})`,
              'Update Perilbook, or name another file with --store.',
              { file },
            ),
    });
  } catch (error) {
    const known = asStoreError(file, error);
    if (known instanceof PerilbookError) throw known;
    const reason = error instanceof Error ? error.message : String(error);
    throw new PerilbookError(
      'STORE_UNUSABLE',
      `The store ${file} cannot be ${existsSync(file) ? 'used' : 'made'}: ${reason}`,
      'Check the disk and the permissions, or name another file with --store.',
      { file },
      error,
    );
  }
}

/** SQLite names its WAL after the database: two programs that open one file by two names (hard links; symbolic links are
 * resolved) do not see each other's WAL and corrupt the database. */
function refuseSecondName(file: string): void {
  const found = statSync(file, { throwIfNoEntry: false });
  const names = found?.isFile() ? found.nlink : 1;
  if (names <= 1) return;
  throw new PerilbookError(
    'STORE_UNUSABLE',
    `The store ${file} has ${names} names (hard links): programs that open it by different names would corrupt it`,
    'Copy it and use the copy with --store, or remove the other names.',
    { file },
  );
}
