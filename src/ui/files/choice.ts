import { z } from 'zod';
import { TOPIC_SLUGS, type TopicSlug } from '../../contract/topics.ts';
import { counted } from '../../format-numbers.ts';
import type { JobFile } from '../../job/settings/job-file.ts';
import { columnReference } from './file-preview.ts';

/** The settings of a file on the page. */
export const choiceSchema = z.strictObject({
  lat: z.int().nonnegative(),
  lng: z.int().nonnegative(),
  topics: z
    .array(z.string().refine((text): text is TopicSlug => (TOPIC_SLUGS as readonly string[]).includes(text)))
    .min(1),
  optimize: z.enum(['credits', 'calls']),
  /** Whether the first line is a header (default true). */
  header: z.boolean().optional(),
  /** What is bought first: the largest of a value column, the largest sum of OED's TIV columns, or the rows in their order
   * (default). */
  order: z.union([z.int().nonnegative(), z.literal('tiv'), z.literal('file')]).optional(),
});

export type Choice = z.infer<typeof choiceSchema>;

/** A budget that is tried out. */
export const reachSchema = z.strictObject({ ...choiceSchema.shape, budget: z.int().nonnegative() });

/** Spending needs a budget and the sentence that the user confirmed. */
export const startSchema = z.strictObject({
  ...choiceSchema.shape,
  budget: z.int().nonnegative(),
  confirmed: z.string(),
});

/** The settings as a job file. */
export function jobFileOf({ lat, lng, topics, optimize, header, order }: Choice, columns: readonly string[]): JobFile {
  return {
    location: { lat: columnReference(columns, lat), lng: columnReference(columns, lng) },
    topics: TOPIC_SLUGS.filter((slug) => topics.includes(slug)),
    optimize,
    ...(header === false ? { header } : {}),
    ...(order === undefined ? {} : { order_by: typeof order === 'number' ? { column: columns[order]! } : order }),
  };
}

/** The sentence that the user confirms. A start without it, or with that of another budget, is refused. */
export function confirmation(budget: number): string {
  return budget === 0 ? 'Spend nothing' : `Spend at most ${counted(budget, 'credit')}`;
}
