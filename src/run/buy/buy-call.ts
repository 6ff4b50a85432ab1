import { steadyTime } from '../../base/clock.ts';
import { PerilbookError } from '../../base/errors.ts';
import type { TopicReading } from '../../client/envelope.ts';
import { parseDate } from '../../client/exchange.ts';
import type { Permit } from '../../client/throttle.ts';
import { findVerdict } from '../../client/verdict.ts';
import { flatten } from '../../columns/topic-columns.ts';
import { type Call, scopeOf } from '../../contract/credits.ts';
import type { TopicSlug } from '../../contract/topics.ts';
import { locationOf } from '../../geo/coordinates.ts';
import type { Claim, ClaimRequest } from '../../store/ledger/port.ts';
import { claimLimits } from '../frame/account-state.ts';
import type { Key } from '../frame/api-keys.ts';
import { addTo, countFailure, countSettled, setIn } from '../frame/progress.ts';
import { limitReached, type Stop, stopFor, storeMovedStop } from '../frame/stop.ts';
import type { Buying, CellWork } from './buying.ts';
import { type Consequence, decideConsequence, makeSettlement } from './consequence.ts';
import { type NextStep, NOTHING_TRIED, type Standing, type Tried } from './next-step.ts';

/** A call to make at a cell, the topics to buy with it, and how often it may be tried. */
export interface CallRequest {
  readonly work: Pick<CellWork, 'number' | 'cell'>;
  readonly call: Call;
  readonly wanted: ClaimRequest['wanted'];
  /** The part of these that is bought for whole areas. */
  readonly areas: NonNullable<ClaimRequest['areas']>;
  /** What is known of its topic before it is sent. */
  readonly standing: Extract<Standing, 'fresh' | 'topic_unavailable'>;
  /** Whether another call was made at this cell. */
  readonly isBegun: boolean;
}

/** One union member per kind, so that TypeScript can narrow it. */
type OfKind<Kind extends string> = Kind extends string ? { readonly kind: Kind } : never;

/** - `answered`: has a result for each topic. `given_up`: failed after retries, and is recorded; `rejected`: so is the location.
 * - `replan`: plan the cell's calls again, because another run answered a topic, or a key or scope was refused.
 * - `claimed_elsewhere`: another run is buying at this cell. `stopped`: nothing was bought, the run ends. */
export type CallOutcome =
  | { readonly kind: 'answered'; readonly results: ReadonlyMap<TopicSlug, TopicReading> }
  | OfKind<'given_up' | 'rejected' | 'replan' | 'claimed_elsewhere' | 'stopped'>;

/** The outcome of one attempt.
 * - `out_of_credits`: the account lacks the credits; a cheaper call may fit.
 * - `probing`: another call is testing whether the key is accepted, or the topic answered. */
type AttemptOutcome =
  | CallOutcome
  | OfKind<'out_of_credits'>
  | { readonly kind: 'probing'; readonly over: Promise<void> }
  | ({ readonly kind: 'retry' } & Pick<Extract<NextStep, { step: 'retry' }>, 'afterMs' | 'tried'>);

/** An outcome, and the credits that it may have cost. */
type Charged<Outcome> = { readonly outcome: Outcome; readonly credits: number };

interface Attempt extends CallRequest {
  /** The same for all attempts. */
  readonly request: CallRequest;
  readonly tried: Tried;
  readonly permit: Permit;
}

/** An attempt that the ledger has granted. */
interface ClaimedCall extends Attempt {
  readonly key: Key;
  /** The credits that it was claimed for. */
  readonly price: number;
  readonly number: number;
  /** Credits of the minute that other runs have spent. */
  readonly byOthers: number;
  /** When it was claimed, by the slowest clock. */
  readonly claimedAt: number;
}

/** How long to wait for the first call of a kind, which another process has sent. */
const FIRST_CALL_WAIT_MS = 250;

/** Makes one call at one cell, with its retries: claim, send, interpret, settle. Every attempt is a row of its own in the ledger.
 *
 * The key is chosen after the throttle's permit: with keys chosen before, each waiting call was refused once (128 requests and 244 s for
 * one invalid key).
 * @returns the outcome, and the credits that all attempts may have cost */
export async function buyCall(buying: Buying, request: CallRequest): Promise<Charged<CallOutcome>> {
  const { payer, health, effects, progress } = buying;
  const { throttle } = buying.service;
  const { call } = request;
  let tried = NOTHING_TRIED;
  let credits = 0;
  using _ = { [Symbol.dispose]: () => health.endTurn(request) };
  const of = (kind: 'replan' | 'stopped') => ({ outcome: { kind }, credits });
  for (;;) {
    if (payer.dearer !== null) return of('stopped');
    if (payer.keyFor(call) === null) return of('replan');
    if (!payer.canPay(call)) return of('stopped');
    let attempt: Charged<AttemptOutcome>;
    try {
      attempt = await throttle.schedule(
        payer.priceOf(call),
        (permit) => attemptCall(buying, { ...request, request, tried, permit }),
        health.signal,
        request.isBegun || tried !== NOTHING_TRIED,
      );
    } catch (error) {
      // The throttle refuses who still waits at a stop.
      if (error instanceof PerilbookError && error.code === 'INTERRUPTED') return of('stopped');
      throw error;
    }
    credits += attempt.credits;
    const { outcome } = attempt;
    if (outcome.kind === 'out_of_credits') continue;
    if (outcome.kind === 'probing') {
      await outcome.over;
      continue;
    }
    if (outcome.kind !== 'retry') return { outcome, credits };
    addTo(progress, { retries: 1 });
    tried = outcome.tried;
    await effects.clock.sleep(outcome.afterMs, health.signal);
    if (health.signal.aborted) return of('stopped');
  }
}

/** Claims a call in the ledger and sends it. Waits while other processes fill the minute. */
async function attemptCall(buying: Buying, attempt: Attempt): Promise<Charged<AttemptOutcome>> {
  const { payer, health, effects, progress } = buying;
  const { call, permit } = attempt;
  const unspent = (outcome: AttemptOutcome) => {
    permit.refund();
    return { outcome, credits: 0 };
  };
  for (;;) {
    if (health.signal.aborted || payer.dearer !== null) return unspent({ kind: 'stopped' });
    const price = payer.priceOf(call);
    const key = payer.canPay(call) ? payer.keyFor(call) : null;
    if (key === null) return unspent({ kind: 'out_of_credits' });
    if (call.kind === 'single' && health.isTopicDown(call.topic))
      return unspent({ kind: 'replan' });
    const over = health.turnOver(attempt.request) ?? payer.probes.running(key, call);
    if (over !== null) return unspent({ kind: 'probing', over });
    const claimedAt = effects.times.billing().earliest;
    using begun = payer.probes.begin(key, call);
    const claim = await claimCall(buying, attempt, key, price);
    switch (claim.outcome) {
      case 'granted': {
        const { call: number, byOthers } = claim;
        return await sendCall(buying, { ...attempt, key, price, number, byOthers, claimedAt });
      }
      case 'store_moved':
        return unspent({ kind: 'stopped' });
      case 'answered':
        return unspent({ kind: 'replan' });
      case 'claimed':
        return unspent({ kind: 'claimed_elsewhere' });
      case 'quota':
      case 'budget':
        refuseCredits(buying, price, claim.outcome, claimedAt);
        return unspent({ kind: 'out_of_credits' });
      case 'price':
        // Another process has learned it. The throttle counts the call with the price that it was scheduled for.
        payer.learnPrice(call.kind, claim.credits);
        return unspent({ kind: 'replan' });
      case 'first_call':
        begun[Symbol.dispose]();
        await effects.clock.sleep(FIRST_CALL_WAIT_MS, health.signal);
        break;
      case 'wait':
        setIn(progress, {
          minuteUsedUntil: Math.max(progress.minuteUsedUntil, steadyTime(effects.clock) + claim.ms),
        });
        begun[Symbol.dispose]();
        await effects.clock.sleep(claim.ms, health.signal);
    }
  }
}

/** A store that was moved ends the run. The store decides on all simultaneous claims in one transaction. */
async function claimCall(
  { job, store, limits, payer, health, effects }: Buying,
  { call, work, wanted, areas }: Attempt,
  key: Key,
  price: number,
): Promise<Claim | { readonly outcome: 'store_moved' }> {
  const isPriceAssumed = payer.chargedFor(call) === null;
  const request = {
    cell: work.cell,
    call,
    credits: price,
    isPriceAssumed,
    key: key.fingerprint,
    wanted,
    areas,
  };
  try {
    const [claim] = await store.claim(claimLimits(job.account, effects.times.periods(), limits), [
      request,
    ]);
    return claim!;
  } catch (error) {
    if (!(error instanceof PerilbookError && error.code === 'STORE_MOVED')) throw error;
    health.stop(storeMovedStop(error));
    return { outcome: 'store_moved' };
  }
}

async function sendCall(buying: Buying, claimed: ClaimedCall): Promise<Charged<AttemptOutcome>> {
  const { store, service, payer, health, effects, progress } = buying;
  const { clock, times, random } = effects;
  const { call, price, wanted, work, tried, standing, permit } = claimed;
  const location = locationOf(work.cell);
  const sentAt = steadyTime(clock);
  addTo(progress, { callsInFlight: 1 });
  // Does not pass the signal that stops the run: a sent call may be charged, so its answer is awaited.
  const exchange = await service.client.send({
    call,
    location,
    key: claimed.key.secret,
    isFresh: tried.inDoubt > 0,
  });
  const [cameAt, at, date] = [clock.now(), steadyTime(clock), parseDate(exchange)];
  const headers = exchange.kind === 'response' ? exchange.headers : {};
  const read = findVerdict(exchange, { call, price }, location, cameAt, (topic, result) =>
    flatten(topic, result, location),
  );
  const { verdict, notice } = buying.origin.check(read, { cell: work.cell, call, headers });
  health.recordAttempt(call, verdict);
  const topics = wanted.map(({ topic }) => topic);
  const before = {
    tried,
    standing: health.standingOf(call, standing),
    slowedDownSince: health.slowedDownSince,
  };
  const consequence = decideConsequence(verdict, { call, price, topics, ...before, at, random });
  health.slowedDownSince = consequence.slowedDownSince;
  const { next } = consequence;
  if (next.step === 'retry' && next.rate) {
    // Before the permit ends: the next call that waits for its connection would start.
    const until = at + next.afterMs;
    service.throttle.pauseUntil(until);
    addTo(progress, { slowedDown: 1 });
    setIn(progress, { slowedUntil: until });
    progress.onChange?.();
  }
  // A notice means that a cache may have answered, with an old date.
  if (date !== null && consequence.answer?.hasContents && notice === null)
    times.learn(date, sentAt, at);
  const { credits } = consequence.ledger;
  // Before it is stored: a disk that is full does not hide what the call cost.
  countSettled(progress, consequence.ledger, price);
  // Before others that wait for this call go on: no call is sent whose end the ledger could not learn.
  const settlement = makeSettlement(
    buying,
    { ...claimed, date, charged: payer.chargedFor(call) },
    consequence,
  );
  await store.settle([settlement]).catch((error) => health.stopAtError(error));
  if (settlement.price) payer.probes.answered(call);
  if (consequence.ledger.charge === 'charged' && consequence.alarm === null)
    payer.learnPrice(call.kind, credits);
  permit.refund(Math.max(0, permit.credits - credits));
  if (verdict.rate.remaining !== null) {
    // The ledger subtracts the spending of other runs on this store, call by call. If the throttle subtracted it too, these
    // credits would be missing until the minute's end, and the run that spent least in one minute would be last in the next.
    const remaining = verdict.rate.remaining + claimed.byOthers;
    service.throttle.correct(remaining, verdict.rate.resetMs, permit);
  }
  for (const message of [verdict.discrepancy, notice])
    if (message !== null) effects.notice(message);
  return { outcome: carryOut(buying, claimed, consequence), credits };
}

function carryOut(buying: Buying, claimed: ClaimedCall, consequence: Consequence): AttemptOutcome {
  const { payer, health, effects, progress } = buying;
  const { next, answer, alarm } = consequence;
  if (alarm !== null) health.stop(alarm);
  if (next.step === 'retry') return { kind: 'retry', afterMs: next.afterMs, tried: next.tried };
  health.record(consequence.health);
  learnOfKey(buying, claimed, consequence);
  switch (next.step) {
    case 'use': {
      const { call } = claimed;
      if ([...answer!.results.values()].some(({ ok }) => ok)) addTo(progress, { callsAnswered: 1 });
      if (call.kind !== 'single' && answer!.hasContents)
        payer.learnContents(call.kind, [...answer!.results.keys()]);
      return { kind: 'answered', results: answer!.results };
    }
    case 'out_of_credits':
      refuseCredits(buying, 1, 'quota', claimed.claimedAt);
      return { kind: 'out_of_credits' };
    case 'replan':
      return { kind: 'replan' };
    case 'give_up':
      countFailure(progress, next.kind, next.message);
      health.recordFailure(next.message);
      return { kind: next.isRejected ? 'rejected' : 'given_up' };
    case 'stop':
      health.stop(
        stopFor(
          next.reason,
          next.message,
          next.afterMs === null ? null : effects.clock.now() + next.afterMs,
        ),
      );
      return { kind: 'stopped' };
  }
}

/** Stops the run if the account can pay for no other call. */
function refuseCredits(
  buying: Buying,
  credits: number,
  limit: 'quota' | 'budget',
  at: number,
): void {
  const { payer, health } = buying;
  if (payer.creditsRefused(credits, limit, at)) health.stop(shortageStop(buying, payer.shortage!));
}

/** The stop at a limit that allows no further call. */
export function shortageStop(
  { payer, job, limits, progress }: Buying,
  limit: 'quota' | 'budget',
): Stop {
  return limit === 'quota' ? payer.quotaUsedUp() : limitReached(job, limits, progress);
}

function learnOfKey(
  { payer, health, service, effects }: Buying,
  { key, call }: ClaimedCall,
  { key: lesson, refusal }: Consequence,
): void {
  if (lesson === 'accepted') payer.probes.accepted(key, call);
  if (lesson === null || lesson === 'accepted') return;
  const isInvalid = lesson === 'invalid';
  const refusedScope = lesson === 'scope_denied' ? ' the scope' : ' a call of the scope';
  const what = `${key.name ?? 'the key'}${isInvalid ? '' : `${refusedScope} ${scopeOf(call)}`}`;
  const refused = `The service refused ${what} ${refusal}`;
  payer.keyRefused(key, call, isInvalid ? 'key' : 'scope', refused);
  if (!payer.hasNoKey) {
    const then = isInvalid ? 'The next key is used' : 'What is left is planned again without it';
    effects.notice(`${refused}. ${then}.`);
  } else {
    const others = service.apiKeys.count > 1 ? ' It accepts none of the keys.' : '';
    health.stop(stopFor('keys', `${refused}.${others}`));
  }
}
