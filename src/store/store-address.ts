import { type DatabaseUse, isPostgresAddress } from '../sql/postgres-address.ts';

export const STORE_DATABASE: DatabaseUse = {
  name: 'store',
  defaultSchema: 'perilbook',
  option: '--store',
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
