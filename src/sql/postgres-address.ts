import type { PoolConfig } from 'pg';
import { type ErrorCode, PerilbookError } from '../base/errors.ts';
import { readFileText } from '../base/pipes.ts';

/** The content of a database, and its name in errors. */
export interface DatabaseUse {
  /** With no article: "store". */
  readonly name: string;
  readonly defaultSchema: string;
  /** A table that it has. */
  readonly table: string;
  /** The option that names the database: "--store". */
  readonly option: string;
  /** The document with the rights of its roles. */
  readonly guide: string;
  readonly unusable: ErrorCode;
  readonly unreachable: ErrorCode;
  readonly tooNew: ErrorCode;
  /** The end of a hint: what to do when the server works again. */
  readonly thenAgain: string;
}

/** The address of a database, and its content. */
export interface PostgresLocation {
  readonly use: DatabaseUse;
  /** For messages. */
  readonly address: string;
  readonly schema: string;
  readonly connection: PoolConfig;
}

const PARAMETERS = ['host', 'schema', 'sslmode', 'sslrootcert', 'password_file'];
const TLS_MODES = ['disable', 'require', 'verify-full'];
const SCHEMA_NAME = /^[a-z_][a-z0-9_]{0,62}$/;
const LOOPBACK = /^(127\.\d+\.\d+\.\d+|\[?::1\]?|localhost)$/;

/** Whether a text names a PostgreSQL database, and not a file. */
export function isPostgresAddress(text: string): boolean {
  return /^postgres(ql)?:\/\//i.test(text);
}

/** An address as it may be shown: without its parameters, which name files. The name of a file stays as it is. */
export function shownAddress(text: string): string {
  return isPostgresAddress(text) ? text.replace(/[?#].*$/s, '') : text;
}

/** @throws the error `unusable` for an address with a password: job files, shell histories and logs would show it */
export function refusePassword(text: string, { name, unusable }: DatabaseUse): void {
  if (!isPostgresAddress(text)) return;
  const authority = /^[^:]+:\/\/([^/?#]*)/.exec(text)?.[1] ?? '';
  const login = authority.slice(0, Math.max(0, authority.lastIndexOf('@')));
  const parameters = new URLSearchParams(/\?([^#]*)/.exec(text)?.[1]);
  const hasPassword = [...parameters.keys()].some((name) => /^password$/i.test(name));
  // The driver decodes the user: `me%3Aword` is a password too.
  if (!/:|%3a/i.test(login) && !hasPassword) return;
  const hint = 'Remove it, and give it in PGPASSWORD, in ~/.pgpass, or in a file: ?password_file=FILE.';
  throw new PerilbookError(unusable, `The address of the ${name} contains a password`, hint);
}

/** Reads an address: `postgres://user@host:port/database?schema=…&sslmode=…&sslrootcert=…&password_file=…`.
 *
 * TLS with a verified certificate is the default for other hosts: without it, others on the network could read paid answers and
 * the password.
 * @throws the error `unusable` of its use */
export function locatePostgres(text: string, use: DatabaseUse): PostgresLocation {
  refusePassword(text, use);
  const address = shownAddress(text);
  const refuse = (message: string, hint: string): never => {
    throw new PerilbookError(use.unusable, `${message}, in the ${use.name} ${address}`, hint, { file: address });
  };
  const url =
    URL.parse(text) ?? refuse('The address cannot be read', 'Write it as postgres://user@host:port/database.');
  const parameters = url.searchParams;
  const unknown = [...parameters.keys()].find((name) => !PARAMETERS.includes(name));
  if (unknown !== undefined) refuse(`Unknown parameter "${unknown}"`, `Use ${PARAMETERS.join(', ')}.`);
  const schema = parameters.get('schema') ?? use.defaultSchema;
  if (!SCHEMA_NAME.test(schema)) refuse(`"${schema}" is no name of a schema`, 'Use small letters, digits and _.');
  const socket = parameters.get('host');
  const host = socket ?? (decodeURIComponent(url.hostname).replace(/^\[(.*)\]$/, '$1') || 'localhost');
  const isLocal = host.startsWith('/') || LOOPBACK.test(host);
  const mode = parameters.get('sslmode') ?? (isLocal ? 'disable' : 'verify-full');
  if (!TLS_MODES.includes(mode)) refuse(`Unknown sslmode "${mode}"`, `Use ${TLS_MODES.join(', ')}.`);
  const authority = parameters.get('sslrootcert');
  const passwordFile = parameters.get('password_file');
  const readNamed = (file: string, parameter: string): string => {
    try {
      return readFileText(file);
    } catch (error) {
      const message = `The ${parameter} ${file} of the ${use.name} ${address} cannot be read: ${(error as Error).message}`;
      throw new PerilbookError(use.unusable, message, 'Check the path and the permissions.', { file }, error);
    }
  };
  const readPassword = async (file: string) => readNamed(file, 'password_file').replace(/\r?\n$/, '');
  const ca = mode === 'disable' || authority === null ? {} : { ca: readNamed(authority, 'sslrootcert') };
  return {
    use,
    address,
    schema,
    connection: {
      host,
      port: socket === null || url.port ? Number(url.port || 5432) : 5432,
      ...(url.username ? { user: decodeURIComponent(url.username) } : {}),
      ...(url.pathname.length > 1 ? { database: decodeURIComponent(url.pathname.slice(1)) } : {}),
      // Read at each connection, so that a new password needs no restart. Without this file, pg reads PGPASSWORD and ~/.pgpass.
      ...(passwordFile === null ? {} : { password: () => readPassword(passwordFile) }),
      ssl: mode === 'disable' ? false : { rejectUnauthorized: mode === 'verify-full', ...ca },
    },
  };
}
