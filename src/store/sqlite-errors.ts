import Database from 'better-sqlite3';
import { PerilbookError } from '../errors.ts';
import { STORE_DATABASE } from './store-address.ts';

const { thenAgain: RUN_AGAIN } = STORE_DATABASE;

/** What SQLite's codes mean to a user, by their beginnings; the rest (a constraint, a mistake in a statement) are bugs. */
const REASONS: readonly (readonly [code: string, what: string, hint: string])[] = [
  ['SQLITE_FULL', 'has no room left on its disk', `Make room, ${RUN_AGAIN}`],
  ['SQLITE_IOERR', 'cannot be read or written', `Check its disk (is it full?), ${RUN_AGAIN}`],
  ['SQLITE_READONLY', 'may not be written', `Change its permissions and those of its folder, ${RUN_AGAIN}`],
  ['SQLITE_PERM', 'may not be written', `Change its permissions and those of its folder, ${RUN_AGAIN}`],
  ['SQLITE_CANTOPEN', 'cannot be opened', `Check its folder and the permissions, ${RUN_AGAIN}`],
  ['SQLITE_BUSY', 'is held by another program', `Let that program end, ${RUN_AGAIN}`],
  [
    'SQLITE_CORRUPT',
    'is damaged',
    'Put back a copy of it, or name another file with --store; the answers in it are lost.',
  ],
  ['SQLITE_NOTADB', 'is no database', 'Put back a copy of it, or name another file with --store.'],
];

/** An error of SQLite's as the user can act on it; any other as it is. */
export function asStoreError(file: string, error: unknown): unknown {
  if (!(error instanceof Database.SqliteError)) return error;
  const reason = REASONS.find(([code]) => error.code.startsWith(code));
  if (reason === undefined) return error;
  const [, what, hint] = reason;
  return new PerilbookError('STORE_UNUSABLE', `The store ${file} ${what}: ${error.message}`, hint, { file }, error);
}
