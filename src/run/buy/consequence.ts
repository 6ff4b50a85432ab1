import type { TopicReading } from '../../client/envelope.ts';
import { isPaidFailure, MOST_COUNTED, type Verdict } from '../../client/verdict.ts';
import { columnsOf } from '../../columns/topic-columns.ts';
import { type Answer, noDataAnswer, type TopicFailure } from '../../contract/answer.ts';
import { type Call, contractPrice, priceItemOf, scopeOf } from '../../contract/credits.ts';
import type { TopicSlug } from '../../contract/topics.ts';
import type { ClaimRequest, Settlement } from '../../store/ledger/port.ts';
import type { Freshness } from '../frame/freshness.ts';
import { PROGRAM_SINCE } from '../frame/run-times.ts';
import { type Stop, unbelievableCost } from '../frame/stop.ts';
import type { BuyingContext, CellWork } from './buying.ts';
import {
  decideNextStep,
  type NextStep,
  type Standing,
  type Tried,
  unansweredSince,
} from './next-step.ts';
import type { HealthSignal } from './run-health.ts';

/** The call of a verdict, and the earlier attempts. */
export interface TriedCall {
  readonly call: Call;
  /** The credits that it was expected to cost. */
  readonly price: number;
  readonly topics: readonly TopicSlug[];
  readonly tried: Tried;
  readonly standing: Standing;
  /** The steady time since which the service has answered none of the run's calls; null while it answers. */
  readonly unansweredSince: number | null;
  readonly at: number;
  readonly random: () => number;
}

/** The consequence of a verdict, as data: decided only here, carried out by `buy-call.ts`. */
export interface Consequence {
  readonly ledger: LedgerEntry;
  /** The answers to store; null for a call that was not answered. */
  readonly answer: ReceivedAnswer | null;
  /** The failure to store for each of the call's topics; null if another attempt follows, or nothing is known about the topics. */
  readonly failure: Pick<TopicFailure, 'reason' | 'note'> | null;
  /** The new knowledge about the key. A scope that the refusal does not name is denied for this run only. */
  readonly key: 'accepted' | 'invalid' | 'scope_denied' | 'scope_denied_in_this_run' | null;
  /** The status and the service's own words of a refusal; empty for none. */
  readonly refusal: string;
  readonly health: HealthSignal;
  readonly unansweredSince: number | null;
  readonly next: NextStep;
  /** The highest cost that the service states; 0 for none. */
  readonly stated: number;
  /** Ends the run, whatever is next for this call: its cost cannot be believed. */
  readonly alarm: Stop | null;
}

/** How the ledger counts an attempt. */
export type LedgerEntry = Pick<
  Settlement,
  'charge' | 'credits' | 'outcome' | 'requestId' | 'exhausted'
>;

interface ReceivedAnswer {
  readonly results: ReadonlyMap<TopicSlug, TopicReading>;
  /** The service's time of the answer; null if it gives none. */
  readonly timestamp: number | null;
  readonly sample: boolean;
  /** Whether the answer's time may set the run's clocks, and its topics are the bundle's content: not if the service only said "no data". */
  readonly hasContents: boolean;
}

/** Decides the consequence of a call's verdict. */
export function decideConsequence(verdict: Verdict, context: TriedCall): Consequence {
  const { call, price, topics, tried, standing, random, at } = context;
  const since = unansweredSince(verdict, context.unansweredSince, at);
  const unansweredMs = at - (since ?? at);
  const next = decideNextStep({ verdict, tried, standing, random, unansweredMs });
  return {
    ledger: ledgerEntry(verdict, price),
    answer: answerOf(verdict, topics),
    failure: next.step === 'give_up' ? failureOf(verdict, call) : null,
    key: keyLesson(verdict),
    refusal: 'reason' in verdict ? verdict.reason : '',
    health: healthOf(verdict, context),
    unansweredSince: since,
    next,
    stated: verdict.stated,
    alarm: verdict.unbelievable === null ? null : unbelievableCost(verdict.unbelievable),
  };
}

/** What the ledger records of a call. An unknown charge is booked with the price, or with the higher cost that the service states, so that no
 * sum is too low. */
export function ledgerEntry(verdict: Verdict, price: number): LedgerEntry {
  const { kind, charged, stated, message, discrepancy, requestId } = verdict;
  const unknown = Math.max(price, Math.min(stated, MOST_COUNTED));
  const parts = [kind, kind === 'answered' ? null : message, discrepancy];
  return {
    charge: charged === 'unknown' ? 'unknown' : charged > 0 ? 'charged' : 'free',
    credits: charged === 'unknown' ? unknown : charged,
    outcome: parts.filter((part) => part !== null).join(': '),
    requestId: requestId ?? undefined,
    exhausted: kind === 'quota',
  };
}

function answerOf(verdict: Verdict, topics: readonly TopicSlug[]): ReceivedAnswer | null {
  if (verdict.kind === 'answered') {
    const { results, timestamp, sample } = verdict;
    return { results, timestamp, sample, hasContents: true };
  }
  if (verdict.kind !== 'no_data') return null;
  const none = { ok: false, reason: 'no_data', message: verdict.message } as const;
  const results = new Map(topics.map((topic) => [topic, none]));
  return { results, timestamp: null, sample: verdict.sample, hasContents: false };
}

function failureOf(verdict: Verdict, call: Call): Consequence['failure'] {
  switch (verdict.kind) {
    case 'rejected':
      return { reason: 'rejected', note: verdict.message };
    case 'upstream':
      // A 502 on a single concerns its topic; on a bundle, the service.
      return call.kind === 'single' && verdict.status === 502
        ? { reason: 'unavailable', note: 'unavailable at the service' }
        : { reason: 'failed', note: `the service failed (${verdict.message})` };
    case 'transport':
    case 'malformed':
    case 'unexplained':
      return { reason: 'failed', note: verdict.message };
    default:
      return isPaidFailure(verdict) ? { reason: 'failed', note: verdict.message } : null;
  }
}

function keyLesson(verdict: Verdict): Consequence['key'] {
  switch (verdict.kind) {
    case 'answered':
    case 'no_data':
      return 'accepted';
    case 'unauthenticated':
      return 'invalid';
    case 'forbidden':
      // Words of a rate, or the page of a firewall: the scope is not avoided for a day.
      return verdict.isScopeNamed ? 'scope_denied' : 'scope_denied_in_this_run';
    default:
      return null;
  }
}

function healthOf(verdict: Verdict, { call, standing }: TriedCall): HealthSignal {
  const topic = (isAvailable: boolean) =>
    call.kind === 'single' ? { slug: call.topic, isAvailable } : null;
  const signal = (
    service: HealthSignal['service'],
    about: HealthSignal['topic'] = null,
    isPaid = false,
  ) => {
    return { service, topic: about, isPaid };
  };
  if (isPaidFailure(verdict)) return signal('paid_error', topic(false), true);
  switch (verdict.kind) {
    case 'answered': {
      const reading = call.kind === 'single' ? verdict.results.get(call.topic) : undefined;
      return signal(
        'answered',
        topic(reading === undefined || reading.ok || reading.reason === 'no_data'),
        true,
      );
    }
    case 'no_data':
      return signal('answered', topic(true));
    case 'upstream':
      // The topic was unavailable before, so this result says nothing new about the service.
      if (standing === 'topic_unavailable') return signal('no_news', topic(false));
      return signal(call.kind === 'single' ? 'topic_failed' : 'failed', topic(false));
    case 'transport':
      return signal(verdict.code === 'CLOSED' ? 'no_news' : 'failed');
    case 'malformed':
      return signal('failed', topic(false), true);
    case 'rejected':
    case 'unexplained':
      return signal('refused');
    default:
      return signal('responsive');
  }
}

/** A time in the service's answer is used if it is at most this much earlier than ours, */
const BEHIND_MS = 5 * 60_000;
/** or this much later: a machine whose clock was set back must not buy again after its clock is corrected. */
const AHEAD_MS = 2 * 86_400_000;

/** The parts of a granted call that its settlement needs. */
interface GrantedCall extends Pick<ClaimRequest, 'call' | 'wanted'> {
  /** The price by the store; null where it has none. */
  readonly charged: number | null;
  readonly number: number;
  readonly date: number | null;
  readonly work: Pick<CellWork, 'number'>;
}

/** The data written to the ledger and the store after an attempt: the charge, the answers, and the failures if no attempt follows. */
export function makeSettlement(
  context: Pick<BuyingContext, 'plan' | 'freshness' | 'effects'>,
  { call, wanted, number, date, work, charged }: GrantedCall,
  { ledger, answer, failure, key, stated, alarm, refusal }: Consequence,
): Settlement {
  const { plan, freshness, effects } = context;
  const now = effects.times.now();
  const kept =
    answer === null ? { answers: [], failures: [] } : keepAnswers(answer, freshness, now, date);
  const failures =
    failure === null ? [] : wanted.map(({ topic }) => ({ topic, ...failure, at: now }));
  return {
    ...ledger,
    call: number,
    period: effects.times.periods().period,
    ...kept,
    failures: [...kept.failures, ...failures],
    sample: answer?.sample,
    areas: answer === null ? undefined : plan.areas?.listAnswers(work.number, kept.answers),
    contents:
      answer?.hasContents && call.kind !== 'single'
        ? { kind: call.kind, topics: [...answer.results.keys()] }
        : undefined,
    // A cost that cannot be believed is no price.
    price:
      alarm === null
        ? answer !== null || failure?.reason === 'rejected'
          ? priceOfAnswer(ledger, charged, call)
          : risenPrice(stated, charged, call)
        : undefined,
    refused: key === 'scope_denied' ? { scope: scopeOf(call), reason: refusal } : undefined,
  };
}

/** The price to keep after an answer: what the call cost, where the store has none that holds, or another. A free answer shows none, but the
 * next need not go alone. */
function priceOfAnswer(
  { charge, credits }: Consequence['ledger'],
  charged: number | null,
  call: ClaimRequest['call'],
): Settlement['price'] {
  const item = priceItemOf(call);
  if (charge === 'charged') return credits === charged ? undefined : { item, credits };
  return charge === 'free' && charged === null ? { item, credits: null } : undefined;
}

/** The price to keep after a call without an answer, whether it was charged or only may have been: a higher one alone. After any other the next
 * call goes alone again. */
function risenPrice(
  stated: number,
  charged: number | null,
  call: ClaimRequest['call'],
): Settlement['price'] {
  return stated > (charged ?? contractPrice(call))
    ? { item: priceItemOf(call), credits: stated }
    : undefined;
}

function keepAnswers(
  { results, timestamp }: ReceivedAnswer,
  freshness: Freshness,
  now: number,
  date: number | null,
) {
  const isNear = timestamp !== null && timestamp >= now - BEHIND_MS && timestamp <= now + AHEAD_MS;
  // Where this machine's clock is ahead, or was never set, the service's `Date` agrees with its answer.
  const isAgreed = timestamp !== null && date !== null && Math.abs(timestamp - date) <= BEHIND_MS;
  const isBelieved = isNear || (isAgreed && (timestamp < now || now < PROGRAM_SINCE));
  const stated = isBelieved ? timestamp : now;
  const answers: Answer[] = [];
  const failures: Settlement['failures'][number][] = [];
  for (const [topic, reading] of results) {
    // By this clock, a new answer could be older than the job allows, or soon be, and would be bought again and again.
    const since = freshness.freshSince(topic);
    const asOf = stated >= (isNear ? since : (since + now) / 2) ? stated : now;
    if (reading.ok) {
      answers.push({
        topic,
        asOf,
        fields: reading.result,
        ...(reading.stated && { stated: reading.stated }),
      });
    } else if (reading.reason === 'no_data') {
      answers.push(noDataAnswer(topic, asOf, columnsOf(topic).length));
    } else failures.push({ topic, reason: 'unavailable', note: reading.message, at: now });
  }
  return { answers, failures };
}
