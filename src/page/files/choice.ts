import { z } from 'zod';
import { type ErrorCode, PerilbookError } from '../../base/errors.ts';
import { counted } from '../../base/format-numbers.ts';
import { areaSuffices } from '../../columns/topic-columns.ts';
import {
  type AreaLevel,
  isTopicSlug,
  TOPIC_SLUGS,
  TOPICS,
  type TopicSlug,
  topicOf,
} from '../../contract/topics.ts';
import { PLACE_ORDERS } from '../../geo/place-order.ts';
import type { JobFile } from '../../job/job-file.ts';
import type { Job } from '../../job/settings.ts';
import { parseTopics } from '../../job/topic-choice.ts';
import type { UiDependencies } from './dependencies.ts';
import { columnIndex, columnReference, type FilePreview } from './file-preview.ts';
import { RefusedRequest, withoutDataFile } from './page-words.ts';

/** Where answers come from: public data on this machine, the service that the page was started with, or made-up data. */
const ANSWER_SOURCES = ['local', 'service', 'sample'] as const;

export type ChosenSource = (typeof ANSWER_SOURCES)[number];

/** The settings of a file on the page. */
export const choiceSchema = z.strictObject({
  lat: z.int().nonnegative(),
  lng: z.int().nonnegative(),
  /** Which comes first where one column has both, if the user says it. */
  placeOrder: z.enum(PLACE_ORDERS).nullish(),
  // Checked when it is asked: the layers of a user's own are topics, too.
  topics: z.array(z.custom<TopicSlug>((name) => isTopicSlug(String(name)))).min(1),
  optimize: z.enum(['credits', 'calls']),
  /** Whether the first line is a header (default true). */
  header: z.boolean().optional(),
  /** The order of buying: by a value column, by the sum of OED's TIV columns (largest first), or by rows in file order (default). */
  order: z.union([z.int().nonnegative(), z.literal('tiv'), z.literal('file')]).optional(),
  /** Default: what the page was started with. */
  source: z.enum(ANSWER_SOURCES).optional(),
  /** One answer for a whole tract or county. */
  areas: z.enum(['tract', 'county']).optional(),
  /** Also the expected annual losses of the natural topics (default false). */
  losses: z.boolean().optional(),
});

export type Choice = z.infer<typeof choiceSchema>;

/** A budget to price, not to spend. */
export const reachSchema = z.strictObject({ ...choiceSchema.shape, budget: z.int().nonnegative() });

/** Spending needs a budget and the sentence that the user confirmed. */
export const startSchema = z.strictObject({
  ...reachSchema.shape,
  confirmed: z.string(),
  /** The price that the dialog showed with the refusal that made it dearer. */
  acceptedPrice: z.int().nonnegative().nullish(),
});

/** The job file of what was chosen on the page. @param columns those of the user's file */
export function makeJobFile(choice: Choice, columns: readonly string[]): JobFile {
  const { lat, lng, placeOrder, optimize, header, order, source } = choice;
  const topics = TOPIC_SLUGS.filter((slug) => choice.topics.includes(slug));
  const place = columnReference(columns, lat);
  return {
    location:
      lat === lng
        ? { column: place, ...(placeOrder && { order: placeOrder }) }
        : { lat: place, lng: columnReference(columns, lng) },
    topics,
    optimize,
    ...(header === false ? { header } : {}),
    ...(order === undefined
      ? {}
      : { order_by: typeof order === 'number' ? { column: columns[order]! } : order }),
    ...(source === undefined || source === 'service' ? {} : { service: source }),
    ...(choice.areas === undefined ? {} : { areas: choice.areas }),
    ...(choice.losses === true ? { losses: true } : {}),
  };
}

/** What the page shows first for a file. */
interface FirstChoice extends Pick<Choice, 'topics' | 'optimize' | 'placeOrder'> {
  /** Null without a recognised column. */
  readonly lat: number | null;
  readonly lng: number | null;
  readonly order: Choice['order'];
  readonly source: ChosenSource;
  readonly areas: AreaLevel | 'place';
  readonly losses: boolean;
}

/** What the page shows first for a file: the settings of its last run and, without one, what is recognised and usual. */
export function firstChoice(
  settings: JobFile | null,
  header: boolean,
  { columns, location, order }: Pick<FilePreview, 'columns' | 'location' | 'order'>,
  usual: ChosenSource,
): FirstChoice {
  const { topics = 'natural', optimize = 'credits', service } = settings ?? {};
  const { areas = 'place', losses = false } = settings ?? {};
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
    losses,
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

const NO_SERVICE = 'Start perilbook ui with --base-url and a key in PERILBOOK_API_KEY.';

/** The account for made-up answers if the page was started with a paid service: the paid account's quota must not change. */
const SAMPLE_ACCOUNT = 'sample data';

/** What the page offers: null, or why it is unavailable now and what to do. */
export interface AvailableChoices {
  readonly sources: Readonly<Record<ChosenSource, string | null>>;
  readonly areas: Readonly<Record<AreaLevel, string | null>>;
}

/** The sources, and the levels of areas by which one answer serves several places: null, or why it is unavailable now and what to do.
 * @param settings the topics and the input; `-` for an upload, whose path the user does not know */
export async function availableChoices(
  {
    jobOf,
    connectionOf,
    requireAreas,
  }: Pick<UiDependencies, 'jobOf' | 'connectionOf' | 'requireAreas'>,
  settings: JobFile,
): Promise<AvailableChoices> {
  // Of made-up data, a layer would be refused.
  const { topics } = jobOf({ ...settings, service: 'local' });
  const area = async (level: AreaLevel): Promise<string | null> => {
    const isShared = topics.some(
      (topic) => topicOf(topic).area === level && areaSuffices(topic, false),
    );
    if (!isShared) return SHARED[level];
    return await findRefusal(
      async () => requireAreas(jobOf({ ...settings, areas: level })),
      'SERVICE_DATA',
    );
  };
  return {
    sources: {
      local: await findRefusal(
        async () => connectionOf(jobOf({ ...settings, service: 'local' })),
        'LOCAL_DATA',
      ),
      // Of layers alone no service is asked.
      service: hasService(jobOf({ input: settings.input })) ? null : NO_SERVICE,
      sample: await findRefusal(async () => jobOf({ ...settings, service: 'sample' }), 'USAGE'),
    },
    areas: { tract: await area('tract'), county: await area('county') },
  };
}

const OF_COUNTIES = TOPICS.filter(({ area }) => area === 'county').map(({ title }) =>
  title.toLowerCase(),
);

/** Why one answer for each area saves nothing. */
const SHARED: Readonly<Record<AreaLevel, string>> = {
  tract: 'No chosen topic is the same in all of a census tract: natural ratings are.',
  county: `No chosen topic is the same in all of a county: ${OF_COUNTIES.join(' and ')} are.`,
};

/** The settings of a job whose answers come from a source. @throws RefusedRequest where there is no paid service */
export function settingsFor(
  base: Job,
  settings: JobFile,
  source: ChosenSource | undefined,
): JobFile {
  if (source === 'service' && !hasService(base)) {
    throw new RefusedRequest(
      422,
      'NO_SERVICE',
      'This page was started without a paid service',
      NO_SERVICE,
    );
  }
  return settings.service === 'sample' && hasService(base)
    ? { ...settings, account: SAMPLE_ACCOUNT }
    : settings;
}

const hasService = (job: Job): boolean => job.service.kind === 'remote';

/** The error of a step that the user can correct; null if the step succeeds. */
async function findRefusal(step: () => Promise<unknown>, code: ErrorCode): Promise<string | null> {
  try {
    await step();
    return null;
  } catch (error) {
    if (!(error instanceof PerilbookError && error.code === code)) throw error;
    // Settings of a job that the page does not have.
    return `${withoutDataFile(error.message, error.context.file)}. ${error.hint.replace(/, or set areas: \w+/, '')}`;
  }
}
