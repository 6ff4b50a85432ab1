import type { FastifyRequest } from 'fastify';
import type { Sessions } from './sessions.ts';

export interface RequestRefusal {
  readonly status: 401 | 403 | 421;
  readonly code: string;
  readonly message: string;
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
): RequestRefusal | null {
  const wrongHost = hostRefusal(host, port);
  if (wrongHost !== null) return wrongHost;
  const isReading = method === 'GET' || method === 'HEAD';
  if (origin === undefined ? !isReading : origin !== `http://127.0.0.1:${port}`) {
    return { status: 403, code: 'ORIGIN', message: 'This request comes from another page' };
  }
  const session = parseCookie(cookie, cookieName(port));
  if (session === null || !sessions.isOpen(session)) {
    return { status: 401, code: 'SESSION', message: 'This browser has no session here' };
  }
  return null;
}

/** A request with a token has no session yet: only its host can be checked. */
export function hostRefusal(host: string | undefined, port: number): RequestRefusal | null {
  if (host === `127.0.0.1:${port}`) return null;
  return { status: 421, code: 'HOST', message: 'This request is for another host' };
}

function parseCookie(header: string | undefined, name: string): string | null {
  for (const part of header?.split(';') ?? []) {
    const at = part.indexOf('=');
    if (part.slice(0, at).trim() === name) return part.slice(at + 1).trim();
  }
  return null;
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
