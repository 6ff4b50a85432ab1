import assert from 'node:assert/strict';
import type { Cell } from '../../../src/geo/coordinates.ts';
import type { ClaimRequest } from '../../../src/store/ledger/port.ts';
import { RUN } from '../claims.ts';
import { BOSTON, charged, DENVER, free, HERE, type It, LA, NY, spent } from './store-setup.ts';

/** Claims of calls: what holds one back, and what becomes of it when its process dies or the clock is set back. */
export function testClaims(it: It): void {
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
}
