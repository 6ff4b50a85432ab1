import { type DatabaseUse, isPostgresAddress } from '../sql/postgres-address.ts';
import { asSqliteError } from '../sql/sqlite-errors.ts';

export const STORE_DATABASE: DatabaseUse = {
  name: 'store',
  defaultSchema: 'perilbook',
  option: '--store',
  maker: 'perilbook store init',
  guide: 'docs/operator/many-machines.md',
  unusable: 'STORE_UNUSABLE',
  unreachable: 'STORE_UNREACHABLE',
  tooNew: 'STORE_TOO_NEW',
  thenAgain:
    'then run again: what was answered is kept, and calls without an outcome are listed as unknown.',
};

/** The files of a store, which no output may replace. */
export function filesOfStore(store: string): readonly string[] {
  return isPostgresAddress(store) ? [] : [store];
}

/** Converts an error of SQLite into one that the user can act on; returns any other unchanged. */
export function asStoreError(file: string, error: unknown): unknown {
  const { thenAgain, option, unusable: code, unreachable: busy } = STORE_DATABASE;
  return asSqliteError(
    { subject: `The store ${file}`, file, code, busy, thenAgain, option },
    error,
  );
}
