import type { Clock } from '../../clock.ts';
import { type Call, CREDITS, scopeOf } from '../../contract/credits.ts';
import { isTopicSlug, NATURAL_SLUGS, TOPIC_SLUGS, type TopicSlug } from '../../contract/topics.ts';
import { type Area, createAreaFinder } from '../../data/tables/area-finder.ts';
import type { ServiceDatabase } from '../../data/tables/data-database.ts';
import { createHeldVersion } from '../../data/tables/data-version.ts';
import { createSampleWatch } from '../../data/tables/describe-data.ts';
import { isLack } from '../../data/topics/result-text.ts';
import { type Radii, radiiWith } from '../../data/topics/search-radii.ts';
import { type Answers, createTopicAnswers, type RehearsedFailures } from '../../data/topics/topic-answers.ts';
import type { Location } from '../../geo/coordinates.ts';
import type { ServiceAccount } from '../accounts/accounts.ts';
import { type Authenticate, createAuthentication } from '../accounts/authenticate.ts';
import {
  type Charge,
  type Chargeable,
  type ChargeRefusal,
  type Charges,
  createCharges,
  type LastCall,
  type RateWindow,
} from '../accounts/charges.ts';
import { createKeyGuesses } from '../accounts/key-guesses.ts';
import type { Settlements } from '../accounts/settlements.ts';
import type { DeliveryTracker } from './delivery-tracker.ts';
import { locationOfQuery } from './query-location.ts';
import { type FailureReply, metaOf, type PaidAnswer, successText, timestampOf } from './replies.ts';

/** What a service may do otherwise than by default. */
export interface AnswerOptions {
  /** How the minute is counted. Default: sliding. */
  readonly rateWindow?: RateWindow;
  /** For rehearsing a provider that serves a call beyond the last credits. Default: refused. */
  readonly lastCall?: LastCall;
  readonly failures?: RehearsedFailures;
  /** The slugs of the standard bundle, as the contract leaves them open. Default: all 18 natural topics. */
  readonly standardTopics?: readonly TopicSlug[];
  /** Search radii in metres that differ from the default. */
  readonly radii?: Partial<Radii>;
}

/** A request, as far as it matters for its answer. */
export interface AskedCall {
  readonly key: string | undefined;
  /** The address it comes from. */
  readonly from: string;
  /** Which call the path names; a topic that the service does not have is given as text. */
  readonly asked: Call | { readonly kind: 'single'; readonly topic: string };
  readonly query: Readonly<Record<string, unknown>>;
  readonly requestId: string;
}

/**
 * Makes the function that answers calls and charges them. The order of the questions decides which failure is told: who
 * asks, what, may they, where, is it covered, does the quota and the minute allow it, is there an answer. The charge comes
 * last, when nothing but the network can fail. Calls that are given together are read and charged together: to begin and
 * commit a transaction takes longer than to answer.
 */
export function createCallAnswers(
  database: ServiceDatabase,
  clock: Clock,
  settlements: Settlements,
  tracker: DeliveryTracker,
  instance: number,
  options: AnswerOptions,
): (asked: readonly AskedCall[]) => (PaidAnswer | FailureReply)[] {
  const version = createHeldVersion(database);
  const beginAuthentication = createAuthentication(database);
  const takeGuess = createKeyGuesses();
  const areaAt = createAreaFinder(database, version.held);
  const hasAreas = database.prepare<[], number>("SELECT 1 FROM datasets WHERE name = 'areas'").pluck();
  const answer = createTopicAnswers(database, radiiWith(options.radii ?? {}), options.failures, version.held);
  const isSample = createSampleWatch(database, version.held);
  const charges: Charges = createCharges(database, instance, options.rateWindow ?? 'sliding', options.lastCall);
  const bundles = { standard: options.standardTopics ?? NATURAL_SLUGS, enterprise: TOPIC_SLUGS };

  function placeOf(query: AskedCall['query']): { location: Location; area: Area } | FailureReply {
    const parameters = locationOfQuery(query);
    if ('problem' in parameters) return { failure: 'INVALID_PARAMETER', message: parameters.problem };
    const area = areaAt(parameters.location);
    if (area !== null) return { location: parameters.location, area };
    // Without areas nobody can tell what lies in the US.
    return hasAreas.get() === undefined ? UPSTREAM_UNAVAILABLE : OUTSIDE_COVERAGE;
  }

  function readCall(
    { key, asked, query, requestId }: AskedCall,
    now: number,
    authenticate: Authenticate,
    check: (account: ServiceAccount, call: Call) => ChargeRefusal | null,
  ): ReadAnswer | ChargeRefusal | FailureReply {
    const caller = authenticate(key, now);
    if (caller === 'unknown') return UNKNOWN_KEY;
    if (caller === 'invalid') return UNAUTHENTICATED;
    if (!isKnown(asked)) return { failure: 'UNKNOWN_TOPIC', message: `There is no topic "${asked.topic}"` };
    const scope = scopeOf(asked);
    if (!caller.may(scope)) return { failure: 'SCOPE_REQUIRED', message: `The key lacks the scope "${scope}"` };
    const place = placeOf(query);
    if ('failure' in place) return place;
    const refusal = check(caller.account, asked);
    if (refusal !== null) return refusal;
    const topics = asked.kind === 'single' ? [asked.topic] : bundles[asked.kind];
    const answers = answer(topics, place.location, place.area, now);
    // A bundle is charged in full with some topics failed; with none answered it is no answer.
    const results = [...answers.values()];
    const sample = isSample();
    if (results.every(isLack)) return results.includes('unavailable') ? UPSTREAM_UNAVAILABLE : { ...NO_DATA, sample };
    return { caller, call: asked, requestId, location: place.location, answers, sample };
  }

  /** All that is read for calls: a data set that is replaced meanwhile is seen whole, as it was or as it is. */
  function readWithin(calls: readonly AskedCall[], now: number): (ReadAnswer | ChargeRefusal | FailureReply)[] {
    version.read();
    const authenticate = beginAuthentication();
    const check = charges.checks(now);
    return calls.map((asked) => readCall(asked, now, authenticate, check));
  }

  function readAll(calls: readonly AskedCall[], now: number): (ReadAnswer | FailureReply)[] {
    let read = readWithin(calls, now);
    // What a crashed instance left pending must not stand in the way of a call.
    if (read.some(isRefusal) && settlements.releaseGone(instance)) read = readWithin(calls, now);
    return read.map((found) => (isRefusal(found) ? failureOf(found) : found));
  }

  /** What has ended meanwhile is settled before anything is charged: what is taken back is there again. */
  function chargeAll(
    read: readonly (ReadAnswer | FailureReply)[],
    now: number,
    settle: () => void,
  ): (Charge | ChargeRefusal)[] {
    const answered = read.filter((found): found is ReadAnswer => !('failure' in found));
    // Nothing is written for calls that were refused.
    if (answered.length === 0) return [];
    settle();
    return charges.chargeAll(answered, now);
  }

  const readTogether = database.transaction(readAll);
  const chargeTogether = database.transaction(chargeAll);
  const readAndCharge = database.transaction((calls: readonly AskedCall[], now: number, settle: () => void) => {
    const read = readAll(calls, now);
    return { read, charged: chargeAll(read, now, settle) };
  });

  /** In one transaction, because to begin and commit another takes as long as to read. */
  function answerSmall(calls: readonly AskedCall[], now: number): AnsweredCall {
    return onNewest((mode) => tracker.settleBy((settle) => readAndCharge[mode](calls, now, settle)));
  }

  /** In two, because another process that writes should not wait for what takes its time to read. */
  function answerLarge(calls: readonly AskedCall[], now: number): AnsweredCall {
    const read = onNewest((mode) => readTogether[mode](calls, now));
    return { read, charged: tracker.settleBy((settle) => chargeTogether.immediate(read, now, settle)) };
  }

  function paid(answered: ReadAnswer, charge: Charge | ChargeRefusal, timestamp: string): PaidAnswer | FailureReply {
    if ('failure' in charge) return failureOf(charge);
    const { call, requestId, location, answers, sample } = answered;
    const meta = metaOf(requestId, timestamp, CREDITS[call.kind], sample);
    return { body: successText(call, location, answers, meta), charge, sample };
  }

  /** A key that nobody has may be a guess, and guesses are counted: a key that works is served all the same. */
  function guessed(from: string, now: number): FailureReply {
    const retryAfter = takeGuess(from, now);
    return retryAfter === null ? UNKNOWN_KEY : { ...TOO_MANY_GUESSES, retryAfter };
  }

  return (calls) => {
    const now = clock.now();
    const { read, charged } = calls.some(isLarge) ? answerLarge(calls, now) : answerSmall(calls, now);
    const timestamp = timestampOf(now);
    let next = 0;
    return read.map((found, index) => {
      if (found === UNKNOWN_KEY) return guessed(calls[index]!.from, now);
      return 'failure' in found ? found : paid(found, charged[next++]!, timestamp);
    });
  };
}

/** Whether a call's answer takes so long to make that it is made by itself. */
export function isLarge({ asked }: AskedCall): boolean {
  return asked.kind === 'enterprise';
}

/** Runs a transaction that reads and may then write. It begins as a reader, because that keeps nobody from writing. Where
 * another process writes or has written meanwhile, SQLite refuses the first write at once (SQLITE_BUSY,
 * SQLITE_BUSY_SNAPSHOT) and does not wait: a reader that waits for a writer could wait for ever. It is then run again as a
 * writer, and SQLite waits for the lock up to the busy time-out. */
function onNewest<Result>(transaction: (mode: 'deferred' | 'immediate') => Result): Result {
  try {
    return transaction('deferred');
  } catch (error) {
    if (!isBusy(error)) throw error;
    return transaction('immediate');
  }
}

function isBusy(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && code.startsWith('SQLITE_BUSY');
}

/** What was found for each call, and in the same order what became of the charges of those that are answered. */
interface AnsweredCall {
  readonly read: readonly (ReadAnswer | FailureReply)[];
  readonly charged: readonly (Charge | ChargeRefusal)[];
}

/** An answer that was read and is not charged yet. */
interface ReadAnswer extends Chargeable {
  readonly location: Location;
  readonly answers: Answers;
  readonly sample: boolean;
}

const UNAUTHENTICATED: FailureReply = {
  failure: 'UNAUTHENTICATED',
  message: 'The X-API-Key header must carry a key that is valid',
};
const UNKNOWN_KEY: FailureReply = { ...UNAUTHENTICATED };
const TOO_MANY_GUESSES: FailureReply = {
  failure: 'RATE_LIMITED',
  message: 'Too many unknown keys came from this address',
};
const OUTSIDE_COVERAGE: FailureReply = {
  failure: 'OUTSIDE_COVERAGE',
  message: 'The location lies outside the US',
};
const NO_DATA: FailureReply = {
  failure: 'NO_DATA',
  message: 'The publisher has no data on this location',
};
const UPSTREAM_UNAVAILABLE: FailureReply = {
  failure: 'UPSTREAM_UNAVAILABLE',
  message: 'The data behind this answer is not available now',
};

function isKnown(asked: AskedCall['asked']): asked is Call {
  return asked.kind !== 'single' || isTopicSlug(asked.topic);
}

function isRefusal(answered: ReadAnswer | ChargeRefusal | FailureReply): answered is ChargeRefusal {
  return 'failure' in answered && !('message' in answered);
}

function failureOf(refusal: ChargeRefusal): FailureReply {
  if (refusal.failure === 'QUOTA_EXCEEDED') {
    return {
      failure: 'QUOTA_EXCEEDED',
      message: 'The credits of this billing period do not reach, and overages are off',
    };
  }
  return {
    failure: 'RATE_LIMITED',
    message: 'The credits of this minute do not reach',
    retryAfter: refusal.retryAfter,
  };
}
