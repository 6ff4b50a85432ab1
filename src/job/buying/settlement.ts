import { columnsOf } from '../../columns/topic-columns.ts';
import { type Answer, noDataAnswer, type TopicFailure } from '../../contract/answer.ts';
import { billingPeriod } from '../../contract/billing-period.ts';
import { type Call, CREDITS, scopeOf } from '../../contract/credits.ts';
import type { TopicSlug } from '../../contract/topics.ts';
import type { Decision } from '../../fetch/retry.ts';
import type { Answered, NoData, Verdict } from '../../fetch/verdict.ts';
import type { Cell } from '../../geo/coordinates.ts';
import type { ClaimRequest, KeptDetails, Settlement } from '../../store/port.ts';
import { areasToSettle } from '../planning/area-plan.ts';
import type { Freshness } from '../planning/freshness.ts';
import type { ParsedAnswer } from '../reading/parsed-answer.ts';
import type { JobAccount } from '../settings/account-settings.ts';
import type { Buying } from './buying.ts';

type Unanswered = Exclude<Verdict<ParsedAnswer>, Answered | NoData>;

/** A time of the service's is believed if it is not farther behind than this, */
const BEHIND_MS = 5 * 60_000;
/** or ahead: a machine whose clock was set back must not buy again when it is right again. */
const AHEAD_MS = 2 * 86_400_000;

/** The call that a settlement is about. */
interface Settled {
  readonly cell: Cell;
  readonly call: Call;
  readonly wanted: ClaimRequest['wanted'];
  readonly account: JobAccount;
}

/**
 * What goes into the ledger and the store after an attempt: the charge, the answers, and the failures where nothing more
 * will be tried (`decision` says whether it will).
 *
 * @param number the ledger's number of the call
 */
export function settlementOf(
  buying: Buying,
  { call, cell, wanted, account }: Settled,
  number: number,
  verdict: Verdict<ParsedAnswer>,
  decision: Decision | null,
): Settlement {
  const { job, times, freshness } = buying.parts;
  const now = times.now();
  const credits = verdict.charged === 'unknown' ? CREDITS[call.kind] : verdict.charged;
  const base = {
    call: number,
    charge: verdict.charged === 'unknown' ? 'unknown' : verdict.charged > 0 ? 'charged' : 'free',
    credits,
    period: billingPeriod(account.anniversaryDay, times.billing().latest),
    outcome: [verdict.kind, verdict.kind === 'answered' ? null : verdict.message, verdict.discrepancy]
      .filter((part) => part !== null)
      .join(': '),
    ...(verdict.requestId === null ? {} : { requestId: verdict.requestId }),
  } as const;
  if (verdict.kind === 'no_data') {
    const answers = wanted.map(({ topic }) => noDataOf(topic, now));
    return { ...base, ...kept(buying, cell, answers), sample: verdict.sample, failures: [] };
  }
  if (verdict.kind !== 'answered') {
    const topics = wanted.map(({ topic }) => topic);
    return {
      ...base,
      answers: [],
      failures: decision?.next === 'give-up' ? failuresOf(verdict, topics, call, now) : [],
      ...(verdict.kind === 'quota' ? { exhausted: true } : {}),
      // A page is a firewall's word: good for this run, no reason to leave the scope alone for a day.
      ...(verdict.kind === 'forbidden' && !verdict.isPage ? { refused: scopeOf(call) } : {}),
    };
  }
  const saidAt = verdict.timestamp;
  const asOf = saidAt !== null && saidAt > now - BEHIND_MS && saidAt < now + AHEAD_MS ? saidAt : now;
  const answers: Answer[] = [];
  const details: KeptDetails[] = [];
  const failures: (TopicFailure & { topic: TopicSlug })[] = [];
  for (const [topic, reading] of verdict.results) {
    if (reading.ok) {
      const { fields, details: packed } = reading.result;
      // By a clock that is behind, an answer just bought could be older than the job lets it be: it would be bought for ever.
      const at = asOf >= freshness.freshSince(topic) ? asOf : now;
      answers.push({ topic, asOf: at, fields });
      if (packed !== undefined) details.push({ topic, asOf: at, packed });
    } else if (reading.reason === 'no_data') {
      answers.push(noDataOf(topic, asOf >= freshness.freshSince(topic) ? asOf : now));
      if (job.keepDetails) details.push({ topic, asOf, packed: null });
    } else failures.push({ topic, reason: 'unavailable', note: reading.message, at: now });
  }
  return {
    ...base,
    ...kept(buying, cell, answers),
    sample: verdict.sample,
    failures,
    ...(details.length === 0 ? {} : { details }),
    ...(call.kind === 'single' ? {} : { contents: { kind: call.kind, topics: [...verdict.results.keys()] } }),
  };
}

/** The answers of a cell, and for its areas what of them holds there. */
function kept({ parts }: Buying, cell: Cell, answers: readonly Answer[]): Pick<Settlement, 'answers' | 'areas'> {
  const { job, places, freshness } = parts;
  if (job.areas === null) return { answers };
  const number = places.cells.numberOf(cell);
  return { answers, areas: areasToSettle(places.areas, number, answers, comparableSince(freshness)) };
}

function noDataOf(topic: TopicSlug, asOf: number): Answer {
  return noDataAnswer(topic, asOf, columnsOf(topic).length);
}

/** Two answers about one area are compared when they were said within this time; a release of the index lies between
 * answers that are farther apart, sooner or later. */
const COMPARABLE_MS = 30 * 86_400_000;

function comparableSince({ startedAt }: Freshness): number {
  return startedAt - COMPARABLE_MS;
}

function failuresOf(
  verdict: Unanswered,
  topics: readonly TopicSlug[],
  call: Call,
  at: number,
): (TopicFailure & { topic: TopicSlug })[] {
  const because = (reason: TopicFailure['reason'], note: string) =>
    topics.map((topic) => ({ topic, reason, note, at }));
  switch (verdict.kind) {
    case 'rejected':
      return because('rejected', verdict.message);
    case 'upstream':
      // A 502 on a single topic speaks of that topic; on a bundle, of the service.
      return call.kind === 'single' && verdict.status === 502
        ? because('unavailable', 'unavailable at the service')
        : because('failed', `the service failed (${verdict.message})`);
    case 'transport':
    case 'malformed':
    case 'unexplained':
      return because('failed', verdict.message);
    default:
      return [];
  }
}
