import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { transferMessage } from '../../../src/cli/messages/download-messages.ts';
import { checkSources, obtainSources } from '../../../src/data/download/get-sources.ts';
import { createTransferRate } from '../../../src/data/download/transfer-rate.ts';
import { createWebClient } from '../../../src/data/download/web-client.ts';
import type { FileDownload, Source } from '../../../src/data/sources/source.ts';
import { overriddenSources } from '../../../src/data/sources/source-overrides.ts';
import { SOURCES } from '../../../src/data/sources/source-table.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { agencyMirror } from './agency-mirror.ts';
import { downloading } from './downloading.ts';

const signal = new AbortController().signal;

/** A server on loopback. @returns its address */
async function serve(t: TestContext, answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('at most six requests run at once, and two to one host', async (t) => {
  const mirror = await agencyMirror(t);
  const client = createWebClient({ userAgent: 'perilbook/0', env: {}, mirror: mirror.url });
  t.after(() => client.close());
  const waiting: { host: string; response: ServerResponse }[] = [];
  mirror.fail(/./, 99, ({ target }, response) =>
    waiting.push({ host: target.split('/')[0]!, response }),
  );
  const hosts = ['a.example', 'b.example', 'c.example', 'd.example'];
  const asked = [0, 1, 2].flatMap((page) =>
    hosts.map((host) =>
      client.get(`https://${host}/${page}`, {}, signal, async ({ status }) => status),
    ),
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

test('an own address is asked itself, not at the mirror', async (t) => {
  const [mirror, asked] = [await agencyMirror(t), [] as string[]];
  const base = await serve(t, ({ url }, response) => {
    asked.push(url!);
    response.end();
  });
  const folder = temporaryFolder(t);
  const file = join(folder, 'sources.yaml');
  writeFileSync(
    file,
    `sources: {tri: {url: "http://{st}.example/tri"}, areas: {url: "${base}/own/us-{year}.zip"}, hail: {page: "${base}/storms/index.html"}}`,
  );
  const { own } = overriddenSources(file, SOURCES);
  const client = createWebClient({ userAgent: 'perilbook/0', env: {}, mirror: mirror.url, own });
  t.after(() => client.close());
  for (const path of ['own/us-2025.zip', 'storms/2025_hail.csv', 'others.zip'])
    await client.get(`${base}/${path}`, {}, signal, async () => {});
  assert.deepEqual(asked, ['/own/us-2025.zip', '/storms/2025_hail.csv']);
  assert.deepEqual(
    mirror.requests.map(({ target }) => target),
    [`${new URL(base).host}/others.zip`],
  );
});

test('a redirect is followed, and a key goes to no other host', async (t) => {
  const seen: (string | undefined)[] = [];
  const base = await serve(t, (request, response) => {
    seen.push(request.headers['x-api-key'] as string | undefined);
    const here = request.headers.host!;
    if (request.url === '/a') response.writeHead(302, { location: '/b' }).end();
    else if (request.url === '/b')
      response.writeHead(302, { location: `http://localhost:${here.split(':')[1]}/c` }).end();
    else if (request.url === '/round') response.writeHead(302, { location: '/round' }).end();
    else response.end('data');
  });
  const client = createWebClient({ userAgent: 'perilbook/0', env: {} });
  t.after(() => client.close());
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
  for (let second = 1; second <= 4; second++)
    rate.see('a', 2_000_000 + second * 500_000, second * 1_000);
  assert.deepEqual(rate.read(), {
    bytes: 4_000_000,
    totalBytes: 10_000_000,
    bytesPerSecond: 500_000,
    secondsLeft: 12,
  });
  assert.equal(
    transferMessage(rate.read()),
    '4.0 MB of about 10.0 MB, 500.0 kB/s, under a minute left',
  );
  for (let second = 5; second <= 40; second++) rate.see('a', 4_000_000, second * 1_000);
  assert.equal(rate.read().secondsLeft, null);
});

const AFDC = SOURCES.find(({ name }) => name === 'alternative-fuels-afdc')!;
const STATIONS = 'Fuel Type Code,Station Name,State,Latitude,Longitude\nE85,One,VA,37.5,-78.1\n';

test('the key of an agency goes to the agency, and elsewhere only where it was given for that address', async (t) => {
  const { mirror, folder, context, with: contextWith } = await downloading(t);
  const client = createWebClient({ userAgent: 'perilbook/0.0.0', env: {} });
  t.after(() => client.close());
  for (const path of ['v1.csv', '127.0.0.1/v1.csv'])
    mirror.files.set(path, { body: Buffer.from(STATIONS) });
  const keyFile = join(folder, 'afdc.key');
  writeFileSync(keyFile, 'key-in-file\n');
  const at = (url: string): Source => ({
    ...AFDC,
    download: { ...(AFDC.download as FileDownload), files: [{ url }] },
  });
  const published = at(`${mirror.url}/v1.csv`);
  const keysSent = async (source: Source, download = contextWith({ client })) => {
    const env = { PERILBOOK_AFDC_KEY: 'key-of-env' };
    mirror.requests.length = 0;
    const [checked] = await checkSources([source], folder, () => [], env, download);
    const wanted = [{ source, slices: ['US'] }];
    const [got] = await obtainSources(
      wanted,
      { downloads: folder },
      env,
      download,
      async (obtained) => obtained,
    );
    assert.deepEqual([checked!.error, got!.error], [undefined, undefined]);
    return new Set(mirror.requests.map(({ headers }) => headers['x-api-key']));
  };
  assert.deepEqual(await keysSent(published), new Set(['key-of-env']));
  assert.deepEqual(await keysSent({ ...published, keyFile }), new Set(['key-in-file']));
  assert.deepEqual(
    await keysSent({ ...published, isElsewhere: true, keyFile }),
    new Set(['key-in-file']),
  );
  assert.deepEqual(await keysSent({ ...published, isElsewhere: true }), new Set([undefined]));
  for (const source of [
    at('https://127.0.0.1/v1.csv'),
    { ...at('https://127.0.0.1/v1.csv'), keyFile },
  ]) {
    assert.deepEqual(await keysSent(source, context), new Set([undefined]), 'of a mirror');
  }
});

test('a proxy of the environment is used, and left aside for the hosts of NO_PROXY', async (t) => {
  const mirror = await agencyMirror(t);
  mirror.files.set('www.spc.noaa.gov/x.csv', { body: Buffer.from('om,yr\n') });
  const asked: string[] = [];
  const proxy = await serve(t, (request, response) => {
    asked.push(request.url!);
    response.end('om,yr\n');
  });
  const ask = async (env: Record<string, string>, at = 'http://mirror.example:81') => {
    const client = createWebClient({ userAgent: 'perilbook/0', env, mirror: at });
    const status = await client.get(
      'https://www.spc.noaa.gov/x.csv',
      {},
      signal,
      async (answer) => answer.status,
    );
    await client.close();
    return status;
  };
  const env = { http_proxy: proxy };
  assert.equal(await ask(env), 200);
  assert.deepEqual(asked, ['http://mirror.example:81/www.spc.noaa.gov/x.csv']);
  assert.equal(await ask({ all_proxy: proxy }), 200);
  assert.equal(asked.length, 2);
  assert.equal(await ask(env, mirror.url), 200, 'loopback');
  await assert.rejects(ask({ ...env, NO_PROXY: 'mirror.example' }));
  assert.equal(asked.length, 2);
  await assert.rejects(ask({ http_proxy: 'http://p.example/proxy.pac' }), {
    code: 'USAGE',
    message: /a PAC file/,
  });
});

test('a proxy that refuses is named as the proxy, is not asked again, and its password is not shown', async (t) => {
  const proxy = await serve(t, (_, response) => response.writeHead(407).end());
  let status = 407;
  const server = createServer();
  server.on('connect', (_, socket) => socket.end(`HTTP/1.1 ${status} No\r\n\r\n`));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close().closeAllConnections());
  const tunnels = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const env = {
    http_proxy: proxy.replace('//', '//CORP\\ann:ge%heim@'),
    https_proxy: `CORP\\ann:ge%heim@${tunnels}`,
  };
  const client = createWebClient({ userAgent: 'perilbook/0', env });
  t.after(() => client.close());
  const failure = async (url: string): Promise<Error & { context?: { again?: boolean } }> =>
    client.get(url, {}, signal, async () => assert.fail('answered')).catch((error) => error);
  for (const [url, answer, words] of [
    ['https://a.example/x', 407, /^The proxy 127.* \(https_proxy\) demands a user/],
    ['https://a.example/x', 403, /^The proxy 127.* gives no way to a\.example \(403\)/],
    ['http://a.example/x', 407, /^The proxy 127.* \(http_proxy\) demands a user/],
  ] as const) {
    status = answer;
    const error = await failure(url);
    assert.match(error.message, words);
    assert.ok(!`${error.message}${JSON.stringify(error)}`.includes('heim'));
    assert.notEqual(error.context?.again, true);
  }
});
