import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { type HttpProxy, proxyFor } from '../../src/net/http-proxy.ts';
import { perilbook } from '../cli/command-line.ts';
import { openHarness, places } from '../run/harness.ts';
import { clientOf } from './servers.ts';

/** A proxy on loopback whose tunnels all end at one port. */
interface TestProxy {
  readonly url: string;
  readonly named: HttpProxy;
  /** The targets that clients named, with their passwords. */
  readonly asked: { readonly target: string; readonly authorization: string | undefined }[];
  /** What it answers in place of a tunnel. */
  refusal: string | null;
  /** Tunnels that are cut as soon as the target answers. */
  cuts: number;
}

async function startProxy(t: TestContext, port: number): Promise<TestProxy> {
  const sockets = new Set<Socket>();
  const server = createServer((_, response) => response.writeHead(400).end('CONNECT only'));
  const keep = (socket: Socket) => sockets.add(socket.on('error', () => {}));
  server.on('connection', keep);
  server.on('connect', ({ url = '', headers }: IncomingMessage, client: Socket) => {
    proxy.asked.push({ target: url, authorization: headers['proxy-authorization'] });
    if (proxy.refusal !== null) return void client.end(proxy.refusal);
    const target = connect(port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      client.pipe(target);
      target.on('data', (chunk) => {
        if (proxy.cuts === 0) return void client.write(chunk);
        proxy.cuts -= 1;
        client.destroy();
        target.destroy();
      });
    });
    keep(target);
    target.on('close', () => client.destroy());
    client.on('close', () => target.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const name = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const url = `http://${name}`;
  const proxy: TestProxy = {
    url,
    named: { url, authorization: null, name, variable: 'HTTPS_PROXY', misread: null },
    asked: [],
    refusal: null,
    cuts: 0,
  };
  return proxy;
}

test('a call goes through a tunnel with TLS inside; without a tunnel it never left, and the proxy is named', async (t) => {
  const file = (name: string) =>
    readFileSync(join(import.meta.dirname, '../faults/certificates', name));
  setDefaultCACertificates([...getCACertificates('default'), file('authority.pem').toString()]);
  const keys: unknown[] = [];
  const service = createTlsServer(
    { key: file('service.key'), cert: file('good.pem') },
    (request, response) => {
      keys.push(request.headers['x-api-key']);
      response.end('{}');
    },
  );
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  t.after(() => service.close().closeAllConnections());
  const { port } = service.address() as AddressInfo;
  const proxy = await startProxy(t, port);
  const url = proxy.url.replace('//', '//ann:geheim@');
  const named = proxyFor('https://h.example', { HTTPS_PROXY: url })!;
  const client = clientOf(t, `https://127.0.0.1:${port}`, { proxy: named });
  const call = {
    call: { kind: 'single', topic: 'hail' },
    location: { lat: 34, lng: -118 },
    key: 'pb_k',
  } as const;
  for (const isFresh of [false, true]) {
    const answered = await client.send({ ...call, isFresh });
    assert.equal(answered.kind === 'response' && answered.status, 200, JSON.stringify(answered));
  }
  assert.deepEqual(keys, ['pb_k', 'pb_k']);
  const authorization = `Basic ${Buffer.from('ann:geheim').toString('base64')}`;
  assert.deepEqual(proxy.asked, Array(2).fill({ target: `127.0.0.1:${port}`, authorization }));
  const head = (status: number) =>
    `HTTP/1.1 ${status} No\r\nContent-Type: text/html\r\n\r\n<html>Log in`;
  for (const [refusal, message] of [
    [
      head(407),
      /^The proxy 127\.0\.0\.1:\d+ \(HTTPS_PROXY\) demands a user and a password \(407\)/,
    ],
    [head(502), /^The proxy 127\.0\.0\.1:\d+ \(HTTPS_PROXY\) gives no way to the service \(502\)/],
    ['', /^Cannot connect to the service through the proxy 127\.0\.0\.1:\d+ \(HTTPS_PROXY\): /],
  ] as const) {
    proxy.refusal = refusal;
    const failed = await client.send({ ...call, isFresh: true });
    assert.ok(
      failed.kind === 'failure' && failed.reached === 'never' && failed.code === 'CONNECT',
      JSON.stringify(failed),
    );
    assert.match(failed.message, message);
    assert.ok(!failed.message.includes('geheim'));
  }
  assert.equal(keys.length, 2);
});

test('a run through a proxy buys each answer once, also where tunnels are cut after the service charged', async (t) => {
  const harness = await openHarness(t);
  harness.writeInput(places(12));
  const proxy = await startProxy(t, Number(new URL(harness.url).port));
  const env = {
    HTTP_PROXY: proxy.url,
    PERILBOOK_BASE_URL: 'http://service.example',
    PERILBOOK_API_KEY: harness.key().secret,
  };
  const run = (...words: string[]) =>
    perilbook(['run', 'input.csv', '-t', 'hail', '-o', 'out.csv', '--store', 's.db', ...words], {
      ...{ folder: harness.folder, clock: harness.clock, env },
    });
  proxy.refusal = 'HTTP/1.1 407 No\r\n\r\n';
  const refused = await run('--budget', '20');
  assert.match(
    refused.stderr,
    /The proxy 127\.0\.0\.1:\d+ \(HTTP_PROXY\) demands a user and a password/,
  );
  assert.equal(harness.charged(), 0, 'nothing left this machine');
  [proxy.refusal, proxy.cuts] = [null, 2];
  const pac = await perilbook(
    ['run', 'input.csv', '-t', 'hail', '-o', 'out.csv', '--store', 's.db', '--budget', '20'],
    {
      folder: harness.folder,
      clock: harness.clock,
      env: { ...env, HTTP_PROXY: 'http://ann:geheim@p.example/proxy.pac' },
    },
  );
  assert.deepEqual([pac.code, pac.stderr.includes('geheim')], [2, false]);
  assert.match(pac.stderr, /in HTTP_PROXY cannot be read: a PAC file is not a proxy/);
  const ended = await run('--budget', '20');
  assert.equal(ended.code, 0, ended.stderr);
  assert.equal(
    ended.stderr.match(/Calls go through the proxy 127\.0\.0\.1:\d+ \(HTTP_PROXY\)\./g)?.length,
    1,
  );
  assert.ok(proxy.asked.every(({ target }) => target === 'service.example:80'));
  // Each of the two cut answers was charged, and counts as spent; the other calls were charged once.
  assert.equal(harness.charged(), 14);
  const again = await run('--json');
  assert.equal(JSON.parse(again.stdout).credits_spent, 0, again.stdout);
  const status = await perilbook(['status', '--store', 's.db', '--json'], {
    folder: harness.folder,
    clock: harness.clock,
  });
  const runs: { charged: number; unknown: number }[] = JSON.parse(status.stdout);
  const sum = (part: 'charged' | 'unknown') =>
    runs.reduce((credits, run) => credits + run[part], 0);
  assert.deepEqual([sum('charged'), sum('unknown'), harness.charged()], [12, 2, 14]);
});
