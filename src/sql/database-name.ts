import {
  type NameFault,
  pathFault,
  pathOfFileUri,
  schemeOf,
  unreplacedVariable,
  variableFault,
  withoutQuotes,
} from '../base/path-names.ts';
import { hasPassword, PASSWORD_HINT } from './postgres-address.ts';

/* A database is named in one function, for commands, job files, the environment, the page and programs: a text that it does not understand
 * would become a new file, in which nothing is that was paid for. */

/** What other programs call an address of PostgreSQL: JDBC, and SQLAlchemy with its driver. */
const POSTGRES = /^(?:jdbc:)?(postgres(?:ql)?)(?:\+\w+)?:\/\/(.*)$/is;

/** What other programs call a file of SQLite: SQLAlchemy, Django, Prisma, Rails, JDBC. */
const SQLITE = /^(?:jdbc:)?sqlite3?(?:\+\w+)?:(.*)$/is;

/** A name with a value, as PostgreSQL's own programs, ODBC and .NET write the parts of an address. */
const PART =
  /(?<!\w)(?:host|hostaddr|port|user(?: ?id|name)?|uid|pwd|password|passfile|dbname|database|server|data source|driver|dsn|service|sslmode|initial catalog|store|db|path|ur[il])\s*=|(?:pass(?:word|wd)?|pwd|secret|token)\s*=/i;

/** A login, a port, or a scheme without its colon. */
const SERVER =
  /:\/\/|:.*@|@[^/\\]*:\d+(?:\/|$)|^\[|^[^/\\]*:\d+(?:\/|$)|^\w*(?:sql|postgres|pg)\w*\W?\/\//s;

/** The end of a refusal: the forms that are read. */
const FORMS =
  'Name a file, such as /data/store.db, or a database of PostgreSQL: postgres://user@host:5432/database';

/** Reads the name of a database: the path of a SQLite file as it was given, or the address of PostgreSQL as `postgres://…`. No fault shows
 * what may be a password. */
export function readDatabaseName(text: string, system = process.platform): string | NameFault {
  const plain = withoutQuotes(text);
  const [, scheme, address] = POSTGRES.exec(plain) ?? [];
  const name =
    scheme === undefined ? readSqliteName(plain, system) : readPostgresName(scheme, address!);
  return typeof name === 'string' ? name : { fault: `${name.fault}. ${FORMS}` };
}

function readPostgresName(scheme: string, rest: string): string | NameFault {
  const given = `${scheme}://${rest}`;
  if (hasPassword(given)) return { fault: `it contains a password. ${PASSWORD_HINT}` };
  const variable = unreplacedVariable(rest);
  if (variable !== null) return { fault: variableFault(variable) };
  // A role without a host, as PostgreSQL writes it for a socket; a URL has no user without a host.
  const [, role, end] = /^([^@/?#]*)@((?:\/[^?#]*)?(?:\?.*)?)$/s.exec(rest) ?? [];
  const address =
    role === undefined
      ? given
      : `${scheme}://${end}${role === '' ? '' : `${end!.includes('?') ? '&' : '?'}user=${role}`}`;
  return URL.parse(address) === null || /[\s\\]/.test(rest)
    ? { fault: 'the address cannot be read' }
    : address;
}

function readSqliteName(plain: string, system: NodeJS.Platform): string | NameFault {
  const ofSqlite = SQLITE.exec(plain)?.[1];
  const path =
    ofSqlite !== undefined
      ? pathOfSqliteAddress(ofSqlite)
      : /^file:/i.test(plain)
        ? pathOfFileUri(plain, system)
        : plain;
  if (typeof path !== 'string') return path;
  if (path === ':memory:') return { fault: 'a store in memory would be lost at the end' };
  const scheme = schemeOf(path);
  if (scheme !== null) return { fault: `${scheme}: begins no address that is known here` };
  if (SERVER.test(path.replace(/^[A-Za-z]:(?=[/\\])/, '')))
    return { fault: 'it looks like the address of a server, without postgres://' };
  if (PART.test(path)) return { fault: 'parts of an address (name=value) are not read' };
  if (system !== 'win32' && path.startsWith('//'))
    return { fault: 'it begins with two slashes, which names another machine' };
  const fault = pathFault(path, system);
  if (fault !== null) return { fault };
  if (path === '-') return { fault: 'standard input and output (-) hold no database' };
  if (/(?:^|[/\\]|^[A-Za-z]:)\.{0,2}$|^~[\w.-]*$/.test(path)) return { fault: 'it is a folder' };
  return path;
}

/** The path in `sqlite:…`: SQLAlchemy's `sqlite:///name` lies in the working folder and `sqlite:////folder/name` does not; `sqlite:name`
 * and `sqlite://name` are those of other programs. */
function pathOfSqliteAddress(rest: string): string | NameFault {
  if (/[?#]/.test(rest)) return { fault: 'parameters (?…) belong to no file: leave them out' };
  if (/^\/{0,3}(?::memory:)?$/.test(rest))
    return { fault: 'a store in memory would be lost at the end' };
  if (/^\/{4}/.test(rest)) return rest.replace(/^\/+/, '/');
  if (!rest.startsWith('///')) return rest.replace(/^\/\//, '');
  const path = rest.slice(3);
  const isClear = !/[/\\]/.test(path) || /^(?:\.{1,2}[/\\]|[A-Za-z]:[/\\]|~)/.test(path);
  return isClear
    ? path
    : { fault: 'with three slashes, some programs read /folder/name and others folder/name' };
}
