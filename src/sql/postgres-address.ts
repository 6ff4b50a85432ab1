import { type ConnectionOptions, getCACertificates } from 'node:tls';
import type { PoolConfig } from 'pg';
import { type ErrorCode, PerilbookError } from '../base/errors.ts';
import { readFileText } from '../base/pipes.ts';
import { homeFolder, withHome } from '../base/platform-folders.ts';

export interface DatabaseUse {
  /** With no article: "store". */
  readonly name: string;
  readonly defaultSchema: string;
  /** The option that names the database: "--store". */
  readonly option: string;
  /** The command that makes one. */
  readonly maker: string;
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
  /** The ways to connect, in the order in which they are tried: without TLS (false), or with it. */
  readonly encryptions: readonly [Encryption, ...Encryption[]];
}

type Encryption = NonNullable<PoolConfig['ssl']>;

const PARAMETERS = [
  ...[
    'host',
    'port',
    'user',
    'dbname',
    'schema',
    'password_file',
    'sslmode',
    'sslrootcert',
    'sslcert',
    'sslkey',
    'channel_binding',
  ],
];
const TLS_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'];
/** Variables of PostgreSQL's own programs for what an address does not say. The driver reads PGUSER, PGDATABASE, PGPASSWORD and PGPASSFILE. */
const VARIABLES = {
  ...{
    PGSSLMODE: 'sslmode',
    PGSSLROOTCERT: 'sslrootcert',
    PGSSLCERT: 'sslcert',
    PGSSLKEY: 'sslkey',
  },
  PGCHANNELBINDING: 'channel_binding',
};
const FILE_PARAMETERS = ['sslrootcert', 'sslcert', 'sslkey', 'password_file'];
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

/** What to do with a password in an address; without the full stop. */
export const PASSWORD_HINT =
  'Remove it, and give it in PGPASSWORD, in ~/.pgpass, or in a file: ?password_file=FILE';

/** Parameters in which other programs write a password. */
const PASSWORD_PARAMETER = /^(?!password_?file$|passfile$).*(?:pass|pwd|secret|token)/i;

/** Whether an address may contain a password, also one that is not encoded as it should be: with `/`, `?` or `@` in it. */
export function hasPassword(address: string): boolean {
  const rest = address.replace(/^[^:]+:\/\//, '');
  // After the first parameter that is read here, values may hold any character.
  const known = rest.search(new RegExp(`[?&](?:${PARAMETERS.join('|')})=`));
  const login = rest.slice(
    0,
    Math.max(0, rest.slice(0, known < 0 ? undefined : known).lastIndexOf('@')),
  );
  const parameters = new URLSearchParams(/\?([^#]*)/.exec(address)?.[1]);
  // The driver decodes the user: `me%3Aword` is a password too.
  return (
    /:|%3a/i.test(login) || [...parameters.keys()].some((name) => PASSWORD_PARAMETER.test(name))
  );
}

/** @throws the error `unusable` for an address with a password: job files, shell histories and logs would show it */
function refusePassword(text: string, { name, unusable }: DatabaseUse): void {
  if (!hasPassword(text)) return;
  throw new PerilbookError(
    unusable,
    `The address of the ${name} contains a password`,
    `${PASSWORD_HINT}.`,
  );
}

/** Adds to an address what it does not say and the variables do, and puts the home folder in place of `~/`.
 * @throws USAGE for a path in the home folder of a user who has none */
export function completeAddress(
  text: string,
  env: Readonly<Record<string, string | undefined>>,
): string {
  const url = URL.parse(text);
  if (url === null) return text;
  const parameters = url.searchParams;
  const add = (parameter: string, value: string | undefined) => {
    if (value && !parameters.has(parameter)) parameters.set(parameter, value);
  };
  for (const [variable, parameter] of Object.entries(VARIABLES)) add(parameter, env[variable]);
  if (url.hostname === '') {
    add('host', env.PGHOST);
    add('port', env.PGPORT);
  } else if (url.port === '') add('port', env.PGPORT);
  for (const parameter of FILE_PARAMETERS) {
    const file = parameters.get(parameter);
    if (file !== null) parameters.set(parameter, withHome(file, homeFolder(env)));
  }
  return url.href;
}

/** Reads an address: `postgres://user@host:port/database?schema=…&sslmode=…&sslrootcert=…&password_file=…`.
 *
 * TLS with a verified certificate is the default for other hosts: without it, others on the network could read paid answers and
 * the password. On this machine it is `prefer`, as for PostgreSQL's own programs; and none on a socket of the file system.
 * @throws the error `unusable` of its use */
export function locatePostgres(text: string, use: DatabaseUse): PostgresLocation {
  refusePassword(text, use);
  const address = shownAddress(text);
  const refuse = (message: string, hint: string): never => {
    throw new PerilbookError(use.unusable, `${message}, in the ${use.name} ${address}`, hint, {
      file: address,
    });
  };
  const url =
    URL.parse(text) ??
    refuse('The address cannot be read', 'Write it as postgres://user@host:port/database.');
  const decoded = (part: string): string => {
    try {
      return decodeURIComponent(part);
    } catch {
      return refuse('The percent-encoding cannot be read', 'Write % itself as %25.');
    }
  };
  const parameters = url.searchParams;
  const unknown = [...parameters.keys()].find((name) => !PARAMETERS.includes(name));
  if (unknown !== undefined)
    refuse(
      `Unknown parameter${/^[a-z_]+$/i.test(unknown) ? ` "${unknown}"` : ''}`,
      `Use ${PARAMETERS.join(', ')}.`,
    );
  const schema = parameters.get('schema') ?? use.defaultSchema;
  if (!SCHEMA_NAME.test(schema))
    refuse(`"${schema}" is no name of a schema`, 'Use small letters, digits and _.');
  const named = parameters.get('host');
  const host = named ?? (decoded(url.hostname).replace(/^\[(.*)\]$/, '$1') || 'localhost');
  if (host.includes(','))
    refuse('More than one host', 'Name one host, or an address that leads to the current server.');
  const isSocket = host.startsWith('/');
  const port = Number(parameters.get('port') ?? (url.port || 5432));
  if (!(Number.isInteger(port) && port > 0 && port < 65_536))
    refuse('The port is no number', 'Use 1 to 65535.');
  const authority = parameters.get('sslrootcert');
  const isLocal = isSocket || LOOPBACK.test(host);
  const mode =
    parameters.get('sslmode') ?? (isLocal && authority === null ? 'prefer' : 'verify-full');
  if (!TLS_MODES.includes(mode))
    refuse(`Unknown sslmode "${mode}"`, `Use ${TLS_MODES.join(', ')}.`);
  if (authority === 'system' && mode !== 'verify-full') {
    const hint = 'Any host can have such a certificate. Use sslmode=verify-full.';
    refuse(`sslrootcert=system with sslmode=${mode} proves nothing`, hint);
  }
  const binding = parameters.get('channel_binding') ?? 'disable';
  if (binding === 'require') {
    const hint =
      'Use channel_binding=prefer; sslmode=verify-full proves the server by its certificate.';
    refuse('channel_binding=require cannot be enforced here', hint);
  }
  if (!['disable', 'prefer'].includes(binding))
    refuse(`Unknown channel_binding "${binding}"`, 'Use prefer or disable.');
  const user = decoded(url.username) || parameters.get('user');
  const database = decoded(url.pathname.slice(1)) || parameters.get('dbname');
  const passwordFile = parameters.get('password_file');
  const readNamed = (file: string, parameter: string): string => {
    try {
      return readFileText(file);
    } catch (error) {
      const message = `The ${parameter} ${file} of the ${use.name} ${address} cannot be read: ${(error as Error).message}`;
      throw new PerilbookError(
        use.unusable,
        message,
        'Check the path and the permissions.',
        { file },
        error,
      );
    }
  };
  const readPassword = async (file: string) =>
    readNamed(file, 'password_file').replace(/\r?\n$/, '');
  const read = (parameter: string) => {
    const file = parameters.get(parameter);
    return file === null || mode === 'disable' ? undefined : readNamed(file, parameter);
  };
  const ca =
    authority === 'system'
      ? [...getCACertificates(), ...getCACertificates('system')]
      : read('sslrootcert');
  // As for PostgreSQL's own programs, an authority that is named is asked under "require" too.
  const isVerified = mode.startsWith('verify') || (mode === 'require' && authority !== null);
  const [cert, key] = [read('sslcert'), read('sslkey')];
  const tls: ConnectionOptions = {
    // The driver gives TLS the name of a host, but not its number.
    host,
    ...(ca && { ca }),
    ...(cert && { cert }),
    ...(key && { key }),
    rejectUnauthorized: isVerified,
    ...(mode === 'verify-full' ? {} : { checkServerIdentity: () => undefined }),
  };
  const ways: Readonly<Record<string, PostgresLocation['encryptions']>> = {
    disable: [false],
    allow: [false, tls],
    prefer: [tls, false],
  };
  return {
    use,
    address,
    schema,
    encryptions: isSocket ? [false] : (ways[mode] ?? [tls]),
    connection: {
      host,
      port,
      ...(user === null ? {} : { user }),
      ...(database === null ? {} : { database }),
      // Read at each connection, so that a new password needs no restart. Without this file, pg reads PGPASSWORD and ~/.pgpass.
      ...(passwordFile === null ? {} : { password: () => readPassword(passwordFile) }),
      enableChannelBinding: binding === 'prefer',
    },
  };
}
