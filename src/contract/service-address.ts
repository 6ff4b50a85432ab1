import {
  type NameFault,
  unreplacedVariable,
  variableFault,
  withoutQuotes,
} from '../base/path-names.ts';

/** Longer ones are mistakes, and some servers refuse them. */
const MAX_ADDRESS = 2_000;

/** Reads the address of a service. It is stored and shown: it must not contain a secret, and no fault shows a part of it
 * that may be one. */
export function readServiceAddress(text: string): string | NameFault {
  const plain = withoutQuotes(text);
  if (/^https?:/i.test(plain) && /[@?#]/.test(plain))
    return {
      fault:
        'must be an address without user, password, query and fragment; keys belong in api_keys',
    };
  const variable = /[@?#]/.test(plain) ? null : unreplacedVariable(plain);
  if (variable !== null) return { fault: variableFault(variable) };
  if (!/^https?:\/\/[^/\\]/i.test(plain))
    return { fault: 'must be an address that begins with https:// or http://' };
  if (plain.length > MAX_ADDRESS)
    return { fault: `must be an address of at most ${MAX_ADDRESS} characters` };
  if (/^https?:\/\/https?(?::|\/\/)/i.test(plain)) return { fault: 'begins with http twice' };
  // biome-ignore lint/suspicious/noControlCharactersInRegex: URL would drop them without a word, and read \ as /.
  const isUnclear = /[\u0000-\u0020\u007f\\]/.test(plain) || !plain.isWellFormed();
  if (isUnclear || (URL.parse(plain)?.port ?? '0') === '0')
    return { fault: 'must be an address that can be read, such as https://api.example.com/v1' };
  return plain;
}

/** Characters that mean the same plain and percent-encoded (RFC 3986, 2.3 and 6.2.2.2). */
const UNRESERVED = /[A-Za-z0-9\-._~]/;

/** Normalizes a service's address: lower-case scheme and host, no default port, no dot segments, no trailing slashes, percent-encoding
 * in upper case and only where needed. Text that is no HTTP address is returned unchanged. */
export function normalizedAddress(text: string): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return text;
  // A job refuses such an address. Rewriting it would only store its secret under another name.
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    return text;
  // A host's trailing dot (`api.example.com.`) marks a complete name; it is the same host.
  const host = url.hostname.replace(/(.)\.$/, '$1') + (url.port === '' ? '' : `:${url.port}`);
  return `${url.protocol}//${host}${normalizedPath(url.pathname)}`;
}

/** The name under which the answers of an address are stored, so that another spelling does not buy them again. `localhost` is called
 * 127.0.0.1. Requests go to the address as given: a service may listen on ::1 alone. */
export function sourceName(address: string): string {
  return normalizedAddress(address).replace(/^(https?:\/\/)localhost(?=[:/]|$)/, '$1127.0.0.1');
}

function normalizedPath(path: string): string {
  const encoded = path.replace(/%[0-9a-f]{2}/gi, (code) => {
    const character = String.fromCharCode(Number.parseInt(code.slice(1), 16));
    return UNRESERVED.test(character) ? character : code.toUpperCase();
  });
  return encoded.replace(/\/+$/, '');
}

/** Whether a host is this machine: what is sent there needs no encryption. */
export function isLoopback(hostname: string): boolean {
  return (
    hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname) || /(^|\.)localhost$/.test(hostname)
  );
}
