import type { ServiceDatabase } from './data-database.ts';

/** Gives a number that stays the same as long as no data set is replaced: what is kept in memory is true until then. */
export type DataVersion = () => number;

/**
 * Makes the function that gives a number which changes whenever a data set is replaced, by this process or another. Each
 * load makes and renames tables, and SQLite counts that; charges do not touch it. To be called in the transaction that
 * reads the data.
 */
export function createDataVersion(database: ServiceDatabase): DataVersion {
  const read = database.prepare<[], number>('PRAGMA schema_version').pluck();
  return () => read.get()!;
}

/** The version as it was last read. */
export interface HeldVersion {
  /** Reads it; to be called first thing in each transaction. */
  read(): void;
  readonly held: DataVersion;
}

/** Makes a version that is read once a transaction: within one it cannot change, and a call asks for it many times. */
export function createHeldVersion(database: ServiceDatabase): HeldVersion {
  const versionOf = createDataVersion(database);
  let version = -1;
  return {
    read() {
      version = versionOf();
    },
    held: () => version,
  };
}
