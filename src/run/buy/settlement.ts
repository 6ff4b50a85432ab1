import { columnsOf } from '../../columns/topic-columns.ts';
import { type Answer, noDataAnswer } from '../../contract/answer.ts';
import { scopeOf } from '../../contract/credits.ts';
import type { ClaimRequest, Settlement } from '../../store/ledger/port.ts';
import { areasToSettle } from '../plan/area-plan.ts';
import { COMPARABLE_MS } from '../plan/area-verification.ts';
import type { Freshness } from '../plan/freshness.ts';
import { PROGRAM_SINCE } from '../run-times.ts';
import type { BuyingContext, CellWork } from './buying.ts';
import type { Consequence, ReceivedAnswer } from './consequence.ts';

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
  context: Pick<BuyingContext, 'job' | 'plan' | 'freshness' | 'effects'>,
  { call, wanted, number, date, work, charged }: GrantedCall,
  { ledger, answer, failure, key }: Consequence,
): Settlement {
  const { job, plan, freshness, effects } = context;
  const now = effects.times.now();
  const kept = answer === null ? { answers: [], failures: [] } : keepAnswers(answer, freshness, now, date);
  const failures = failure === null ? [] : wanted.map(({ topic }) => ({ topic, ...failure, at: now }));
  const comparableSince = freshness.startedAt - COMPARABLE_MS;
  return {
    ...ledger,
    call: number,
    period: effects.times.periods().period,
    ...kept,
    failures: [...kept.failures, ...failures],
    sample: answer?.sample,
    areas:
      job.areas === null || answer === null
        ? undefined
        : areasToSettle(plan.scan.areas, work.number, kept.answers, comparableSince, plan.areas),
    contents:
      answer?.hasContents && call.kind !== 'single'
        ? { kind: call.kind, topics: [...answer.results.keys()] }
        : undefined,
    price: priceLearned(ledger, charged, call, answer !== null || failure?.reason === 'rejected'),
    refused: key === 'scope_denied' ? scopeOf(call) : undefined,
  };
}

/** The price to keep: what the call cost, where the store has none or another. A call that was answered free of charge shows none, but the
 * next of its kind need not go out alone. */
function priceLearned(
  { charge, credits }: Consequence['ledger'],
  charged: number | null,
  { kind }: ClaimRequest['call'],
  isAnswered: boolean,
): Settlement['price'] {
  if (charge === 'charged') return credits === charged ? undefined : { kind, credits };
  return charge === 'free' && isAnswered && charged === null ? { kind, credits: null } : undefined;
}

function keepAnswers(
  { results, timestamp }: ReceivedAnswer,
  freshness: Freshness,
  now: number,
  date: number | null,
): Pick<Settlement, 'answers' | 'failures'> {
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
      answers.push({ topic, asOf, fields: reading.result });
    } else if (reading.reason === 'no_data') {
      answers.push(noDataAnswer(topic, asOf, columnsOf(topic).length));
    } else failures.push({ topic, reason: 'unavailable', note: reading.message, at: now });
  }
  return { answers, failures };
}
