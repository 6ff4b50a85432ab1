import type { Clock } from '../base/clock.ts';
import { PerilbookError } from '../base/errors.ts';
import { counted } from '../base/format-numbers.ts';
import { type Client, createClient, type PlainRequest, requireSendable } from '../client/client.ts';
import type { Exchange } from '../client/exchange.ts';
import { DENIALS } from '../client/status-kind.ts';
import { findVerdict, hasAnswer, type Verdict } from '../client/verdict.ts';
import { type Call, contractPrice, formatPath } from '../contract/credits.ts';
import { cellOf, type Location, MAX_PRECISION } from '../geo/coordinates.ts';
import type { Job } from '../job/settings.ts';
import type { Store } from '../store/port.ts';
import { ledgerEntry } from './buy/consequence.ts';
import { decideNextStep, NOTHING_TRIED } from './buy/next-step.ts';
import { type Payment, payCall } from './buy/pay-call.ts';
import { claimLimits, withLastTerms } from './frame/account-state.ts';
import type { Key } from './frame/api-keys.ts';
import type { ServiceConnection } from './frame/connection-kinds.ts';
import { RunTimes } from './frame/run-times.ts';
import type { StopReason } from './frame/stop.ts';
import { expectedPrices } from './plan/cheapest-calls.ts';

/** A request outside of a run, and the call that the ledger records for it. */
export interface LedgerRequest extends PlainRequest {
  readonly call: Call;
  readonly location: Location;
}

export interface LedgerCallsParts {
  readonly store: Store;
  readonly client: Client;
  readonly clock: Clock;
  readonly interrupt: AbortSignal;
  readonly job: Job;
  /** The keys of the account. A request with another key is not charged to it. */
  readonly keys: readonly Key[];
  readonly run: number;
  readonly source: number;
  readonly budget: number;
}

/** How long to wait while another run buys at the cell. */
const CLAIMED_WAIT_MS = 1_000;

/** Sends single requests (checks of a service) under the same rule as a run: a request that may be charged is in the ledger before it
 * is sent, within budget, quota and minute, and its answer settles it. Nothing is sent twice, and no answer is stored. */
export async function ledgerCalls(
  parts: LedgerCallsParts,
): Promise<(request: LedgerRequest) => Promise<Exchange>> {
  const { store, client, clock, keys } = parts;
  const { account } = (await withLastTerms(parts.job, store)).job;
  // A check does not report wrong clocks; a run does.
  const times = new RunTimes(clock, clock.now(), account.anniversaryDay, () => {});
  return async ({ call, location, ...request }) => {
    const key = keys.find(({ secret }) => secret === request.key);
    for (;;) {
      if (parts.interrupt.aborted) throw interrupted();
      if (key === undefined) return await client.sendPlain(request);
      const { most, expected } = expectedPrices(await store.chargedPrices(parts.source));
      const limits = claimLimits(account, times.periods(), parts);
      const cell = cellOf(location, MAX_PRECISION);
      // No topics, so that answers in the store do not prevent the claim.
      const claim = { cell, call, credits: most(call), key: key.fingerprint, wanted: [] };
      const payable = { limits, request: claim, expected: expected(call), location };
      const payment = await payCall(
        parts,
        { ...payable, toFields: () => [] },
        {
          send: (mayBegin) => client.sendPlain(request, mayBegin),
          conclude({ granted, exchange, verdict, date, sentAt, at }) {
            if (date !== null && hasAnswer(exchange)) times.learn(date, sentAt, at);
            const { period } = times.periods();
            const settlement = {
              ...ledgerEntry(verdict, claim.credits),
              call: granted.call,
              period,
              answers: [],
              failures: [],
            };
            return { settlement, exchange };
          },
        },
      );
      if (payment.outcome === 'settled') return payment.conclusion.exchange;
      await clock.sleep(waitAfter(payment, parts, claim.credits), parts.interrupt);
    }
  };
}

/** How long to wait before a refused call is claimed again. @throws QUOTA_EXCEEDED, BUDGET_REACHED */
function waitAfter(
  refusal: Exclude<Payment<never>, { outcome: 'settled' }>,
  { job: { account }, budget }: Pick<LedgerCallsParts, 'job' | 'budget'>,
  credits: number,
): number {
  switch (refusal.outcome) {
    case 'quota': {
      const message = `The quota of ${account.name} is too small for another ${counted(credits, 'credit')}`;
      throw new PerilbookError(
        'QUOTA_EXCEEDED',
        message,
        'Go on after it resets: perilbook quota says when.',
      );
    }
    case 'budget': {
      const message = `The budget of ${counted(budget, 'credit')} is too small for another ${credits}`;
      throw new PerilbookError('BUDGET_REACHED', message, 'Raise the budget: --budget.');
    }
    case 'price':
      return 0;
    case 'wait':
      return refusal.ms;
    case 'claimed':
    case 'answered':
      return CLAIMED_WAIT_MS;
  }
}

function interrupted(): PerilbookError {
  const hint = 'Run it again; the ledger shows what was spent.';
  return new PerilbookError('INTERRUPTED', 'The check was interrupted', hint);
}

/** A call that any key may ask for. Without its coordinates the request cannot be answered. */
const KEY_CHECK: LedgerRequest['call'] = { kind: 'single', topic: 'wildfire' };
const NOWHERE: Location = { lat: 0, lng: 0 };

/** Whether the service refuses all keys of an account. Each key is tried with a request without coordinates: the service checks the key
 * first and refuses the rest free of charge. Should it answer all the same, the ledger has the call and what it cost. No answer, or a
 * status that does not concern the key, says nothing.
 * @returns why nothing can be bought, and what to do; null if a key may be accepted */
export async function keyRefusal(
  {
    baseUrl,
    keys,
    source,
    proxy,
  }: Pick<ServiceConnection, 'baseUrl' | 'keys' | 'source' | 'proxy'>,
  { store, clock, interrupt, job }: Pick<LedgerCallsParts, 'store' | 'clock' | 'interrupt' | 'job'>,
): Promise<PerilbookError | null> {
  const secrets = keys.map(({ secret }) => secret);
  for (const secret of secrets) requireSendable(secret);
  await using client = createClient({
    baseUrl,
    sockets: 1,
    proxy,
    userAgent: 'perilbook',
    clock,
    secrets,
  });
  const known = expectedPrices(await store.chargedPrices(await store.source(source)));
  const budget = keys.length * known.most(KEY_CHECK);
  const named = { job: 'key check', input: '-', output: '-', account: job.account.name };
  const run = await store.startRun({ ...named, plannedCredits: 0, budget });
  let refusal: PerilbookError | null = null;
  try {
    const parts = {
      store,
      client,
      clock,
      interrupt,
      job,
      keys,
      run,
      source: await store.source(source),
      budget,
    };
    const send = await ledgerCalls(parts);
    const path = formatPath(KEY_CHECK, NOWHERE.lat, NOWHERE.lng).replace(/\?.*/, '');
    for (const key of secrets) {
      const exchange = await send({ method: 'GET', path, key, call: KEY_CHECK, location: NOWHERE });
      const asked = { call: KEY_CHECK, price: contractPrice(KEY_CHECK) };
      refusal = refusalOf(findVerdict(exchange, asked, NOWHERE, clock.now(), () => []));
      if (refusal?.code !== 'KEY_REFUSED') break;
    }
    return refusal;
  } finally {
    await store.finishRun(run, {
      state: refusal === null ? 'complete' : 'stopped',
      resumeAfter: null,
      summary: null,
    });
  }
}

/** Whether a run would end at such a verdict, by the same decision. A scope is another matter: other keys, or bundles, may do without it. */
function refusalOf(verdict: Verdict): PerilbookError | null {
  const { kind, message } = verdict;
  const next = decideNextStep({
    verdict,
    tried: NOTHING_TRIED,
    standing: 'fresh',
    random: () => 0,
  });
  const isStopped = (reason: StopReason) => next.step === 'stop' && next.reason === reason;
  if (next.step === 'replan' && kind === 'unauthenticated')
    return new PerilbookError('KEY_REFUSED', message, 'Ask the provider for a valid key.');
  if (kind === 'denied' && isStopped('denied'))
    return new PerilbookError('KEY_REFUSED', message, DENIALS[verdict.status]!.todo);
  if (next.step === 'out_of_credits' || isStopped('service_pause')) {
    const hint = 'Nothing can be bought until it resets.';
    return new PerilbookError('QUOTA_EXCEEDED', message, hint);
  }
  return null;
}
