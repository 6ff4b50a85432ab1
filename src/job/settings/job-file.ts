import { z } from 'zod';
import { TOPIC_SLUGS, type TopicSlug } from '../../contract/topics.ts';
import { PerilbookError } from '../../errors.ts';
import { MAX_PRECISION } from '../../geo/coordinates.ts';
import { didYouMean } from '../../nearest-name.ts';
import { encodingNamed } from '../../rows/files/text-encoding.ts';
import { DEFAULT_VERIFY, DEFAULTS, UNITS_BY_SYMBOL } from './defaults.ts';
import { DURATION, durationMs } from './duration.ts';
import { onFinishSchema } from './finish-hook.ts';
import { looksLikeKey } from './key-shapes.ts';

/*
 * The schema of a job file. Editors show the descriptions: jobs/job.schema.json is generated from this. `meta` describes what
 * zod checks by a function.
 */

/** Names of topic sets. */
const TOPIC_GROUPS = ['all', 'natural', 'proximity', 'measurement'] as const;

/** A topic or a group of topics. */
export type TopicName = TopicSlug | (typeof TOPIC_GROUPS)[number];

export const TOPIC_NAMES: readonly string[] = [...TOPIC_GROUPS, ...TOPIC_SLUGS];

const SCOPE_NAMES: readonly string[] = ['bundle', ...TOPIC_NAMES];

function noTopic(name: string, known = TOPIC_NAMES): string {
  const shown = looksLikeKey(name) ? '' : ` ${JSON.stringify(name)}`;
  return `unknown topic${shown}${didYouMean(name, known) || topicsWith(name)} (perilbook topics lists them)`;
}

/** Suggests the names that contain a word: `flood` is part of two. */
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
    const near = didYouMean(context.value, SCOPE_NAMES);
    // A key may have been typed in place of a scope.
    const message = near === '' ? 'unknown scope (a topic or bundle)' : noTopic(context.value, SCOPE_NAMES);
    context.issues.push({ code: 'custom', input: context.value, message });
  })
  .meta({ id: 'scope', enum: [...SCOPE_NAMES] });

const credits = z.int().nonnegative();

const subscription = z.union([
  z.enum(['starter', 'professional']),
  z.strictObject({
    credits_per_month: credits.describe('credits per billing period'),
    credits_per_minute: z.int().positive().describe('credits per minute'),
    overage_rate: z.number().nonnegative().optional().describe('dollars per credit beyond the allowance'),
  }),
]);

const anniversaryDay = z.int().min(1).max(31);

/** Where a key is. Never the key itself: job files are kept in source control. */
const apiKey = z
  .strictObject({
    env: z.string().min(1).optional().describe('environment variable with the key'),
    file: z.string().min(1).optional().describe('file with the key on its first line'),
    scopes: z.array(scopeName).optional().describe('what the key may buy; default: found out by trying'),
    account: z.string().min(1).optional().describe('name of the account whose credits the key spends'),
    subscription: subscription.optional().describe("the account's subscription; default: the job's"),
    anniversary_day: anniversaryDay.optional().describe("day of the month on which the account's quota resets"),
    reserve: credits.optional().describe("credits of the account's billing period to keep back"),
  })
  .refine(({ env, file }) => (env === undefined) !== (file === undefined), {
    error:
      'name either the environment variable (env) or the file (file) with the key; never put the key itself into a job file',
  })
  .meta({ oneOf: [{ required: ['env'] }, { required: ['file'] }] });

/** The address is stored and shown: it must not contain a secret. */
function isBareAddress(text: string): boolean {
  if (!URL.canParse(text)) return true;
  const { username, password, search, hash } = new URL(text);
  return username === '' && password === '' && search === '' && hash === '';
}

const duration = z
  .string()
  .refine((text) => text === 'never' || durationMs(text) !== null, {
    error: 'must be a time such as 90s, 30m, 12h or 30d, or never',
  })
  .meta({ pattern: `^(never|${DURATION.source.slice(1, -1)})$`, examples: ['12h', '30d', 'never'] });

/** A share: `1 %` or 0.01. */
const share = z
  .union([z.number(), z.string().regex(/^\d+(\.\d+)?\s*%$/)], { error: 'must be a share such as 1 % or 0.01' })
  .transform((value) => (typeof value === 'number' ? value : Number.parseFloat(value) / 100))
  .refine((value) => value >= 0 && value <= 1, { error: 'must be a share between 0 and 1 (100 %)' });

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

/** The settings of a job file. All are optional: flags, the environment and the defaults (settings.ts) add the rest. */
export const jobFileSchema = z.strictObject({
  name: z.string().min(1).optional().describe('name of the job, as status shows it; default: the name of the input'),
  input: z
    .union([z.string().min(1), z.array(z.string().min(1)).min(1)])
    .optional()
    .describe(
      'CSV, Excel (.xlsx), Parquet, NDJSON or GeoJSON, by a path relative to this file; for part files a folder, a pattern (parts/*.csv) or a list',
    ),
  output: z
    .string()
    .min(1)
    .optional()
    .describe(
      'file to write, in the format of its extension; for part files a folder; default: beside the input, with .hazards in its name',
    ),
  topics: topicSet
    .optional()
    .describe('topics or groups: natural (default), proximity, measurement, all (perilbook topics lists them)'),
  location: z
    .strictObject({
      lat: z.string().min(1).optional().describe('latitude column, by name or number'),
      lng: z.string().min(1).optional().describe('longitude column, by name or number'),
      column: z.string().min(1).optional().describe('column with both: (38.5, -97.2) or POINT(-97.2 38.5)'),
    })
    .refine(({ lat, lng, column }) => column === undefined || (lat === undefined && lng === undefined), {
      error: 'name either one column with both, or lat and lng',
    })
    .optional()
    .describe('location columns; needed only if Perilbook does not recognise their names'),
  coordinates: z
    .enum(['strict', 'lenient'])
    .optional()
    .describe(
      'strict (default): decimal degrees only; lenient: also degrees, minutes and seconds, compass letters, decimal commas',
    ),
  sheet: z
    .union([z.string().min(1), z.int().min(1)])
    .optional()
    .describe('sheet of an Excel workbook, by name or number; default: the first'),
  header_line: z
    .int()
    .min(1)
    .optional()
    .describe('line of a CSV file or a sheet with the column names, if there are titles above it'),
  precision: z
    .int()
    .min(0)
    .max(MAX_PRECISION)
    .optional()
    .describe(`decimals to which locations are rounded (default ${DEFAULTS.precision}); 4 is about 11 m`),
  coverage: z
    .enum(['check', 'trust'])
    .optional()
    .describe(
      'check (default): ask for US locations only; trust: ask for all, and let the service reject what it does not cover',
    ),
  prefix: z.string().optional().describe('prefix for the names of the new columns'),
  delimiter: z.string().length(1).optional().describe('field delimiter of a CSV file; default: detected'),
  header: z.boolean().optional().describe('false: the input has no header line; columns are numbered from 1'),
  encoding: encoding.optional().describe('utf-8, windows-1252, utf-16le or utf-16be; default: detected'),
  service: z
    .union([
      z.enum(['local', 'sample']),
      z.strictObject({
        base_url: z
          .url({ protocol: /^https?$/, error: 'must be an address that begins with https:// or http://' })
          .refine(isBareAddress, {
            error: 'must be an address without user, password, query and fragment; keys belong in api_keys',
          })
          .describe('address of the service')
          .meta({ pattern: '^https?://' }),
        api_keys: z.array(apiKey).min(1).optional().describe('where the keys are; if one is refused, the next is used'),
      }),
    ])
    .optional()
    .describe(
      "where answers come from: local (the agencies' data on this machine), sample (made-up data), or the address of a service; default: local where it has data for one of the topics, else sample",
    ),
  account: z
    .string()
    .min(1)
    .optional()
    .describe("name of the account whose quota is spent; default: the service's host"),
  subscription: subscription.optional().describe('starter (default), professional, or custom figures'),
  anniversary_day: anniversaryDay
    .optional()
    .describe(
      `day of the month on which the quota resets (default ${DEFAULTS.anniversary_day}); in a shorter month its last day`,
    ),
  budget: credits.optional().describe('most credits that one run may spend; off a terminal it is also the approval'),
  tiers: z
    .array(topicSet)
    .min(1)
    .optional()
    .describe('topic sets, richest first: every location gets the leanest, the most valuable locations get more'),
  order_by: z
    .union([
      z.enum(['file', 'tiv']),
      z.strictObject({ column: z.string().min(1), direction: z.enum(['asc', 'desc']).optional() }),
    ])
    .optional()
    .describe("what to buy first: file (default), tiv (the sum of OED's TIV columns), or a column"),
  areas: z
    .union([
      z.enum(['tract', 'county', 'oed']),
      z
        .strictObject({
          find: z
            .enum(['tract', 'county'])
            .optional()
            .describe("find each location's census tract or county by the boundaries on this machine; needs no column"),
          tract: z
            .string()
            .min(1)
            .optional()
            .describe('column with census tract codes (11 digits), or three columns: STATE,COUNTY,TRACT'),
          county: z.string().min(1).optional().describe('column with county FIPS codes'),
          oed: z.boolean().optional().describe("true: read areas from OED's GeogScheme and GeogName columns"),
          verify: share
            .optional()
            .describe(
              `share of the spared answers that is bought anyway, to verify (default ${100 * DEFAULT_VERIFY} %)`,
            ),
        })
        .refine(
          ({ find, tract, county, oed }) =>
            find === undefined || (tract === undefined && county === undefined && oed !== true),
          { error: 'name either find, or the columns with codes (tract, county, oed)' },
        ),
    ])
    .optional()
    .describe(
      'buy one answer per census tract or county; tract and county find the area by the boundaries on this machine, oed and a map with columns read its code',
    ),
  geoparquet: z
    .boolean()
    .optional()
    .describe('true: write the Parquet output as GeoParquet, with the location as a point (hazard_geometry)'),
  counts: z.boolean().optional().describe('false: leave out the columns that count records'),
  details: z.enum(['keep', 'drop']).optional().describe('keep: also store the details of new answers (default drop)'),
  max_invalid: share
    .optional()
    .describe(
      `acceptable share of rows without a usable location (default ${100 * DEFAULTS.max_invalid} %); above it a run ends with exit code 3`,
    ),
  max_minutes: z.number().positive().optional().describe('stop buying after this many minutes, resumable'),
  on_quota: z
    .enum(['stop', 'wait'])
    .optional()
    .describe('when the quota is used up: stop (default), or wait for the reset'),
  overages: z
    .strictObject({ ceiling: z.number().nonnegative().describe('dollars per billing period') })
    .optional()
    .describe('what may be billed beyond the allowance (default nothing)'),
  reserve: credits.optional().describe('credits of the billing period to keep back (default 0)'),
  spent_elsewhere: credits.optional().describe('credits that other programs spend in each billing period (default 0)'),
  optimize: z
    .enum(['credits', 'calls'])
    .optional()
    .describe('buy with the fewest credits (default) or the fewest calls'),
  time_to_live: timeToLive.optional().describe('how long answers stay fresh, by topic or group'),
  units: z
    .enum(['miles', 'mi', 'kilometers', 'km'])
    .transform((unit) => (unit === 'miles' || unit === 'kilometers' ? unit : UNITS_BY_SYMBOL[unit]!))
    .optional()
    .describe('unit of distances in the report: miles (default) or kilometers, in short mi or km'),
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/, { error: 'must be an ISO 4217 code such as USD' })
    .optional()
    .describe(
      'currency of the values in the report; in a file with several currencies, the one whose values it breaks down',
    ),
  id: z
    .string()
    .min(1)
    .optional()
    .describe(
      'column that names a location in the report, and by which --compare matches rows (default: found by its name)',
    ),
  store: z.string().min(1).optional().describe('file with answers, ledger and runs, or postgres://user@host/database'),
  on_finish: onFinishSchema
    .optional()
    .describe('program or webhook that gets the summary when a run has ended, also one that stopped or failed'),
  metrics: z
    .string()
    .min(1)
    .optional()
    .describe("file for the run's figures as OpenMetrics text, for the textfile collector of node_exporter"),
  concurrency: z
    .int()
    .min(1)
    .max(64)
    .optional()
    .describe(`most calls in flight at once (default ${DEFAULTS.concurrency})`),
});

export type JobFile = z.infer<typeof jobFileSchema>;

/** The JSON Schema, for editors. */
export function jobFileJsonSchema(): object {
  const schema = z.toJSONSchema(jobFileSchema, {
    target: 'draft-7',
    io: 'input',
    override: ({ jsonSchema }) => {
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  const title = 'Perilbook job file';
  return { ...schema, title, description: 'A file of US locations, and how to buy its hazard columns.' };
}
