import { steadyTime } from '../../clock.ts';
import { CREDITS, scopeOf } from '../../contract/credits.ts';
import type { TopicSlug } from '../../contract/topics.ts';
import type { TopicReading } from '../../fetch/envelope.ts';
import { dateOf } from '../../fetch/rate-headers.ts';
import { NOTHING_TRIED, type Tried } from '../../fetch/retry.ts';
import type { Permit } from '../../fetch/throttle.ts';
import { verdictOf } from '../../fetch/verdict-of.ts';
import { locationOf } from '../../geo/coordinates.ts';
import type { Buying } from './buying.ts';
import { type CallRequest, type ClaimedCall, type ClaimResult, claimCall, type OfKind } from './claim-call.ts';
import { type Consequence, consequenceOf, type NextStep } from './consequence.ts';
import { type ParsedAnswer, parsedAnswer } from './parsed-answer.ts';
import { record } from './progress.ts';
import { settlementOf } from './settlement.ts';
import { stopFor } from './stop.ts';

/**
 * How a call ended.
 * - `answered`: what was said of each topic. `given_up`: after retries, and recorded; `rejected`: the location is.
 * - `replan`: another run answered some of it, or a key or scope was refused: the cell's calls are planned again.
 * - `claimed_elsewhere`: another run is at work at this cell. `stopped`: nothing was bought, the run ends.
 */
export type CallEnd =
  | { readonly kind: 'answered'; readonly results: ReadonlyMap<TopicSlug, TopicReading<ParsedAnswer>> }
  | OfKind<'given_up' | 'rejected' | 'replan' | 'claimed_elsewhere' | 'stopped'>;

/** How one attempt ended, and the credits that it may have cost. */
type Attempt = { readonly credits: number } & (
  | CallEnd
  | Exclude<ClaimResult, { kind: 'granted' | 'answered_elsewhere' }>
  | ({ readonly kind: 'retry' } & Omit<Extract<NextStep, { step: 'retry' }>, 'step'>)
);

/**
 * Makes one call at one cell, with its retries: claim, send, interpret, settle. Every attempt is a row of its own in the ledger.
 *
 * The account is chosen before the throttle, since each has its own; the key when the throttle lets the call go. With keys chosen
 * before it, each waiting call was refused once: 128 requests and 244 s for one invalid key.
 *
 * @returns how it ended, and the credits that all attempts may have cost
 */
export async function buyCall(
  buying: Buying,
  request: CallRequest,
): Promise<{ readonly end: CallEnd; readonly credits: number }> {
  const { service, effects, progress } = buying.context;
  const { clock } = effects;
  let tried = NOTHING_TRIED;
  let credits = 0;
  const ended = (kind: 'replan' | 'stopped') => ({ end: { kind }, credits });
  for (;;) {
    const payer = buying.payerOf(request.call);
    if (payer === null) return ended(service.apiKeys.keyFor(scopeOf(request.call)) === null ? 'replan' : 'stopped');
    const { name: account } = payer.account;
    const throttle = service.throttles.get(account)!;
    let attempt: Attempt;
    try {
      attempt = await throttle.schedule(
        CREDITS[request.call.kind],
        (permit) => attemptCall(buying, request, tried, account, permit),
        buying.signal,
      );
    } catch (error) {
      if (buying.signal.aborted) return ended('stopped');
      throw error;
    }
    credits += attempt.credits;
    if (attempt.kind === 'other_account') continue;
    if (attempt.kind === 'probing') {
      await attempt.over;
      continue;
    }
    if (attempt.kind !== 'retry') return { end: attempt, credits };
    record(progress, 'retry');
    tried = attempt.tried;
    if (attempt.rate) {
      const until = steadyTime(clock) + attempt.afterMs;
      throttle.pauseUntil(until);
      record(progress, 'slowedDown', until);
    }
    await clock.sleep(attempt.afterMs, buying.signal);
    if (buying.signal.aborted) return ended('stopped');
  }
}

async function attemptCall(
  buying: Buying,
  request: CallRequest,
  tried: Tried,
  account: string,
  permit: Permit,
): Promise<Attempt> {
  const result = await claimCall(buying, request, tried, account);
  if (result.kind === 'granted') {
    using claimed = result.claimed;
    return await sendCall(buying, claimed, permit);
  }
  permit.refund();
  if (result.kind === 'answered_elsewhere') return { kind: 'replan', credits: 0 };
  return { ...result, credits: 0 };
}

async function sendCall(buying: Buying, claimed: ClaimedCall, permit: Permit): Promise<Attempt> {
  const { job, service, effects, progress } = buying.context;
  const { clock, times, random } = effects;
  const { call, wanted, work, tried, policy } = claimed;
  const location = locationOf(work.cell);
  const sentAt = steadyTime(clock);
  record(progress, 'callSent');
  // Without the signal that stops the run: what was sent may be charged, so its answer is awaited.
  const exchange = await service.client.send({ call, location, key: claimed.key.secret });
  const [cameAt, at, date] = [clock.now(), steadyTime(clock), dateOf(exchange)];
  const headers = exchange.kind === 'response' ? exchange.headers : {};
  const said = verdictOf(exchange, call, location, cameAt, (topic, result) =>
    parsedAnswer(topic, result, location, job.details === 'keep'),
  );
  const { verdict, notice } = buying.origin.check(said, { cell: work.cell, call, headers });
  const consequence = consequenceOf(verdict, {
    ...{ call, tried, policy, at, random },
    topics: wanted.map(({ topic }) => topic),
    isUnchecked: job.coverage === 'trust',
    slowedDownSince: buying.slowedDownSince,
  });
  buying.slowedDownSince = consequence.slowedDownSince;
  // With a notice, a cache may have answered, with the date of the answer that it kept.
  if (date !== null && consequence.answer?.hasContents && notice === null) times.learn(date, sentAt, at);
  await buying.settle(settlementOf(buying.context, claimed, consequence));
  const { credits } = consequence.ledger;
  record(progress, 'callSettled', consequence.ledger);
  permit.refund(Math.max(0, permit.credits - credits));
  if (verdict.rate.remaining !== null) {
    // The ledger subtracts what other runs on this store spend, call by call. Subtracted here too, it would be missing until
    // the minute's end, and the run that spent least in one minute would be last in the next.
    const remaining = verdict.rate.remaining + claimed.byOthers;
    service.throttles.get(claimed.account.name)!.correct(remaining, verdict.rate.resetMs, permit);
  }
  for (const message of [verdict.discrepancy, notice]) if (message !== null) effects.notice(message);
  return { ...carryOut(buying, claimed, consequence), credits };
}

/** Carries out what follows from an attempt, apart from what is stored. */
function carryOut(buying: Buying, claimed: ClaimedCall, consequence: Consequence) {
  const { next, answer, health } = consequence;
  if (next.step === 'retry') return { ...next, kind: 'retry' } as const;
  buying.recordHealth(health);
  learnOfKey(buying, claimed, consequence.key);
  switch (next.step) {
    case 'use': {
      const { call } = claimed;
      if (call.kind !== 'single' && answer!.hasContents) buying.learnContents(call.kind, [...answer!.results.keys()]);
      return { kind: 'answered', results: answer!.results } as const;
    }
    case 'other_account':
      buying.cannotAfford(claimed.account, 1, 'quota', claimed.claimedAt);
      return { kind: 'other_account' } as const;
    case 'replan':
      return { kind: 'replan' } as const;
    case 'give_up':
      record(buying.context.progress, 'failure', next.kind);
      buying.recordFailure(next.message);
      return { kind: next.isRejected ? 'rejected' : 'given_up' } as const;
    case 'stop': {
      const resumeAfter = next.afterMs === null ? null : buying.context.effects.clock.now() + next.afterMs;
      buying.stop(stopFor(next.reason, next.message, resumeAfter));
      return { kind: 'stopped' } as const;
    }
  }
}

function learnOfKey(buying: Buying, { key, call }: ClaimedCall, lesson: Consequence['key']): void {
  const { service, effects } = buying.context;
  const scope = scopeOf(call);
  if (lesson === 'accepted') buying.probes.accepted(key, scope);
  if (lesson === null || lesson === 'accepted') return;
  buying.probes.refused();
  if (lesson === 'invalid') {
    service.apiKeys.markInvalid(key);
    effects.notice(`The key ${key.fingerprint} is refused (401).`);
    if (service.apiKeys.exhausted) buying.stop(stopFor('keys', 'The service accepts none of the keys (401).'));
  } else {
    service.apiKeys.denyScope(key, scope);
    effects.notice(
      `The key ${key.fingerprint} lacks the scope ${scope} (403): what is left is planned again without it.`,
    );
  }
  buying.reprice();
}
