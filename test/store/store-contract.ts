import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Answer } from '../../src/contract/answer.ts';
import { billingPeriod } from '../../src/contract/billing-period.ts';
import { CREDITS } from '../../src/contract/credits.ts';
import { customSubscription } from '../../src/contract/subscriptions.ts';
import type { TopicSlug } from '../../src/contract/topics.ts';
import type { Cell } from '../../src/geo/coordinates.ts';
import { topicsIn } from '../../src/store/answers/topic-set.ts';
import {
  type Claim,
  type ClaimLimits,
  type ClaimRequest,
  PRICE_HOLDS_MS,
  type Settlement,
} from '../../src/store/ledger/port.ts';
import type { Owner, Store } from '../../src/store/port.ts';
import { MovedClock } from '../moved-clock.ts';
import { RUN } from './claims.ts';
import { readStored } from './stored-places.ts';

/** How a test opens the store under test: several times at once, as several processes would. */
export interface Opener {
  open(clock: MovedClock, owner: Owner): Store | Promise<Store>;
}

const START = '2026-03-10T12:00:00Z';
const LA: Cell = { lat7: 340_522_000, lng7: -1_182_437_000 };
const NY: Cell = { lat7: 407_128_000, lng7: -740_060_000 };
const BOSTON: Cell = { lat7: 423_601_000, lng7: -710_589_000 };
const HERE: Cell = { lat7: 350_000_000, lng7: -1_000_000_000 };
const DENVER: Cell = { lat7: 397_392_000, lng7: -1_049_903_000 };

/** What every store must do, on either database. */
export function testStore(
  kind: string,
  openerOf: (t: TestContext) => Opener | Promise<Opener>,
): void {
  const it = (name: string, body: (setup: StoreSetup) => Promise<void>) =>
    test(`${kind}: ${name}`, async (t) => {
      const setup = await makeSetup(await openerOf(t));
      try {
        await body(setup);
      } finally {
        for (const store of setup.opened) await store.close();
      }
    });

  it('a claim is in the ledger before its call is sent, and the answers after it', async (setup) => {
    const { store, ask, source, propose, clock } = setup;
    const claim = await ask(propose(LA, 'single'));
    assert.equal(claim.outcome, 'granted');
    assert.deepEqual(await spent(store, clock), {
      charged: 0,
      unknown: 0,
      open: 1,
      exhaustedAt: null,
    });
    await store.settle([charged(claim, clock, 1)]);
    assert.deepEqual(await spent(store, clock), {
      charged: 1,
      unknown: 0,
      open: 0,
      exhaustedAt: null,
    });
    const [record, none] = await store.read(source, [LA, NY]);
    const answer = { topic: 'wildfire', asOf: clock.now(), fields: ['Very Low', 0, null] };
    assert.deepEqual([record!.answers.get('wildfire'), none], [answer, null]);
  });

  it('places are read whole or by their keys, in blocks, with what each lacks', async (setup) => {
    const { store, source } = setup;
    const other = await store.source('another source');
    const cells = Array.from({ length: 2_300 }, (_, number) => ({
      lat7: number % 70,
      lng7: -number,
    }));
    const asOf = (number: number) => 1 + (number % 5);
    const told = cells.map((cell, number) => ({
      cell,
      answers: [
        { topic: 'hail' as const, asOf: asOf(number), fields: ['Very High', number, null] },
      ],
      failures: [],
    }));
    await store.putAnswers(source, told);
    await store.putAnswers(other, told.slice(0, 9));
    const wanted = [{ topic: 'hail' as const, freshSince: 3, fields: 2 }];
    // By another process, which has not read the texts yet.
    const reader = await setup.another('b');
    const found = await readStored(reader, source, cells, wanted);
    for (const [number, place] of found.entries()) {
      assert.equal(place!.isComplete, asOf(number) >= 3);
      assert.deepEqual([place!.asOf, place!.fields], [asOf(number), ['Very High', number]]);
      assert.equal(place!.record === null, place!.isComplete);
    }
    // Few of the stored cells: by their keys. In no order, some not stored and some twice.
    const numbers = Array.from({ length: 700 }, (_, index) => (index * 1_009) % 2_400);
    const mixed = numbers.map((number) => ({ lat7: number % 70, lng7: -number }));
    const expected = numbers.map((number) => found[number] ?? null);
    assert.deepEqual(await readStored(store, source, mixed, wanted), expected);
    const answers = (await store.read(source, mixed)).map(
      (record) => record?.answers.get('hail')?.fields[1] ?? null,
    );
    const stored = numbers.map((number) => (number < 2_300 ? number : null));
    assert.deepEqual(answers, stored);
  });

  it('a second run on the same cell waits, then finds it answered', async (setup) => {
    const { store, another, ask, outcomeOf, propose, clock } = setup;
    const other = await another('b');
    const first = await ask(propose(LA, 'single'));
    assert.equal(await outcomeOf(propose(LA, 'single'), other), 'claimed');
    await store.settle([charged(first, clock, 1)]);
    assert.equal(await outcomeOf(propose(LA, 'single'), other), 'answered');
    // An answer counts from the very time that is fresh enough; a later one was wanted here.
    const wantedSince = (freshSince: number) => ({
      ...propose(LA, 'single'),
      wanted: [{ topic: 'wildfire' as const, freshSince }],
    });
    // One answer of two is enough: the other topic may be cheaper alone.
    const hail = { topic: 'hail' as const, freshSince: clock.now() };
    const both = { ...propose(LA, 'standard'), wanted: [...wantedSince(clock.now()).wanted, hail] };
    assert.equal(await outcomeOf(both, other), 'answered');
    assert.equal(await outcomeOf(wantedSince(clock.now()), other), 'answered');
    assert.equal(await outcomeOf(wantedSince(clock.now() + 1), other), 'granted');
  });

  it('two runs of one process that claim at the same moment get a cell, and an area, once', async (setup) => {
    const { store, terms, propose, proposeFor } = setup;
    const both = [await terms(), { ...(await terms()), run: await store.startRun(RUN) }];
    const ask = async (requests: readonly ClaimRequest[]) => {
      const claims = await Promise.all(
        both.map((limits, at) => store.claim(limits, [requests[at]!])),
      );
      return claims.flat().map(({ outcome }) => outcome);
    };
    assert.deepEqual(await ask([propose(LA, 'single'), propose(LA, 'single')]), [
      'granted',
      'claimed',
    ]);
    // Also where the process is not in the list of those that run.
    setup.alive.clear();
    assert.equal((await store.claim(both[1]!, [propose(LA, 'single')]))[0]!.outcome, 'claimed');
    // A run's own calls at a cell hold back none of its others.
    const ofOne = await store.claim(both[0]!, [propose(HERE, 'single'), propose(HERE, 'single')]);
    assert.deepEqual(
      ofOne.map(({ outcome }) => outcome),
      ['granted', 'granted'],
    );
    assert.equal((await store.claim(both[1]!, [propose(HERE, 'single')]))[0]!.outcome, 'claimed');
    const forCounty = (cell: Cell) => proposeFor('county 06037', cell);
    assert.deepEqual(await ask([forCounty(NY), forCounty(BOSTON)]), ['granted', 'claimed']);
    // Claims of two accounts at two sources: each gets its own result.
    const away = {
      ...(await terms()),
      account: 'another',
      source: await store.source('elsewhere'),
      budget: 0,
    };
    const claims = await Promise.all([
      store.claim(away, [propose(DENVER, 'single')]),
      store.claim(both[1]!, [propose(DENVER, 'single'), propose(LA, 'standard')]),
      store.claim({ ...away, budget: 9 }, [propose(DENVER, 'single')]),
      store.claim({ ...both[0]!, source: away.source }, [propose(DENVER, 'single')]),
      store.claim({ ...both[0]!, account: 'third', periodLimit: 1 }, [propose(BOSTON, 'single')]),
    ]);
    const outcomes = claims.map((told) => told.map(({ outcome }) => outcome));
    assert.deepEqual(outcomes, [
      ['budget'],
      ['granted', 'claimed'],
      ['granted'],
      ['granted'],
      ['granted'],
    ]);
  });

  it('a call that is made for an area holds back those for the same area and topics, at whatever cell', async (setup) => {
    const { store, another, terms, propose, ask, outcomeOf, clock } = setup;
    const area = 'tract 06037106111';
    const forArea = (
      cell: Cell,
      topic: 'wildfire' | 'hail' = 'wildfire',
      freshSince = clock.now(),
    ) => ({
      ...{
        ...propose(cell, 'single'),
        call: { kind: 'single', topic } as const,
        wanted: [{ topic, freshSince }],
      },
      areas: [{ area, wanted: [{ topic, freshSince }] }],
    });
    const other = await another('b');
    const first = await ask(forArea(LA));
    assert.equal(first.outcome, 'granted');
    const [second, otherTopic] = await other.claim(await terms(other), [
      forArea(NY),
      forArea(NY, 'hail'),
    ]);
    assert.deepEqual([second!.outcome, otherTopic!.outcome], ['claimed', 'granted']);
    // Nor does another area, or a cell that is bought for itself.
    const inNext = {
      ...forArea(DENVER),
      areas: [{ area: 'tract 06037106112', wanted: forArea(DENVER).wanted }],
    };
    const ofBoth = { ...forArea(DENVER), areas: [...inNext.areas, ...forArea(DENVER).areas] };
    assert.equal(await outcomeOf(ofBoth, other), 'claimed');
    const ofNext = await ask(
      { ...inNext, cell: { lat7: 450_000_000, lng7: -1_000_000_000 } },
      other,
    );
    const [beside, own] = await store.claim(await terms(), [inNext, forArea(BOSTON)]);
    assert.deepEqual(
      [ofNext.outcome, beside!.outcome, own!.outcome],
      ['granted', 'claimed', 'granted'],
    );
    await store.settle([free(own!, clock)]);
    await other.settle([free(ofNext, clock)]);
    const elsewhere: Cell = { lat7: 400_000_000, lng7: -1_000_000_000 };
    assert.equal(await outcomeOf(propose(elsewhere, 'single'), other), 'granted');
    const settled = charged(first, clock, 1);
    const areas = [{ area, answers: settled.answers, comparableSince: 0 }];
    await store.settle([{ ...settled, areas }, charged(otherTopic!, clock, 1)]);
    // At a cell that has no answer of its own, and at the very time from which an answer is fresh.
    assert.equal(await outcomeOf(forArea(BOSTON), other), 'answered');
    assert.equal(await outcomeOf(forArea(BOSTON, 'wildfire', clock.now() + 1), other), 'granted');
    // Without an answer to the topic that is wanted.
    assert.equal(
      await outcomeOf(forArea({ lat7: 380_000_000, lng7: -770_000_000 }, 'hail'), other),
      'granted',
    );
    // With one of two topics answered, the run that asks takes it and plans the rest anew.
    const both = [
      ...propose(DENVER, 'single').wanted,
      { topic: 'hail' as const, freshSince: clock.now() },
    ];
    const partly = { ...propose(DENVER, 'standard'), areas: [{ area, wanted: both }] };
    assert.equal(await outcomeOf(partly, other), 'answered');
  });

  it('an answer that is compared with an area is none of its own, and marks it where it differs', async (setup) => {
    const { store, source, ask, propose, clock } = setup;
    const area = 'tract 06037106111';
    const settle = async (cell: Cell, rating: string, isComparison: boolean) => {
      const answers = [
        { topic: 'wildfire' as const, asOf: clock.now(), fields: [rating, 0, null] },
      ];
      const areas = [{ area, answers, comparableSince: 0, isComparison }];
      await store.settle([{ ...charged(await ask(propose(cell, 'single')), clock, 1), areas }]);
      const [stored] = await store.readAreas(source, [area]);
      return [stored!.answers.get('wildfire')?.fields[0], stored!.mismatchedAt !== null];
    };
    assert.deepEqual(await settle(NY, 'Very High', true), [undefined, false]);
    assert.deepEqual(await settle(LA, 'Very Low', false), ['Very Low', false]);
    assert.deepEqual(await settle(BOSTON, 'Very Low', true), ['Very Low', false]);
    assert.deepEqual(await settle(DENVER, 'Very High', true), ['Very Low', true]);
  });

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

  it('an area that was answered in two ways serves nobody for a year, whatever it is answered', async (setup) => {
    const { store, ask, propose, proposeFor, clock } = setup;
    const area = 'tract 06037106111';
    const settle = async (cell: Cell, rating: string, comparableSince: number) => {
      const answers = [
        { topic: 'wildfire' as const, asOf: clock.now(), fields: [rating, 0, null] },
      ];
      const claim = await ask(propose(cell, 'single'));
      await store.settle([
        { ...charged(claim, clock, 1), areas: [{ area, answers, comparableSince }] },
      ]);
    };
    const outcome = async (cell: Cell) => {
      const claim = await ask(proposeFor(area, cell));
      if (claim.outcome === 'granted') await store.settle([free(claim, clock)]);
      return claim.outcome;
    };
    const released = clock.now() + 1;
    await settle(LA, 'Very Low', released);
    clock.move(1);
    // A new release may say otherwise.
    await settle(NY, 'Very High', released);
    assert.equal(await outcome(BOSTON), 'answered');
    await settle({ lat7: 390_000_000, lng7: -1_000_000_000 }, 'Very High', released);
    assert.equal(await outcome(BOSTON), 'answered', 'the same once more');
    clock.move(1);
    await settle({ lat7: 400_000_000, lng7: -1_000_000_000 }, 'Very Low', released);
    assert.equal(await outcome(BOSTON), 'granted');
    clock.move(1);
    await settle({ lat7: 410_000_000, lng7: -1_000_000_000 }, 'Very Low', released);
    assert.equal(await outcome(BOSTON), 'granted');
    // After a year it may have been a release between two answers: what the area is answered then counts again.
    clock.move(364 * 86_400_000);
    assert.equal(await outcome(BOSTON), 'granted');
    clock.move(86_400_000);
    await settle({ lat7: 420_000_000, lng7: -1_000_000_000 }, 'Very Low', clock.now());
    assert.equal(await outcome(BOSTON), 'answered');
  });

  it('the claim of an area ends with its process, and with a call that failed', async (setup) => {
    const { another, ask, outcomeOf, proposeFor, clock } = setup;
    const forCounty = (cell: Cell) => proposeFor('county 06037', cell, 'standard');
    await ask(forCounty(LA));
    const other = await another('b');
    assert.equal(await outcomeOf(forCounty(NY), other), 'claimed');
    setup.alive.delete('a');
    await other.settle([free(await ask(forCounty(NY), other), clock)]);
    assert.equal(await outcomeOf(forCounty(LA), await another('c')), 'granted');
  });

  it('the claim of a process that died becomes unknown, counts as spent, and frees the cell', async (setup) => {
    const { another, ask, outcomeOf, propose, clock } = setup;
    await ask(propose(LA, 'standard'));
    setup.alive.delete('a');
    const other = await another('b');
    assert.deepEqual(await spent(other, clock), {
      charged: 0,
      unknown: 15,
      open: 0,
      exhaustedAt: null,
    });
    assert.equal(await outcomeOf(propose(LA, 'standard'), other), 'granted');
  });

  it('calls of a dead process that a claim settles count once in the minute', async (setup) => {
    const { store, another, terms, propose, ask, clock } = setup;
    const claims = await store.claim(
      await terms(),
      [NY, BOSTON, LA].map((cell) => propose(cell, 'standard')),
    );
    for (const claim of claims.slice(0, 2)) {
      await store.settle([charged(claim, clock, 15)]);
      clock.move(1_000);
    }
    const other = await another('b');
    setup.alive.delete('a');
    const claim = await ask(propose(LA, 'standard'), other);
    assert.ok(claim.outcome === 'granted');
    assert.equal(claim.byOthers, 45);
  });

  it('a ledger’s clock that is set back neither forgets nor holds the calls of the last minute', async (setup) => {
    const { store, another, terms, propose, clock } = setup;
    const other = await another('b');
    const [limits, ofOther] = [await terms(), await terms(other)];
    const claimed = async (cell: Cell) => {
      const [claim] = await other.claim(ofOther, [propose(cell, 'single')]);
      assert.ok(claim?.outcome === 'granted');
      return claim.byOthers;
    };
    const [first] = await store.claim(limits, [propose(LA, 'standard')]);
    await store.settle([charged(first!, clock, 15)]);
    clock.move(-600_000);
    assert.equal(await claimed(NY), 15);
    clock.move(60_099);
    assert.equal(await claimed(NY), 15);
    const [open] = await store.claim(limits, [propose(BOSTON, 'single')]);
    clock.move(1);
    assert.equal(await claimed(NY), 1);
    // A lease ends when its time has passed, and not ten minutes later.
    clock.move(limits.leaseMs - 2);
    assert.equal((await other.claim(ofOther, [propose(BOSTON, 'single')]))[0]!.outcome, 'claimed');
    clock.move(1);
    // The call of the lease that ended counts as one whose charge is unknown.
    assert.equal(await claimed(BOSTON), 1);
    // Set back once more, and a settlement is the first to notice.
    const last = await store.claim(limits, [propose(HERE, 'standard')]);
    clock.move(-600_000);
    await store.settle([charged(open!, clock, 1), charged(last[0]!, clock, 15)]);
    clock.move(60_099);
    assert.equal(await claimed(DENVER), 16);
    clock.move(1);
    assert.equal(await claimed(DENVER), 0);
  });

  it('an outcome that comes after the lease ended still corrects the ledger', async (setup) => {
    const { store, another, ask, propose, clock } = setup;
    const late = await ask(propose(LA, 'single'));
    clock.move(5 * 60_000 + 1);
    const other = await another('b');
    assert.equal((await spent(other, clock)).unknown, 1);
    await store.settle([charged(late, clock, 1)]);
    assert.deepEqual(await spent(other, clock), {
      charged: 1,
      unknown: 0,
      open: 0,
      exhaustedAt: null,
    });
  });

  it('claims of one batch count for each other: neither the budget of a run nor the quota is crossed', async (setup) => {
    const { store, terms, propose } = setup;
    let cells = 0;
    const two = async (limits: Partial<ClaimLimits>) => {
      const asked = [0, 1].map(() => propose({ lat7: ++cells, lng7: 0 }, 'standard'));
      return (await store.claim(await terms(store, limits), asked)).map(({ outcome }) => outcome);
    };
    assert.deepEqual(await two({ budget: 29 }), ['granted', 'budget']);
    assert.deepEqual(await two({ budget: 45 }), ['granted', 'granted']);
    assert.deepEqual(await two({ periodLimit: 74 }), ['granted', 'quota']);
    // The first calls of an account.
    assert.deepEqual(await two({ periodLimit: 29, account: 'another' }), ['granted', 'quota']);
    assert.deepEqual(await two({ periodLimit: 30, account: 'third' }), ['granted', 'granted']);
  });

  it('the quota of the period holds over runs and processes, and comes back at the anniversary', async (setup) => {
    const { store, another, ask, outcomeOf, propose, clock } = setup;
    const other = await another('b');
    const limit = { periodLimit: 20 };
    const first = await ask(propose(LA, 'standard'), store, limit);
    assert.equal(await outcomeOf(propose(NY, 'standard'), other, limit), 'quota');
    await store.settle([charged(first, clock, 15)]);
    assert.equal(await outcomeOf(propose(NY, 'standard'), other, limit), 'quota');
    clock.moveTo('2026-04-05T00:00:00Z');
    assert.equal(await outcomeOf(propose(NY, 'standard'), other, limit), 'granted');
  });

  it('a call that ends after the anniversary belongs to the new period', async ({
    store,
    ask,
    propose,
    clock,
  }) => {
    clock.moveTo('2026-04-04T23:59:59Z');
    const claim = await ask(propose(LA, 'standard'));
    const before = billingPeriod(5, clock.now());
    clock.moveTo('2026-04-05T00:00:01Z');
    await store.settle([charged(claim, clock, 15)]);
    const { charged: inOld, open, later } = await store.spending('account', before);
    assert.deepEqual([inOld, open, later], [0, 0, 15]);
    assert.equal((await spent(store, clock)).charged, 15);
  });

  it('what is counted in a later period counts in the earlier one too: a clock that was ahead spends no quota twice', async (setup) => {
    const { store, ask, outcomeOf, propose, clock } = setup;
    const limit = { periodLimit: 20 };
    clock.moveTo('2026-04-04T12:00:00Z');
    const before = billingPeriod(5, clock.now());
    const after = billingPeriod(5, before.end);
    const both = { period: after, countedSince: before.start };
    const claim = await ask(propose(LA, 'standard'), store, { ...limit, ...both });
    const inEarlier = async () => await outcomeOf(propose(NY, 'standard'), store, limit);
    const settled = { ...charged(claim, clock, 15), period: after };
    // As an open call, as one whose charge is unknown, and as a charged one.
    assert.equal(await inEarlier(), 'quota');
    await store.settle([{ ...settled, charge: 'unknown', answers: [] }]);
    assert.equal(await inEarlier(), 'quota');
    await store.settle([settled]);
    assert.equal(await inEarlier(), 'quota');
    assert.equal(await outcomeOf(propose(NY, 'standard'), store, { ...limit, ...both }), 'quota');
    // The provider's page counts none of it in the earlier period.
    await store.correct('account', before, 0);
    assert.equal(await inEarlier(), 'granted');
    // The other way round: what was spent before counts for a clock that may be ahead.
    const claimed = async (more: Partial<ClaimLimits>) =>
      await outcomeOf(propose(DENVER, 'standard'), store, { ...limit, account: 'third', ...more });
    assert.equal(await claimed({}), 'granted');
    assert.equal(await claimed(both), 'quota');
    assert.equal(await claimed({ period: after }), 'granted');
  });

  it('another anniversary day forgets no credits that were spent since the period began', async (setup) => {
    const { store, ask, propose, clock } = setup;
    clock.moveTo('2026-04-21T12:00:00Z');
    const under = (day: number, location: Cell, periodLimit = 20) =>
      ask(propose(location, 'single'), store, {
        periodLimit,
        period: billingPeriod(day, clock.now()),
      });
    const buy = async (day: number, location: Cell) => {
      const claim = await under(day, location);
      if (claim.outcome !== 'granted') return claim.outcome;
      await store.settle([
        { ...charged(claim, clock, 10), period: billingPeriod(day, clock.now()) },
      ]);
      return 10;
    };
    assert.equal(await buy(1, LA), 10);
    clock.moveTo('2026-04-23T12:00:00Z');
    const since22 = billingPeriod(22, clock.now());
    assert.equal(await buy(1, NY), 10);
    // Since the 22nd 10 credits were spent, since the 1st 20.
    assert.equal((await store.spending('account', since22)).charged, 10);
    assert.equal(await buy(22, BOSTON), 10);
    assert.equal((await store.spending('account', since22)).charged, 20);
    // Open calls, and those whose charge is unknown, as charged ones.
    const call = await under(1, DENVER, 40);
    assert.equal((await store.spending('account', since22)).open, 1);
    const settled = {
      ...charged(call, clock, 1),
      period: billingPeriod(1, clock.now()),
      answers: [],
    };
    await store.settle([{ ...settled, charge: 'unknown' }]);
    assert.equal((await store.spending('account', since22)).unknown, 1);
    await store.settle([{ ...settled, charge: 'free', credits: 0 }]);
    const [row] = await store.statement({ by: 'kind', account: 'account', period: since22 });
    assert.equal(row!.credits.charged, 20);
    // At the same moment, since claims of one process are decided together.
    assert.deepEqual(await Promise.all([buy(22, DENVER), buy(1, DENVER)]), ['quota', 'quota']);
    // The provider's page counts 19 of the 20: one more is left.
    await store.correct('account', since22, 19);
    assert.equal((await under(22, DENVER)).outcome, 'granted');
  });

  it('a refusal for quota tells what the ledger thought was left; one that arrives after the anniversary closes the old period', async (setup) => {
    const { store, ask, propose, clock } = setup;
    clock.moveTo('2026-04-04T23:59:59Z');
    const before = billingPeriod(5, clock.now());
    const limit = { periodLimit: 80 };
    const first = await ask(propose(LA, 'standard'), store, limit);
    const claimOne = () => ask(propose(NY, 'single'), store, limit);
    const second = await claimOne();
    clock.moveTo('2026-04-05T00:00:01Z');
    await store.settle([{ ...exhausted(first, clock), ...limit }]);
    clock.move(1_000);
    await store.settle([{ ...exhausted(second, clock), ...limit }]);
    const said = Date.parse('2026-04-05T00:00:01Z');
    assert.deepEqual(await store.spending('account', before), {
      ...{ charged: 0, unknown: 0, open: 0, exhaustedAt: said, exhaustedLeft: 80 },
      exhaustedTerms: { limit: 80, key: 'key' },
    });
    // For a minute the service's clock may still be before the anniversary.
    clock.moveTo('2026-04-05T00:00:59.999Z');
    await store.settle([{ ...exhausted(await claimOne(), clock), ...limit }]);
    clock.move(1);
    await store.settle([{ ...exhausted(await claimOne(), clock), ...limit }]);
    assert.equal((await claimOne()).outcome, 'quota');
    // Overages, another subscription or another key may have what was refused: it is asked for once more.
    for (const [terms, key] of [
      [{ periodLimit: 81 }, 'key'],
      [limit, 'another'],
    ] as const) {
      const again = await ask({ ...propose(NY, 'single'), key }, store, terms);
      await store.settle([{ ...exhausted(again, clock), periodLimit: terms.periodLimit }]);
      const { outcome } = await ask({ ...propose(NY, 'single'), key }, store, terms);
      assert.equal(outcome, 'quota');
    }
  });

  it('a correction by the provider counts in claims, replaces an earlier one, and is of its period alone', async (setup) => {
    const { store, another, ask, propose, clock } = setup;
    const limit = { periodLimit: 100 };
    const period = billingPeriod(5, clock.now());
    const unanswered = await ask(propose(LA, 'standard'), store, limit);
    await store.settle([{ ...charged(unanswered, clock, 15), charge: 'unknown', answers: [] }]);
    const outcome = async (kind: 'single' | 'standard') => {
      const claim = await ask(propose(NY, kind), await another('b'), limit);
      if (claim.outcome === 'granted') await store.settle([free(claim, clock)]);
      return claim.outcome;
    };
    assert.deepEqual(await store.correct('account', period, 90), {
      elsewhere: 75,
      at: clock.now(),
    });
    assert.deepEqual([await outcome('standard'), await outcome('single')], ['quota', 'granted']);
    clock.move(1_000);
    // The page may know that the call without an answer was free.
    assert.deepEqual(await store.correct('account', period, 0), {
      elsewhere: -15,
      at: clock.now(),
    });
    assert.equal(await outcome('standard'), 'granted');
    await store.correct('account', period, 100);
    assert.equal(await outcome('single'), 'quota');
    clock.moveTo('2026-04-05T00:00:00Z');
    assert.equal(await outcome('standard'), 'granted');
    assert.equal((await spent(store, clock)).correction, undefined);
  });

  it('a correction takes back that the quota is used up; a refusal asked for before it says nothing any more', async (setup) => {
    const { store, ask, outcomeOf, propose, clock } = setup;
    const period = billingPeriod(5, clock.now());
    const [early, late] = [await ask(propose(LA, 'single')), await ask(propose(NY, 'single'))];
    await store.settle([exhausted(early, clock)]);
    assert.equal(await outcomeOf(propose(LA, 'single')), 'quota');
    clock.move(1_000);
    await store.correct('account', period, 50);
    await store.settle([exhausted(late, clock)]);
    assert.equal((await spent(store, clock)).exhaustedAt, null);
    await store.settle([exhausted(await ask(propose(LA, 'single')), clock)]);
    assert.deepEqual(await spent(store, clock), {
      ...{ charged: 0, unknown: 0, open: 0, exhaustedAt: clock.now(), exhaustedLeft: 9_950 },
      correction: { elsewhere: 50, at: clock.now() },
    });
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

  it('a newer answer replaces an older one and ends a failure; a failure leaves answers be', async (setup) => {
    const { store, buy, source, clock } = setup;
    const failure = {
      topic: 'wildfire',
      reason: 'unavailable',
      note: 'at the service',
      at: clock.now(),
    } as const;
    await buy(LA, 'single', { answers: [], failures: [failure] });
    assert.equal(
      (await store.read(source, [LA]))[0]!.failures.get('wildfire')!.reason,
      'unavailable',
    );
    await buy(LA);
    const [answered] = await store.read(source, [LA]);
    assert.equal(answered!.failures.size, 0);
    clock.move(400 * 86_400_000);
    await buy(LA, 'single', { answers: [], failures: [{ ...failure, at: clock.now() }] });
    const [both] = await store.read(source, [LA]);
    assert.ok(both!.answers.has('wildfire') && both!.failures.has('wildfire'));
  });

  it('answers that cost nothing are stored without a call in the ledger, all of a batch or none', async (setup) => {
    const { store, another, source, clock } = setup;
    const answer = { topic: 'wildfire', asOf: clock.now(), fields: ['Very Low', 0, null] } as const;
    const failure = {
      topic: 'hail',
      reason: 'unavailable',
      note: 'not here',
      at: clock.now(),
    } as const;
    await store.putAnswers(source, [
      { cell: LA, answers: [answer], failures: [failure] },
      { cell: NY, answers: [], failures: [{ ...failure, reason: 'rejected' }] },
      { cell: DENVER, answers: [], failures: [] },
    ]);
    const [la, ny, none] = await (await another('b')).read(source, [LA, NY, DENVER]);
    assert.equal(none, null);
    assert.deepEqual([...la!.answers.values()], [answer]);
    assert.equal(la!.failures.get('hail')!.note, 'not here');
    assert.equal(ny!.failures.get('hail')!.reason, 'rejected');
    // A later answer removes the topic's failure and keeps the answers to other topics.
    await store.putAnswers(source, [
      { cell: LA, answers: [{ ...answer, topic: 'hail' }], failures: [] },
    ]);
    const [later] = await store.read(source, [LA]);
    assert.deepEqual(
      [[...later!.answers.keys()].sort(), later!.failures.size],
      [['hail', 'wildfire'], 0],
    );
    // What cells share is stored with each of them, and removes the failure of its topic, too.
    const shared = [
      { ...answer, stated: 'a note' },
      { ...answer, topic: 'tornado', fields: ['Very High', 98.5, 0.25] },
    ] as const;
    const own = { ...answer, topic: 'drought', fields: ['Relatively Low', 1, 2] } as const;
    for (const text of ['first numbered', 'then known'])
      await store.putAnswers(source, [
        { cell: NY, answers: [{ ...own, topic: 'hail' }], shared, failures: [] },
        { cell: DENVER, answers: [own], shared, failures: [{ ...failure, note: text }] },
      ]);
    const [ny2, denver] = await (await another('c')).read(source, [NY, DENVER]);
    const sorted = (answers: Iterable<Answer>) =>
      [...answers].sort((a, b) => (a.topic < b.topic ? -1 : 1));
    assert.deepEqual(
      [sorted(ny2!.answers.values()), ny2!.failures.size],
      [sorted([...shared, { ...own, topic: 'hail' }]), 0],
    );
    assert.deepEqual(sorted(denver!.answers.values()), sorted([...shared, own]));
    assert.equal(denver!.failures.get('hail')!.note, 'then known');
    // A batch may name a new cell twice, beside one that is stored.
    await store.putAnswers(source, [
      { cell: HERE, answers: [answer], failures: [failure] },
      { cell: NY, answers: [own], failures: [] },
      { cell: HERE, answers: [{ ...own, topic: 'hail' }], failures: [] },
    ]);
    const [here, ny3] = await (await another('d')).read(source, [HERE, NY]);
    assert.deepEqual(
      [sorted(here!.answers.values()), here!.failures.size],
      [sorted([answer, { ...own, topic: 'hail' }]), 0],
    );
    assert.equal(ny3!.answers.size, 4);
    // A field that cannot be stored fails the whole batch.
    const broken = {
      cell: NY,
      answers: [{ ...answer, fields: new Array(300).fill(1) }],
      failures: [],
    };
    await assert.rejects(
      store.putAnswers(source, [{ cell: BOSTON, answers: [answer], failures: [] }, broken]),
    );
    assert.deepEqual(await store.read(source, [BOSTON]), [null]);
    const { calls } = await store.stats();
    assert.deepEqual(calls, { sent: 0, charged: 0, free: 0, unknown: 0 });
  });

  it('batches that are packed before others are written keep their own answers', async ({
    store,
    source,
    clock,
  }) => {
    const batch = (cell: Cell, fields: Answer['fields']) => [
      { cell, answers: [{ topic: 'hail' as const, asOf: clock.now(), fields }], failures: [] },
    ];
    // Answers are packed at once where the store knows their texts: from the second time on.
    for (const known of [1, 2]) await store.putAnswers(source, batch(HERE, [known, 2, null]));
    const fields = [
      [98.5, 0.25, 3],
      [12.25, null, 7],
    ];
    const written = [LA, NY].map((cell, index) =>
      store.packAnswers(source, batch(cell, fields[index]!)),
    );
    for (const write of written) await write();
    const found = await store.read(source, [LA, NY]);
    assert.deepEqual(
      found.map((record) => record!.answers.get('hail')!.fields),
      fields,
    );
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

  it('runs are listed with what they spent, the newest first', async ({ store, terms, buy }) => {
    const { run } = await terms();
    await buy(LA, 'single', { charge: 'unknown', answers: [] });
    const end = { state: 'paused', resumeAfter: 7, summary: { rows: 1 } } as const;
    // Begun again with other data.
    const limits = { plannedCredits: RUN.plannedCredits + 2, budget: RUN.budget + 1 };
    await store.replanRun(run, limits);
    await store.finishRun(run, end);
    const [latest] = await store.runs({ job: 'job' });
    assert.partialDeepStrictEqual(latest, { run, charged: 0, unknown: 1, ...limits, ...end });
    assert.deepEqual(await store.runs({ job: 'another' }), []);
    const unknown = { credits: { charged: 0, unknown: 1, inFlight: 0 } };
    const sums = async (by: 'run' | 'job' | 'kind', job: string) =>
      await store.statement({ by, job });
    assert.partialDeepStrictEqual(await sums('run', 'job'), [
      { name: run, job: 'job', ...unknown },
    ]);
    assert.partialDeepStrictEqual(await sums('job', 'job'), [{ name: 'job', ...unknown }]);
    const [byKind] = await sums('kind', 'job');
    assert.deepEqual(Object.keys(byKind!), ['name', 'calls', 'credits']);
    assert.deepEqual(await sums('kind', 'another'), []);
    const { chargesOf } = await store.stats();
    const unknownOf = (name: string) => chargesOf((source) => source === name).credits.unknown;
    assert.deepEqual([unknownOf('somewhere'), unknownOf('elsewhere')], [1, 0]);
  });

  it('a run is found as it was started, cut off once its process is dead; its account under its latest terms', async (setup) => {
    const { store, another, alive, clock } = setup;
    const terms = {
      subscription: customSubscription(9, 60),
      anniversaryDay: 5,
      reserve: 3,
      overageCredits: 0,
    };
    const settings = { input: 'in', topics: ['hail'] };
    const run = await store.startRun({ ...RUN, settings, terms: { ...terms, isAssumed: true } });
    const other = await another('b');
    await other.startRun({ ...RUN, account: 'another', terms: { ...terms, isDayAssumed: true } });
    const ended = await other.startRun({ ...RUN, account: '' });
    await other.finishRun(ended, { state: 'stopped', resumeAfter: null, summary: null });
    const states = async (of: Store) => (await of.runs()).map(({ state }) => state);
    assert.deepEqual(await states(other), ['stopped', 'running', 'running']);
    alive.delete('a');
    assert.deepEqual(await states(other), ['stopped', 'running', 'cut off']);
    alive.clear();
    assert.deepEqual(
      await states(store),
      ['stopped', 'cut off', 'running'],
      'its own process runs',
    );
    assert.deepEqual((await other.runs()).at(-1), {
      ...{
        ...RUN,
        run,
        state: 'cut off',
        settings,
        summary: null,
        startedAt: clock.now(),
        finishedAt: null,
      },
      ...{ charged: 0, unknown: 0, open: 0, resumeAfter: null },
    });
    assert.deepEqual(
      [(await other.runs())[0]!.settings, (await other.runs())[0]!.finishedAt],
      [null, clock.now()],
    );
    const accounts = [
      { name: 'another', ...terms, isAssumed: false, isDayAssumed: true },
      { name: 'account', ...terms, isAssumed: true, isDayAssumed: false },
    ];
    assert.deepEqual(await store.ledgerAccounts(), accounts);
    await store.startRun({ ...RUN, terms });
    assert.deepEqual(await store.ledgerAccounts(), [
      { ...accounts[1]!, isAssumed: false },
      accounts[0],
    ]);
    assert.deepEqual(await store.runSpending(run), { charged: 0, unknown: 0, open: 0 });
  });

  it('the latest charged calls of a source have their times, by the clock that settles them', async (setup) => {
    const { store, terms, propose, source, clock } = setup;
    const known = await terms();
    const call = async (cell: Cell, ms: number, how: Partial<Settlement> = {}) => {
      const [claim] = await store.claim(known, [propose(cell, ms > 500 ? 'standard' : 'single')]);
      clock.move(ms);
      await store.settle([{ ...charged(claim!, clock, 1), answers: [], ...how }]);
    };
    assert.deepEqual(await store.callTimes(source, known.leaseMs), []);
    await call(LA, 120);
    await call(NY, 900);
    await call(BOSTON, 70, { charge: 'free', credits: 0 });
    const times = (await store.callTimes(source, known.leaseMs)).map(
      ({ kind, ms }) => `${kind} ${ms}`,
    );
    assert.deepEqual(times, ['standard 900', 'single 120']);
    assert.deepEqual(await store.callTimes(await store.source('elsewhere'), known.leaseMs), []);
  });

  it('answers of two sources never mix; prune counts and forgets old ones, and keeps the ledger', async (setup) => {
    const { store, another, buy, source, clock } = setup;
    await buy(LA);
    const old = clock.now();
    const answer = (topic: TopicSlug, asOf: number) => ({ topic, asOf, fields: [1] });
    await store.putAnswers(source, [
      {
        cell: LA,
        answers: [answer('hail', old + 1), answer('landslip' as TopicSlug, old)],
        failures: [],
      },
      { cell: NY, answers: [answer('wildfire', old)], failures: [] },
      { cell: DENVER, answers: [answer('hail', old - 5), answer('drought', old)], failures: [] },
    ]);
    const other = await store.source('another');
    const others = [NY, BOSTON].map((cell) => ({
      cell,
      answers: [answer('hail', old)],
      failures: [],
    }));
    await store.putAnswers(other, others);
    const topicsAt = async (of: number, cell: Cell) => [
      ...(await store.read(of, [cell]))[0]!.answers.keys(),
    ];
    assert.deepEqual(
      [await topicsAt(source, NY), await topicsAt(other, NY)],
      [['wildfire'], ['hail']],
    );
    const { sources } = await store.stats();
    assert.deepEqual(sources, [
      { source: 'another', cells: 2, answers: 2, oldest: old },
      { source: 'somewhere', cells: 3, answers: 6, oldest: old - 5 },
    ]);
    // By another process, which has not read the texts yet.
    const older = await (await another('b')).countOlder(old + 1);
    const found = [...older].flatMap(([of, sets]) =>
      [...sets].map(([set, n]) => `${of}: ${topicsIn(set)} of ${n}`),
    );
    assert.deepEqual(found, [
      'somewhere: wildfire of 2',
      'somewhere: drought,hail of 1',
      'another: hail of 2',
    ]);
    assert.equal((await store.countOlder(old - 5)).size, 0);
    assert.equal(await store.prune(old - 5), 0);
    assert.equal(await store.prune(old + 1), 7);
    assert.deepEqual(await topicsAt(source, LA), ['hail']);
    const { calls, credits } = await store.stats();
    assert.deepEqual([calls.charged, credits.charged], [1, 1]);
  });

  it('rejections are forgotten, and nothing else', async ({ store, buy, source, clock }) => {
    const at = clock.now();
    const failures = [
      { topic: 'hail', reason: 'rejected', note: 'outside ["rejected"] "coverage"', at },
      { topic: 'drought', reason: 'failed', note: 'said ["rejected"', at },
    ] as const;
    await buy(LA, 'single', { failures });
    const known = async () => {
      const [record] = await store.read(source, [LA]);
      return [[...record!.answers.keys()], [...record!.failures]];
    };
    const { reason, note } = failures[1];
    const [answered, both] = await known();
    assert.equal(both!.length, 2);
    assert.equal(await store.forgetRejections(), 1);
    assert.deepEqual(await known(), [answered, [['drought', { reason, note, at }]]]);
    assert.equal(await store.forgetRejections(), 0);
  });
}

type StoreSetup = Awaited<ReturnType<typeof makeSetup>>;

async function makeSetup(opener: Opener) {
  const clock = new MovedClock(START);
  const alive = new Set(['a', 'b']);
  const opened: Store[] = [];
  const another = async (name: string) => {
    const store = await opener.open(clock, { name, isAlive: (owner) => alive.has(owner) });
    opened.push(store);
    return store;
  };
  const store = await another('a');
  const source = await store.source('somewhere');
  const runs = new Map<Store, number>();
  const terms = async (of = store, limits: Partial<ClaimLimits> = {}): Promise<ClaimLimits> => {
    const run = runs.get(of) ?? (await of.startRun(RUN));
    runs.set(of, run);
    const period = billingPeriod(5, clock.now());
    const usual = { periodLimit: 10_000, creditsPerMinute: 300, budget: 1_000, leaseMs: 300_000 };
    return { run, source, account: 'account', period, ...usual, ...limits };
  };
  const propose = (cell: Cell, kind: 'single' | 'standard'): ClaimRequest => ({
    ...{ cell, credits: CREDITS[kind], key: 'key' },
    call: kind === 'single' ? { kind, topic: 'wildfire' } : { kind },
    wanted: [{ topic: 'wildfire', freshSince: clock.now() - 365 * 86_400_000 }],
  });
  const proposeFor = (
    area: string,
    cell: Cell,
    kind: 'single' | 'standard' = 'single',
  ): ClaimRequest => {
    const request = propose(cell, kind);
    return { ...request, areas: [{ area, wanted: request.wanted }] };
  };
  const ask = async (request: ClaimRequest, of = store, limits: Partial<ClaimLimits> = {}) =>
    (await of.claim(await terms(of, limits), [request]))[0]!;
  const outcomeOf = async (...asked: Parameters<typeof ask>) => (await ask(...asked)).outcome;
  /** A call that is claimed and settled, as charged where nothing else is said. */
  const buy = async (
    cell: Cell,
    kind: 'single' | 'standard' = 'single',
    how: Partial<Settlement> = {},
  ) =>
    await store.settle([
      { ...charged(await ask(propose(cell, kind)), clock, CREDITS[kind]), ...how },
    ]);
  return {
    store,
    opened,
    source,
    clock,
    alive,
    another,
    terms,
    propose,
    proposeFor,
    ask,
    outcomeOf,
    buy,
  };
}

const free = (claim: Claim, clock: MovedClock): Settlement => ({
  ...{ ...charged(claim, clock, 0), charge: 'free', answers: [] },
});

/** The settlement of a call that was refused because the quota is used up. */
const exhausted = (claim: Claim, clock: MovedClock): Settlement => ({
  ...free(claim, clock),
  exhausted: true,
});

const spent = (store: Store, clock: MovedClock) =>
  store.spending('account', billingPeriod(5, clock.now()));

function charged(
  claim: { outcome: string; call?: number },
  clock: MovedClock,
  credits: number,
): Settlement {
  assert.equal(claim.outcome, 'granted');
  const period = billingPeriod(5, clock.now());
  const answers = [
    { topic: 'wildfire' as const, asOf: clock.now(), fields: ['Very Low', 0, null] },
  ];
  return {
    call: claim.call!,
    charge: 'charged',
    credits,
    period,
    outcome: 'answered',
    answers,
    failures: [],
  };
}
