import { type Clock, steadyTime } from '../clock.ts';
import { billingPeriod } from '../contract/billing-period.ts';
import { type Call, CREDITS } from '../contract/credits.ts';
import { PerilbookError } from '../errors.ts';
import type { Client, PlainRequest } from '../fetch/client.ts';
import type { Exchange } from '../fetch/exchange.ts';
import { hasAnswer, judge } from '../fetch/judge.ts';
import { dateOf } from '../fetch/rate-headers.ts';
import type { Verdict } from '../fetch/verdict.ts';
import { counted } from '../format-numbers.ts';
import { cellOf, type Location, MAX_PRECISION } from '../geo/coordinates.ts';
import type { Claim, ClaimLimits, Settlement, Store } from '../store/port.ts';
import { RunTimes } from './buying/run-times.ts';
import { termsOf } from './buying/terms.ts';
import type { Key } from './planning/keyring.ts';
import type { JobAccount } from './settings/account-settings.ts';

/** A request that is not part of buying for a job, and the call as which it is charged if it is answered. */
export interface LedgerRequest extends PlainRequest {
  readonly call: Call;
}

export interface LedgerCallsParts {
  readonly store: Store;
  readonly client: Client;
  readonly clock: Clock;
  readonly interrupt: AbortSignal;
  readonly account: JobAccount;
  /** The keys of the account; a request without any of them can charge nobody. */
  readonly keys: readonly Key[];
  readonly location: Location;
  readonly run: number;
  readonly source: number;
  readonly budget: number;
}

/** How often a cell is looked at again while another run is at work there. */
const CLAIMED_WAIT_MS = 1_000;

/**
 * Sends requests that stand for themselves (checks of a service), under the same rule as a run: whatever may be charged is in
 * the ledger before it is sent, within budget, quota and minute, and settled by what came back. Nothing is sent twice, and
 * no answer is kept.
 */
export function ledgerCalls(parts: LedgerCallsParts): (request: LedgerRequest) => Promise<Exchange> {
  const { store, client, clock, keys, location } = parts;
  // Said by the run that follows, not here: a check tells only what it checks.
  const times = new RunTimes(clock, clock.now(), () => {});
  const secrets = keys.map(({ secret }) => secret);
  return async ({ call, ...request }) => {
    if (parts.interrupt.aborted) throw interrupted();
    const key = keys.find(({ secret }) => secret === request.key);
    if (key === undefined) return await client.sendPlain(request);
    const number = await claimed(parts, times, call, key);
    const sentAt = steadyTime(clock);
    const exchange = await client.sendPlain(request);
    const date = dateOf(exchange);
    if (date !== null && hasAnswer(exchange)) times.learn(date, sentAt);
    const verdict = judge(exchange, call, location, clock.now(), secrets);
    await store.settle([settlementOf(parts.account, times, call, number, verdict)]);
    return exchange;
  };
}

/** The ledger's number of the call. @throws QUOTA_EXCEEDED, BUDGET_REACHED, INTERRUPTED */
async function claimed(parts: LedgerCallsParts, times: RunTimes, call: Call, key: Key): Promise<number> {
  const { store, clock, interrupt, account, run, source, budget } = parts;
  const cell = cellOf(parts.location, MAX_PRECISION);
  for (;;) {
    if (interrupt.aborted) throw interrupted();
    const terms: ClaimLimits = termsOf(account, times.billing(), { run, source, budget });
    // Nothing is wanted of the cell's answers: that they are there already is no reason against a check.
    const request = { cell, call, credits: CREDITS[call.kind], key: key.fingerprint, wanted: [] };
    const [claim] = (await store.claim(terms, [request])) as [Claim];
    switch (claim.outcome) {
      case 'granted':
        return claim.call;
      case 'quota':
        throw new PerilbookError(
          'QUOTA_EXCEEDED',
          `The quota of ${account.name} is too small for another ${counted(CREDITS[call.kind], 'credit')}`,
          'Go on after it resets: perilbook quota says when.',
        );
      case 'budget':
        throw new PerilbookError(
          'BUDGET_REACHED',
          `The budget of ${counted(budget, 'credit')} is too small for another ${CREDITS[call.kind]}`,
          'Raise it: --budget.',
        );
      default:
        await clock.sleep(claim.outcome === 'wait' ? claim.ms : CLAIMED_WAIT_MS, interrupt);
    }
  }
}

function settlementOf(
  account: JobAccount,
  times: RunTimes,
  call: Call,
  number: number,
  { kind, charged, message, discrepancy, requestId }: Verdict,
): Settlement {
  return {
    call: number,
    charge: charged === 'unknown' ? 'unknown' : charged > 0 ? 'charged' : 'free',
    credits: charged === 'unknown' ? CREDITS[call.kind] : charged,
    period: billingPeriod(account.anniversaryDay, times.billing().latest),
    outcome: [kind, kind === 'answered' ? null : message, discrepancy].filter((part) => part !== null).join(': '),
    ...(requestId === null ? {} : { requestId }),
    ...(kind === 'quota' ? { exhausted: true } : {}),
    answers: [],
    failures: [],
  };
}

function interrupted(): PerilbookError {
  return new PerilbookError('INTERRUPTED', 'The check was interrupted', 'Run it again; the ledger has what was spent.');
}
