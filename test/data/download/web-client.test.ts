import assert from 'node:assert/strict';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { transferMessage } from '../../../src/cli/messages/download-messages.ts';
import { createTransferRate } from '../../../src/data/download/transfer-rate.ts';
import { createWebClient } from '../../../src/data/download/web-client.ts';
import { agencyMirror } from './agency-mirror.ts';

const signal = new AbortController().signal;

test('at most six requests run at once, and two to one host', async (t) => {
  const mirror = await agencyMirror(t);
  const client = createWebClient({ userAgent: 'perilbook/0', env: {}, mirror: mirror.url });
  t.after(() => client.close());
  const waiting: { host: string; response: ServerResponse }[] = [];
  mirror.fail(/./, 99, ({ target }, response) => waiting.push({ host: target.split('/')[0]!, response }));
  const hosts = ['a.example', 'b.example', 'c.example', 'd.example'];
  const asked = [0, 1, 2].flatMap((page) =>
    hosts.map((host) => client.get(`https://${host}/${page}`, {}, signal, async ({ status }) => status)),
  );
  let answered = 0;
  while (answered < asked.length) {
    await delay(20);
    while (waiting.length === 0) await delay(5);
    assert.ok(waiting.length <= 6, String(waiting.length));
    for (const host of hosts) assert.ok(waiting.filter((one) => one.host === host).length <= 2);
    const { response } = waiting.shift()!;
    response.end();
    answered += 1;
  }
  assert.deepEqual(await Promise.all(asked), Array(asked.length).fill(200));
});

test('a redirect is followed, and a key goes to no other host', async (t) => {
  const seen: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    seen.push(request.headers['x-api-key'] as string | undefined);
    const here = request.headers.host!;
    if (request.url === '/a') response.writeHead(302, { location: '/b' }).end();
    else if (request.url === '/b')
      response.writeHead(302, { location: `http://localhost:${here.split(':')[1]}/c` }).end();
    else if (request.url === '/round') response.writeHead(302, { location: '/round' }).end();
    else response.end('data');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const client = createWebClient({ userAgent: 'perilbook/0', env: {} });
  t.after(() => client.close());
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const status = async (path: string) =>
    client.get(`${base}/${path}`, { 'x-api-key': 'k' }, signal, async (answer) => answer.status);
  // Where localhost is not 127.0.0.1 alone, the last step finds nobody.
  await status('a').catch(() => {});
  assert.deepEqual(seen.slice(0, 2), ['k', 'k']);
  assert.ok(seen.slice(2).every((key) => key === undefined));
  await assert.rejects(status('round'), /leads from one address to the next/);
});

test('the rate is that of the last seconds, and what was here before is none of it', () => {
  const rate = createTransferRate(10_000_000);
  assert.equal(rate.read().secondsLeft, null);
  rate.see('a', 2_000_000, 0);
  for (let second = 1; second <= 4; second++) rate.see('a', 2_000_000 + second * 500_000, second * 1_000);
  assert.deepEqual(rate.read(), { bytes: 4_000_000, totalBytes: 10_000_000, bytesPerSecond: 500_000, secondsLeft: 12 });
  assert.equal(transferMessage(rate.read()), '4.0 MB of about 10.0 MB, 500.0 kB/s, under a minute left');
  for (let second = 5; second <= 40; second++) rate.see('a', 4_000_000, second * 1_000);
  assert.equal(rate.read().secondsLeft, null);
});
