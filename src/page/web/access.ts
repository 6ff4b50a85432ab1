import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { ownUser } from '../../base/users.ts';
import { RefusedRequest } from '../files/page-words.ts';

/** The refusal of a request that may not come from the user's own page. */
export function requestRefusal(
  status: 401 | 403 | 421,
  code: string,
  message: string,
): RefusedRequest {
  return new RefusedRequest(
    status,
    code,
    message,
    'Press Enter in the terminal of perilbook ui for a new address.',
  );
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
  return sessions.isOpen(session ?? '')
    ? null
    : requestRefusal(401, 'SESSION', 'This browser has no session here');
}

/** A request with a token has no session yet: only its host can be checked. */
export function hostRefusal(host: string | undefined, port: number): RefusedRequest | null {
  return host === `127.0.0.1:${port}`
    ? null
    : requestRefusal(421, 'HOST', 'This request is for another host');
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

/** One-time tokens and the sessions that they open. Both end with the process: a page of an earlier one must be opened again. */
export class Sessions {
  readonly #tokens = new Set<string>();
  readonly #sessions = new Set<string>();

  /** A new token. Earlier ones stay valid until they are used. */
  newToken(): string {
    return added(this.#tokens);
  }

  /** Exchanges a token for a session; null if it is unknown or used. */
  exchange(token: string): string | null {
    const issued = equalSecret(this.#tokens, token);
    if (issued === null) return null;
    this.#tokens.delete(issued);
    return added(this.#sessions);
  }

  isOpen(session: string): boolean {
    return equalSecret(this.#sessions, session) !== null;
  }
}

function added(secrets: Set<string>): string {
  // 128 bits.
  const secret = randomBytes(16).toString('base64url');
  secrets.add(secret);
  return secret;
}

/** The secret that equals `given`, in constant time. Comparing digests makes lengths equal too. */
function equalSecret(secrets: ReadonlySet<string>, given: string): string | null {
  const digestOf = (text: string) => hash('sha256', text, 'buffer');
  const digest = digestOf(given);
  let match: string | null = null;
  for (const secret of secrets) if (timingSafeEqual(digestOf(secret), digest)) match = secret;
  return match;
}

/** Linux's tables of connections: of IPv4, and of IPv6, whose sockets may reach IPv4 addresses too. */
const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'];

/** The ends of a connection, as the page sees them. */
interface Ends {
  readonly localAddress?: string | undefined;
  readonly localPort?: number | undefined;
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
}

/** Finds whether the program at the other end of a loopback connection belongs to this user. Browsers send the cookies of 127.0.0.1 to every
 * port of it, so another user of the machine who listens on one may get the page's session: a cookie alone is not enough.
 *
 * A connection is asked for once. The kernel writes its whole table for each reading, tens of milliseconds on a busy machine, so the
 * connections that arrive during a reading share the next one, and no reading holds up the page: 600 connections of another user held an
 * answer up for half a minute. */
export class Peers {
  readonly #asked = new WeakMap<Socket, Promise<boolean>>();
  readonly #tables = TABLES.filter((path) => existsSync(path));
  readonly #readTable: (path: string) => Promise<string>;
  #reading: Promise<string> = Promise.resolve('');
  #next: Promise<string> | null = null;

  constructor(readTable = (path: string): Promise<string> => readFile(path, 'utf8')) {
    this.#readTable = readTable;
  }

  /** @returns true also where the system has no table of connections (macOS, Windows), and for root, who may do anything */
  isOwn(socket: Socket): Promise<boolean> {
    const found = this.#asked.get(socket) ?? this.#find(socket);
    this.#asked.set(socket, found);
    return found;
  }

  async #find({ localAddress, localPort, remoteAddress, remotePort }: Socket): Promise<boolean> {
    if (this.#tables.length === 0) return true;
    const ends = { localAddress, localPort, remoteAddress, remotePort };
    const user = peerUser(await this.#readLater(), ends);
    return user === 0 || user === ownUser();
  }

  /** The tables, by a reading that begins after this call. */
  #readLater(): Promise<string> {
    this.#next ??= this.#reading.then(() => {
      this.#next = null;
      this.#reading = this.#read();
      return this.#reading;
    });
    return this.#next;
  }

  async #read(): Promise<string> {
    try {
      const tables = this.#tables.map((path) => this.#readTable(path));
      return (await Promise.all(tables)).join('\n');
    } catch {
      // They cannot be read if the process has as many files open as it may: whose the connection is, is then unknown.
      return '';
    }
  }
}

/** The number of the user whose socket is the other end of a connection; undefined if none is. The fields of the table: number, local and
 * remote address, state, queues, timer, retransmissions, user, timeout, inode (proc_net_tcp in the kernel's documentation). An end that
 * its program has closed has no inode, and the kernel writes 0 for its user. */
export function peerUser(table: string, ends: Ends): number | undefined {
  const own = inTable(ends.localAddress, ends.localPort);
  const peer = inTable(ends.remoteAddress, ends.remotePort);
  // Few lines have the peer's port: the others are not parted into fields.
  for (let at = table.indexOf(`${peer} `); at >= 0; at = table.indexOf(`${peer} `, at + 1)) {
    const line = table.slice(table.lastIndexOf('\n', at) + 1).split('\n', 1)[0]!;
    const [, local, remote, , , , , user, , inode] = line.trim().split(/\s+/);
    if (local?.endsWith(peer) && remote?.endsWith(own) && Number(inode) > 0) return Number(user);
  }
  return undefined;
}

/** An address as the tables write it: a number in the machine's order of bytes, then the port. */
function inTable(address = '0.0.0.0', port = 0): string {
  const [number = 0] = new Uint32Array(Uint8Array.from(address.split('.'), Number).buffer);
  const hex = (value: number, digits: number) =>
    value.toString(16).toUpperCase().padStart(digits, '0');
  return `${hex(number, 8)}:${hex(port, 4)}`;
}
