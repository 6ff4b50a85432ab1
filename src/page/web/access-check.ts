import type { FastifyRequest } from 'fastify';
import { RefusedRequest } from './error-replies.ts';
import type { Sessions } from './sessions.ts';

/** The refusal of a request that may not come from the user's own page. */
export function requestRefusal(status: 401 | 403 | 421, code: string, message: string): RefusedRequest {
  return new RefusedRequest(status, code, message, 'Press Enter in the terminal of perilbook ui for a new address.');
}

/** The name contains the port: ports share cookies, so two pages on one machine would overwrite each other's. */
export function cookieName(port: number): string {
  return `perilbook_ui_${port}`;
}

/** Why a request is refused, or null. `Host` must be the address that we listen on: a page of another domain that resolves
 * to this machine (DNS rebinding) sends its own. Requests that change something must come from our own page. */
export function accessRefusal(
  { method, headers: { host, origin, cookie } }: Pick<FastifyRequest, 'method' | 'headers'>,
  port: number,
  sessions: Sessions,
): RefusedRequest | null {
  const wrongHost = hostRefusal(host, port);
  if (wrongHost !== null) return wrongHost;
  const isReading = method === 'GET' || method === 'HEAD';
  if (origin === undefined ? !isReading : origin !== `http://127.0.0.1:${port}`) {
    return requestRefusal(403, 'ORIGIN', 'This request comes from another page');
  }
  const name = `${cookieName(port)}=`;
  const session = cookie
    ?.split(';')
    .find((part) => part.trimStart().startsWith(name))
    ?.trim()
    .slice(name.length);
  return sessions.isOpen(session ?? '') ? null : requestRefusal(401, 'SESSION', 'This browser has no session here');
}

/** A request with a token has no session yet: only its host can be checked. */
export function hostRefusal(host: string | undefined, port: number): RefusedRequest | null {
  return host === `127.0.0.1:${port}` ? null : requestRefusal(421, 'HOST', 'This request is for another host');
}

/** On every response: no external resources, no inline code, no framing, no caching. */
export const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-frame-options': 'DENY',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};
