import { z } from 'zod';
import { isCurrencyCode } from '../base/currencies.ts';
import { PerilbookError } from '../base/errors.ts';
import { didYouMean } from '../base/nearest-name.ts';
import { type NameFault, readInputPath, readPath } from '../base/path-names.ts';
import { shellWord } from '../base/shell-words.ts';
import { readServiceAddress } from '../contract/service-address.ts';
import { TOPIC_SLUGS } from '../contract/topics.ts';
import { PLACE_ORDERS } from '../geo/place-order.ts';
import { encodingNamed } from '../rows/text-encoding.ts';
import { readDatabaseName } from '../sql/database-name.ts';
import { looksLikeKey } from './key-shapes.ts';
import { DURATION, durationMs, listOf, readAccountName } from './setting-texts.ts';
import { topicNames } from './topic-choice.ts';

/* The building blocks of the schemas in setting-table.ts. `meta` describes a check by a function for editors. */

const scopeNames = (): readonly string[] => ['bundle', ...topicNames()];

/** The hint of an issue with an unknown topic. */
const TOPICS_HINT = { hint: 'perilbook topics lists all topics.' };

function noTopic(name: string, names = topicNames()): string {
  const shown = looksLikeKey(name) ? '' : ` ${JSON.stringify(name)}`;
  return `unknown topic${shown}${joined(name, names) || didYouMean(name, names) || topicsWith(name)}`;
}

/** Suggests commas between topics with blanks: PowerShell makes a list of words with commas, which npm's starter joins again with blanks. */
function joined(text: string, names: readonly string[]): string {
  const words = text.trim().split(/\s+/);
  return words.length > 1 && words.every((word) => names.includes(word))
    ? `; did you mean ${shellWord(words.join(','))}?`
    : '';
}

/** Suggests the names that contain a word: `flood` is part of two. */
function topicsWith(part: string): string {
  const slugs = TOPIC_SLUGS.filter((slug) =>
    slug.toLowerCase().includes(part.trim().toLowerCase()),
  );
  return part.trim().length < LEAST_PART || slugs.length === 0
    ? ''
    : `; did you mean ${slugs.join(' or ')}?`;
}

const LEAST_PART = 3;

// No file, column or program has a NUL in its name, and the system's calls throw at one.
const text = z
  .string()
  .min(1)
  .refine((value) => !value.includes('\0'), { error: 'must not have a NUL character' });

/** A text that a function reads as a name: its value is what the function gives, its issue the fault. */
const named = (read: (value: string) => string | NameFault) =>
  z
    .string()
    .min(1)
    .transform((value, context) => {
      const name = read(value);
      if (typeof name === 'string') return name;
      // Without the value, which may hold a password.
      context.issues.push({ code: 'custom', input: '', message: name.fault });
      return z.NEVER;
    });

const inputPath = named(readInputPath);

const topic = z
  .string()
  .refine((name) => topicNames().includes(name), {
    error: ({ input }) => noTopic(String(input)),
    params: TOPICS_HINT,
  })
  .meta({
    id: 'topic',
    anyOf: [
      { enum: [...topicNames()] },
      // With a _, so that an editor still marks a misspelt topic.
      { pattern: '^[a-z][a-z0-9]*(_[a-z0-9]+)+$', description: 'a layer of your own' },
    ],
  });

const scope = z
  .string()
  .check((context) => {
    if (scopeNames().includes(context.value)) return;
    const near = didYouMean(context.value, scopeNames());
    // The scope may be a mistyped key.
    const message =
      near === '' ? 'unknown scope (a topic or bundle)' : noTopic(context.value, scopeNames());
    context.issues.push({ code: 'custom', input: context.value, message, params: TOPICS_HINT });
  })
  .meta({ id: 'scope', enum: [...scopeNames()] });

const credits = z.int().nonnegative();

/** The variable or file of a key. Never the key itself: job files are kept in source control. */
const apiKey = z
  .strictObject({
    env: text.optional().describe('environment variable with the key'),
    file: inputPath.optional().describe('file with the key on its first line'),
    scopes: z
      .array(scope)
      .optional()
      .describe('what the key may buy; default: found out by trying'),
  })
  .refine(({ env, file }) => (env === undefined) !== (file === undefined), {
    error:
      'name either the environment variable (env) or the file (file) with the key; never put the key itself into a job file',
  })
  .meta({ oneOf: [{ required: ['env'] }, { required: ['file'] }] });

/** A column by its name or, as a number or a text, by its place from 1. */
const column = z.union([text, z.int().min(1).transform(String)]);

const duration = z
  .string()
  .refine((value) => value === 'never' || durationMs(value) !== null, {
    error: 'must be a time such as 90s, 30m, 12h or 30d, or never',
  })
  .meta({
    pattern: `^(never|${DURATION.source.slice(1, -1)})$`,
    examples: ['12h', '30d', 'never'],
  });

export const SCHEMAS = {
  text,
  credits,
  day: z.int().min(1).max(31),
  /** A share: `1 %` or 0.01. */
  share: z
    .union(
      [
        z.number().refine((value) => value <= 1 || value > 100, {
          error: ({ input }) =>
            `must be a share: ${input}% or ${Number((Number(input) / 100).toPrecision(12))}`,
        }),
        z.string().regex(/^\d+(\.\d+)?\s*%$/),
      ],
      { error: 'must be a share such as 1 % or 0.01' },
    )
    .transform((value) => (typeof value === 'number' ? value : Number.parseFloat(value) / 100))
    .refine((value) => value >= 0 && value <= 1, {
      error: 'must be a share between 0 and 1 (100 %)',
    }),
  encoding: z
    .string()
    .check((context) => {
      try {
        encodingNamed(context.value);
      } catch (error) {
        if (!(error instanceof PerilbookError)) throw error;
        context.issues.push({
          code: 'custom',
          input: context.value,
          message: `${error.message}. ${error.hint}`,
        });
      }
    })
    .meta({ examples: ['utf-8', 'windows-1252', 'utf-16le', 'shift_jis'] }),
  units: z
    .enum(['miles', 'mi', 'kilometers', 'km'])
    .transform((unit) => (unit === 'mi' ? 'miles' : unit === 'km' ? 'kilometers' : unit)),
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/, { error: 'must be an ISO 4217 code such as USD', abort: true })
    .refine(isCurrencyCode, {
      error: ({ input }) => `there is no currency ${input}: give an ISO 4217 code such as USD`,
    }),
  subscription: z.union([
    z.enum(['starter', 'professional']),
    z.strictObject({
      credits_per_month: credits.describe('credits per billing period'),
      credits_per_minute: z.int().positive().describe('credits per minute'),
      overage_rate: z
        .number()
        .nonnegative()
        .optional()
        .describe('dollars per credit beyond the allowance'),
    }),
  ]),
  service: z.union([
    z.enum(['local', 'sample']),
    z.strictObject({
      base_url: named(readServiceAddress)
        .describe('address of the service')
        .meta({ pattern: '^https?://' }),
      api_keys: z
        .array(apiKey)
        .min(1)
        .optional()
        .describe('where the keys are; if one is refused, the next is used'),
    }),
  ]),
  location: z
    .strictObject({
      lat: column.optional().describe('latitude column, by name or number'),
      lng: column.optional().describe('longitude column, by name or number'),
      column: column
        .optional()
        .describe('column with both: (38.5, -97.2), WKT, WKB, GeoJSON, [lng, lat]'),
      order: z
        .enum(PLACE_ORDERS)
        .optional()
        .describe(
          'which of the two comes first in that column (default: as its form and the values show)',
        ),
    })
    .refine(
      ({ lat, lng, column }) => column === undefined || (lat === undefined && lng === undefined),
      {
        error: 'name either one column with both, or lat and lng',
      },
    )
    .refine(
      ({ lat, lng, order }) => order === undefined || (lat === undefined && lng === undefined),
      {
        error: 'an order is for one column with both, not for lat and lng',
      },
    ),
  areas: z.enum(['tract', 'county']),
  timesToLive: z
    .record(z.string(), duration)
    .check(({ value, issues }) => {
      for (const name of Object.keys(value)) {
        if (topicNames().includes(name)) continue;
        issues.push({
          code: 'custom',
          input: value,
          path: [name],
          message: noTopic(name),
          params: { isName: true, ...TOPICS_HINT },
        });
      }
    })
    .meta({ propertyNames: { $ref: '#/definitions/topic' } }),
  anyText: z.string(),
  character: z.string().length(1),
  flag: z.boolean(),
  wholeNumber: (least: number, most?: number) =>
    most === undefined ? z.int().min(least) : z.int().min(least).max(most),
  positive: z.number().positive(),
  oneOf: <const T extends readonly string[]>(...words: T) => z.enum(words),
  accountName: named(readAccountName),
  outputPath: named(readPath),
  database: named(readDatabaseName),
  inputPaths: z.union([inputPath, z.array(inputPath).min(1)]),
  sheet: z.union([text, z.int().min(1)]),
  // With commas as the option has them: `topics: hail,park`.
  topics: z.union([
    topic,
    z.array(topic).min(1),
    z.string().regex(/,/).transform(listOf).pipe(z.array(topic).min(1)),
  ]),
  orderBy: z.union([
    z.enum(['file', 'tiv']),
    z.strictObject({ column: text, direction: z.enum(['asc', 'desc']).optional() }),
  ]),
  overages: z.strictObject({
    ceiling: z.number().nonnegative().describe('dollars per billing period'),
  }),
  /** A program and its arguments, started without a shell. It gets the summary as JSON on standard input. */
  onFinish: z
    .array(text)
    .min(1)
    .refine(([program = '']) => !/^https?:/i.test(program), {
      error: 'must be a program; one line with curl calls a webhook',
    }),
};
