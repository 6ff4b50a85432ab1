import type { ServiceDatabase } from './database.ts';

/**
 * Makes the function that gives a number which changes whenever a data set is replaced, by this process or another: what
 * is kept in memory is true as long as it stays the same. Each load makes and renames tables, and SQLite counts that;
 * charges do not touch it. To be called in the transaction that reads the data.
 */
export function createDataVersion(database: ServiceDatabase): () => number {
  const read = database.prepare<[], number>('PRAGMA schema_version').pluck();
  return () => read.get()!;
}
