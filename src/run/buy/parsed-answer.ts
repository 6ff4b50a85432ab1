import { zstdCompressSync } from 'node:zlib';
import { flatten } from '../../columns/topic-columns.ts';
import type { Field } from '../../contract/answer.ts';
import type { TopicResult } from '../../contract/topic-values.ts';
import type { TopicSlug } from '../../contract/topics.ts';
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
  readonly zstd: Uint8Array;
  /** Bytes before compression. */
  readonly bytes: number;
}

/** What is stored of a topic's result. */
export function parsedAnswer(
  topic: TopicSlug,
  result: TopicResult,
  location: Location,
  keepDetails: boolean,
): ParsedAnswer {
  const fields = flatten(topic, result, location);
  return keepDetails ? { fields, details: pack(result.details) } : { fields };
}

/** Compresses here and not in the store: a transaction must not wait for it. */
function pack(details: unknown): PackedDetails | null {
  if (details === undefined || details === null) return null;
  const text = Buffer.from(JSON.stringify(details));
  return { zstd: zstdCompressSync(text), bytes: text.length };
}
