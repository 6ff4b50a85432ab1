import { statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { type ErrorCode, PerilbookError, resultOrNull } from '../base/errors.ts';

export interface FileUse {
  /** `The store /home/you/store.db`. */
  readonly subject: string;
  readonly file: string;
  readonly code: ErrorCode;
  /** While another program holds it, which passes. Default: `code`. */
  readonly busy?: ErrorCode;
  /** What to do where the fault is mended, after a comma. */
  readonly thenAgain: string;
  /** The option that names another file. */
  readonly option: string;
}

/** The meaning of SQLite's codes for the user, by prefix. All others (a constraint, a mistake in a statement) are bugs. AGAIN and OPTION
 * are replaced by `thenAgain` and `option` of the file's use. */
const REASONS: readonly (readonly [code: string, what: string, hint: string])[] = [
  ['SQLITE_FULL', 'has no room left on its disk', 'Make room, AGAIN'],
  ['SQLITE_IOERR', 'cannot be read or written', 'Check its disk (is it full?), AGAIN'],
  [
    'SQLITE_READONLY',
    'may not be written',
    'Change its permissions and those of its folder, AGAIN',
  ],
  ['SQLITE_PERM', 'may not be written', 'Change its permissions and those of its folder, AGAIN'],
  ['FOLDER', 'is a folder', 'Name a file in it with OPTION.'],
  ['SQLITE_CANTOPEN', 'cannot be opened', 'Check its folder and the permissions, AGAIN'],
  ['SQLITE_BUSY', 'is held by another program', 'Let that program end, AGAIN'],
  [
    'SQLITE_CORRUPT',
    'is damaged',
    'Put back a copy of it, or name another file with OPTION; what is in it is lost.',
  ],
  [
    'EMPTY_FILE',
    'is empty, perhaps after a full disk or a copy that was cut off',
    'Put back a copy of it. To begin with nothing, delete it: what was in it is then asked for, and bought, again.',
  ],
  ['SQLITE_NOTADB', 'is no database', 'Put back a copy of it, or name another file with OPTION.'],
];

function codeOf(
  { code, message }: { readonly code: string; readonly message: string },
  file: string,
): string {
  // The statements fit the schema of a whole file: a name that is not there was damaged in it.
  if (/^no such (table|column)/.test(message)) return 'SQLITE_CORRUPT';
  // A file in a folder that may not be read has no state.
  const isFolder =
    code.startsWith('SQLITE_CANTOPEN') && resultOrNull(() => statSync(file))?.isDirectory();
  return isFolder ? 'FOLDER' : code;
}

/** Converts an error of SQLite into one that the user can act on; returns any other unchanged. */
export function asSqliteError(
  { subject, file, code: ofUse, busy: ofBusy = ofUse, thenAgain, option }: FileUse,
  error: unknown,
): unknown {
  if (!(error instanceof Database.SqliteError)) return error;
  const code = codeOf(error, file);
  const reason = REASONS.find(([prefix]) => code.startsWith(prefix));
  if (reason === undefined) return error;
  const [prefix, what, hint] = reason;
  const ownHint = hint.replace('AGAIN', thenAgain).replace('OPTION', option);
  return new PerilbookError(
    prefix === 'SQLITE_BUSY' ? ofBusy : ofUse,
    `${subject} ${what}: ${error.message}`,
    ownHint,
    { file },
    error,
  );
}
