import { connect, createServer, type Socket } from 'node:net';

/** What happens to the next COMMIT of charges: it is lost on its way, or only its answer is, or the server decides. */
type CommitFault = 'commit lost' | 'answer lost' | null;

/** The topic of the calls that are to be disturbed. */
export const CHARGED_TOPIC = 'drought';

/** A way to a PostgreSQL server that can be cut. It looks for the values of a charge of CHARGED_TOPIC and for the word COMMIT. */
export interface DatabaseProxy extends AsyncDisposable {
  /** The address through the proxy. */
  readonly url: string;
  nextCommit: CommitFault;
  /** Whether connections are refused; those there are end at once. */
  setCut(isCut: boolean): void;
  /** COMMITs of charges that were lost, or whose answer was. */
  readonly faults: number;
}

export async function startDatabaseProxy(target: string): Promise<DatabaseProxy> {
  const { port } = new URL(target);
  const clients = new Set<Socket>();
  let isCut = false;
  const server = createServer({ noDelay: true }, (client) => {
    client.on('error', () => {});
    if (isCut) return void client.destroy();
    const upstream = connect(Number(port), '127.0.0.1');
    upstream.setNoDelay(true);
    clients.add(client);
    let isMuted = false;
    let isCharging = false;
    client.on('data', (chunk) => {
      isCharging ||= chunk.includes(CHARGED_TOPIC);
      const commits = chunk.includes('COMMIT');
      const isOfCharge = commits && isCharging;
      if (commits) isCharging = false;
      if (proxy.nextCommit === null || !isOfCharge) return void upstream.write(chunk);
      const fault = proxy.nextCommit;
      proxy.nextCommit = null;
      faults += 1;
      isMuted = true;
      if (fault === 'commit lost') return void client.destroy();
      // The server has committed when it answers.
      upstream.write(chunk);
      upstream.once('data', () => setTimeout(() => client.destroy(), 20));
    });
    upstream.on('data', (chunk) => {
      if (!isMuted) client.write(chunk);
    });
    client.once('close', () => {
      clients.delete(client);
      upstream.destroy();
    });
    upstream.on('error', () => client.destroy());
    upstream.once('close', () => client.destroy());
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const through = new URL(target);
  through.port = String((server.address() as { port: number }).port);
  let faults = 0;
  const proxy: DatabaseProxy = {
    url: through.href,
    nextCommit: null,
    get faults() {
      return faults;
    },
    setCut(cut) {
      isCut = cut;
      if (cut) for (const client of clients) client.destroy();
    },
    async [Symbol.asyncDispose]() {
      proxy.setCut(true);
      await new Promise((done) => server.close(done));
    },
  };
  return proxy;
}
