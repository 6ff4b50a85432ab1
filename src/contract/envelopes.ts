import { z } from 'zod';
import { TOPIC_SLUGS } from './topics.ts';

/** Fields of every successful envelope. Envelopes are loose: fields that the provider adds later are no failure. */
export const meta = z.looseObject({
  request_id: z.uuid(),
  timestamp: z.iso.datetime({ precision: 3 }),
  credit_cost: z.int().nonnegative(),
  /** Our extension: true when our own service answers from made-up data. */
  sample_data: z.boolean().optional(),
});
export type Meta = z.infer<typeof meta>;

export const location = z.looseObject({ lat: z.number(), lng: z.number() });

/** A topic of a bundle. `error` is checked first: beside it, `value` is not read (docs/developer/service-api.md, 3.4, 3.6). */
export const topicEntry = z.looseObject({
  value: z.unknown().optional(),
  details: z.unknown().optional(),
  error: z.string().optional(),
  reason: z.string().optional(),
});

/** Our extension: what our own service states of the data behind a topic, beside its `value`. */
export const statedData = z.looseObject({
  vintages: z.array(z.string()).min(1),
  remarks: z.array(z.string()).optional(),
});

export const singleEnvelope = z.looseObject({
  data: z.looseObject({
    topic: z.enum(TOPIC_SLUGS),
    location,
    result: z.looseObject({ value: z.unknown(), details: z.unknown().optional() }),
  }),
  meta,
});

/** Which slugs a bundle returns is not promised, so any string is a key; the reader ignores unknown ones. */
export const bundleEnvelope = z.looseObject({
  data: z.looseObject({ location, topics: z.record(z.string(), topicEntry) }),
  meta,
});

/** The errors of our own service. The contract shows no shape; the client reads others too (client/). */
export const errorEnvelope = z.object({
  error: z.object({ code: z.string(), message: z.string() }),
  meta: meta.extend({ credit_cost: z.literal(0) }),
});
export type ErrorEnvelope = z.infer<typeof errorEnvelope>;

/** The error codes of our own service; the contract leaves all but QUOTA_EXCEEDED open (docs/developer/service-api.md, 6.8). */
export const SERVICE_FAILURES = {
  INVALID_PARAMETER: 400,
  UNAUTHENTICATED: 401,
  SCOPE_REQUIRED: 403,
  UNKNOWN_TOPIC: 404,
  NO_DATA: 404,
  METHOD_NOT_ALLOWED: 405,
  OUTSIDE_COVERAGE: 422,
  RATE_LIMITED: 429,
  QUOTA_EXCEEDED: 429,
  INTERNAL: 500,
  UPSTREAM_UNAVAILABLE: 502,
} as const;

export type ServiceFailure = keyof typeof SERVICE_FAILURES;

/** The content of `error` on a bundle's topic that failed (docs/developer/service-api.md, 3.2). */
export const UNAVAILABLE = 'unavailable';

/** The publisher has no data on this place: no monitor within reach, no row for the county. This is lasting; `unavailable` is temporary.
 * The code of a single call, and the `reason` beside `error` on a bundle's topic; both are ours, the contract names neither. */
export const NO_DATA_CODE = 'NO_DATA';
export const NO_DATA_REASON = 'no_data';
