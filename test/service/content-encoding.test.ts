import assert from 'node:assert/strict';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import test from 'node:test';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { codingFor, encodedBody } from '../../src/service/http/content-encoding.ts';
import { usage } from './file-accounts.ts';
import { deliveries, HERE, info, pathTo, point, type SetupOptions, setUp } from './small-data.ts';

test('the coding is the best that the client accepts, and none where it names none or prefers identity', () => {
  const cases: readonly [accepted: string | undefined, coding: string | null][] = [
    [undefined, null],
    ['', null],
    ['identity', null],
    ['br, deflate', null],
    ['gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['gzip, deflate, br, zstd', 'zstd'],
    ['zstd;q=0.5, gzip', 'gzip'],
    ['zstd;q=0, gzip;q=0', null],
    ['gzip;q=0, *', 'zstd'],
    ['*', 'zstd'],
    ['*;q=0', null],
    ['identity, gzip;q=0.5', null],
    ['identity;q=0.5, gzip;q=1.0', 'gzip'],
    ['gzip;q=many', null],
  ];
  for (const [accepted, coding] of cases) assert.equal(codingFor(accepted), coding, accepted);
});

test('small bodies are not compressed', async () => {
  assert.deepEqual(await encodedBody('x'.repeat(4_095), 'gzip'), { body: 'x'.repeat(4_095), coding: null });
  assert.equal((await encodedBody('x'.repeat(4_096), 'gzip')).coding, 'gzip');
});

/** 500 towers around HERE: 100 kB, or with notes as many bytes as wanted. */
function withTowers(note = ''): SetupOptions {
  const records = Array.from({ length: 500 }, (_, index) => point(HERE.lng + index * 1e-5, HERE.lat, { index, note }));
  return {
    deliveries: [...deliveries(), { kind: 'sites', topic: 'cellTower', info: info('sites:cellTower'), records }],
  };
}

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
}

function receive(url: string, headers: Record<string, string>): Promise<Received> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { headers }, async (response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk);
      resolve({ headers: response.headers, bytes: Buffer.concat(chunks) });
    });
    request.on('error', reject);
    request.end();
  });
}

test('a compressed answer has the same content and cost', async (t) => {
  const { service, key, accounts, clock } = await setUp(t, withTowers());
  const url = service.url + pathTo('/v1/cellTower/risk');
  const plain = await receive(url, { 'x-api-key': key });
  assert.equal(plain.headers['content-encoding'], undefined);
  const dataOf = (bytes: Buffer) => JSON.parse(bytes.toString()).data;
  for (const [coding, decode] of [
    ['gzip', gunzipSync],
    ['zstd', zstdDecompressSync],
    ['identity', (bytes: Buffer) => bytes],
  ] as const) {
    const { headers, bytes } = await receive(url, { 'x-api-key': key, 'accept-encoding': coding });
    assert.equal(headers['content-encoding'] ?? 'identity', coding);
    assert.equal(headers['content-length'], String(bytes.length));
    assert.deepEqual([headers.vary, headers['x-credit-cost']], ['accept-encoding', '1']);
    assert.deepEqual(dataOf(decode(bytes)), dataOf(plain.bytes));
    if (coding !== 'identity') assert.ok(bytes.length < plain.bytes.length / 5, `${bytes.length}`);
  }
  const document = await receive(`${service.url}/openapi.json`, { 'accept-encoding': 'gzip' });
  assert.equal(JSON.parse(gunzipSync(document.bytes).toString()).openapi, '3.1.0');
  assert.equal(usage(accounts, 'tester', clock.now()).totalCredits, 4);
});

test('a client that leaves while its answer is compressed is not charged', async (t) => {
  const { service, key, single, accounts, clock } = await setUp(t, withTowers('x'.repeat(40_000)));
  const socket = connect(service.port, '127.0.0.1');
  t.after(() => socket.destroy());
  socket.write(
    `GET ${pathTo('/v1/cellTower/risk')} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nAccept-Encoding: gzip\r\n\r\n`,
  );
  const count = accounts.prepare<[], number>('SELECT count(*) FROM charges WHERE pending_by IS NOT NULL').pluck();
  for (let turns = 0; count.get() === 0 && turns < 10_000; turns++)
    await new Promise((resolve) => setImmediate(resolve));
  assert.equal(count.get(), 1, 'it is charged before it is compressed');
  socket.resetAndDestroy();
  for (let turns = 0; count.get() === 1 && turns < 500; turns++)
    await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal(usage(accounts, 'tester', clock.now()).totalCredits, 0);
  assert.equal((await single()).status, 200);
});
