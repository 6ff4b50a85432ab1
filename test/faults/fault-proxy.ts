import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { LeapingClock } from './leaping-clock.ts';

/** The service's answer to a request that was passed on. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** One request on its way, in the hands of a fault. */
export interface Passage {
  /** `/v1/hail/risk?lat=…`. */
  readonly path: string;
  readonly key: string;
  readonly socket: Socket;
  readonly clock: LeapingClock;
  /** In [0, 1); of the trial's seed. */
  readonly random: () => number;
  /** Hands the request on to the service, which may charge it. */
  ask(): Promise<Answer>;
  /** Writes bytes as they are. */
  write(bytes: Buffer | string): void;
  /** Writes an answer whole, as HTTP. */
  answer(answer: Answer): void;
}

export interface Fault {
  readonly name: string;
  readonly act: (passage: Passage) => void | Promise<void>;
  /** The true answer arrives all the same. */
  readonly delivers?: boolean;
}

/** A request that came, and what became of it. */
export interface Entry {
  readonly path: string;
  readonly fault: Fault | null;
  /** Credits that the service charged for it. */
  charged: number;
}

/** What happens to a request, by its number from 0 and its path; null lets it pass. */
export type Choice = (entry: number, path: string) => Fault | null;

export interface FaultProxyOptions {
  readonly service: string;
  readonly clock: LeapingClock;
  readonly random?: () => number;
  /** Speaks TLS with this certificate. */
  readonly certificate?: { readonly key: Buffer; readonly cert: Buffer };
}

/** A proxy between the client and the service that does to each request what a fault says. It speaks HTTP by hand: most of
 * what goes wrong between machines cannot be expressed with an HTTP library. */
export async function openFaultProxy(options: FaultProxyOptions) {
  const { service, clock, random = Math.random, certificate } = options;
  const entries: Entry[] = [];
  const sockets = new Set<Socket>();
  const acts = new Set<Promise<unknown>>();
  let choose: Choice | null = null;
  let connections = 0;

  async function pass(socket: Socket, head: string): Promise<void> {
    const path = head.split(' ', 2)[1] ?? '/';
    const key = /^x-api-key: (.*)$/im.exec(head)?.[1]?.trim() ?? '';
    const fault = choose?.(entries.length, path) ?? null;
    const entry: Entry = { path, fault, charged: 0 };
    entries.push(entry);
    const write = (bytes: Buffer | string) => {
      clock.stir();
      if (!socket.destroyed) socket.write(bytes);
    };
    const passage: Passage = {
      ...{ path, key, socket, clock, random },
      async ask() {
        const answer = await clock.during(askService(service + path, key));
        if (answer.status === 200) entry.charged += Number(answer.headers['x-credit-cost']);
        return answer;
      },
      write,
      answer: (answer) => write(asHttp(answer)),
    };
    if (fault === null) passage.answer(await passage.ask());
    else await fault.act(passage);
  }

  const connected = (socket: Socket) => {
    clock.stir();
    connections++;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('drain', () => clock.stir());
    socket.on('close', () => {
      clock.stir();
      sockets.delete(socket);
    });
    let head = '';
    socket.on('data', (chunk) => {
      clock.stir();
      head += chunk.toString('latin1');
      if (!head.includes('\r\n\r\n')) return;
      const request = head;
      head = '';
      const act = pass(socket, request).catch(() => socket.destroy());
      acts.add(act);
      void act.finally(() => acts.delete(act));
    });
  };
  const tls = certificate ? createTlsServer(certificate, connected) : null;
  const server = tls ?? createServer(connected);
  tls?.on('tlsClientError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    entries: entries as readonly Entry[],
    tls,
    /** Connections that came, those without any request included. */
    get connections() {
      return connections;
    },
    /** Decides what happens to each request from now on; null lets all pass. */
    disturb(next: Choice | null) {
      choose = next;
    },
    async close() {
      const closed = new Promise((done) => server.close(done));
      for (const socket of sockets) socket.destroy();
      await Promise.allSettled(acts);
      await closed;
    },
  };
}

async function askService(url: string, key: string): Promise<Answer> {
  // As it is: an answer that a fault bends must say truly how it is coded.
  const response = await fetch(url, {
    headers: { 'x-api-key': key, 'accept-encoding': 'identity' },
  });
  const ofHop = /^(connection|keep-alive|transfer-encoding|content-length)$/;
  const headers = Object.fromEntries([...response.headers].filter(([name]) => !ofHop.test(name)));
  return { status: response.status, headers, body: Buffer.from(await response.arrayBuffer()) };
}

/** The bytes of an answer; its length is as stated in its headers, where they state one. */
export function asHttp({ status, headers, body }: Answer): Buffer {
  const all = { 'content-length': String(body.length), ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([
    Buffer.from(`HTTP/1.1 ${status} Said\r\n${lines.join('')}\r\n`, 'latin1'),
    body,
  ]);
}
