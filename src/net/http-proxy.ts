import { BlockList, isIP } from 'node:net';
import { PerilbookError } from '../base/errors.ts';
import { unreplacedVariable, withoutQuotes } from '../base/path-names.ts';

/** A proxy between this machine and others. */
export interface HttpProxy {
  /** Without user and password: `http://proxy.example:3128`. */
  readonly url: string;
  /** The value of `Proxy-Authorization`; null without a user. Never shown. */
  readonly authorization: string | null;
  /** For messages: `proxy.example:3128`. */
  readonly name: string;
  /** The variable that names it: `HTTPS_PROXY`. */
  readonly variable: string;
  /** An entry of NO_PROXY that seems to name the host and does not: `172.17.*`. Null: there is none. */
  readonly misread: string | null;
}

type ProxyVariables = Readonly<Record<string, string | undefined>>;

const LOOPBACK = /^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** The proxy that the environment names for an address: HTTPS_PROXY or HTTP_PROXY by its scheme, else ALL_PROXY, each in small letters first;
 * an empty one means none. None for loopback, and for the hosts in NO_PROXY.
 * @throws PerilbookError USAGE for a proxy whose address cannot be read, with the reason and without the address: it may hold a password */
export function proxyFor(address: string, env: ProxyVariables): HttpProxy | null {
  const { protocol, hostname, port } = new URL(address);
  if (LOOPBACK.test(hostname)) return null;
  const isSecure = protocol === 'https:';
  const named = variableIn(env, [isSecure ? 'HTTPS_PROXY' : 'HTTP_PROXY', 'ALL_PROXY']);
  if (named === null || named.value.trim() === '') return null;
  const exceptions = variableIn(env, ['NO_PROXY'])?.value ?? '';
  if (isException(exceptions, hostname, port || (isSecure ? '443' : '80'))) return null;
  return {
    ...readProxy(named.value, named.name),
    misread: misreadException(exceptions, hostname),
  };
}

/** What is said before the first call through a proxy. */
export function proxyNotice(proxy: HttpProxy): string {
  const advice = exceptionAdvice(proxy);
  return `Calls go through the proxy ${proxy.name} (${proxy.variable})${advice && `. ${advice}`}.`;
}

/** A sentence, without its point, about an entry of NO_PROXY that seems to name the host; empty where there is none. */
export function exceptionAdvice({ misread }: HttpProxy): string {
  return misread === null
    ? ''
    : `In NO_PROXY, ${misread} does not name this host: write a host, a domain (example.com) or a network (172.17.0.0/16)`;
}

function variableIn(env: ProxyVariables, variables: readonly string[]) {
  const names = variables.flatMap((variable) => [variable.toLowerCase(), variable]);
  const name = names.find((name) => env[name] !== undefined);
  return name === undefined ? null : { name, value: env[name]! };
}

/** Reads `http://USER:PASSWORD@HOST:PORT`, as people write it: without a scheme, in quotes, with a user `DOMAIN\user`, with a password that is
 * percent-encoded or not. The last `@` ends the password.
 * @throws PerilbookError USAGE */
function readProxy(text: string, variable: string): Omit<HttpProxy, 'misread'> {
  const refuse = (reason: string): never => {
    const hint =
      'Write it as http://USER:PASSWORD@proxy.example:3128, or name the host in NO_PROXY to connect without a proxy.';
    throw new PerilbookError(
      'USAGE',
      `The address of the proxy in ${variable} cannot be read: ${reason}`,
      hint,
    );
  };
  const [, scheme = 'http', rest = ''] = /^(?:([a-z][a-z0-9+.-]*):\/\/)?(.*)$/is.exec(
    withoutQuotes(text),
  )!;
  if (/^socks/i.test(scheme)) return refuse('SOCKS is not supported, only http:// and https://');
  if (!/^https?$/i.test(scheme)) return refuse('it begins with neither http:// nor https://');
  const at = rest.lastIndexOf('@');
  // Its name is not said: without a host it may be part of a password.
  if (unreplacedVariable(rest.slice(at + 1)) !== null)
    return refuse('a variable in it was not replaced by its value');
  const path = pathOf(rest, at);
  if (path !== '' && path !== '/')
    return refuse(
      /\.(pac|dat)\b/i.test(path)
        ? 'a PAC file is not a proxy; write the proxy that it names'
        : 'it has a path, which no proxy has; in a password write / as %2F',
    );
  const login = at < 0 ? null : decodeLogin(rest.slice(0, at));
  if (login !== null && /\p{Cc}/u.test(login.toString()))
    return refuse('its user or password has a control character');
  const authority = rest.slice(at + 1).replace(/\/$/, '');
  if (!/^(?:\[[0-9a-f:.]+\]|[^\s:/?#@[\]\\%]+)(?::\d{1,5})?$/i.test(authority))
    return refuse('it names no host, or not only a host and a port');
  const url = URL.parse(`${scheme.toLowerCase()}://${authority}`);
  if (url === null || url.port === '0') return refuse('its host or its port is none');
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  return {
    url: url.origin,
    authorization: login === null ? null : `Basic ${withColon(login).toString('base64')}`,
    name: `${url.hostname}:${port}`,
    variable,
  };
}

/** What follows the host of a proxy: from a slash, question mark or hash on. One before the last `@` is of the password, unless a host stands
 * before it. */
function pathOf(rest: string, at: number): string {
  const start = rest.search(/[/?#]/);
  if (start < 0) return '';
  const isOfLogin = start < at && !/^[^:@]*(:\d*)?$/.test(rest.slice(0, start));
  return isOfLogin ? rest.slice(at + 1).replace(/^[^/?#]*/, '') : rest.slice(start);
}

/** The bytes of a user and a password: `%41` is `A`, and a `%` before other letters is itself, as curl has it. */
function decodeLogin(text: string): Buffer {
  const parts = text.split(/(%[0-9a-f]{2})/i);
  return Buffer.concat(
    parts.map((part, index) =>
      index % 2 === 1 ? Buffer.from(part.slice(1), 'hex') : Buffer.from(part),
    ),
  );
}

function withColon(login: Buffer): Buffer {
  return login.includes(':') ? login : Buffer.concat([login, Buffer.from(':')]);
}

/** Whether NO_PROXY excepts a host, as curl reads it: hosts with their subdomains, addresses, networks (`10.0.0.0/8`, `2001:db8::/32`), with
 * commas or spaces between them; `*` is all. Beyond curl, a host may have a port, and `*.` before it. */
function isException(exceptions: string, hostname: string, port: string): boolean {
  const host = bareHost(hostname);
  return entriesOf(exceptions).some((entry) => {
    if (entry === '*') return true;
    if (isIP(host) !== 0) return isInNetwork(host, entry, port);
    const [, name = '', only = port] = /^(.*?)(?::(\d+))?$/.exec(entry)!;
    const domain = name.replace(/^\*?\./, '').replace(/\.$/, '');
    return only === port && domain !== '' && (host === domain || host.endsWith(`.${domain}`));
  });
}

/** The first entry that people read as a host, and neither curl nor this program does: a `*` inside (`172.17.*`, `*example.com`), the
 * beginning of an address (`172.17.`), an address with its scheme. */
function misreadException(exceptions: string, hostname: string): string | null {
  const host = bareHost(hostname);
  const seemsToName = (entry: string) => {
    const plain = entry.replace(/^[a-z]+:\/\//, '').replace(/\/.*$/, '');
    const name = plain.replace(/^(.*[^:]):\d+$/, '$1').replace(/^([\d.]+\.)$/, '$1*');
    const parts = name.split('*');
    // More would be no name, and slow.
    if (parts.length > 4 || (parts.length === 1 && plain === entry)) return false;
    const literal = parts.map((part) => part.replace(/[^\w-]/g, '\\$&'));
    return new RegExp(`^${literal.join('.*')}$`).test(host);
  };
  const entry = entriesOf(exceptions).find(seemsToName);
  return entry?.replace(/^([a-z]+:\/\/)?([^/]*).*$/s, '$1$2') ?? null;
}

function entriesOf(exceptions: string): string[] {
  return exceptions.toLowerCase().split(/[,\s]+/);
}

function bareHost(hostname: string): string {
  return hostname.replace(/^\[|\]$|\.$/g, '');
}

function isInNetwork(host: string, entry: string, port: string): boolean {
  const bracketed = /^\[([^\]]*)\](?::(\d+))?(\/\d+)?$/.exec(entry);
  const plain = /^(\d+\.\d+\.\d+\.\d+)(?::(\d+))?(\/\d+)?$/.exec(entry);
  const [, address = entry.replace(/\/.*/, ''), only = port, bits = /\/.*/.exec(entry)?.[0]] =
    bracketed ?? plain ?? [];
  const version = isIP(address);
  if (version === 0 || version !== isIP(host) || only !== port) return false;
  const most = version === 4 ? 32 : 128;
  const prefix = bits === undefined ? most : Number(bits.slice(1));
  if (!Number.isInteger(prefix) || prefix > most) return false;
  const family = version === 4 ? 'ipv4' : 'ipv6';
  const network = new BlockList();
  network.addSubnet(address, prefix, family);
  return network.check(host, family);
}
