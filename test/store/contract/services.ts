import assert from 'node:assert/strict';
import type { Cell } from '../../../src/geo/coordinates.ts';
import { PRICE_HOLDS_MS, type Settlement } from '../../../src/store/ledger/port.ts';
import { BOSTON, charged, DENVER, free, HERE, type It, LA, NY } from './store-setup.ts';

/** What a store knows of services: keys, prices, bundles, scopes, sample data. */
export function testServices(it: It): void {
  it('a key is new to an account that was charged for calls of other keys alone', async (setup) => {
    const { store, buy } = setup;
    assert.equal(await store.isNewKey('account', 'key'), false);
    await buy(LA);
    assert.deepEqual(
      [
        await store.isNewKey('account', 'key'),
        await store.isNewKey('account', 'second'),
        await store.isNewKey('b', 'key'),
      ],
      [false, true, false],
    );
  });

  it('what a call of a topic was last charged is kept for a day; the first of a kind goes out alone, and another price is told', async (setup) => {
    const { store, source, clock, ask, outcomeOf, propose } = setup;
    const assumed = (cell: Cell) => ({ ...propose(cell, 'single'), isPriceAssumed: true });
    const first = await ask(assumed(LA));
    const isFirst = { outcome: 'wait', for: 'first_call', ms: 250 };
    assert.deepEqual(await ask(assumed(NY)), isFirst);
    // Of another topic, too: the service may charge more for all.
    const hail = { kind: 'single', topic: 'hail' } as const;
    assert.deepEqual(await ask({ ...assumed(NY), call: hail }), isFirst);
    await store.settle([{ ...charged(first, clock, 5), price: { item: 'wildfire', credits: 5 } }]);
    const at = clock.now();
    const prices = new Map([['wildfire', { credits: 5, at, holdsMs: PRICE_HOLDS_MS }]]);
    assert.deepEqual(await store.chargedPrices(source), prices);
    assert.deepEqual(await ask(assumed(NY)), { outcome: 'price', credits: 5 });
    const other = await ask({ ...assumed(NY), call: hail });
    assert.equal(other.outcome, 'granted', 'the price of one topic is not that of another');
    await store.settle([free(other, clock)]);
    const claim = await ask({ ...propose(NY, 'single'), credits: 5 });
    assert.equal(claim.outcome, 'granted');
    // A free answer shows no price; it lets others of its kind go.
    const standard = await ask({ ...propose(BOSTON, 'standard'), isPriceAssumed: true });
    await store.settle([{ ...free(standard, clock), price: { item: 'standard', credits: null } }]);
    assert.equal((await store.chargedPrices(source)).has('standard'), false);
    for (const cell of [BOSTON, HERE])
      assert.equal(
        await outcomeOf({ ...propose(cell, 'standard'), isPriceAssumed: true }),
        'granted',
      );
  });

  it('of first calls that are asked for together, the first of each kind is granted; others of it wait', async ({
    store,
    terms,
    propose,
  }) => {
    const assumed = (cell: Cell, kind: 'single' | 'standard') => ({
      ...propose(cell, kind),
      isPriceAssumed: true,
    });
    const claims = await store.claim(await terms(), [
      assumed(LA, 'single'),
      assumed(NY, 'single'),
      assumed(BOSTON, 'standard'),
      assumed(HERE, 'standard'),
      propose(DENVER, 'single'),
    ]);
    const outcomes = claims.map(({ outcome }) => outcome);
    assert.deepEqual(outcomes, ['granted', 'wait', 'granted', 'wait', 'granted']);
  });

  it('a price that was charged a day ago holds no longer: one call goes out alone and shows it anew', async (setup) => {
    const { store, source, clock, ask, propose } = setup;
    const assumed = (cell: Cell) => ({ ...propose(cell, 'single'), isPriceAssumed: true });
    const price = { item: 'wildfire', credits: 5 } as const;
    await store.settle([{ ...charged(await ask(assumed(LA)), clock, 5), price }]);
    const holdsMs = async () => (await store.chargedPrices(source)).get('wildfire')?.holdsMs;
    clock.move(PRICE_HOLDS_MS - 1);
    assert.deepEqual(
      [await holdsMs(), await ask(assumed(NY))],
      [1, { outcome: 'price', credits: 5 }],
    );
    // A free answer leaves a price that holds as it is, and forgets one that does not.
    const known = await ask({ ...propose(NY, 'single'), credits: 5 });
    await store.settle([{ ...free(known, clock), price: { item: 'wildfire', credits: null } }]);
    assert.equal(await holdsMs(), 1);
    clock.move(1);
    const first = await ask(assumed(BOSTON));
    const isFirst = { outcome: 'wait', for: 'first_call', ms: 250 };
    assert.deepEqual([first.outcome, await ask(assumed(HERE))], ['granted', isFirst]);
    await store.settle([{ ...charged(first, clock, 1), price: { ...price, credits: 1 } }]);
    const { charged: prices, ...of } = (await store.allChargedPrices())[0]!;
    assert.deepEqual(
      [of, prices],
      [
        { source: 'somewhere' },
        new Map([['wildfire', { credits: 1, at: clock.now(), holdsMs: PRICE_HOLDS_MS }]]),
      ],
    );
    assert.deepEqual(
      [await store.forgetPrices(), await store.allChargedPrices(), await store.forgetPrices()],
      [1, [], 0],
    );
  });

  it('a source that answered from sample data is known for it, up to its newest such answer', async (setup) => {
    const { store, buy, source, clock } = setup;
    const settle = async (how: Partial<Settlement>) => {
      await buy(LA, 'single', how);
      clock.move(400 * 86_400_000);
    };
    await settle({});
    assert.equal(await store.sampleMark(source), null);
    const until = clock.now();
    await settle({ sample: true });
    assert.deepEqual(await store.sampleMark(source), { until, still: true });
    // A failure says nothing of the data.
    await settle({ answers: [], failures: [] });
    assert.deepEqual(await store.sampleMark(source), { until, still: true });
    await settle({});
    assert.deepEqual(await store.sampleMark(source), { until, still: false });
    assert.equal(await store.sampleMark(await store.source('another')), null);
  });

  it('what bundles return is remembered, too few topics for a week; which scopes a key lacks for a day', async (setup) => {
    const { store, buy, source, clock } = setup;
    await buy(LA, 'standard', {
      contents: { kind: 'standard', topics: ['hail', 'wildfire'] },
      refused: { scope: 'bundle', reason: '(403: No \0 access)' },
    });
    const refused = { scope: 'bundle', reason: '(403: No \uFFFD access)', at: clock.now() };
    assert.deepEqual(await store.bundleContents(source), {
      standard: ['hail', 'wildfire'],
      enterprise: null,
    });
    assert.deepEqual(await store.refusedScopes(source, 'key'), [refused]);
    clock.move(86_400_001);
    assert.deepEqual(await store.refusedScopes(source, 'key'), []);
    // A bundle that returned too few topics counts for a week, whichever way the clock is set.
    const thin = async () => (await store.bundleContents(source)).standard;
    assert.deepEqual(await thin(), ['hail', 'wildfire']);
    for (const days of [6, -15]) {
      clock.move(days * 86_400_000);
      assert.equal(await thin(), null);
    }
  });
}
