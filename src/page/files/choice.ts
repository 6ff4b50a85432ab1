import { z } from 'zod';
import { counted } from '../../base/format-numbers.ts';
import { TOPIC_SLUGS } from '../../contract/topics.ts';
import { PLACE_ORDERS } from '../../geo/place-in-value.ts';
import type { JobFile } from '../../job/job-file.ts';
import { parseTopics } from '../../job/topic-choice.ts';
import { columnIndex, columnReference, type FilePreview } from './file-preview.ts';

/** Where answers come from: public data on this machine, the service that the page was started with, or made-up data. */
const ANSWER_SOURCES = ['local', 'service', 'sample'] as const;

export type ChosenSource = (typeof ANSWER_SOURCES)[number];

/** The settings of a file on the page. */
export const choiceSchema = z.strictObject({
  lat: z.int().nonnegative(),
  lng: z.int().nonnegative(),
  /** Which comes first where one column has both, if the user says it. */
  placeOrder: z.enum(PLACE_ORDERS).nullish(),
  topics: z.array(z.enum(TOPIC_SLUGS)).min(1),
  optimize: z.enum(['credits', 'calls']),
  /** Whether the first line is a header (default true). */
  header: z.boolean().optional(),
  /** The order of buying: by a value column, by the sum of OED's TIV columns (largest first), or by rows in file order (default). */
  order: z.union([z.int().nonnegative(), z.literal('tiv'), z.literal('file')]).optional(),
  /** Default: what the page was started with. */
  source: z.enum(ANSWER_SOURCES).optional(),
  /** One answer for a whole tract or county. */
  areas: z.enum(['tract', 'county']).optional(),
});

export type Choice = z.infer<typeof choiceSchema>;

/** A budget to price, not to spend. */
export const reachSchema = z.strictObject({ ...choiceSchema.shape, budget: z.int().nonnegative() });

/** Spending needs a budget and the sentence that the user confirmed. */
export const startSchema = z.strictObject({ ...reachSchema.shape, confirmed: z.string() });

/** The settings as a job file. */
export function makeJobFile(choice: Choice, columns: readonly string[]): JobFile {
  const { lat, lng, placeOrder, optimize, header, order, source } = choice;
  const topics = TOPIC_SLUGS.filter((slug) => choice.topics.includes(slug));
  return {
    location:
      lat === lng
        ? { column: columnReference(columns, lat), ...(placeOrder && { order: placeOrder }) }
        : { lat: columnReference(columns, lat), lng: columnReference(columns, lng) },
    topics,
    optimize,
    ...(header === false ? { header } : {}),
    ...(order === undefined ? {} : { order_by: typeof order === 'number' ? { column: columns[order]! } : order }),
    ...(source === undefined || source === 'service' ? {} : { service: source }),
    ...(choice.areas === undefined ? {} : { areas: choice.areas }),
  };
}

/** What the page shows first for a file: the settings of its last run and, without one, what is recognised and usual. */
export function firstChoice(
  settings: JobFile | null,
  header: boolean,
  { columns, location, order }: FilePreview,
  usual: ChosenSource,
) {
  const { topics = 'natural', optimize = 'credits', service, areas = 'place' } = settings ?? {};
  return {
    ...(keptColumns(settings, header, columns) ?? {
      lat: null,
      lng: null,
      ...location,
      order: order ?? 'file',
    }),
    topics: parseTopics(topics),
    optimize,
    source: typeof service === 'string' ? service : usual,
    areas,
  };
}

/** The columns of a saved job file by their index; null where it reads the file with another header. */
function keptColumns(settings: JobFile | null, header: boolean, columns: readonly string[]) {
  if (settings === null || (settings.header ?? true) !== header) return null;
  const { location, order_by: order = 'file' } = settings;
  const value = typeof order === 'string' ? order : columnIndex(columns, order.column);
  return {
    lat: columnIndex(columns, (location!.column ?? location!.lat)!),
    lng: columnIndex(columns, (location!.column ?? location!.lng)!),
    ...(location!.order && { placeOrder: location!.order }),
    order: value ?? 'file',
  };
}

/** The sentence that the user confirms, on the page and here. A start without it, or with that of another budget, is refused. */
export function confirmation(budget: number): string {
  return budget === 0 ? 'Spend nothing' : `Spend at most ${counted(budget, 'credit')}`;
}
