import { zstdCompressSync } from 'node:zlib';
import { flatten } from '../../columns/topic-columns.ts';
import type { Field } from '../../contract/answer.ts';
import type { Call } from '../../contract/credits.ts';
import type { TopicResult } from '../../contract/topic-values.ts';
import type { TopicSlug } from '../../contract/topics.ts';
import { type EnvelopeReading, readEnvelope, type TopicReading, unread } from '../../fetch/envelope.ts';
import { type Redactor, redactorOf } from '../../fetch/redact.ts';
import type { Location } from '../../geo/coordinates.ts';

/** What is kept of a topic's result: of a bundle of 6 MB, a few kilobytes. */
export interface ParsedAnswer {
  /** In the order of the topic's columns. */
  readonly fields: readonly Field[];
  /** The result's `details`, where they are asked for; null where it has none. */
  readonly details?: PackedDetails | null;
}

/** `details` as JSON, compressed by zstd. */
interface PackedDetails {
  readonly zstd: Uint8Array<ArrayBuffer>;
  /** Bytes before compression. */
  readonly bytes: number;
}

/** A body to read, and what to keep of it. */
export interface ReadRequest {
  readonly call: Call;
  readonly location: Location;
  readonly keepDetails: boolean;
  /** The keys that must not be in what is kept: some services repeat them. */
  readonly keys: readonly string[];
}

/** Reads a body and takes from it what is kept. Pure, and never throws: it does the same on the loop and in a worker. */
export function take(task: ReadRequest, body: Buffer): EnvelopeReading<ParsedAnswer> {
  try {
    return parseBody(task, body);
  } catch (error) {
    // The body was paid for, and its call must be settled, whatever a foreign JSON makes our code do.
    return unread(error instanceof Error ? error.message : String(error));
  }
}

/** The memory of what was taken that can change hands without a copy. */
export function memoryOf(reading: EnvelopeReading<ParsedAnswer>): ArrayBuffer[] {
  if (!reading.ok) return [];
  return [...reading.results.values()].flatMap((topic) =>
    topic.ok && topic.result.details ? [topic.result.details.zstd.buffer] : [],
  );
}

function parseBody({ call, location, keepDetails, keys }: ReadRequest, body: Buffer): EnvelopeReading<ParsedAnswer> {
  const redactor = redactorOf(keys);
  const reading = readEnvelope(call, location, body, redactor);
  if (!reading.ok) return reading;
  const results = new Map<TopicSlug, TopicReading<ParsedAnswer>>();
  for (const [topic, found] of reading.results) {
    results.set(topic, found.ok ? parseResult(topic, found.result, location, keepDetails, redactor) : found);
  }
  return { ...reading, results };
}

/** Redacted after it was checked: a rating without its key would no longer be one of the contract's. */
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

/** Compressed here and not in the store: the worker has the time, the transaction has not. */
function pack(details: unknown): PackedDetails | null {
  if (details === undefined || details === null) return null;
  const text = Buffer.from(JSON.stringify(details));
  const packed = zstdCompressSync(text);
  // Of its own memory, so that it can be handed over without a copy.
  return { zstd: Uint8Array.from(packed), bytes: text.length };
}
