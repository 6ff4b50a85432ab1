import { existsSync, readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { resultOrNull } from '../../base/errors.ts';
import { ownUser } from '../../base/users.ts';

/** Linux's tables of connections: of IPv4, and of IPv6, whose sockets may reach IPv4 addresses too. */
const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'];

/** The ends of a connection, as the page sees them. */
type Ends = Pick<Socket, 'localAddress' | 'localPort' | 'remoteAddress' | 'remotePort'>;

/** Whether the program at the other end of a loopback connection belongs to this user. Browsers send the cookies of 127.0.0.1 to every
 * port of it, so another user of the machine who listens on one may get the page's session: a cookie alone is not enough.
 * @returns true also where the system has no table of connections (macOS, Windows), and for root, who may do anything */
export function isOwnPeer(ends: Ends): boolean {
  const tables = TABLES.filter((path) => existsSync(path));
  if (tables.length === 0) return true;
  // They cannot be read if the process has as many files open as it may: whose the connection is, is then unknown.
  const table = resultOrNull(() => tables.map((path) => readFileSync(path, 'utf8')).join('\n')) ?? '';
  const user = peerUser(table, ends);
  return user === 0 || user === ownUser();
}

/** The number of the user whose socket is the other end of a connection; undefined if none is. The fields of the table: number, local and
 * remote address, state, queues, timer, retransmissions, user, timeout, inode (proc_net_tcp in the kernel's documentation). An end that
 * its program has closed has no inode, and the kernel writes 0 for its user. */
export function peerUser(table: string, ends: Ends): number | undefined {
  const own = inTable(ends.localAddress, ends.localPort);
  const peer = inTable(ends.remoteAddress, ends.remotePort);
  const entries = table.split('\n').map((line) => line.trim().split(/\s+/));
  const entry = entries.find(([, local, remote, , , , , , , inode]) => {
    return local?.endsWith(peer) && remote?.endsWith(own) && Number(inode) > 0;
  });
  return entry && Number(entry[7]);
}

/** An address as the tables write it: a number in the machine's order of bytes, then the port. */
function inTable(address = '0.0.0.0', port = 0): string {
  const [number = 0] = new Uint32Array(Uint8Array.from(address.split('.'), Number).buffer);
  const hex = (value: number, digits: number) => value.toString(16).toUpperCase().padStart(digits, '0');
  return `${hex(number, 8)}:${hex(port, 4)}`;
}
