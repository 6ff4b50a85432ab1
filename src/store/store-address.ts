import { PerilbookError } from '../errors.ts';

/** Whether a store is a PostgreSQL database, and not a file. */
export function isPostgresAddress(store: string): boolean {
  return /^postgres(ql)?:\/\//i.test(store);
}

/** The files of a store, which no output may replace. */
export function filesOfStore(store: string): readonly string[] {
  return isPostgresAddress(store) ? [] : [store];
}

/** The address of a store as it may be shown: without its parameters, which name files. */
export function shownAddress(store: string): string {
  return isPostgresAddress(store) ? store.replace(/[?#].*$/s, '') : store;
}

/** @throws STORE_UNUSABLE for an address with a password: job files, shell histories and logs would show it */
export function refuseStorePassword(store: string): void {
  if (!isPostgresAddress(store)) return;
  const authority = /^[^:]+:\/\/([^/?#]*)/.exec(store)?.[1] ?? '';
  const login = authority.slice(0, Math.max(0, authority.lastIndexOf('@')));
  if (!login.includes(':') && !/[?&]password=/i.test(store)) return;
  throw new PerilbookError(
    'STORE_UNUSABLE',
    'The address of the store contains a password',
    'Remove it, and give it in PGPASSWORD, in ~/.pgpass, or in a file: ?password_file=FILE.',
  );
}
