import { z } from 'zod';
import { checkSent, problemText, type SchemaIssue } from '../base/schema-issues.ts';
import type { Field } from '../contract/answer.ts';
import type { Call } from '../contract/credits.ts';
import {
  location as echoedLocation,
  meta as metaSchema,
  NO_DATA_REASON,
  statedData,
  topicEntry,
} from '../contract/envelopes.ts';
import { statedText } from '../contract/stated-data.ts';
import { resultSchemaOf, type TopicResult } from '../contract/topic-values.ts';
import { isTopicSlug, type TopicSlug } from '../contract/topics.ts';
import { distanceMeters, type Location } from '../geo/coordinates.ts';
import { field, findRequestId, MAX_MESSAGE, readErrorBody, withReason } from './error-body.ts';
import type { Received } from './exchange.ts';
import { cleanText } from './redact.ts';
import { bodyWords, refusalSubject } from './refusal-words.ts';

/** An answer for a place farther away than this is an answer about another place. */
const ELSEWHERE_M = 1_000;

/** One topic of an answer; `result`: its fields; `stated`: what the service says of the data behind it. */
export type TopicReading =
  | { readonly ok: true; readonly result: readonly Field[]; readonly stated?: string }
  | {
      readonly ok: false;
      readonly reason: 'unavailable' | 'no_data' | 'malformed';
      readonly message: string;
    };

/** What the answer states about itself; read even when the answer is unusable, because it may have been charged. */
interface Stated {
  readonly creditCost: unknown;
  readonly requestId: string | null;
  /** When the service answered, milliseconds since the epoch; `null` where it gave no valid time. */
  readonly timestamp: number | null;
  /** The service says that it answers from made-up data. */
  readonly sample: boolean;
  /** How `meta` departs from the contract: worth a note, but not a reason to discard a paid answer. */
  readonly metaNote: string | null;
}

export interface Answering extends Stated {
  readonly results: ReadonlyMap<TopicSlug, TopicReading>;
  /** The location that the service resolved. */
  readonly resolved: Location;
  /** Equal only for copies of one answer; `null` where the request id identifies it. */
  readonly fingerprint: string | null;
}

/** `unread`: parsing it failed on this side, so its content is unknown. `error`: it has an error in place of data. */
export type MalformedReason =
  | 'not-json'
  | 'shape'
  | 'wrong-topic'
  | 'elsewhere'
  | 'unread'
  | 'error';

/** A body of status 200, read. */
export type EnvelopeReading =
  | (Answering & { readonly ok: true })
  | (Stated & {
      readonly ok: false;
      readonly reason: MalformedReason;
      readonly message: string;
      /** The error says that a quota is used up. */
      readonly isLimit: boolean;
    });

const NOTHING_STATED: Stated = {
  creditCost: undefined,
  requestId: null,
  timestamp: null,
  sample: false,
  metaNote: null,
};

const singleData = z.looseObject({
  topic: z.string(),
  location: echoedLocation,
  result: z.unknown(),
});

/** Entries are checked one by one later: one bad entry must not make a paid bundle unusable. */
const bundleData = z.looseObject({
  location: echoedLocation,
  topics: z.record(z.string(), z.unknown()),
});

export type ToFields = (topic: TopicSlug, result: TopicResult) => readonly Field[];

/** Reads the answer to a call. Never throws: it was paid for, and its call must be settled whatever the JSON does to our code. */
export function readEnvelope(
  call: Call,
  location: Location,
  received: Received,
  toFields: ToFields,
): EnvelopeReading {
  try {
    return readContent(call, location, received, toFields);
  } catch (error) {
    return unread(error instanceof Error ? error.message : String(error));
  }
}

/** An answer that was not parsed: only its headers state the cost. */
const unread = (why: string) =>
  unusable(NOTHING_STATED, 'unread', `The answer could not be read: ${why}`);

function unusable(stated: Stated, reason: MalformedReason, message: string) {
  return { ...stated, ok: false as const, reason, message, isLimit: false };
}

function readContent(
  call: Call,
  location: Location,
  received: Received,
  toFields: ToFields,
): EnvelopeReading {
  const { content } = received;
  if (content.kind === 'unread') return unread(content.why);
  if (content.kind === 'text') {
    return unusable(
      NOTHING_STATED,
      'not-json',
      `The answer is not JSON${describeBody(content.text)}`,
    );
  }
  const envelope = content.value;
  const stated = readMeta(field(envelope, 'meta'));
  const data = checkSent<z.infer<typeof singleData> | z.infer<typeof bundleData>>(
    call.kind === 'single' ? singleData : bundleData,
    field(envelope, 'data'),
  );
  if (data.problem !== null) {
    // Without data the service's own words say more than what is missing.
    const error = field(envelope, 'data') ? null : readErrorBody(content);
    if (!error?.message && !error?.code) {
      return unusable(
        stated,
        'shape',
        `The answer's data is malformed: ${problemWords(data.problem)}`,
      );
    }
    const about = refusalSubject(bodyWords(content));
    const isLimit = about === 'limit' || about === 'quota';
    const what = isLimit ? 'The service says that a quota is used up' : 'The answer has no data';
    const message = `${what} ${withReason(200, error)}`;
    return { ...unusable({ ...stated, metaNote: null }, 'error', message), isLimit };
  }
  const resolved = data.data.location;
  const meters = distanceMeters(location, resolved);
  if (Math.abs(resolved.lat) > 90 || Math.abs(resolved.lng) > 180 || meters > ELSEWHERE_M) {
    return unusable(
      stated,
      'elsewhere',
      `The answer is for another location (${Math.round(meters / 1_000)} km away)`,
    );
  }
  // Without a request id the bytes identify an answer: two different answers differ at least in their time.
  const fingerprint =
    stated.requestId === null && stated.timestamp !== null ? received.digest() : null;
  const answering = { ...stated, resolved, fingerprint };
  return call.kind === 'single'
    ? readSingle(call.topic, data.data as z.infer<typeof singleData>, answering, toFields)
    : readBundle((data.data as z.infer<typeof bundleData>).topics, answering, toFields);
}

function readSingle(
  topic: TopicSlug,
  data: z.infer<typeof singleData>,
  stated: Omit<Answering, 'results'>,
  toFields: ToFields,
): EnvelopeReading {
  if (data.topic !== topic) {
    const message = `The answer is for another topic (${cleanText(data.topic, 60)} instead of ${topic})`;
    return unusable(stated, 'wrong-topic', message);
  }
  const reading = readTopic(topic, data.result, toFields);
  if (!reading.ok && reading.reason === 'malformed')
    return unusable(stated, 'shape', reading.message);
  return { ...stated, ok: true, results: new Map([[topic, reading]]) };
}

function readBundle(
  topics: Record<string, unknown>,
  stated: Omit<Answering, 'results'>,
  toFields: ToFields,
): EnvelopeReading {
  const results = new Map<TopicSlug, TopicReading>();
  for (const [slug, entry] of Object.entries(topics)) {
    if (isTopicSlug(slug)) results.set(slug, readTopic(slug, entry, toFields));
  }
  if (results.size === 0) return unusable(stated, 'shape', 'The bundle has no known topic');
  return { ...stated, ok: true, results };
}

function readTopic(topic: TopicSlug, entry: unknown, toFields: ToFields): TopicReading {
  // Some services write `error: null` for "no error"; with anything else the value must not be read.
  const error = field(entry, 'error') ?? undefined;
  if (error !== undefined) {
    const stated = topicEntry.shape.error.safeParse(error);
    if (field(entry, 'reason') === NO_DATA_REASON)
      return { ok: false, reason: 'no_data', message: 'no data' };
    const message = cleanText(stated.success && stated.data ? stated.data : 'failed', MAX_MESSAGE);
    return { ok: false, reason: 'unavailable', message: `${topic}: ${message}` };
  }
  const result = checkSent(resultSchemaOf(topic), entry);
  if (result.problem === null)
    return { ok: true, result: toFields(topic, result.data), ...readStated(entry) };
  return {
    ok: false,
    reason: 'malformed',
    message: `${topic} is malformed: ${problemWords(result.problem)}`,
  };
}

/** Most datasets or remarks of a topic, and characters of each, that are kept. */
const MOST_STATED = 12;
const LONGEST_STATED = 80;

function readStated(entry: unknown): { readonly stated?: string } {
  const { data } = statedData.safeParse(field(entry, 'data'));
  if (data === undefined) return {};
  const clean = (texts: readonly string[]) =>
    texts.slice(0, MOST_STATED).flatMap((text) => cleanText(text, LONGEST_STATED) || []);
  const vintages = clean(data.vintages);
  return vintages.length === 0
    ? {}
    : { stated: statedText({ vintages, remarks: clean(data.remarks ?? []) }) };
}

function readMeta(meta: unknown): Stated {
  const timestamp = metaSchema.shape.timestamp.safeParse(field(meta, 'timestamp'));
  const { problem } = checkSent(metaSchema, meta);
  return {
    creditCost: field(meta, 'credit_cost'),
    requestId: findRequestId(meta),
    sample: field(meta, 'sample_data') === true,
    timestamp: timestamp.success ? Date.parse(timestamp.data) : null,
    metaNote: problem === null ? null : `meta is malformed: ${problemWords(problem)}`,
  };
}

/** Of the service's text, only the names of members are in it. */
function problemWords(problem: SchemaIssue): string {
  return cleanText(problemText(problem), MAX_MESSAGE);
}

function describeBody(text: string): string {
  if (text === '') return ' (it is empty)';
  return text.startsWith('<') ? ' (it looks like HTML: a proxy or a login page?)' : '';
}
