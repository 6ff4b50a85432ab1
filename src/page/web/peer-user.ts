import { existsSync, readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { userInfo } from 'node:os';

/** Linux's tables of connections: of IPv4, and of IPv6, whose sockets may reach IPv4 addresses too. */
const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'];

/** The ports of a connection, as the page's end sees them. */
type Ports = Pick<Socket, 'localPort' | 'remotePort'>;

/** Whether the program at the other end of a loopback connection may belong to this user. Browsers send the cookies of 127.0.0.1 to every
 * port of it, so another user of the machine who listens on one may get the page's session: a cookie alone is not enough.
 * @returns true also where the system has no table of connections (macOS, Windows), and for root, who may do anything */
export function isOwnPeer(ports: Ports): boolean {
  const tables = TABLES.filter((path) => existsSync(path));
  if (tables.length === 0) return true;
  return areOwn(peerUsers(tables.map((path) => readFileSync(path, 'utf8')).join('\n'), ports), userInfo().uid);
}

/** Whether the sockets that may be the other end are all of this user or of root; without any, it is unknown whose it is. */
export function areOwn(users: readonly number[], own: number): boolean {
  return users.length > 0 && users.every((user) => user === 0 || user === own);
}

/** The state of a connection that has ended; the kernel says 0 for its user. */
const TIME_WAIT = '06';

/** The numbers of the users whose sockets may be the other end of a connection: one, unless two addresses of this machine use the same
 * ports. The fields of the table: number, local and remote address, state, queues, timer, retransmissions, user (proc_net_tcp in the kernel's
 * documentation). */
export function peerUsers(table: string, { localPort, remotePort }: Ports): number[] {
  const hex = (port = 0) => `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return table.split('\n').flatMap((line) => {
    const [, local = '', remote = '', state, , , , user] = line.trim().split(/\s+/);
    const isPeer = local.endsWith(hex(remotePort)) && remote.endsWith(hex(localPort)) && state !== TIME_WAIT;
    return isPeer ? [Number(user)] : [];
  });
}
