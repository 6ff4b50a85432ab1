import { PerilbookError } from '../../errors.ts';

/** What an error of PostgreSQL's or of the connection means for the operation that met it. */
type ErrorMeaning =
  /** The connection or the server went away: it may be back soon. */
  | 'lost'
  /** Another transaction was in the way: the same again, at once. */
  | 'conflict'
  | 'final';

const LOST = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'EAI_AGAIN', 'ENOTFOUND'],
  // The administrator or a crash ended the session; the server starts or stops; too many sessions; the idle transaction was ended
  // (this process stood still).
  ...['57P01', '57P02', '57P03', '57P05', '53300', '25P03'],
  // A server that was a standby a moment ago is not writable yet.
  '25006',
]);
/** Serialization failure, deadlock, a row that came between, a lock that was not to be had. */
const CONFLICTS = new Set(['40001', '40P01', '55P03']);

/** What `pg` says, without a code, of a connection that ended. */
const ENDED =
  /Connection terminated|connection error and is not queryable|Query read timeout|timeout expired|timeout exceeded when/;

export function meaningOf(error: unknown): ErrorMeaning {
  const { code = '', message = '' } = error as { code?: string; message?: string };
  if (CONFLICTS.has(code)) return 'conflict';
  return LOST.has(code) || code.startsWith('08') || ENDED.test(message) ? 'lost' : 'final';
}

const RUN_AGAIN = 'then run again: what was answered is kept, and calls without an outcome are listed as unknown.';

/** What the server's codes mean to a user, by their beginnings; the rest (a constraint, a mistake in a statement) are bugs. */
const REASONS: readonly (readonly [code: string, what: string, hint: string])[] = [
  [
    '28',
    'refused the login',
    'Check the role, PGPASSWORD, ~/.pgpass or password_file in the address, and pg_hba.conf.',
  ],
  ['3D000', 'has no such database', 'Create the database, or name another one with --store.'],
  ['3F000', 'has no such schema', 'Open it once with the role that owns it (docs/many-machines.md).'],
  ['42501', 'does not let this role do this', 'Grant the role what docs/many-machines.md lists for it.'],
  ['53100', 'has no room left on its disk', `Make room, ${RUN_AGAIN}`],
  ['53200', 'is out of memory', `Check the server, ${RUN_AGAIN}`],
  ['58', 'cannot read or write its files', `Check the server's disk, ${RUN_AGAIN}`],
  ['XX', 'reports damaged data', "Restore a backup of the database; the server's log says more."],
];

/** Codes of Node and OpenSSL for a certificate that does not prove the server. */
const CERTIFICATE = /^(ERR_TLS_|CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO)|does not support SSL/;

/** An error as the user can act on it; one that is not the server's or the connection's as it is. @param store its address */
export function asPostgresError(store: string, error: unknown): unknown {
  if (error instanceof PerilbookError || !(error instanceof Error)) return error;
  const { code = '' } = error as { code?: string };
  if (CERTIFICATE.test(code) || CERTIFICATE.test(error.message) || /does not support SSL/.test(error.message)) {
    const hint = 'Name the authority with sslrootcert=FILE in the address; sslmode=require encrypts without checking.';
    return unusable(`The store ${store} has no certificate that can be verified: ${error.message}`, hint, store, error);
  }
  if (meaningOf(error) === 'lost') {
    const message = `The store ${store} cannot be reached: ${error.message || code}`;
    const hint = 'Check the server and the network, then run again: what was answered is kept.';
    return new PerilbookError('STORE_UNREACHABLE', message, hint, { file: store }, error);
  }
  const reason = REASONS.find(([beginning]) => code.startsWith(beginning) && code.length === 5);
  if (reason === undefined) return error;
  return unusable(`The store ${store} ${reason[1]}: ${error.message}`, reason[2], store, error);
}

function unusable(message: string, hint: string, store: string, error: unknown): PerilbookError {
  return new PerilbookError('STORE_UNUSABLE', message, hint, { file: store }, error);
}
