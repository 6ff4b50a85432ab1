import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { usageError } from './command.ts';
import { type CliContext, say } from './context.ts';

/** The first descriptor that systemd passes (sd_listen_fds(3)). */
const FIRST_DESCRIPTOR = 3;

/** The socket on which systemd listens for this process (socket activation); null where it does not. @throws USAGE for several */
export function socketOfSystemd({ env }: Pick<CliContext, 'env'>, pid: number): number | null {
  const { LISTEN_PID: owner, LISTEN_FDS: count } = env;
  // Variables for another process were inherited by mistake.
  if (count === undefined || owner !== String(pid)) return null;
  if (count === '1') return FIRST_DESCRIPTOR;
  throw usageError(`systemd passes ${count} sockets`, 'Give the socket unit one ListenStream=.');
}

const TIMEOUT_MS = 10_000;

/** Reports the state of a service of `Type=notify` to systemd; does nothing elsewhere. Uses the command
 * systemd-notify, which comes with systemd: Node has no Unix datagram sockets, and a native addon would need a build on each platform. */
export async function notifySystemd(context: CliContext, state: 'READY=1' | 'STOPPING=1'): Promise<void> {
  const { NOTIFY_SOCKET, PATH } = context.env;
  if (!NOTIFY_SOCKET) return;
  try {
    await promisify(execFile)('systemd-notify', [state], { env: { NOTIFY_SOCKET, PATH }, timeout: TIMEOUT_MS });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    say(context, `perilbook service: systemd-notify ${state} failed (${code}): systemd does not learn the state.`);
  }
}
