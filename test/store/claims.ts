import type { Answer } from '../../src/contract/answer.ts';
import { type Call, CREDITS } from '../../src/contract/credits.ts';
import type { Claim, ClaimLimits, ClaimRequest, Settlement } from '../../src/store/ledger/port.ts';
import type { Store } from '../../src/store/port.ts';

export const RUN = {
  job: 'job',
  input: 'in',
  output: 'out',
  account: 'account',
  plannedCredits: 1,
  budget: 1_000,
};

/** A billing period that does not end in a test. */
export const PERIOD = { start: 0, end: Date.UTC(2099, 0) };

export const SINGLE: Call = { kind: 'single', topic: 'hail' };

/** The terms of a new run: no limit is near but those that are given. */
export async function termsOf(
  store: Store,
  limits: Partial<ClaimLimits> = {},
): Promise<ClaimLimits> {
  const { account = RUN.account } = limits;
  const [run, source] = [
    await store.startRun({ ...RUN, account }),
    await store.source('somewhere'),
  ];
  const far = { periodLimit: 1e9, creditsPerMinute: 1e8, budget: 1e9, leaseMs: 300_000 };
  return { run, source, account, period: PERIOD, ...far, ...limits };
}

/** A request for a call at a cell of its own. */
export function callAt(number: number, call: Call = { kind: 'standard' }): ClaimRequest {
  const cell = { lat7: 340_000_000 + number, lng7: -1_180_000_000 };
  return {
    cell,
    call,
    credits: CREDITS[call.kind],
    key: 'key',
    wanted: [{ topic: 'hail', freshSince: 1 }],
  };
}

export const ANSWER: Answer = {
  topic: 'hail',
  asOf: 1_750_000_000_000,
  fields: ['Very Low', 0, null],
};

/** A settlement of a claim that must have been granted: charged, and without answers where none are given. */
export function chargedFor(
  claim: Claim | undefined,
  credits: number,
  more: Partial<Settlement> = {},
): Settlement {
  if (claim?.outcome !== 'granted') throw new Error(claim?.outcome);
  const none = { answers: [], failures: [] };
  return {
    call: claim.call,
    charge: 'charged',
    credits,
    period: PERIOD,
    outcome: '',
    ...none,
    ...more,
  };
}
