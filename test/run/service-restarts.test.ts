import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { DOWN_AFTER } from '../../src/run/buy/run-health.ts';
import { newProgress } from '../../src/run/progress.ts';
import { type Harness, openHarness, places } from './harness.ts';

const PLACES = 60;
/** The most calls that are sent at once, by default. */
const SOCKETS = 8;

/** Answers each request on a connection of its own, and after some of them refuses connections for a time; null: for ever. */
async function restarting(t: TestContext, { url, clock }: Harness, answers: number, awayMs: number | null) {
  let left = answers;
  let server: Server;
  const listen = async (port: number) => {
    server = createServer(async (request, response) => {
      const key = String(request.headers['x-api-key']);
      const real = await fetch(url + request.url, { headers: { 'x-api-key': key } });
      const cost = real.headers.get('x-credit-cost') ?? '0';
      response.writeHead(real.status, { connection: 'close', 'x-credit-cost': cost }).end(await real.text());
      if (--left !== 0) return;
      server.close();
      if (awayMs === null) return;
      await once(server, 'close');
      await clock.sleep(awayMs);
      await listen((server.address() as AddressInfo | null)?.port ?? bound);
    });
    // The last answer may have been its last.
    server.unref().listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  await listen(0);
  const bound = (server!.address() as AddressInfo).port;
  t.after(() => server.close());
  return `http://127.0.0.1:${bound}`;
}

/** A run of one topic at each place. */
async function runAt(harness: Harness, baseUrl: string) {
  harness.writeInput(places(PLACES));
  const progress = newProgress();
  const { state, stop, summary } = await harness.run(
    { topics: ['park'], budget: PLACES + SOCKETS },
    { baseUrl, progress },
  );
  const charged = harness.charged();
  const ledger = await harness.ledger();
  // A connection that the server had not accepted when it stopped to listen is reset.
  assert.ok(ledger.charged === charged && ledger.open === 0 && ledger.unknown <= SOCKETS, JSON.stringify(ledger));
  const unsent = progress.calls - charged - ledger.unknown;
  return { state, stop: stop?.reason ?? null, ok: summary.status.ok, charged, unsent };
}

test('a service that restarts for 12 seconds does not end a run that it had answered; nothing is paid twice', async (t) => {
  const harness = await openHarness(t, { factor: 20 });
  const { unsent, ...ended } = await runAt(harness, await restarting(t, harness, 10, 12_000));
  assert.deepEqual(ended, { state: 'complete', stop: null, ok: PLACES, charged: PLACES });
  assert.ok(unsent <= 2 * SOCKETS + DOWN_AFTER, `${unsent} requests were not sent`);
});

for (const answers of [0, 10]) {
  test(`a service that goes away after ${answers} answers is asked a bounded number of times`, async (t) => {
    const harness = await openHarness(t, { factor: 20 });
    const url = answers === 0 ? 'http://127.0.0.1:9' : await restarting(t, harness, answers, null);
    const { unsent, charged, ok, ...ended } = await runAt(harness, url);
    assert.deepEqual(ended, { state: 'paused', stop: 'service_down' });
    assert.deepEqual([ok, charged >= answers], [charged, true]);
    assert.ok(unsent <= 2 * SOCKETS + DOWN_AFTER, `${unsent} requests were not sent`);
  });
}
