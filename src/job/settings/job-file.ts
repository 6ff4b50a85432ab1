import { z } from 'zod';
import { TOPIC_SLUGS } from '../../contract/topics.ts';
import { PerilbookError } from '../../errors.ts';
import { MAX_PRECISION } from '../../geo/coordinates.ts';
import { didYouMean } from '../../nearest-name.ts';
import { encodingNamed } from '../../rows/files/text-encoding.ts';
import { DURATION, durationMs } from './duration.ts';
import { looksLikeKey } from './key-shapes.ts';

/*
 * What a job file can say, each setting with the sentence that an editor shows for it: jobs/job.schema.json is made from
 * this. What zod checks by a function is told to the editor by `meta`.
 */

/** Sets of topics that have a name of their own, beside the slugs. */
const TOPIC_GROUPS = ['all', 'natural', 'proximity', 'measurement'] as const;

export const TOPIC_NAMES: readonly string[] = [...TOPIC_GROUPS, ...TOPIC_SLUGS];

const SCOPE_NAMES: readonly string[] = ['bundle', ...TOPIC_NAMES];

function noTopic(name: string, known = TOPIC_NAMES): string {
  const said = looksLikeKey(name) ? 'of that name' : JSON.stringify(name);
  return `there is no topic ${said}${didYouMean(name, known) || topicsWith(name)} (perilbook topics lists all)`;
}

/** `flood` is part of two names. */
function topicsWith(part: string): string {
  const found = TOPIC_SLUGS.filter((slug) => slug.toLowerCase().includes(part.trim().toLowerCase()));
  return part.trim().length < LEAST_PART || found.length === 0 ? '' : `; did you mean ${found.join(' or ')}?`;
}

const LEAST_PART = 3;

const topicName = z
  .string()
  .check((context) => {
    if (TOPIC_NAMES.includes(context.value)) return;
    context.issues.push({ code: 'custom', input: context.value, message: noTopic(context.value) });
  })
  .meta({ id: 'topic', enum: [...TOPIC_NAMES] });

const topicSet = z.union([topicName, z.array(topicName).min(1)]);

const scopeName = z
  .string()
  .check((context) => {
    if (SCOPE_NAMES.includes(context.value)) return;
    context.issues.push({ code: 'custom', input: context.value, message: noTopic(context.value, SCOPE_NAMES) });
  })
  .meta({ id: 'scope', enum: [...SCOPE_NAMES] });

const credits = z.int().nonnegative();

const subscription = z.union([
  z.enum(['starter', 'professional']),
  z.strictObject({
    credits_per_month: credits.describe('credits of a billing period'),
    credits_per_minute: z.int().positive().describe('credits that any minute may spend'),
    overage_rate: z.number().nonnegative().optional().describe('dollars for a credit beyond the allowance'),
  }),
]);

const anniversaryDay = z.int().min(1).max(31);

/** Where a key is found. Never the key itself: job files are kept in source control. */
const apiKey = z
  .strictObject({
    env: z.string().min(1).optional().describe('environment variable that holds the key'),
    file: z.string().min(1).optional().describe('file that holds the key on its first line'),
    scopes: z.array(scopeName).optional().describe('what the key may buy; left out, it is found by trying'),
    account: z.string().min(1).optional().describe('whose credits the key spends'),
    subscription: subscription.optional().describe("the account's subscription, where it is not the job's"),
    anniversary_day: anniversaryDay.optional().describe("the day on which the account's quota resets"),
    reserve: credits.optional().describe("credits of the account's period that stay untouched"),
  })
  .refine(({ env, file }) => (env === undefined) !== (file === undefined), {
    error:
      'name the environment variable (env) or the file (file) that holds the key; the key itself does not belong in a job file',
  })
  .meta({ oneOf: [{ required: ['env'] }, { required: ['file'] }] });

/** The address is kept in the store and shown: it must hold nothing that is secret. */
function isBareAddress(text: string): boolean {
  if (!URL.canParse(text)) return true;
  const { username, password, search, hash } = new URL(text);
  return username === '' && password === '' && search === '' && hash === '';
}

const duration = z
  .string()
  .refine((text) => text === 'never' || durationMs(text) !== null, {
    error: 'a time such as 90s, 30m, 12h or 30d, or never',
  })
  .meta({ pattern: `^(never|${DURATION.source.slice(1, -1)})$`, examples: ['12h', '30d', 'never'] });

/** A share: `1 %` or 0.01. */
const share = z
  .union([z.number(), z.string().regex(/^\d+(\.\d+)?\s*%$/)], { error: 'a share such as 1 % or 0.01' })
  .transform((value) => (typeof value === 'number' ? value : Number.parseFloat(value) / 100))
  .refine((value) => value >= 0 && value <= 1, { error: 'a share between 0 and 1 (100 %)' });

const encoding = z.string().check((context) => {
  try {
    encodingNamed(context.value);
  } catch (error) {
    if (!(error instanceof PerilbookError)) throw error;
    context.issues.push({ code: 'custom', input: context.value, message: `${error.message}. ${error.hint}` });
  }
});

const timeToLive = z
  .record(z.string(), duration)
  .check(({ value, issues }) => {
    for (const name of Object.keys(value)) {
      if (TOPIC_NAMES.includes(name)) continue;
      issues.push({ code: 'custom', input: value, path: [name], message: noTopic(name), params: { isName: true } });
    }
  })
  .meta({ propertyNames: { $ref: '#/definitions/topic' } });

/** Everything that a job file can say. All is optional here: what is missing comes from flags, the environment, or the
 * defaults, which are applied last (settings.ts). */
export const jobFileSchema = z.strictObject({
  name: z.string().min(1).optional().describe('how status calls the job; default: the name of the input'),
  input: z
    .string()
    .min(1)
    .optional()
    .describe('CSV, Excel (.xlsx), Parquet, NDJSON or GeoJSON; a path relative to this file'),
  output: z
    .string()
    .min(1)
    .optional()
    .describe('file to write, its extension decides the format; default: beside the input'),
  topics: topicSet.optional().describe('slugs, or natural, proximity, measurement, all (perilbook topics lists them)'),
  location: z
    .strictObject({
      lat: z.string().min(1).optional().describe('column of the latitude, by name or number'),
      lng: z.string().min(1).optional().describe('column of the longitude, by name or number'),
      column: z.string().min(1).optional().describe('one column that holds both: (38.5, -97.2) or POINT(-97.2 38.5)'),
    })
    .refine(({ lat, lng, column }) => column === undefined || (lat === undefined && lng === undefined), {
      error: 'name either one column that holds both, or lat and lng',
    })
    .optional()
    .describe('where the location stands; only needed where the names are unusual'),
  coordinates: z
    .enum(['strict', 'lenient'])
    .optional()
    .describe(
      'strict: decimal degrees only; lenient: also degrees, minutes and seconds, compass letters, decimal commas',
    ),
  sheet: z
    .union([z.string().min(1), z.int().min(1)])
    .optional()
    .describe('sheet of an Excel workbook, by name or number; default: the first'),
  header_line: z
    .int()
    .min(1)
    .optional()
    .describe('line of a CSV file or a sheet that names the columns, where titles stand above it'),
  precision: z.int().min(0).max(MAX_PRECISION).optional().describe('decimals of a cell; 4 is about 11 m'),
  coverage: z
    .enum(['check', 'trust'])
    .optional()
    .describe(
      'trust: ask about every location on earth and let the service say which it covers; default: US ones alone',
    ),
  prefix: z.string().optional().describe('put before the names of the new columns'),
  delimiter: z
    .string()
    .length(1)
    .optional()
    .describe('between the fields of a CSV file, where it is not found by itself'),
  header: z.boolean().optional().describe('false: the input has no line of names, columns are numbered from 1'),
  encoding: encoding.optional().describe('utf-8, windows-1252, utf-16le or utf-16be, where it is not found by itself'),
  service: z
    .union([
      z.literal('embedded'),
      z.strictObject({
        base_url: z
          .url({ protocol: /^https?$/, error: 'an address that begins with https:// or http://' })
          .refine(isBareAddress, {
            error: 'an address without user, password, query and fragment: a key is named in api_keys',
          })
          .describe('address of the service')
          .meta({ pattern: '^https?://' }),
        api_keys: z.array(apiKey).min(1).optional().describe('where the keys are; a refused key gives way to the next'),
      }),
    ])
    .optional()
    .describe('who answers; embedded (the default) answers with sample data'),
  account: z.string().min(1).optional().describe("whose quota it is; default: the service's host"),
  subscription: subscription.optional().describe('starter, professional, or figures of your own'),
  anniversary_day: anniversaryDay
    .optional()
    .describe('day of the month on which the quota resets; in a shorter month its last day'),
  budget: credits.optional().describe('most credits that one run may spend; also the approval off a terminal'),
  tiers: z
    .array(topicSet)
    .min(1)
    .optional()
    .describe('topic sets from the richest to the leanest: every location gets the leanest, the most valuable more'),
  order_by: z
    .union([
      z.enum(['file', 'tiv']),
      z.strictObject({ column: z.string().min(1), direction: z.enum(['asc', 'desc']).optional() }),
    ])
    .optional()
    .describe("what is bought first: file, tiv (the sum of OED's TIV columns), or a column"),
  areas: z
    .union([
      z.literal('oed'),
      z.strictObject({
        tract: z
          .string()
          .min(1)
          .optional()
          .describe('column with census tract codes (11 digits), or three with commas between: state, county, tract'),
        county: z.string().min(1).optional().describe('column with county codes (FIPS)'),
        oed: z.boolean().optional().describe("whether OED's GeogScheme and GeogName columns name areas"),
        verify: share.optional().describe('share of the answers that is bought anyway and compared'),
      }),
    ])
    .optional()
    .describe('one answer for a census tract or county'),
  counts: z.boolean().optional().describe('false leaves out the columns that count records of details'),
  details: z.enum(['keep', 'drop']).optional().describe('keep: also store the details of what is bought'),
  max_invalid: share
    .optional()
    .describe(
      'share of rows without a usable location beyond which a run says so and ends with exit code 3; default 5 %',
    ),
  max_minutes: z.number().positive().optional().describe('stop buying after so many minutes, resumable'),
  on_quota: z.enum(['stop', 'wait']).optional().describe('what to do at the end of the quota'),
  overages: z
    .strictObject({ ceiling: z.number().nonnegative().describe('dollars a period') })
    .optional()
    .describe('what may be billed beyond the allowance; default: nothing'),
  reserve: credits.optional().describe('credits of the period that stay untouched'),
  spent_elsewhere: credits.optional().describe('credits a period that other programs spend with the same key'),
  optimize: z.enum(['credits', 'calls']).optional().describe('buy with the fewest credits or the fewest calls'),
  time_to_live: timeToLive.optional().describe('how long an answer is fresh, by topic or group'),
  store: z.string().min(1).optional().describe('file that keeps answers, ledger and runs'),
  concurrency: z.int().min(1).max(64).optional().describe('most calls in flight at once (default 8)'),
});

/** Settings that had another name before: a job file that still uses it is told the new one. */
export const RENAMED_SETTINGS: Readonly<Record<string, string>> = { sockets: 'concurrency' };

export type JobFile = z.infer<typeof jobFileSchema>;

/** The same as a JSON Schema, for editors. */
export function jobFileJsonSchema(): object {
  const schema = z.toJSONSchema(jobFileSchema, {
    target: 'draft-7',
    io: 'input',
    override: ({ jsonSchema }) => {
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  const title = 'Perilbook job file';
  // Editors take the schema's own address for a setting of the file.
  return { ...schema, title, description: 'A book of US locations, and how to buy its hazard columns.' };
}
