import type { DataDatabase } from './data-database.ts';

/** A number that changes when a dataset is replaced. Cached values are valid as long as it stays the same. */
export type DataVersion = () => number;

/** Makes the function that returns a number which changes whenever a dataset is replaced, by this process or another: each load creates
 * and renames tables, and SQLite counts that. Call it in the transaction that reads the data. */
export function createDataVersion(database: DataDatabase): DataVersion {
  const read = database.prepare<[], number>('PRAGMA schema_version').pluck();
  return () => read.get()!;
}

/** Makes a version that is read once per transaction, within which it cannot change; a call needs it many times. */
export function createHeldVersion(database: DataDatabase) {
  const versionOf = createDataVersion(database);
  let version = -1;
  return {
    /** Call it first in each transaction. */
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
