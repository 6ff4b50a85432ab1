import { connect, createServer, type Socket } from 'node:net';

/**
 * What happens to the next COMMIT that passes:
 * - `answer lost`: the server gets it and answers; the client hears nothing, and its connection ends
 * - `request lost`: the server does not get it; both connections end
 * - `cut at once`: the server gets it, and both connections end before it can answer
 */
export type CommitFault = 'answer lost' | 'request lost' | 'cut at once';

/** A connection to a database that a test cuts. */
export interface TcpProxy extends AsyncDisposable {
  readonly port: number;
  /** The faults to come, one for each COMMIT; with none left, COMMITs pass. */
  readonly commitFaults: CommitFault[];
  /** Ends all connections. While `refusing`, new ones are ended too. */
  cut(): void;
  refusing: boolean;
  /** Bytes stand still in both directions, as in a network that is cut without notice. */
  frozen: boolean;
}

/** The statement, and the server's answer to it; `READ COMMITTED` is neither. */
const COMMIT = 'COMMIT\0';

/** Passes connections on to a port of this machine.
 * @param within the faults are for COMMITs of transactions that send this text; default: for all */
export async function startTcpProxy(to: number, within = ''): Promise<TcpProxy> {
  const open = new Set<Socket>();
  const server = createServer((client) => {
    if (proxy.refusing) return void client.destroy();
    const upstream = connect(to, '127.0.0.1');
    let [isMute, isWithin] = [false, false];
    const end = () => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on('error', end);
      socket.on('close', () => {
        open.delete(socket);
        end();
      });
    }
    client.on('data', (chunk) => {
      if (proxy.frozen) return;
      isWithin ||= chunk.includes(within);
      const isCommit = chunk.includes(COMMIT);
      const fault = isCommit && isWithin ? proxy.commitFaults.shift() : undefined;
      if (isCommit) isWithin = false;
      if (fault === 'request lost') return end();
      isMute ||= fault === 'answer lost';
      upstream.write(chunk);
      // Destroyed without FIN from the client: what was sent is with the server.
      if (fault === 'cut at once') upstream.end(() => end());
    });
    upstream.on('data', (chunk) => {
      if (proxy.frozen) return;
      // Statements that were sent with it are answered before.
      if (isMute) return chunk.includes(COMMIT) ? end() : undefined;
      client.write(chunk);
    });
  });
  const proxy = { commitFaults: [] as CommitFault[], refusing: false, frozen: false };
  const cut = () => {
    for (const socket of open) socket.destroy();
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(proxy, {
    port: (server.address() as { port: number }).port,
    cut,
    async [Symbol.asyncDispose]() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}
