import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { PerilbookError } from '../errors.ts';
import { joinSources } from './join-sources.ts';
import { packJsonAnswers } from './pack-json-answers.ts';
import { asStoreError } from './store-errors.ts';

const MIGRATIONS = new URL('./migrations/', import.meta.url);

/** What a step does beyond its SQL, in the same transaction. */
const WORK: Readonly<Record<string, (database: Database.Database, file: string) => void>> = {
  '0005-packed-answers.sql': packJsonAnswers,
  '0008-spellings-of-sources.sql': joinSources,
};

/** How long a process waits for another's transaction. Transactions last milliseconds; half a minute means trouble. */
const BUSY_TIMEOUT_MS = 30_000;

/**
 * Opens (and makes, and brings up to date) the SQLite file of the store.
 *
 * WAL lets several processes read while one writes. `synchronous=FULL`, because a charge that was written before its
 * call left must survive a power cut; in WAL mode the default, NORMAL, may lose the last transactions.
 *
 * @throws STORE_TOO_NEW for a file of a later version, STORE_UNUSABLE for one that cannot be opened or is no store
 */
export function openDatabase(file: string): Database.Database {
  let database: Database.Database | undefined;
  try {
    mkdirSync(dirname(file), { recursive: true });
    refuseSecondName(file);
    database = new Database(file, { timeout: BUSY_TIMEOUT_MS });
    database.pragma('journal_mode = WAL');
    database.pragma('synchronous = FULL');
    database.pragma('foreign_keys = ON');
    migrate(database, file);
    return database;
  } catch (error) {
    database?.close();
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

/** SQLite names the files beside a database after it: two programs that open one file by two names (hard links; links by
 * name are followed) do not see each other's, and ruin it. */
function refuseSecondName(file: string): void {
  const found = statSync(file, { throwIfNoEntry: false });
  const names = found?.isFile() ? found.nlink : 1;
  if (names <= 1) return;
  throw new PerilbookError(
    'STORE_UNUSABLE',
    `The store ${file} is one file under ${names} names (hard links): programs that open it by different ones would ruin it`,
    'Make a copy of it and name the copy with --store, or remove the other names.',
    { file },
  );
}

function migrate(database: Database.Database, file: string): void {
  const steps = readdirSync(MIGRATIONS)
    .filter((name) => name.endsWith('.sql'))
    .sort();
  const version = () => database.pragma('user_version', { simple: true }) as number;
  if (version() > steps.length) {
    throw new PerilbookError(
      'STORE_TOO_NEW',
      `The store ${file} was written by a later Perilbook (version ${version()}, this one knows ${steps.length})`,
      'Update Perilbook, or name another file with --store.',
      { file },
    );
  }
  if (version() === steps.length) return;
  // The version is read again inside: two processes may have found the file new at the same time.
  database
    .transaction(() => {
      for (const [index, name] of steps.entries()) {
        if (index < version()) continue;
        database.exec(readFileSync(new URL(name, MIGRATIONS), 'utf8'));
        WORK[name]?.(database, file);
        database.pragma(`user_version = ${index + 1}`);
      }
    })
    .immediate();
}
