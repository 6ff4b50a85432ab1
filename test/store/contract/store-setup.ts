import assert from 'node:assert/strict';
import { billingPeriod } from '../../../src/contract/billing-period.ts';
import { CREDITS } from '../../../src/contract/credits.ts';
import type { Cell } from '../../../src/geo/coordinates.ts';
import type {
  Claim,
  ClaimLimits,
  ClaimRequest,
  Settlement,
} from '../../../src/store/ledger/port.ts';
import type { Owner, Store } from '../../../src/store/port.ts';
import { MovedClock } from '../../moved-clock.ts';
import { RUN } from '../claims.ts';

/** How a test opens the store under test: several times at once, as several processes would. */
export interface Opener {
  open(clock: MovedClock, owner: Owner): Store | Promise<Store>;
}

const START = '2026-03-10T12:00:00Z';
export const LA: Cell = { lat7: 340_522_000, lng7: -1_182_437_000 };
export const NY: Cell = { lat7: 407_128_000, lng7: -740_060_000 };
export const BOSTON: Cell = { lat7: 423_601_000, lng7: -710_589_000 };
export const HERE: Cell = { lat7: 350_000_000, lng7: -1_000_000_000 };
export const DENVER: Cell = { lat7: 397_392_000, lng7: -1_049_903_000 };

/** Defines a test of one store. */
export type It = (name: string, body: (setup: StoreSetup) => Promise<void>) => void;

export type StoreSetup = Awaited<ReturnType<typeof makeSetup>>;

export async function makeSetup(opener: Opener) {
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

export const free = (claim: Claim, clock: MovedClock): Settlement => ({
  ...{ ...charged(claim, clock, 0), charge: 'free', answers: [] },
});

/** The settlement of a call that was refused because the quota is used up. */
export const exhausted = (claim: Claim, clock: MovedClock): Settlement => ({
  ...free(claim, clock),
  exhausted: true,
});

export const spent = (store: Store, clock: MovedClock) =>
  store.spending('account', billingPeriod(5, clock.now()));

export function charged(
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
