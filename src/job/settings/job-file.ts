import { readFileSync } from 'node:fs';
import { type Document, isMap, isScalar, LineCounter, parseDocument, visit } from 'yaml';
import { z } from 'zod';
import { TOPIC_SLUGS } from '../../contract/topics.ts';
import { hasSystemCode, PerilbookError } from '../../errors.ts';
import { MAX_PRECISION } from '../../geo/coordinates.ts';
import { nearestName } from '../../nearest-name.ts';
import { durationMs } from './duration.ts';
import { holdsKey, KEY_HINT, looksLikeKey, namesKey } from './key-shapes.ts';

/** Sets of topics that have a name of their own, beside the slugs. */
export const TOPIC_GROUPS = ['all', 'natural', 'proximity', 'measurement'] as const;

const TOPIC_NAMES: readonly string[] = [...TOPIC_GROUPS, ...TOPIC_SLUGS];

const topicName = z.string().check((context) => {
  if (TOPIC_NAMES.includes(context.value)) return;
  const near = nearestName(context.value, TOPIC_NAMES);
  const said = looksLikeKey(context.value) ? 'of that name' : JSON.stringify(context.value);
  context.issues.push({
    code: 'custom',
    input: context.value,
    message: `there is no topic ${said}${near ? `; did you mean ${near}?` : ''} (perilbook topics lists all)`,
  });
});

const scopeName = z.union([z.literal('bundle'), topicName]);

const credits = z.int().nonnegative();

const subscription = z.union([
  z.enum(['starter', 'professional']),
  z.strictObject({
    credits_per_month: credits,
    credits_per_minute: z.int().positive(),
    overage_rate: z.number().nonnegative().optional(),
  }),
]);

/** Where a key is found. Never the key itself: job files are kept in source control. */
const apiKey = z
  .strictObject({
    env: z.string().min(1).optional(),
    file: z.string().min(1).optional(),
    scopes: z.array(scopeName).optional(),
    account: z.string().min(1).optional(),
    subscription: subscription.optional(),
    anniversary_day: z.int().min(1).max(31).optional(),
    reserve: z.int().nonnegative().optional(),
  })
  .refine(({ env, file }) => (env === undefined) !== (file === undefined), {
    error:
      'name the environment variable (env) or the file (file) that holds the key; the key itself does not belong in a job file',
  });

/** The address is kept in the store and shown: it must hold nothing that is secret. */
function isBareAddress(text: string): boolean {
  if (!URL.canParse(text)) return true;
  const { username, password, search, hash } = new URL(text);
  return username === '' && password === '' && search === '' && hash === '';
}

const duration = z.string().refine((text) => text === 'never' || durationMs(text) !== null, {
  error: 'a time such as 90s, 30m, 12h or 30d, or never',
});

/** A share: `1 %` or 0.01. */
const share = z
  .union([z.number(), z.string().regex(/^\d+(\.\d+)?\s*%$/)], { error: 'a share such as 1 % or 0.01' })
  .transform((value) => (typeof value === 'number' ? value : Number.parseFloat(value) / 100))
  .refine((value) => value >= 0 && value <= 1, { error: 'a share between 0 and 1 (100 %)' });

/** Everything that a job file can say. All is optional here: what is missing comes from flags, the environment, or the
 * defaults, which are applied last (settings.ts). */
export const jobFileSchema = z.strictObject({
  name: z.string().min(1).optional(),
  input: z.string().min(1).optional(),
  output: z.string().min(1).optional(),
  topics: z.union([topicName, z.array(topicName).min(1)]).optional(),
  location: z.strictObject({ lat: z.string().min(1).optional(), lng: z.string().min(1).optional() }).optional(),
  precision: z.int().min(0).max(MAX_PRECISION).optional(),
  prefix: z.string().optional(),
  delimiter: z.string().length(1).optional(),
  header: z.boolean().optional(),
  encoding: z.string().min(1).optional(),
  service: z
    .union([
      z.literal('embedded'),
      z.strictObject({
        base_url: z
          .url({ protocol: /^https?$/, error: 'an address that begins with https:// or http://' })
          .refine(isBareAddress, {
            error: 'an address without user, password, query and fragment: a key is named in api_keys',
          }),
        api_keys: z.array(apiKey).min(1).optional(),
      }),
    ])
    .optional(),
  account: z.string().min(1).optional(),
  subscription: subscription.optional(),
  anniversary_day: z.int().min(1).max(31).optional(),
  budget: credits.optional(),
  tiers: z
    .array(z.union([topicName, z.array(topicName).min(1)]))
    .min(1)
    .optional(),
  order_by: z
    .union([
      z.enum(['file', 'tiv']),
      z.strictObject({ column: z.string().min(1), direction: z.enum(['asc', 'desc']).optional() }),
    ])
    .optional(),
  areas: z
    .union([
      z.literal('oed'),
      z.strictObject({
        tract: z.string().min(1).optional(),
        county: z.string().min(1).optional(),
        oed: z.boolean().optional(),
        verify: share.optional(),
      }),
    ])
    .optional(),
  counts: z.boolean().optional(),
  details: z.enum(['keep', 'drop']).optional(),
  max_minutes: z.number().positive().optional(),
  on_quota: z.enum(['stop', 'wait']).optional(),
  overages: z.strictObject({ ceiling: z.number().nonnegative() }).optional(),
  reserve: credits.optional(),
  spent_elsewhere: credits.optional(),
  optimize: z.enum(['credits', 'calls']).optional(),
  time_to_live: z.record(z.string(), duration).optional(),
  store: z.string().min(1).optional(),
  sockets: z.int().min(1).max(64).optional(),
});

export type JobFile = z.infer<typeof jobFileSchema>;

/** Reads the job file at `path`; `file` is what the user calls it. @throws JOB_FILE with the line and column of what is wrong */
export function readJobFile(path: string, file: string): JobFile {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new PerilbookError(
      'JOB_FILE',
      hasSystemCode(error, 'ENOENT')
        ? `There is no job file ${file}`
        : `The job file ${file} cannot be read: ${String(error)}`,
      'Check the path; jobs/ holds examples.',
      { file },
      error,
    );
  }
  return parseJobFile(text, file);
}

/** The content of a job file, checked. `file` is for messages. @throws JOB_FILE */
export function parseJobFile(text: string, file: string): JobFile {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const at = (offset: number, message: string, isSecret = false): PerilbookError => {
    const { line, col } = lines.linePos(offset);
    const content = text.split(/\r?\n/)[line - 1]?.trim() ?? '';
    const shown = isSecret || holdsKey(content) ? '' : content;
    return new PerilbookError(
      'JOB_FILE',
      `${file}:${line}:${col}: ${message}${shown === '' ? '' : `\n    ${shown}`}`,
      isSecret ? KEY_HINT : 'Correct that line of the job file.',
      { file, line, column: String(col) },
    );
  };
  const broken = document.errors[0];
  if (broken) throw at(broken.pos[0], broken.message);
  visit(document, {
    Alias(_, alias) {
      if (alias.resolve(document) !== undefined) return;
      throw at(
        alias.range![0],
        `YAML reads *${alias.source} as a reference, and there is none of that name: put the value in quotes`,
      );
    },
  });
  const checked = jobFileSchema.safeParse(contentOf(document, at) ?? {});
  if (checked.success) return checked.data;
  const issue = deepestIssue(checked.error.issues[0]!);
  const { path, message } = issue;
  const isSecret = issue.isUnknown ? namesKey(String(path.at(-1))) : isScalarKey(document, path);
  throw at(offsetOf(document, issue), `${path.length > 0 ? `${path.join('.')}: ` : ''}${message}`, isSecret);
}

/** Whether a text stands where a key's whereabouts belong: most likely the key. */
function isScalarKey(document: Document.Parsed, path: readonly PropertyKey[]): boolean {
  const isPlace = path.at(-1) === 'api_keys' || path.at(-2) === 'api_keys';
  return isPlace && isScalar(document.getIn(path, true));
}

/** The plain content. References upon references without end are refused by the library. */
function contentOf(document: Document.Parsed, at: (offset: number, message: string) => PerilbookError): unknown {
  try {
    return document.toJS();
  } catch (error) {
    throw at(0, error instanceof Error ? error.message : String(error));
  }
}

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly isUnknown?: boolean;
}

/** Of a union only the branch that got farthest says something useful. */
export function deepestIssue(issue: z.core.$ZodIssue): Issue {
  if (issue.code === 'unrecognized_keys') {
    const known = Object.keys(jobFileSchema.shape);
    const name = issue.keys[0]!;
    const near = issue.path.length === 0 ? nearestName(name, known) : null;
    const misplaced = issue.path.length > 0 && known.includes(name);
    const hint = misplaced ? ' here; it belongs at the top level' : near ? `; did you mean ${near}?` : '';
    const message = `unknown setting ${JSON.stringify(name)}${hint}`;
    return { path: [...issue.path, name], message, isUnknown: true };
  }
  if (issue.code !== 'invalid_union') return issue;
  const branches = issue.errors.map((issues) => deepestIssue(issues[0]!));
  const deepest = branches.sort((a, b) => b.path.length - a.path.length)[0];
  if (!deepest) return issue;
  const message =
    deepest.path.length > 0 ? deepest.message : [...new Set(branches.map((branch) => branch.message))].join('; or ');
  return { ...deepest, path: [...issue.path, ...deepest.path], message };
}

/** Where a setting stands. An unknown one is shown at its name: its value may be a list that begins lines below. */
function offsetOf(document: Document.Parsed, { path, isUnknown }: Issue): number {
  for (let length = path.length; length > 0; length--) {
    const node = isUnknown
      ? nameOf(document, path.slice(0, length))
      : (document.getIn(path.slice(0, length), true) as { range?: readonly number[] | null } | undefined);
    if (node?.range) return node.range[0]!;
  }
  return 0;
}

function nameOf(
  document: Document.Parsed,
  path: readonly PropertyKey[],
): { range?: readonly number[] | null } | undefined {
  const parent = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true);
  const isIt = ({ key }: { key: unknown }) => isScalar(key) && key.value === path.at(-1);
  return isMap(parent) ? (parent.items.find(isIt)?.key as { range?: readonly number[] | null } | undefined) : undefined;
}
