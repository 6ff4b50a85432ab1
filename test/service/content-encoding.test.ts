import assert from 'node:assert/strict';
import test from 'node:test';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { request } from 'undici';
import { codingFor, encodedBody } from '../../src/service/http/content-encoding.ts';
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
  assert.deepEqual(await encodedBody('x'.repeat(4_095), 'gzip'), {
    body: 'x'.repeat(4_095),
    coding: null,
  });
  assert.equal((await encodedBody('x'.repeat(4_096), 'gzip')).coding, 'gzip');
});

/** 500 towers around HERE: 100 kB. */
function withTowers(): SetupOptions {
  const records = Array.from({ length: 500 }, (_, index) =>
    point(HERE.lng + index * 1e-5, HERE.lat, { index }),
  );
  return {
    deliveries: [
      ...deliveries(),
      { kind: 'sites', topic: 'cellTower', info: info('sites:cellTower'), records },
    ],
  };
}

/** An answer whose body is not decoded. */
async function receive(url: string, headers: Record<string, string>) {
  const answer = await request(url, { headers });
  return { headers: answer.headers, bytes: Buffer.from(await answer.body.arrayBuffer()) };
}

test('a compressed answer has the same content and cost', async (t) => {
  const { service, key, charged } = await setUp(t, withTowers());
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
  assert.equal(charged(), 4);
});
