import { connect, createServer, type Socket } from 'node:net';

/** A way to a service on 127.0.0.1 on which every answer arrives later. */
export interface LongWay {
  readonly url: string;
  close(): Promise<void>;
}

/** Opens the way. Bytes go to the service at once and come back `delayMs` milliseconds of the wall clock later. */
export async function openLongWay(serviceUrl: string, delayMs: number): Promise<LongWay> {
  const { hostname, port } = new URL(serviceUrl);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const service = connect(Number(port), hostname);
    for (const socket of [client, service]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      // A broken connection is the client's to notice; here it only must not end the process.
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        service.destroy();
      });
    }
    client.pipe(service);
    // Timers of one length fire in the order in which they were set, so the bytes stay in order.
    service.on('data', (bytes) => setTimeout(() => client.write(bytes), delayMs));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address() as { readonly port: number };
  return {
    url: `http://127.0.0.1:${address.port}`,
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
