import { type DatabaseUse, isPostgresAddress, refusePassword } from '../sql/postgres-address.ts';

export const STORE_DATABASE: DatabaseUse = {
  name: 'store',
  defaultSchema: 'perilbook',
  option: '--store',
  guide: 'docs/operator/many-machines.md',
  unusable: 'STORE_UNUSABLE',
  unreachable: 'STORE_UNREACHABLE',
  tooNew: 'STORE_TOO_NEW',
  thenAgain: 'then run again: what was answered is kept, and calls without an outcome are listed as unknown.',
};

/** The files of a store, which no output may replace. */
export function filesOfStore(store: string): readonly string[] {
  return isPostgresAddress(store) ? [] : [store];
}

/** @throws STORE_UNUSABLE for an address with a password: job files, shell histories and logs would show it */
export function refuseStorePassword(store: string): void {
  refusePassword(store, STORE_DATABASE);
}
