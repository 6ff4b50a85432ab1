import { zstdCompressSync } from 'node:zlib';
import { flatten } from '../../columns/topic-columns.ts';
import type { Field } from '../../contract/answer.ts';
import type { Call } from '../../contract/credits.ts';
import type { TopicResult } from '../../contract/topic-values.ts';
import type { TopicSlug } from '../../contract/topics.ts';
import { type EnvelopeReading, readEnvelope, type TopicReading, unread } from '../../fetch/envelope.ts';
import { type Redactor, redactorOf } from '../../fetch/redact.ts';
import type { Location } from '../../geo/coordinates.ts';

/** The part of a topic's result that is stored: of a bundle of 6 MB, a few kilobytes. */
export interface ParsedAnswer {
  /** In the order of the topic's columns. */
  readonly fields: readonly Field[];
  /** The result's `details`, where the job keeps them; null where it has none. */
  readonly details?: PackedDetails | null;
}

/** `details` as JSON, compressed by zstd. */
interface PackedDetails {
  readonly zstd: Uint8Array<ArrayBuffer>;
  /** Bytes before compression. */
  readonly bytes: number;
}

/** How to parse a body, and what to keep of it. */
export interface ReadRequest {
  readonly call: Call;
  readonly location: Location;
  readonly keepDetails: boolean;
  /** Keys that must not be stored: some services repeat them in their answers. */
  readonly keys: readonly string[];
}

/** Parses a body into what is stored of it. Pure, and never throws: the same on the event loop and in a worker. */
export function parseAnswer(task: ReadRequest, body: Buffer): EnvelopeReading<ParsedAnswer> {
  try {
    return parseBody(task, body);
  } catch (error) {
    // The body was paid for, and its call must be settled whatever the JSON does to our code.
    return unread(error instanceof Error ? error.message : String(error));
  }
}

/** The memory of a reading that can be transferred without a copy. */
export function memoryOf(reading: EnvelopeReading<ParsedAnswer>): ArrayBuffer[] {
  if (!reading.ok) return [];
  return [...reading.results.values()].flatMap((topic) =>
    topic.ok && topic.result.details ? [topic.result.details.zstd.buffer] : [],
  );
}

function parseBody({ call, location, keepDetails, keys }: ReadRequest, body: Buffer): EnvelopeReading<ParsedAnswer> {
  const redactor = redactorOf(keys);
  const reading = readEnvelope(call, location, body, redactor, keepDetails ? 'whole' : 'counted');
  if (!reading.ok) return reading;
  const results = new Map<TopicSlug, TopicReading<ParsedAnswer>>();
  for (const [topic, found] of reading.results) {
    results.set(topic, found.ok ? parseResult(topic, found.result, location, keepDetails, redactor) : found);
  }
  return { ...reading, results };
}

/** Redacts after the check: a redacted rating would no longer be one of the contract's. */
function parseResult(
  topic: TopicSlug,
  result: TopicResult,
  location: Location,
  keepDetails: boolean,
  redactor: Redactor,
): TopicReading<ParsedAnswer> {
  const found = flatten(topic, result, location);
  const fields = found.map((field) => (typeof field === 'string' ? redactor.text(field) : field));
  if (fields.some((field) => typeof field === 'number' && redactor.json(field) !== field)) {
    return { ok: false, reason: 'malformed', message: `${topic} has the API key in place of a number` };
  }
  if (!keepDetails) return { ok: true, result: { fields } };
  return { ok: true, result: { fields, details: pack(redactor.json(result.details)) } };
}

/** Compresses here and not in the store: a worker's time costs less than a transaction's. */
function pack(details: unknown): PackedDetails | null {
  if (details === undefined || details === null) return null;
  const text = Buffer.from(JSON.stringify(details));
  const packed = zstdCompressSync(text);
  // In memory of its own, so that it can be transferred without a copy.
  return { zstd: Uint8Array.from(packed), bytes: text.length };
}
