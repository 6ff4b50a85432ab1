import { PerilbookError } from '../../base/errors.ts';
import {
  type DatabaseFormat,
  openSqlite,
  openSqliteReadOnly,
  type SqliteDatabase,
} from '../../sql/open-sqlite.ts';
import { asSqliteError } from '../../sql/sqlite-errors.ts';
import { writeCountyRatedAreas } from './county-ratings.ts';

/** The open data file: one SQLite file with the data of all topics. The opener closes it. */
export type DataDatabase = SqliteDatabase;

/** How long a statement waits for another process's write transaction before it fails, in milliseconds: a data set is
 * replaced in one transaction, and a small one takes a second or two. */
const BUSY_TIMEOUT_MS = 5_000;

/** Opens the data file, makes it when there is none, and brings it up to the newest version.
 * @param file path of the SQLite file; its directory must exist. `:memory:` makes one for this handle alone
 * @throws PerilbookError SERVICE_DATA when the file cannot be opened, is no database, or is of another version */
export function openDataDatabase(file: string): DataDatabase {
  return open(file, openSqlite);
}

/** Opens the data file read-only: several services may answer from one file. A missing file is created and an older version is updated
 * first.
 * @throws PerilbookError SERVICE_DATA as `openDataDatabase` does */
export function openDataReadOnly(file: string): DataDatabase {
  return open(file, openSqliteReadOnly);
}

/** Runs work on a data file; an error of SQLite becomes one that the user can act on, such as that of a full disk. @throws SERVICE_DATA */
export async function onDataFile<T>(file: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw asDataError(file, error);
  }
}

/** The same of work that waits for nothing, such as a look-up. */
export function readingData<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw asDataError(file, error);
  }
}

function asDataError(file: string, error: unknown): unknown {
  const use = {
    subject: `The data file ${file}`,
    file,
    code: 'SERVICE_DATA',
    option: '--db',
  } as const;
  return asSqliteError({ ...use, thenAgain: 'then run again.' }, error);
}

function open(
  file: string,
  by: (file: string, format: DatabaseFormat) => SqliteDatabase,
): DataDatabase {
  try {
    return by(file, {
      migrations: new URL('./migrations/', import.meta.url),
      steps: {
        '0010-county-ratings.sql': (database) => writeCountyRatedAreas(database as SqliteDatabase),
      },
      // NORMAL: a commit survives a killed process; only a power cut can lose the last commits.
      pragmas: ['synchronous = NORMAL', 'foreign_keys = ON', 'cache_size = -65536'],
      busyTimeoutMs: BUSY_TIMEOUT_MS,
      otherVersion(version, supported) {
        const newer = `it has version ${version}, and this program knows up to ${supported}`;
        const problem =
          version < supported
            ? 'it was made by an earlier development version of Perilbook'
            : newer;
        const remove =
          'Remove it, or name another file; perilbook data update loads the downloads again.';
        const hint = version < supported ? remove : 'Update Perilbook, or name another file.';
        const message = `Cannot read the data file "${file}": ${problem}`;
        return new PerilbookError('SERVICE_DATA', message, hint, { file, version });
      },
    });
  } catch (error) {
    if (error instanceof PerilbookError) throw error;
    const message = `Cannot open the data file "${file}": ${error instanceof Error ? error.message : String(error)}`;
    const hint =
      'Check that the directory exists, that it can be written, and that the file is a data file.';
    throw new PerilbookError('SERVICE_DATA', message, hint, { file }, error);
  }
}

/** A number that changes when a dataset is replaced. Cached values are valid as long as it stays the same. */
export type DataVersion = () => number;

/** Makes the function that returns a number which changes whenever a dataset is replaced, by this process or another: each load creates
 * and renames tables, and SQLite counts that. Call it in the transaction that reads the data. */
export function createDataVersion(database: DataDatabase): DataVersion {
  const read = database.prepare<[], number>('PRAGMA schema_version').pluck();
  return () => read.get()!;
}

/** @throws LOCAL_DATA where the data is another than that of which a run began */
export function requireVersion(file: string, version: number, planned: number): void {
  if (version === planned) return;
  const message = `The data in ${file} was replaced while the run began`;
  const hint = 'Run again: it begins with the new data.';
  throw new PerilbookError('LOCAL_DATA', message, hint, { file, isReplaced: true });
}

/** Whether work ended because the data was replaced: with the new data it may begin again. */
export function isDataReplaced(error: unknown): error is PerilbookError {
  return error instanceof PerilbookError && error.context.isReplaced === true;
}

/** A version of the data that does not change within a transaction. */
interface HeldVersion {
  /** Call it first in each transaction. */
  read(): void;
  readonly held: DataVersion;
}

/** Makes a version that is read once per transaction, within which it cannot change; a call needs it many times. */
export function createHeldVersion(database: DataDatabase): HeldVersion {
  const versionOf = createDataVersion(database);
  let version = -1;
  return {
    read(): void {
      version = versionOf();
    },
    held: (): number => version,
  };
}

/** Makes a function that computes a value when it is first called, and again after a dataset was replaced. */
export function oncePerVersion<T>(versionOf: DataVersion, compute: () => T): () => T {
  let held: { readonly version: number; readonly value: T } | null = null;
  return () => {
    const version = versionOf();
    if (held?.version !== version) held = { version, value: compute() };
    return held.value;
  };
}
