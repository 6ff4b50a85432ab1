import { PerilbookError } from './errors.ts';

export interface HttpProxy {
  /** May hold a user and a password, and is never shown. */
  readonly url: string;
  /** For messages: `proxy.example:3128`. */
  readonly name: string;
  /** The variable that names it: `HTTPS_PROXY`. */
  readonly variable: string;
}

const LOOPBACK = /^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** The proxy that HTTPS_PROXY, HTTP_PROXY and NO_PROXY name for an address, in small letters first, as curl reads them. None for
 * loopback. The names in NO_PROXY are hosts and their subdomains, with or without a port; `*` is all hosts.
 * @throws PerilbookError USAGE for a proxy whose address cannot be read */
export function proxyFor(
  address: string,
  env: Readonly<Record<string, string | undefined>>,
): HttpProxy | null {
  const { protocol, hostname, port } = new URL(address);
  if (LOOPBACK.test(hostname)) return null;
  const given = (variable: string): [name: string, value: string] | null => {
    const name = [variable.toLowerCase(), variable].find((name) => env[name] !== undefined);
    return name === undefined || env[name] === '' ? null : [name, env[name]!];
  };
  const named = given(protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY');
  const [, exceptions = ''] = given('NO_PROXY') ?? [];
  if (
    named === null ||
    isException(exceptions, hostname, port || (protocol === 'https:' ? '443' : '80'))
  )
    return null;
  const [variable, value] = named;
  // Most write http://proxy:3128; curl reads proxy:3128 as the same.
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    const hint =
      'Write it as http://proxy.example:3128, or name the host in NO_PROXY to connect without it.';
    throw new PerilbookError(
      'USAGE',
      `The address of the proxy in ${variable} cannot be read`,
      hint,
    );
  }
  const name = `${url.hostname}:${url.port || (url.protocol === 'https:' ? 443 : 80)}`;
  return { url: url.href, name, variable };
}

function isException(exceptions: string, hostname: string, port: string): boolean {
  const host = hostname.replace(/\.$/, '');
  return exceptions
    .toLowerCase()
    .split(/[,\s]/)
    .some((entry) => {
      const [, name = '', only] = /^(.*?)(?::(\d+))?$/.exec(entry)!;
      if (only !== undefined && only !== port) return false;
      const domain = name.replace(/^\*?\./, '');
      return name === '*' || host === domain || host.endsWith(`.${domain}`);
    });
}
