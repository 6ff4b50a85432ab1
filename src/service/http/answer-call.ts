import { type Call, CREDITS, scopeOf } from '../../contract/credits.ts';
import { isTopicSlug, NATURAL_SLUGS, PAID_SLUGS, type TopicSlug } from '../../contract/topics.ts';
import { createAreaFinder } from '../../data/tables/area-finder.ts';
import { createBoundaryCheck } from '../../data/tables/boundary-check.ts';
import {
  createHeldVersion,
  type DataDatabase,
  readingData,
} from '../../data/tables/data-database.ts';
import { createSampleWatch } from '../../data/tables/describe-data.ts';
import { isMissing, resultText, type TextPart } from '../../data/topics/result-text.ts';
import { createTopicAnswers, type RehearsedFailures } from '../../data/topics/topic-answers.ts';
import type { Location } from '../../geo/coordinates.ts';
import type { CallCheck, Chargeable } from '../accounts/calls.ts';
import type { ChargeRefusal, LastCall } from '../accounts/limits.ts';
import type { ServiceInstance } from '../accounts/service-instance.ts';
import { type FailureReply, makeMeta, type PaidAnswer, successText } from './replies.ts';

export interface AnswerOptions {
  /** For rehearsing a provider that serves a call beyond the last credits. Default: refused. */
  readonly lastCall?: LastCall;
  readonly failures?: RehearsedFailures;
  /** The slugs of the standard bundle (docs/developer/service-api.md, 2.9). Default: all 18 natural topics. */
  readonly standardTopics?: readonly TopicSlug[];
}

/** The parts of a request that its answer depends on. */
export interface AskedCall {
  readonly key: string | undefined;
  /** The call that the path names; the topic may be unknown. */
  readonly asked: Call | { readonly kind: 'single'; readonly topic: string };
  readonly query: Readonly<Record<string, unknown>>;
  readonly requestId: string;
}

/** An answer that is not charged yet. */
interface ReadAnswer extends Chargeable {
  readonly location: Location;
  readonly answer: readonly TextPart[];
  readonly sample: boolean;
}

/** Makes the function that answers and charges calls. Calls in one batch share their transactions, because beginning and
 * committing one takes longer than answering.
 * The accounts are read twice: before the data, because most refusals need no data, and for the charge. The answers are read in
 * one transaction on the data file in between, so all topics of a call are of one version of the data. Replacing a data set
 * before the charge is harmless: the answers are whole, they were current when the call arrived, and the price
 * depends only on the kind of the call. The charge checks quota and minute again, because they change in between. */
export function createCallAnswers(
  data: DataDatabase,
  instance: ServiceInstance,
  options: AnswerOptions,
): (asked: readonly AskedCall[]) => Promise<(PaidAnswer | FailureReply)[]> {
  const readAnswers = createAnswerReader(data, options);
  return async (calls) => {
    const presented = calls.map(({ key, asked }) => ({
      key,
      call: isValidCall(asked) ? asked : null,
    }));
    const checks = await instance.check(presented);
    const results = readingData(data.name, () => readAnswers(calls, checks, instance.now()));
    const answered = results.filter((result): result is ReadAnswer => !('failure' in result));
    // Nothing is written for calls that are refused.
    const charged = answered.length === 0 ? [] : await instance.charge(answered);
    const charges = charged.values();
    const timestamp = new Date(instance.now()).toISOString();
    return results.map((result) => {
      if ('failure' in result) return result;
      const charge = charges.next().value!;
      if ('failure' in charge) return failureOf(charge);
      const { requestId, call, location, answer, sample } = result;
      const meta = makeMeta(requestId, timestamp, CREDITS[call.kind], sample);
      return { body: successText(call, location, answer, meta), charge, sample };
    });
  };
}

/** Makes the function that reads the answers of a batch in one transaction, or says why a call has none.
 * The order of the checks decides which failure is reported: key, topic, scope, location, coverage, quota and minute, data.
 * The charge comes last, when only the network can still fail. */
function createAnswerReader(data: DataDatabase, options: AnswerOptions) {
  const version = createHeldVersion(data);
  const boundaries = createBoundaryCheck(data, version.held);
  const areaAt = createAreaFinder(data, version.held, boundaries);
  const { single, bundle } = createTopicAnswers(data, options.failures, version.held, boundaries);
  const isSample = createSampleWatch(data, version.held);
  const bundles = {
    standard: bundle(options.standardTopics ?? NATURAL_SLUGS),
    enterprise: bundle(PAID_SLUGS),
  };

  function readCall(asked: AskedCall, check: CallCheck, now: number): ReadAnswer | FailureReply {
    if (check === 'invalid') return UNAUTHENTICATED;
    const { caller, refusal } = check;
    const { asked: call, query, requestId } = asked;
    if (!isValidCall(call))
      return { failure: 'UNKNOWN_TOPIC', message: `There is no topic "${call.topic}"` };
    const scope = scopeOf(call);
    if (!caller.may(scope))
      return { failure: 'SCOPE_REQUIRED', message: `The key lacks the scope "${scope}"` };
    const location = locationOfQuery(query);
    if ('failure' in location) return location;
    const area = areaAt(location);
    if (area === null) {
      // A location in the US is not outside of it, even if its area is not here.
      return boundaries.withoutArea(location).kind === 'outside_coverage'
        ? OUTSIDE_COVERAGE
        : UPSTREAM_UNAVAILABLE;
    }
    if (refusal !== null) return failureOf(refusal);
    const sample = isSample();
    const read = { caller, call, requestId, location, sample };
    if (call.kind === 'single') {
      const result = single(call.topic, location, area, now);
      if (isMissing(result))
        return result === 'unavailable' ? UPSTREAM_UNAVAILABLE : { ...NO_DATA, sample };
      return { ...read, answer: resultText(result) };
    }
    const { parts, answered, isIncomplete } = bundles[call.kind](location, area, now);
    // A bundle with some failed topics is an answer; a bundle with only failed topics is not.
    if (answered === 0) return isIncomplete ? UPSTREAM_UNAVAILABLE : { ...NO_DATA, sample };
    return { ...read, answer: parts };
  }

  return data.transaction(
    (calls: readonly AskedCall[], checks: readonly CallCheck[], now: number) => {
      version.read();
      return calls.map((asked, index) => readCall(asked, checks[index]!, now));
    },
  );
}

const UNAUTHENTICATED: FailureReply = {
  failure: 'UNAUTHENTICATED',
  message: 'The X-API-Key header must carry a valid key',
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
  message: 'The data for this answer is not available now',
};

function isValidCall(asked: AskedCall['asked']): asked is Call {
  return asked.kind !== 'single' || isTopicSlug(asked.topic);
}

function failureOf(refusal: ChargeRefusal): FailureReply {
  const message =
    refusal.failure === 'QUOTA_EXCEEDED'
      ? 'The call costs more credits than this billing period has left, and overages are off'
      : 'The call costs more credits than this minute has left';
  return { ...refusal, message };
}

/** A decimal number as programs write it: `39.7392`, `+37.5`, `.5`, `1e1`. More digits add nothing. */
const DECIMAL = /^[-+]?(\d{1,20}\.?\d{0,20}|\.\d{1,20})(e[-+]?\d{1,3})?$/i;

/** Reads `lat` and `lng`, each exactly once, as decimal degrees within ±90 and ±180; ignores other parameters. */
function locationOfQuery(query: AskedCall['query']): Location | FailureReply {
  const lat = parseDegrees(query, 'lat', 90);
  if (typeof lat === 'string') return { failure: 'INVALID_PARAMETER', message: lat };
  const lng = parseDegrees(query, 'lng', 180);
  if (typeof lng === 'string') return { failure: 'INVALID_PARAMETER', message: lng };
  return { lat, lng };
}

/** The degrees of a parameter, or what is wrong with it. */
function parseDegrees(query: AskedCall['query'], name: string, bound: number): number | string {
  const text = query[name];
  if (text === undefined) return `Parameter "${name}" is missing`;
  if (typeof text !== 'string') return `Parameter "${name}" is given more than once`;
  // In a query, a plus sign means a space.
  const number = text.replaceAll(' ', '+');
  if (!DECIMAL.test(number)) return `Parameter "${name}" must be decimal degrees, like 39.7392`;
  // + 0 turns -0 into 0.
  const degrees = Number(number) + 0;
  return Math.abs(degrees) <= bound
    ? degrees
    : `Parameter "${name}" must lie between -${bound} and ${bound}`;
}
