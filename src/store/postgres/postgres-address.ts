import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { PoolConfig } from 'pg';
import { PerilbookError } from '../../errors.ts';
import { refuseStorePassword, shownAddress } from '../store-address.ts';

/** Where a store is in PostgreSQL. */
export interface PostgresLocation {
  /** For messages. */
  readonly address: string;
  readonly schema: string;
  readonly connection: PoolConfig;
}

const PARAMETERS = ['host', 'schema', 'sslmode', 'sslrootcert', 'password_file'];
const TLS_MODES = ['disable', 'require', 'verify-full'];
const DEFAULT_SCHEMA = 'perilbook';
const SCHEMA_NAME = /^[a-z_][a-z0-9_]{0,62}$/;
const LOOPBACK = /^(127\.\d+\.\d+\.\d+|\[?::1\]?|localhost)$/;

/**
 * Reads the address of a store: `postgres://user@host:port/database?schema=…&sslmode=…&sslrootcert=…&password_file=…`.
 *
 * TLS with a verified certificate is the default for any host but this one: answers are paid for, and whoever reads along could
 * take them, or the password.
 *
 * @throws STORE_UNUSABLE
 */
export function locatePostgres(store: string): PostgresLocation {
  refuseStorePassword(store);
  const address = shownAddress(store);
  const refuse = (message: string, hint: string) => {
    throw new PerilbookError('STORE_UNUSABLE', `${message}, in the store ${address}`, hint, { file: address });
  };
  let url: URL;
  try {
    url = new URL(store);
  } catch {
    throw refuse('The address cannot be read', 'Write it as postgres://user@host:port/database.');
  }
  const said = url.searchParams;
  const unknown = [...said.keys()].find((name) => !PARAMETERS.includes(name));
  if (unknown !== undefined) refuse(`Unknown parameter "${unknown}"`, `Use ${PARAMETERS.join(', ')}.`);
  const schema = said.get('schema') ?? DEFAULT_SCHEMA;
  if (!SCHEMA_NAME.test(schema)) refuse(`"${schema}" is no name of a schema`, 'Use small letters, digits and _.');
  const socket = said.get('host');
  const host = socket ?? (decodeURIComponent(url.hostname).replace(/^\[(.*)\]$/, '$1') || 'localhost');
  const isLocal = host.startsWith('/') || LOOPBACK.test(host);
  const mode = said.get('sslmode') ?? (isLocal ? 'disable' : 'verify-full');
  if (!TLS_MODES.includes(mode)) refuse(`Unknown sslmode "${mode}"`, `Use ${TLS_MODES.join(', ')}.`);
  const passwordFile = said.get('password_file');
  return {
    address,
    schema,
    connection: {
      host,
      port: socket === null || url.port ? Number(url.port || 5432) : 5432,
      ...(url.username ? { user: decodeURIComponent(url.username) } : {}),
      ...(url.pathname.length > 1 ? { database: decodeURIComponent(url.pathname.slice(1)) } : {}),
      // Read at each connection: a password that is replaced needs no restart. Else pg reads PGPASSWORD and ~/.pgpass.
      ...(passwordFile === null ? {} : { password: () => readPassword(passwordFile, address) }),
      ssl: mode === 'disable' ? false : tlsOf(mode, said.get('sslrootcert'), address),
      // A page of cells is looked up by its index whatever the statistics say, and such small statements gain nothing from jit.
      options: `-c search_path=${schema} -c jit=off -c enable_hashjoin=off -c enable_mergejoin=off`,
    },
  };
}

function tlsOf(mode: string, authority: string | null, address: string) {
  const ca = authority === null ? {} : { ca: readOf(authority, 'sslrootcert', address) };
  return { rejectUnauthorized: mode === 'verify-full', ...ca };
}

function readOf(file: string, what: string, address: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw unreadable(file, what, address, error);
  }
}

async function readPassword(file: string, address: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).replace(/\r?\n$/, '');
  } catch (error) {
    throw unreadable(file, 'password_file', address, error);
  }
}

function unreadable(file: string, what: string, address: string, error: unknown): PerilbookError {
  const message = `The ${what} ${file} of the store ${address} cannot be read: ${(error as Error).message}`;
  return new PerilbookError('STORE_UNUSABLE', message, 'Check the path and the permissions.', { file }, error);
}
