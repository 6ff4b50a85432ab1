import assert from 'node:assert/strict';
import { customSubscription } from '../../../src/contract/subscriptions.ts';
import type { Cell } from '../../../src/geo/coordinates.ts';
import type { Settlement } from '../../../src/store/ledger/port.ts';
import type { Store } from '../../../src/store/port.ts';
import { RUN } from '../claims.ts';
import { BOSTON, charged, type It, LA, NY } from './store-setup.ts';

/** Runs and the calls that they made. */
export function testRuns(it: It): void {
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
}
