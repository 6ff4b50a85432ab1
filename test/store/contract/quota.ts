import assert from 'node:assert/strict';
import { billingPeriod } from '../../../src/contract/billing-period.ts';
import type { Cell } from '../../../src/geo/coordinates.ts';
import { total } from '../../../src/store/ledger/admission.ts';
import type { ClaimLimits } from '../../../src/store/ledger/port.ts';
import { BOSTON, charged, DENVER, exhausted, free, type It, LA, NY, spent } from './store-setup.ts';

/** What the ledger counts in the minute, the budget and the period of an account. */
export function testQuota(it: It): void {
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

  it('another anniversary day forgets no correction by the provider of the period that it was recorded in', async (setup) => {
    const { store, ask, propose, clock } = setup;
    const buy = async (time: string, credits: number, location: Cell) => {
      clock.moveTo(time);
      const period = billingPeriod(1, clock.now());
      const claim = await ask(propose(location, 'single'), store, { period });
      await store.settle([{ ...charged(claim, clock, credits), period }]);
    };
    /** The credits that count by the ledger, and those that it has only by a correction. */
    const countedBy = async (day: number) => {
      const spending = await store.spending('account', billingPeriod(day, clock.now()));
      return [total(spending) + (spending.later ?? 0), spending.correction?.elsewhere];
    };
    const correct = async (day: number, time: string, credits: number) => {
      clock.moveTo(time);
      await store.correct('account', billingPeriod(day, clock.now()), credits);
    };
    await buy('2026-04-10T12:00:00Z', 5, LA);
    await buy('2026-04-21T12:00:00Z', 10, NY);
    await correct(1, '2026-04-21T13:00:00Z', 95);
    await buy('2026-04-23T12:00:00Z', 10, BOSTON);
    assert.deepEqual(await countedBy(1), [25, 80]);
    // The 5 of the 10th are in the provider's figure, and in no period from the 20th on.
    assert.deepEqual(await countedBy(20), [20, 85]);
    assert.deepEqual(await countedBy(25), [25, 80]);
    // It was recorded before these periods began, or while a clock may still have been before them.
    assert.deepEqual(await countedBy(22), [10, undefined]);
    const { correction } = await store.spending('account', {
      start: Date.parse('2026-04-21T12:59:01Z'),
      end: Date.parse('2026-05-21'),
    });
    assert.equal(correction, undefined);
    // The newest one counts; that of a later period only if it is more.
    await correct(20, '2026-04-24T12:00:00Z', 50);
    assert.deepEqual(
      [await countedBy(20), await countedBy(1)],
      [
        [20, 30],
        [25, 80],
      ],
    );
    await correct(1, '2026-04-24T13:00:00Z', 40);
    assert.deepEqual(
      [await countedBy(20), await countedBy(1)],
      [
        [20, 20],
        [25, 15],
      ],
    );
    await correct(20, '2026-04-24T14:00:00Z', 90);
    assert.deepEqual(
      [await countedBy(20), await countedBy(1)],
      [
        [20, 70],
        [25, 70],
      ],
    );
    // The figure of the 20th has what was counted under day 1 before.
    assert.deepEqual(await countedBy(24), [0, 90]);
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
}
