import { readFileSync } from 'node:fs';
import type { PoolConfig } from 'pg';
import { PerilbookError } from '../errors.ts';

/** A database of a PostgreSQL server, as a postgres:// address names it. It holds no secret. */
export interface PostgresAddress {
  /** For messages: role, host, port and database. */
  readonly text: string;
  /** How `pg` connects. The password comes from PGPASSWORD, PGPASSFILE or ~/.pgpass, which `pg` reads itself. */
  readonly config: Pick<PoolConfig, 'host' | 'port' | 'user' | 'database' | 'ssl' | 'options'>;
}

const PARAMETERS = ['sslmode', 'sslrootcert', 'options'];
const SSL_MODES = ['disable', 'require', 'verify-full'];
const HINT =
  'Write postgres://role@host:5432/database, with ?sslmode=verify-full, require or disable and &sslrootcert=FILE where needed.';

/** Whether a text names a PostgreSQL database and not a file. */
export function isPostgresAddress(text: string): boolean {
  return /^postgres(ql)?:\/\//.test(text);
}

/**
 * Reads a postgres:// address. TLS with a verified certificate is the default, except on the loopback, which nobody else
 * hears. `require` encrypts without verifying, as in PostgreSQL's own programs.
 *
 * @throws PerilbookError USAGE when the address cannot be read, or has a password: addresses are shown in lists of processes
 *   and kept in histories. The address is not quoted then.
 */
export function parsePostgresAddress(address: string): PostgresAddress {
  let url: URL;
  try {
    url = new URL(address);
  } catch {
    throw new PerilbookError('USAGE', 'The address of the PostgreSQL database cannot be read', HINT);
  }
  if (url.password !== '' || url.searchParams.has('password')) {
    throw new PerilbookError(
      'USAGE',
      'The address of the PostgreSQL database contains a password, which other programs can see',
      'Leave it out, and set PGPASSWORD, or write it to ~/.pgpass or the file that PGPASSFILE names.',
    );
  }
  const unknown = [...url.searchParams.keys()].find((name) => !PARAMETERS.includes(name));
  const mode = url.searchParams.get('sslmode');
  if (unknown !== undefined) throw unreadable(`its parameter "${unknown}" is unknown`);
  if (mode !== null && !SSL_MODES.includes(mode)) throw unreadable(`sslmode is "${mode}"`);
  const database = decodeURIComponent(url.pathname.slice(1));
  if (url.hostname === '' || database === '') throw unreadable('host or database is missing');
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const port = Number(url.port || 5432);
  const user = decodeURIComponent(url.username);
  const options = url.searchParams.get('options');
  return {
    text: `postgres://${url.username}${user === '' ? '' : '@'}${url.host}${url.pathname}`,
    config: {
      ...{ host, port, database },
      ssl: tlsOf(mode ?? (isLoopback(host) ? 'disable' : 'verify-full'), url.searchParams.get('sslrootcert')),
      ...(user === '' ? {} : { user }),
      ...(options === null ? {} : { options }),
    },
  };
}

function tlsOf(mode: string, rootFile: string | null): PoolConfig['ssl'] {
  if (mode === 'disable') return false;
  if (rootFile === null) return { rejectUnauthorized: mode === 'verify-full' };
  try {
    return { rejectUnauthorized: true, ca: readFileSync(rootFile, 'utf8') };
  } catch (error) {
    throw new PerilbookError(
      'USAGE',
      `Cannot read the file of sslrootcert, "${rootFile}": ${(error as Error).message}`,
      'Name a PEM file of the certificate authority.',
      { file: rootFile },
      error,
    );
  }
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);
}

function unreadable(reason: string): PerilbookError {
  return new PerilbookError('USAGE', `The address of the PostgreSQL database cannot be read: ${reason}`, HINT);
}
