import { connect, createServer, type Socket } from 'node:net';

/** A TCP balancer on the loopback: each connection goes to the next server in turn; one that is gone is passed over. */
export interface Balancer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
}

/** @param ports of the servers, which may change while it runs */
export async function startBalancer(ports: readonly number[]): Promise<Balancer> {
  const sockets = new Set<Socket>();
  let next = 0;
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
  };

  function forward(client: Socket, tries: number): void {
    if (tries === 0) return void client.destroy();
    const upstream = connect(ports[next++ % ports.length]!, '127.0.0.1');
    upstream.setNoDelay(true);
    keep(upstream);
    upstream.once('connect', () => {
      client.pipe(upstream).pipe(client);
      client.once('close', () => upstream.destroy());
      upstream.once('close', () => client.end());
    });
    upstream.once('error', () => {
      if (upstream.connecting || upstream.bytesRead + upstream.bytesWritten === 0) forward(client, tries - 1);
    });
  }

  const server = createServer({ noDelay: true }, (client) => {
    keep(client);
    forward(client, ports.length);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((done) => server.close(done));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
