import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { NATURAL_SLUGS } from '../../src/contract/topics.ts';
import { standBetween } from './between.ts';
import { type Harness, openHarness, places } from './harness.ts';

const natural = NATURAL_SLUGS.filter((slug) => slug !== 'avalanche');

/** Bundles come back with one topic only, until `odd` is false. */
async function withIncompleteBundles(t: TestContext, { url }: Harness) {
  const state = { odd: true };
  const baseUrl = await standBetween(t, url, (address, { status, body }) => {
    if (!state.odd || status !== 200 || !address.includes('/bundle/')) return { status, body };
    const json = JSON.parse(body);
    json.data.topics = { hail: json.data.topics.hail };
    return { status, body: JSON.stringify(json) };
  });
  return { state, baseUrl };
}

for (const [name, scopes] of [
  ['a key for all: bundles again, not 17 singles', undefined],
  ['a key for bundles only: the standard one again', ['bundle']],
] as const) {
  test(`one odd bundle is no reason for dearer plans a week later: ${name}`, async (t) => {
    const harness = await openHarness(t);
    const { state, baseUrl } = await withIncompleteBundles(t, harness);
    const keys = scopes ? [{ ...harness.key(...scopes), scopes: new Set(scopes) }] : [harness.key()];
    harness.writeInput(places(1));
    await harness.run({ topics: natural, budget: 15 }, { keys, baseUrl });
    state.odd = false;
    harness.writeInput(places(5).slice(1));
    // Believed as long as it may be a change at the provider's …
    harness.clock.moveTo('2026-03-20T12:00:00Z');
    assert.notEqual((await harness.plan({ topics: natural }, keys)).credits, 4 * 15);
    // … and looked at again afterwards.
    harness.clock.moveTo('2026-03-25T12:00:00Z');
    const { state: ended, summary } = await harness.run({ topics: natural }, { keys, baseUrl });
    assert.deepEqual([ended, summary.credits_spent], ['complete', 4 * 15]);
  });
}
