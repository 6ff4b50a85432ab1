import assert from 'node:assert/strict';
import { test } from 'node:test';
import { customSubscription } from '../../src/contract/subscriptions.ts';
import type { JobFile } from '../../src/run/settings/job-file.ts';
import { pathTo, request } from '../service/small-data.ts';
import { column, openHarness, places } from './harness.ts';

/* A bundle of 35 credits when 34 are left: our service refuses it, because to charge it would be an overage. A provider may
 * serve it and charge 35, within the period or as overage. The client must be right with each. */

const subscription = customSubscription(104, 100_000);
const ALL: JobFile = { topics: 'all', optimize: 'calls' };

for (const [reading, options] of [
  ['refuses the bundle', {}],
  ['serves it as the last call', { service: { lastCall: 'served' } }],
  ['bills it as overage', { overages: true }],
] as const) {
  test(`34 credits left, a service that ${reading}: the client stays within its own quota`, async (t) => {
    const harness = await openHarness(t, { subscription, ...options });
    harness.writeInput(places(4));
    const { state, summary } = await harness.run(ALL);
    const { charged, unknown } = await harness.ledger();
    assert.equal(state, 'paused');
    assert.ok(charged <= 104, `${charged}`);
    assert.deepEqual([charged, unknown, summary.credits_spent], [harness.charged(), 0, charged]);
    assert.equal(column(harness.output(), 'hazard_status').length, 4);
  });

  test(`34 credits left after others have spent, a service that ${reading}: the ledger is the service's`, async (t) => {
    const harness = await openHarness(t, { subscription, ...options });
    harness.writeInput(places(5));
    const other = harness.key('bundle').secret;
    for (const place of places(7).slice(5)) {
      const [lat, lng] = place;
      const { status } = await request(harness.url + pathTo('/v1/bundle/enterprise', { lat, lng }), other);
      assert.equal(status, 200);
    }
    const { state, summary } = await harness.run(ALL);
    const { charged, unknown } = await harness.ledger();
    assert.deepEqual([charged, unknown, summary.credits_spent], [harness.charged() - 70, 0, charged]);
    const ok = column(harness.output(), 'hazard_status').filter((status) => status === 'ok').length;
    const bought = { 'refuses the bundle': 0, 'serves it as the last call': 1, 'bills it as overage': 2 }[reading];
    assert.deepEqual([ok, charged, state], [bought, bought * 35, 'paused']);
  });
}
