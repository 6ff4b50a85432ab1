import { steadyTime } from '../../clock.ts';
import { CREDITS, scopeOf } from '../../contract/credits.ts';
import {
  ALL_REJECTED_AFTER,
  isAllRejected,
  isDown,
  isTopicDown,
  observe,
  observeSecondLook,
} from '../../fetch/breaker.ts';
import { hasAnswer, judgeRead } from '../../fetch/judge.ts';
import { dateOf } from '../../fetch/rate-headers.ts';
import { type Decision, decide, NOTHING_TRIED, SECOND_LOOK_POLICY } from '../../fetch/retry.ts';
import { DENIALS } from '../../fetch/status-kind.ts';
import type { Permit } from '../../fetch/throttle.ts';
import type { Verdict } from '../../fetch/verdict.ts';
import { locationOf } from '../../geo/coordinates.ts';
import type { ParsedAnswer } from '../reading/parsed-answer.ts';
import type { Buying } from './buying.ts';
import { type Attempt, type Attempted, type CallEnd, claimCall, type Order, type Request } from './claim-call.ts';
import { settlementOf } from './settlement.ts';

/**
 * Makes one call at one cell, with its retries: claim, send, judge, settle. Every attempt is its own ledger row; what
 * they may have cost is added to `spending`.
 *
 * The account is chosen before the throttle, since each has its own, and the key when the throttle lets the call leave. Keys
 * that were chosen before it were refused once for each call that waited: 128 requests and 244 s for one dead key.
 */
export async function buyCall(buying: Buying, request: Request, spending: { credits: number }): Promise<CallEnd> {
  const { keyring, throttles, clock, progress } = buying.parts;
  const price = CREDITS[request.call.kind];
  let tried = NOTHING_TRIED;
  for (;;) {
    const scope = scopeOf(request.call);
    const payer = buying.payerOf(request.call);
    if (payer === null) return { end: keyring.keyFor(scope) === null ? 'changed' : 'stopped' };
    const { name: account } = payer.account;
    const throttle = throttles.get(account)!;
    const order = { ...request, tried };
    let attempt: Attempt;
    try {
      const leave = (permit: Permit) => attemptCall(buying, order, account, permit, spending);
      attempt = await throttle.schedule(price, leave, buying.signal);
    } catch (error) {
      if (buying.signal.aborted) return { end: 'stopped' };
      throw error;
    }
    if (attempt.end === 'on-trial') await attempt.over;
    if (attempt.end === 'other-account' || attempt.end === 'on-trial') continue;
    if (attempt.end !== 'retry') return attempt;
    progress.retries++;
    tried = attempt.decision.tried;
    if (attempt.decision.rate) {
      progress.slowedDown++;
      progress.slowedUntil = steadyTime(clock) + attempt.decision.afterMs;
      throttle.pauseUntil(progress.slowedUntil);
      progress.onChange?.();
    }
    await clock.sleep(attempt.decision.afterMs, buying.signal);
    if (buying.signal.aborted) return { end: 'stopped' };
  }
}

async function attemptCall(
  buying: Buying,
  attempted: Attempted,
  account: string,
  permit: Permit,
  spending: { credits: number },
): Promise<Attempt> {
  const askedAt = buying.parts.times.billing().earliest;
  const order = await claimCall(buying, attempted, account);
  if ('end' in order) {
    permit.refund();
    return order;
  }
  try {
    return await sendCall(buying, order, permit, spending, askedAt);
  } finally {
    order.endTrial();
  }
}

async function sendCall(
  buying: Buying,
  order: Order,
  permit: Permit,
  spending: { credits: number },
  askedAt: number,
): Promise<Attempt> {
  const { job, client, reader, clock, times, progress, random } = buying.parts;
  const { claimed } = order;
  const sentAt = steadyTime(clock);
  progress.callsInFlight++;
  const location = locationOf(order.cell);
  // The signal that stops the run is not given: what was sent may be charged, so its answer is awaited.
  const exchange = await client.send({ call: order.call, location, key: order.key.secret });
  const cameAt = clock.now();
  const [steadily, date] = [steadyTime(clock), dateOf(exchange)];
  const task = { call: order.call, location, keepDetails: job.keepDetails, keys: buying.parts.secrets };
  const reading = hasAnswer(exchange) ? await reader.read(task, exchange.body) : null;
  const headers = exchange.kind === 'response' ? exchange.headers : {};
  const judged = judgeRead(exchange, order.call, reading, cameAt);
  const { verdict, notice } = buying.origin.check(judged, { cell: order.cell, call: order.call, headers });
  // A notice: a cache may have answered, with the time of the answer that it kept.
  if (date !== null && verdict.kind === 'answered' && notice === null) times.learn(date, sentAt, steadily);
  if (verdict.kind === 'answered') buying.slowedDownSince = null;
  else if (verdict.kind === 'rate') buying.slowedDownSince ??= steadily;
  const slowedDownMs = steadily - (buying.slowedDownSince ?? steadily);
  const { tried, policy } = order;
  const decision = verdict.kind === 'answered' ? null : decide({ verdict, tried, policy, random, slowedDownMs });
  const settlement = settlementOf(buying, order, claimed.call, verdict, decision);
  await buying.settle(settlement);
  progress.callsInFlight--;
  progress.calls++;
  if (settlement.charge === 'unknown') {
    progress.creditsUnknown += settlement.credits;
    progress.callsUnknown++;
  } else progress.creditsSpent += settlement.credits;
  spending.credits += settlement.credits;
  permit.refund(Math.max(0, permit.credits - settlement.credits));
  if (verdict.rate.remaining !== null) {
    // What other runs on this store spend, the ledger holds back, call by call. Held back here as well it would be until the
    // minute's end, and whoever had spent least of the one minute would come last in the next.
    const remaining = verdict.rate.remaining + claimed.byOthers;
    buying.parts.throttles.get(order.account.name)!.correct(remaining, verdict.rate.resetMs, permit);
  }
  if (verdict.discrepancy !== null) buying.parts.notice(verdict.discrepancy);
  if (notice !== null) buying.parts.notice(notice);
  if (decision?.next === 'retry') return { end: 'retry', decision };
  return afterCall(buying, order, verdict, decision, askedAt);
}

function afterCall(
  buying: Buying,
  { call, wanted, key, account, policy }: Order,
  verdict: Verdict<ParsedAnswer>,
  decision: Decision | null,
  askedAt: number,
): Attempt {
  const { job, keyring, progress, clock } = buying.parts;
  const takeIn = policy === SECOND_LOOK_POLICY ? observeSecondLook : observe;
  // Places that nobody checked are rejected in numbers; that is no sign of a wrong address.
  const isOfPlace = job.coverage === 'trust' && verdict.kind === 'rejected';
  buying.breaker = takeIn(buying.breaker, call, verdict);
  if (isOfPlace) buying.breaker = { ...buying.breaker, rejections: 0 };
  const scope = scopeOf(call);
  if (decision?.next === 'pause') {
    const message = `The service asks to wait ${Math.ceil(decision.afterMs / 60_000)} minutes (${verdict.message}).`;
    buying.stop({ reason: 'service_down', message, resumeAfter: clock.now() + decision.afterMs });
    return { end: 'stopped' };
  }
  switch (verdict.kind) {
    case 'answered':
      buying.trials.accepted(key, scope);
      if (call.kind !== 'single') buying.learnContents(call.kind, [...verdict.results.keys()]);
      return { end: 'answered', results: verdict.results };
    case 'no_data': {
      buying.trials.accepted(key, scope);
      const reading = { ok: false, reason: 'no_data', message: verdict.message } as const;
      return { end: 'answered', results: new Map(wanted.map(({ topic }) => [topic, reading])) };
    }
    case 'quota':
      buying.cannotAfford(account, 1, 'quota', askedAt);
      return { end: 'other-account' };
    case 'unauthenticated':
      keyring.markInvalid(key);
      buying.trials.refused();
      buying.reprice();
      buying.parts.notice(`The key ${key.fingerprint} is refused (401).`);
      if (keyring.exhausted) {
        buying.stop({ reason: 'keys', message: 'The service accepts none of the keys (401).', resumeAfter: null });
      }
      return { end: 'changed' };
    case 'forbidden':
      keyring.denyScope(key, scope);
      buying.trials.refused();
      buying.reprice();
      buying.parts.notice(
        `The key ${key.fingerprint} lacks the scope ${scope} (403): what is left is planned again without it.`,
      );
      return { end: 'changed' };
    case 'denied': {
      const message = `${verdict.message}. ${DENIALS[verdict.status]!.todo}`;
      buying.stop({ reason: 'denied', message, resumeAfter: null });
      return { end: 'stopped' };
    }
    case 'redirected':
      buying.stop({ reason: 'misdirected', message: verdict.message, resumeAfter: null });
      return { end: 'stopped' };
    default:
      break;
  }
  buying.lastFailure = verdict.message;
  progress.failures++;
  progress.failuresByKind[verdict.kind] = (progress.failuresByKind[verdict.kind] ?? 0) + 1;
  if (isAllRejected(buying.breaker)) {
    const message = `Not one request was answered, and ${ALL_REJECTED_AFTER} were refused. ${verdict.message}.`;
    buying.stop({ reason: 'misdirected', message, resumeAfter: null });
  } else if (isDown(buying.breaker) || job.topics.every((topic) => isTopicDown(buying.breaker, topic))) {
    buying.stop(buying.outage());
  }
  return { end: verdict.kind === 'rejected' ? 'rejected' : 'failed' };
}
