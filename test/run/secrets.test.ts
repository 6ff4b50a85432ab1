import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { RunResult } from '../../src/run/run-job.ts';
import { releaseLater } from '../service/small-data.ts';
import { column, type Harness, openHarness, places } from './harness.ts';

/** Every byte of the files and messages of a run, but for the service's own files. */
function everythingOf(harness: Harness, ended: RunResult): Map<string, Buffer> {
  const left = new Map<string, Buffer>();
  for (const name of readdirSync(harness.folder, { recursive: true, encoding: 'utf8' })) {
    if (!name.startsWith('service')) left.set(name, readFileSync(join(harness.folder, name)));
  }
  left.set('notices', Buffer.from(harness.notices.join('\n')));
  left.set('summary', Buffer.from(JSON.stringify(ended)));
  return left;
}

function assertHoldsNot(everything: ReadonlyMap<string, Buffer>, secret: string): void {
  for (const [name, bytes] of everything) {
    for (const encoding of ['utf8', 'utf16le'] as const) {
      assert.equal(bytes.indexOf(Buffer.from(secret, encoding)), -1, `${name} holds the key`);
    }
  }
}

/** A service that answers everything in the same way. */
async function serve(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  releaseLater(t, () => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('after a run with a good key and a refused one, no byte of what it left holds either', async (t) => {
  const harness = await openHarness(t);
  harness.writeInput(places(8));
  const good = harness.key();
  const refused = { ...harness.key('hail'), scopes: null };
  const unknown = { secret: 'pb_unknown_0123456789abcdef', fingerprint: 'unknown', scopes: null };
  const ended = await harness.run({ topics: ['natural', 'park'] }, { keys: [unknown, refused, good] });
  assert.equal(ended.state, 'complete');
  const everything = everythingOf(harness, ended);
  assert.ok(everything.has('store.db') && everything.has('output.csv'));
  assert.ok(
    [...everything.values()].some((bytes) => bytes.includes(good.fingerprint)),
    'the fingerprint is what is kept',
  );
  for (const { secret } of [good, refused, unknown]) assertHoldsNot(everything, secret);
  assert.doesNotMatch(JSON.stringify(await harness.store.runs()), new RegExp(good.secret));
});

const repeating: readonly (readonly [what: string, status: number, body: (key: string) => string])[] = [
  [
    'refuses the key and repeats it',
    401,
    (key) => JSON.stringify({ error: { code: 'NO', message: `bad key ${key}` } }),
  ],
  ['lacks the scope and repeats the key', 403, (key) => JSON.stringify({ error: `key ${key} may not` })],
  ['rejects the place and repeats the key', 422, (key) => JSON.stringify({ code: `X ${key}`, message: `with ${key}` })],
  ['fails with the key in a page', 502, (key) => `<html><body>upstream saw X-API-Key: ${key}</body></html>`],
  ['answers with the key instead of an answer', 200, (key) => JSON.stringify({ data: { topic: key }, key })],
  ['breaks its answer off after the key', 200, (key) => `{"data": "${key}`],
  ['sends the caller elsewhere with the key', 302, (key) => `see ?key=${key}`],
];

for (const [what, status, body] of repeating) {
  test(`a service that ${what}: no file and no message contains the key`, async (t) => {
    const harness = await openHarness(t, { factor: 100 });
    harness.writeInput(places(2));
    const key = harness.key();
    let asked = 0;
    const baseUrl = await serve(t, (request, response) => {
      asked++;
      const sent = String(request.headers['x-api-key']);
      assert.equal(sent, key.secret);
      const headers = { 'content-type': 'application/json', location: `/elsewhere?key=${sent}`, 'x-request-id': sent };
      response.writeHead(status, headers).end(body(sent));
    });
    const ended = await harness.run({ topics: ['hail'] }, { keys: [key], baseUrl });
    assert.ok(asked > 0);
    assert.ok(column(harness.output(), 'hazard_status').every((name) => name !== 'ok'));
    assertHoldsNot(everythingOf(harness, ended), key.secret);
  });
}
