import { PerilbookError } from '../base/errors.ts';
import type { PostgresLocation } from './postgres-address.ts';

/** The meaning of an error of PostgreSQL or of the connection for the operation. */
type ErrorMeaning =
  /** The connection or the server was lost, and may be back soon. */
  | 'lost'
  /** Another transaction was in conflict: repeat at once. */
  | 'conflict'
  | 'final';

const LOST = new Set([
  ...[
    'ECONNREFUSED',
    'ECONNRESET',
    'EPIPE',
    'ETIMEDOUT',
    'EHOSTUNREACH',
    'ENETUNREACH',
    'EAI_AGAIN',
    'ENETDOWN',
    'EHOSTDOWN',
    'ECONNABORTED',
  ],
  // A name that DNS lacks while it changes, a socket that is missing while its server starts again.
  ...['ENOTFOUND', 'ENOENT'],
  // The administrator or a crash ended the session; the server starts or stops; too many sessions; the idle transaction was ended
  // (this process was suspended).
  ...['57P01', '57P02', '57P03', '57P05', '53300', '25P03'],
  // A server that was a standby a moment ago is not writable yet.
  '25006',
]);
/** Serialization failure, deadlock, a lock that could not be taken, a statement that took too long. */
const CONFLICTS = new Set(['40001', '40P01', '55P03', '57014']);

/** Messages of `pg`, without a code, for a connection that ended. */
const ENDED =
  /Connection terminated|connection error and is not queryable|Query read timeout|timeout expired|timeout exceeded when/;

/** What PgBouncer says to a BEGIN where each statement may go to another session. */
const STATEMENT_MODE = /statement pooling mode/i;

/** What a pooler says under the code of a protocol violation while its server is away; anything else under it is a refusal that lasts: a
 * startup parameter, a user, a database. */
const POOLER_WAITS =
  /server (conn|login|closed|connection)|cannot connect|query_wait|no more connections|shutting down|pause/i;

/** Whether the address leads nowhere: to no name of DNS, to no socket. */
export function leadsNowhere(error: unknown): boolean {
  return ['ENOTFOUND', 'ENOENT'].includes((error as { code?: string }).code ?? '');
}

/** Whether the connection failed, and not a statement: for example, a socket that is for others, or whose path is too long. */
function isOfConnection(error: Error): boolean {
  return 'syscall' in error && /^(?:connect|getaddrinfo|read|write)$/.test(String(error.syscall));
}

/** What an error of PostgreSQL means for the work: to be done again after a conflict or on another connection, or final. */
export function classifyError(error: unknown): ErrorMeaning {
  const { code = '', message = '' } = error as { code?: string; message?: string };
  if (code === '08P01' && !POOLER_WAITS.test(message)) return 'final';
  if (CONFLICTS.has(code)) return 'conflict';
  return LOST.has(code) || code.startsWith('08') || ENDED.test(message) ? 'lost' : 'final';
}

/** The meaning of the server's codes for the user, by prefix. All others (a constraint, a mistake in a statement) are bugs. AGAIN,
 * OPTION and GUIDE are replaced by `thenAgain`, `option` and `guide` of the database's use. */
const REASONS: readonly (readonly [code: string, what: string, hint: string])[] = [
  [
    '28',
    'refused the login',
    'Check the role, PGPASSWORD, ~/.pgpass or password_file in the address, and pg_hba.conf.',
  ],
  [
    '08P01',
    'is refused by its server or pooler',
    'Correct the address in OPTION, or the settings of the pooler (GUIDE).',
  ],
  ['3D000', 'has no such database', 'Create the database, or name another one with OPTION.'],
  ['3F000', 'has no such schema', 'Open it once with the role that owns it (GUIDE).'],
  [
    '42P01',
    'lacks a table',
    'It may lie in another schema: GUIDE has the command that moves it. Else restore a backup.',
  ],
  ['42501', 'does not let this role do this', 'Grant the role what GUIDE lists for it.'],
  [
    '23503',
    'lacks rows that this program has written',
    'A backup was restored meanwhile: run again. What was bought since that backup is not in its ledger: perilbook quota set corrects the credits.',
  ],
  ['53100', 'has no room left on its disk', 'Make room, AGAIN'],
  ['53200', 'is out of memory', 'Check the server, AGAIN'],
  ['58', 'cannot read or write its files', "Check the server's disk, AGAIN"],
  ['XX', 'reports damaged data', "Restore a backup of the database; the server's log says more."],
];

/** Codes of Node and OpenSSL for a certificate that does not prove the server. */
const CERTIFICATE = /^(ERR_TLS_|CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO)/;

/** What the driver, PostgreSQL (14 and later; 13) and PgBouncer say where the other way would do, with TLS or without. */
const TLS_REFUSED = /does not support SSL|, SSL (encryption|on)\b/;
const TLS_DEMANDED =
  /, (no encryption|SSL off)\b|SSL (is )?required|TLS (is )?required|must use SSL/i;

/** Whether a server may take the connection the other way: with TLS in place of without, or without in place of with. */
export function mayConnectOtherwise(error: unknown): boolean {
  const { message = '' } = error as { message?: string };
  return TLS_REFUSED.test(message) || TLS_DEMANDED.test(message);
}

/** Converts an error of the server or the connection into one that the user can act on; returns any other unchanged. */
export function asPostgresError({ use, address }: PostgresLocation, error: unknown): unknown {
  if (error instanceof PerilbookError || !(error instanceof Error)) return error;
  const { code = '' } = error as { code?: string };
  const database = `The ${use.name} ${address}`;
  const unusable = (message: string, hint: string) =>
    new PerilbookError(use.unusable, message, hint, { file: address }, error);
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    const hint =
      "Use in the address a name that the server's certificate has, or sslmode=verify-ca, which checks its authority alone.";
    return unusable(`${database} has a certificate of another name: ${error.message}`, hint);
  }
  if (CERTIFICATE.test(code) || CERTIFICATE.test(error.message)) {
    const hint =
      'Name the authority with sslrootcert=FILE in the address; sslmode=require encrypts without checking.';
    return unusable(`${database} has no certificate that can be verified: ${error.message}`, hint);
  }
  if (TLS_DEMANDED.test(error.message)) {
    const hint =
      'Use sslmode=require in the address, or verify-full with sslrootcert=FILE; else check the role and pg_hba.conf.';
    return unusable(`${database} refused a connection without TLS: ${error.message}`, hint);
  }
  if (error.message.includes('does not support SSL')) {
    const hint =
      'Turn it on at the server; in a network that nobody else reads, sslmode=disable in the address does without.';
    return unusable(`${database} has no TLS`, hint);
  }
  if (STATEMENT_MODE.test(error.message)) {
    const hint = `Set pool_mode = transaction for this database in PgBouncer, or name the server itself with ${use.option}.`;
    return unusable(
      `${database} is behind a pooler in statement mode, which has no transactions: ${error.message}`,
      hint,
    );
  }
  const meaning = classifyError(error);
  if (meaning !== 'final' || isOfConnection(error)) {
    const what = meaning === 'conflict' ? 'is too busy' : 'cannot be reached';
    const message = `${database} ${what}: ${error.message || code}`;
    const hint = `Check the server and the network, ${use.thenAgain}`;
    return new PerilbookError(use.unreachable, message, hint, { file: address }, error);
  }
  const reason = REASONS.find(([beginning]) => code.startsWith(beginning) && code.length === 5);
  if (reason === undefined) return error;
  const [, what, hint] = reason;
  const ownHint = hint
    .replace('AGAIN', use.thenAgain)
    .replace('OPTION', use.option)
    .replace('GUIDE', use.guide);
  return unusable(`${database} ${what}: ${error.message}`, ownHint);
}
