import { steadyTime } from '../../base/clock.ts';
import { PerilbookError } from '../../base/errors.ts';
import type { TopicReading } from '../../client/envelope.ts';
import type { Permit } from '../../client/throttle.ts';
import { flatten } from '../../columns/topic-columns.ts';
import { type Call, scopeOf } from '../../contract/credits.ts';
import type { TopicResult } from '../../contract/topic-values.ts';
import type { TopicSlug } from '../../contract/topics.ts';
import { locationOf } from '../../geo/coordinates.ts';
import type { ClaimRequest, Settlement } from '../../store/ledger/port.ts';
import { claimLimits } from '../frame/account-state.ts';
import type { Key } from '../frame/api-keys.ts';
import { addTo, countFailure, countSettled, setIn } from '../frame/progress.ts';
import { limitReached, type Stop, stopFor, storeMovedStop } from '../frame/stop.ts';
import type { Buying, CellWork } from './buying.ts';
import { type Consequence, decideConsequence, makeSettlement } from './consequence.ts';
import { type NextStep, NOTHING_TRIED, type Standing, type Tried } from './next-step.ts';
import { type Payment, payCall, type ReceivedCall } from './pay-call.ts';

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
 * - `waiting`: another call is showing whether the key is accepted, what the call costs, or whether its topic is answered.
 * - `retry`: the same call again, later. */
type AttemptOutcome =
  | CallOutcome
  | OfKind<'out_of_credits'>
  | { readonly kind: 'waiting'; readonly over: Promise<void> }
  | ({ readonly kind: 'retry' } & Pick<Extract<NextStep, { step: 'retry' }>, 'afterMs' | 'tried'>);

/** An outcome, and the credits that it may have cost. */
type Charged<Outcome> = { readonly outcome: Outcome; readonly credits: number };

interface Attempt extends CallRequest {
  /** The same for all attempts. */
  readonly request: CallRequest;
  readonly tried: Tried;
  readonly permit: Permit;
}

/** An attempt that may be claimed now. */
interface ReadyCall extends Attempt {
  readonly key: Key;
  /** The credits that it is claimed for, and that it is expected to cost. */
  readonly most: number;
  readonly price: number;
  /** When it was claimed, by the slowest clock. */
  readonly claimedAt: number;
}

/** Makes one call at one cell, with its retries. Every attempt is a row of its own in the ledger.
 *
 * The key is chosen after the throttle's permit: with keys chosen before, each waiting call was refused once (128 requests and 244 s for
 * one invalid key).
 * @returns the outcome, and the credits that all attempts may have cost */
export async function buyCall(buying: Buying, request: CallRequest): Promise<Charged<CallOutcome>> {
  const { payer, health, turns, effects, progress } = buying;
  const { throttle } = buying.service;
  const { call } = request;
  let tried = NOTHING_TRIED;
  let credits = 0;
  using _ = turns.ending(request);
  const of = (kind: 'replan' | 'stopped') => ({ outcome: { kind }, credits });
  for (;;) {
    if (payer.dearer !== null) return of('stopped');
    if (payer.keyFor(call) === null) return of('replan');
    if (!payer.canPay(call)) return of('stopped');
    let attempt: Charged<AttemptOutcome>;
    try {
      attempt = await throttle.schedule(
        payer.mostFor(call),
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
    switch (outcome.kind) {
      case 'out_of_credits':
        break;
      case 'waiting':
        await outcome.over;
        break;
      case 'retry':
        addTo(progress, { retries: 1 });
        tried = outcome.tried;
        await effects.clock.sleep(outcome.afterMs, health.signal);
        if (health.signal.aborted) return of('stopped');
        break;
      default:
        return { outcome, credits };
    }
  }
}

/** Pays for one attempt. Waits while other processes fill the minute or send the first call of a kind. */
async function attemptCall(buying: Buying, attempt: Attempt): Promise<Charged<AttemptOutcome>> {
  const { turns, health, effects, progress } = buying;
  const { permit } = attempt;
  using _ = turns.ending(permit);
  for (;;) {
    const readiness = checkReadiness(buying, attempt);
    if (readiness.kind !== 'ready') {
      permit.refund();
      return { outcome: readiness, credits: 0 };
    }
    const payment = await pay(buying, readiness.attempt);
    if (payment.outcome === 'settled')
      return carryOut(buying, readiness.attempt, payment.conclusion);
    if (payment.outcome !== 'wait') {
      permit.refund();
      return { outcome: carryOutRefusal(buying, readiness.attempt, payment), credits: 0 };
    }
    if (payment.for === 'minute') {
      const until = steadyTime(effects.clock) + payment.ms;
      setIn(progress, { minuteUsedUntil: Math.max(progress.minuteUsedUntil, until) });
    }
    await effects.clock.sleep(payment.ms, health.signal);
  }
}

/** Whether an attempt may be claimed now, by what this run knows. */
type Readiness =
  | { readonly kind: 'ready'; readonly attempt: ReadyCall }
  | Extract<AttemptOutcome, { kind: 'stopped' | 'out_of_credits' | 'replan' | 'waiting' }>;

function checkReadiness({ payer, health, turns, effects }: Buying, attempt: Attempt): Readiness {
  const { call, request, permit } = attempt;
  if (health.signal.aborted || payer.dearer !== null) return { kind: 'stopped' };
  const key = payer.canPay(call) ? payer.keyFor(call) : null;
  if (key === null) return { kind: 'out_of_credits' };
  if (call.kind === 'single' && health.isTopicDown(call.topic)) return { kind: 'replan' };
  const doubt = health.doubtOf(call);
  const over =
    turns.take(request, doubt === null ? [] : [doubt]) ??
    turns.take(permit, payer.unproven(key, call));
  if (over !== null) return { kind: 'waiting', over };
  const claimedAt = effects.times.billing().earliest;
  const [most, price] = [payer.mostFor(call), payer.priceOf(call)];
  return { kind: 'ready', attempt: { ...attempt, key, most, price, claimedAt } };
}

/** What follows from a call that was sent, and its part of the ledger. */
interface ConcludedCall {
  readonly settlement: Settlement;
  readonly consequence: Consequence;
}

type Refusal = Exclude<Payment<ConcludedCall>, { outcome: 'settled' | 'wait' }>;

/** Claims, sends and settles. A store that was moved ends the run, and so does a settlement that cannot be written: no call is sent whose end
 * the ledger could not learn. */
async function pay(
  buying: Buying,
  ready: ReadyCall,
): Promise<Payment<ConcludedCall> | { readonly outcome: 'store_moved' }> {
  const { job, store, service, limits, payer, health, effects, progress } = buying;
  const { call, work, wanted, areas, key, most, price, tried } = ready;
  const payable = {
    limits: claimLimits(job.account, effects.times.periods(), limits),
    request: {
      cell: work.cell,
      call,
      credits: most,
      isPriceAssumed: payer.chargedFor(call) === null,
      key: key.fingerprint,
      wanted,
      areas,
    },
    expected: price,
    toFields: (topic: TopicSlug, result: TopicResult) =>
      flatten(topic, result, locationOf(work.cell)),
  };
  try {
    return await payCall({ store, clock: effects.clock }, payable, {
      // Does not pass the signal that stops the run: a sent call may be charged, so its answer is awaited.
      send(mayBegin) {
        addTo(progress, { callsInFlight: 1 });
        const isFresh = tried.inDoubt > 0;
        return service.client.send({
          call,
          location: locationOf(work.cell),
          key: key.secret,
          isFresh,
          mayBegin,
        });
      },
      conclude: (received) => concludeCall(buying, ready, received),
      onWait: ({ message }) =>
        effects.notice(`${message}. What was bought waits up to ten minutes to be written.`),
    });
  } catch (error) {
    if (!(error instanceof PerilbookError && error.code === 'STORE_MOVED'))
      return health.stopAtError(error);
    health.stop(storeMovedStop(error));
    return { outcome: 'store_moved' };
  }
}

/** What the run does where the ledger granted nothing. */
function carryOutRefusal(
  buying: Buying,
  { call, most, claimedAt }: ReadyCall,
  refusal: Refusal | { readonly outcome: 'store_moved' },
): AttemptOutcome {
  const { payer } = buying;
  switch (refusal.outcome) {
    case 'store_moved':
      return { kind: 'stopped' };
    case 'answered':
      return { kind: 'replan' };
    case 'claimed':
      return { kind: 'claimed_elsewhere' };
    case 'quota':
    case 'budget':
      if (payer.expectDearer(call)) return { kind: 'replan' };
      refuseCredits(buying, most, refusal.outcome, claimedAt);
      return { kind: 'out_of_credits' };
    case 'price':
      // Another process has learned it. The throttle counts the call with the price that it was scheduled for.
      payer.learnPrice(call, refusal.credits);
      return { kind: 'replan' };
  }
}

/** Decides what follows from an answer, and does what cannot wait for its settlement: pauses, clocks and sums. */
function concludeCall(
  buying: Buying,
  ready: ReadyCall,
  { granted, exchange, verdict: read, date, sentAt, at }: ReceivedCall,
): ConcludedCall {
  const { service, payer, health, effects, progress } = buying;
  const { call, price, most, wanted, work, tried, standing, permit } = ready;
  const headers = exchange.kind === 'response' ? exchange.headers : {};
  const { verdict, notice } = buying.origin.check(read, { cell: work.cell, call, headers });
  health.recordAttempt(call, verdict);
  const consequence = decideConsequence(verdict, {
    call,
    price: most,
    topics: wanted.map(({ topic }) => topic),
    tried,
    standing: health.standingOf(call, standing),
    unansweredSince: health.unansweredSince,
    at,
    random: effects.random,
  });
  health.unansweredSince = consequence.unansweredSince;
  setIn(progress, { unansweredSince: consequence.unansweredSince });
  const { next, ledger } = consequence;
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
    effects.times.learn(date, sentAt, at);
  // Before it is stored: a disk that is full does not hide what the call cost.
  countSettled(progress, ledger, price);
  const { remaining, resetMs } = verdict.rate;
  // The ledger subtracts the spending of other runs on this store, call by call. If the throttle subtracted it too, these
  // credits would be missing until the minute's end, and the run that spent least in one minute would be last in the next.
  if (remaining !== null) service.throttle.correct(remaining + granted.byOthers, resetMs, permit);
  for (const message of [verdict.discrepancy, notice])
    if (message !== null) effects.notice(message);
  const settled = { ...ready, number: granted.call, date, charged: payer.chargedFor(call) };
  return { settlement: makeSettlement(buying, settled, consequence), consequence };
}

/** Does what follows from a call that was settled. */
function carryOut(
  buying: Buying,
  ready: ReadyCall,
  { settlement, consequence }: ConcludedCall,
): Charged<AttemptOutcome> {
  const { payer } = buying;
  const { call, permit } = ready;
  const { credits } = consequence.ledger;
  if (settlement.price || consequence.answer !== null) payer.answered(call);
  if (settlement.price?.credits) payer.learnPrice(call, settlement.price.credits);
  permit.refund(Math.max(0, permit.credits - credits));
  return { outcome: takeNextStep(buying, ready, consequence), credits };
}

function takeNextStep(buying: Buying, ready: ReadyCall, consequence: Consequence): AttemptOutcome {
  const { payer, health, effects, progress } = buying;
  const { next, answer, alarm } = consequence;
  if (alarm !== null) health.stop(alarm);
  if (next.step === 'retry') return { kind: 'retry', afterMs: next.afterMs, tried: next.tried };
  health.record(consequence.health);
  setIn(progress, { paidFailures: health.paidFailures });
  learnOfKey(buying, ready, consequence);
  switch (next.step) {
    case 'use': {
      const { call } = ready;
      if ([...answer!.results.values()].some(({ ok }) => ok)) addTo(progress, { callsAnswered: 1 });
      if (call.kind !== 'single' && answer!.hasContents)
        payer.learnContents(call.kind, [...answer!.results.keys()]);
      return { kind: 'answered', results: answer!.results };
    }
    case 'out_of_credits':
      refuseCredits(buying, 1, 'quota', ready.claimedAt);
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
  { key, call }: ReadyCall,
  { key: lesson, refusal }: Consequence,
): void {
  if (lesson === 'accepted') payer.accepted(key, call);
  if (lesson === null || lesson === 'accepted') return;
  const isInvalid = lesson === 'invalid';
  const isNamed = lesson === 'scope_denied';
  const refusedScope = isNamed ? ' the scope' : ' a call of the scope';
  const what = `${key.name ?? 'the key'}${isInvalid ? '' : `${refusedScope} ${scopeOf(call)}`}`;
  const refused = `The service refused ${what} ${refusal}`;
  payer.keyRefused(key, call, isInvalid ? 'key' : isNamed ? 'scope' : 'call', refused);
  if (!payer.hasNoKey) {
    const then = isInvalid ? 'The next key is used' : 'What is left is planned again without it';
    effects.notice(`${refused}. ${then}.`);
  } else {
    const others = service.apiKeys.count > 1 ? ' It accepts none of the keys.' : '';
    health.stop(stopFor('keys', `${refused}.${others}`));
  }
}
