import { z } from 'zod';
import { TOPIC_SLUGS } from './topics.ts';

/** Fields of every successful envelope. Both envelopes are loose: what the provider adds later is no failure. */
export const meta = z.looseObject({
  request_id: z.uuid(),
  timestamp: z.iso.datetime({ precision: 3 }),
  credit_cost: z.int().nonnegative(),
  /** Not the contract's: true where our own service answers from made-up data. */
  sample_data: z.boolean().optional(),
});
export type Meta = z.infer<typeof meta>;

export const location = z.looseObject({ lat: z.number(), lng: z.number() });

/** A topic of a bundle. `error` is looked at first: beside it, `value` is not read (docs/service-api.md, 3.4 and 3.6). */
export const topicEntry = z.looseObject({
  value: z.unknown().optional(),
  details: z.unknown().optional(),
  error: z.string().optional(),
  reason: z.string().optional(),
});

export const singleEnvelope = z.looseObject({
  data: z.looseObject({
    topic: z.enum(TOPIC_SLUGS),
    location,
    result: z.looseObject({ value: z.unknown(), details: z.unknown().optional() }),
  }),
  meta,
});

/** Which slugs a bundle returns is not promised, so any string is a key; unknown ones are for the reader to leave. */
export const bundleEnvelope = z.looseObject({
  data: z.looseObject({ location, topics: z.record(z.string(), topicEntry) }),
  meta,
});

/** Our own service's errors (the contract shows no shape; the client reads others' too, see fetch/). */
export const errorEnvelope = z.object({
  error: z.object({ code: z.string(), message: z.string() }),
  meta: meta.extend({ credit_cost: z.literal(0) }),
});
export type ErrorEnvelope = z.infer<typeof errorEnvelope>;
