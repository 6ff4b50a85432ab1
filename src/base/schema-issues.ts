import { z } from 'zod';
import { didYouMean, nearestName } from './nearest-name.ts';

/* What is wrong with what a user wrote, in words: of a job file, an option, the description of a layer, a list of sources. */

/** What is wrong with a member of what a user wrote. */
export interface SchemaIssue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
  /** What to do; left out where the message says enough. */
  readonly hint?: string;
  /** The name is wrong, not the value. */
  readonly isName?: boolean;
  /** The name may be a secret, and the message does not repeat it. */
  readonly isHidden?: boolean;
}

/** What differs between the things that users write. */
export interface SchemaWords {
  /** What the whole should be: `settings such as input: portfolio.csv`. */
  readonly whole: string;
  /** The issue of a name that is not known. @param path of what has it */
  readonly unknownName: (path: MemberPath, name: string) => SchemaIssue;
  /** Whether a message must not show a text, which may be a secret. */
  readonly hides: (path: MemberPath, text: string) => boolean;
  /** No message has a value, a mistyped one neither. */
  readonly repeatsNothing?: true;
  /** The value of an option cannot be a map: no message names one. */
  readonly isOption?: boolean;
}

/** The words for a file whose names have no meaning elsewhere.
 * @param namesAt the names that are known at the place of a wrong one */
export function memberWords(
  whole: string,
  namesAt: (path: MemberPath) => readonly string[],
  hides: SchemaWords['hides'],
): SchemaWords {
  return {
    whole,
    unknownName: (path, name) => {
      const message = `there is no such member${didYouMean(name, namesAt(path))}`;
      return { path: [...path, name], message, isName: true };
    },
    hides,
  };
}

type Issue = z.core.$ZodIssue;
type MemberPath = readonly PropertyKey[];

const TYPES: Readonly<Record<string, string>> = {
  int: 'a whole number',
  number: 'a number',
  string: 'a text',
  boolean: 'true or false',
  object: 'a map',
  record: 'a map',
  array: 'a list',
};

/** What a schema says of what a user wrote: its value, or what is wrong with it. */
export type CheckedText<T> =
  | { readonly data: T; readonly issues: null }
  | { readonly data: null; readonly issues: readonly SchemaIssue[] };

/** Checks what a user wrote. @param wordsOf is asked only where something is wrong */
export function checkWritten<T>(
  schema: z.ZodType<T>,
  given: unknown,
  wordsOf: () => SchemaWords,
): CheckedText<T> {
  const checked = schema.safeParse(given, { error: schemaMessage });
  const found = checked.success ? [] : listSchemaIssues(checked.error.issues, given, wordsOf());
  const places = new Set(found.map(({ path }) => path.join('.')));
  const unread = unreadMembers(given).filter(({ path }) => !places.has(path.join('.')));
  const issues = [...found, ...unread];
  return checked.success && issues.length === 0
    ? { data: checked.data, issues: null }
    : { data: null, issues };
}

/** What a schema says of what another program sent. */
export type CheckedSent<T> =
  | { readonly data: T; readonly problem: null }
  | { readonly data: null; readonly problem: SchemaIssue };

/** Its texts may hold a key that it repeats. */
const WORDS_OF_SENT: SchemaWords = {
  whole: 'a map',
  unknownName: (path) => ({ path, message: 'has a member that is not known' }),
  hides: () => true,
  repeatsNothing: true,
};

/** Checks what another program sent: an answer, the request of a page. The first problem, in the words of `checkWritten`, repeats no value. */
export function checkSent<T>(schema: z.ZodType<T>, given: unknown): CheckedSent<T> {
  const checked = schema.safeParse(given, { error: schemaMessage });
  if (checked.success) return { data: checked.data, problem: null };
  const [problem] = listSchemaIssues(checked.error.issues, given, WORDS_OF_SENT);
  return { data: null, problem: problem! };
}

/** `value.rating: is missing` */
export function problemText({ path, message }: SchemaIssue): string {
  return [path.map(String).join('.'), message].filter(Boolean).join(': ');
}

/** A name that JavaScript has taken: zod leaves such a member out of a map, without a word. */
const TAKEN = '__proto__';

function unreadMembers(
  given: unknown,
  path: MemberPath = [],
  seen = new Set<unknown>(),
): readonly SchemaIssue[] {
  if (typeof given !== 'object' || given === null || seen.has(given)) return [];
  seen.add(given);
  return Object.entries(given).flatMap(([name, value]) => {
    const here = [...path, Array.isArray(given) ? Number(name) : name];
    if (name === TAKEN)
      return [{ path: here, message: `the name ${TAKEN} cannot be used`, isName: true }];
    return unreadMembers(value, here, seen);
  });
}

/** The message for a wrong value whose schema has none: the `error` of `safeParse`. Of a union, whose branches have messages, the map that it takes. */
function schemaMessage(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_union':
      return mapMessage(issue.inst);
    case 'invalid_type':
      if (issue.expected === 'object') return mapMessage(issue.inst);
      return `expected ${TYPES[issue.inst instanceof z.ZodNumberFormat ? 'int' : issue.expected] ?? issue.expected}`;
    case 'invalid_format':
      return 'has the wrong format';
    case 'too_big':
      return issue.exact ? ONE_CHARACTER : `must be at most ${issue.maximum}`;
    case 'too_small':
      if (issue.exact) return ONE_CHARACTER;
      if (issue.origin === 'array') return 'the list must not be empty';
      if (issue.origin === 'string') return 'must not be empty';
      return `must be ${issue.inclusive ? 'at least' : 'more than'} ${issue.minimum}`;
    default:
      return undefined;
  }
}

/** Stands in messages that are put into words later, with the value: what map a schema takes. */
const MAP_MARK = '\0';

/** The map that a schema takes, as a message: the one member that it needs, and `a map with lat, lng or column`. */
function mapMessage(schema: unknown): string {
  const shape = shapeOf(schema);
  if (shape === null) return `${MAP_MARK}${MAP_MARK}a map of settings`;
  const names = Object.keys(shape);
  const [needed = '', ...others] = names.filter(
    (name) => !shape[name]!.safeParse(undefined).success,
  );
  const words = `a map with ${[...names.slice(0, -2), names.slice(-2).join(' or ')].join(', ')}`;
  return `${MAP_MARK}${others.length === 0 ? needed : ''}${MAP_MARK}${words}`;
}

/** Of a message of `mapMessage`, what the map is, and how the value would stand in it; null for another message. */
function readMapMessage(message: string, value: unknown): { words: string; meant: string } | null {
  const [own, needed, words] = message.split(MAP_MARK);
  if (own !== '' || words === undefined) return null;
  const isPlain = typeof value === 'string' || typeof value === 'number';
  const text =
    typeof value === 'string' && !/^[\w -]+$/.test(value) ? JSON.stringify(value) : value;
  return { words, meant: needed !== '' && isPlain ? `{${needed}: ${text}}` : '' };
}

function shapeOf(schema: unknown): Readonly<Record<string, z.ZodType>> | null {
  if (schema instanceof z.ZodObject) return schema.shape as Readonly<Record<string, z.ZodType>>;
  if (!(schema instanceof z.ZodUnion)) return null;
  return schema.options.map(shapeOf).find((shape) => shape !== null) ?? null;
}

/** Only a delimiter has an exact length. */
const ONE_CHARACTER = 'must be exactly one character';

/** What zod found in `given`, in words.
 * @param issues of a `safeParse` with `schemaMessage` */
function listSchemaIssues(
  issues: readonly Issue[],
  given: unknown,
  words: SchemaWords,
): SchemaIssue[] {
  const all = issues.flatMap((issue) => issuesFor(issue, given, words));
  // A missing setting is no extra error if its name is misspelt.
  const misspelt = all.filter(({ isName }) => isName);
  const follows = (issue: SchemaIssue) =>
    !issue.isName &&
    misspelt.some(
      ({ path }) => path.length === issue.path.length + 1 && startsWith(path, issue.path),
    );
  return all.filter((issue) => !follows(issue));
}

const startsWith = (path: MemberPath, start: MemberPath) =>
  start.every((key, index) => path[index] === key);

function issuesFor(issue: Issue, given: unknown, words: SchemaWords): SchemaIssue[] {
  const { path, message } = issue;
  const value = valueAt(given, path);
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((name) => words.unknownName(path, name));
    case 'invalid_value':
      return [{ path, message: noSuchValue(path, value, issue.values.map(String), words) }];
    case 'invalid_union':
      return ofUnion(issue, given, words);
    case 'invalid_type': {
      if (value === undefined) return [{ path, message: 'is missing' }];
      // zod reports 1.5 as a wrong type: it expects a whole number.
      const isNumber = String(issue.expected) === 'int' && typeof value === 'number';
      const map = readMapMessage(message, value);
      const expected =
        path.length === 0
          ? `expected ${words.whole}`
          : map === null
            ? message
            : `expected ${map.words}`;
      const meant = map === null ? '' : meantText(path, value, map.meant, words);
      const found = `${expected}, found ${valueText(path, value, words)}${meant}`;
      return [{ path, message: isNumber ? message : found }];
    }
    case 'custom':
      return [{ path, message, ...hintOf(issue), isName: issue.params?.isName === true }];
    default:
      return [{ path, message }];
  }
}

/** In a union, the branch that matched farthest has the useful message; for a word, the branches with words. */
function ofUnion(
  issue: Extract<Issue, { code: 'invalid_union' }>,
  given: unknown,
  words: SchemaWords,
) {
  const { path, message } = issue;
  const map = readMapMessage(message, valueAt(given, path));
  if (map === null) return [{ path, message }];
  const value = valueAt(given, path);
  if (typeof value === 'string') {
    const all = issue.errors.flat();
    // The last: it speaks of the one name in a text with commas.
    const custom = all.findLast((branch) => branch.code === 'custom');
    if (custom) return [{ path, message: custom.message, ...hintOf(custom) }];
    const valid = all.flatMap((branch) =>
      branch.code === 'invalid_value' ? branch.values.map(String) : [],
    );
    const orElse = words.isOption === true ? undefined : map;
    if (valid.length > 0)
      return [{ path, message: noSuchValue(path, value, valid, words, orElse) }];
  }
  const depth = (issues: readonly SchemaIssue[]) =>
    Math.max(...issues.map((branch) => branch.path.length));
  const branches = issue.errors
    .map((issues) =>
      listSchemaIssues(
        issues.map((branch) => ({ ...branch, path: [...path, ...branch.path] })),
        given,
        words,
      ),
    )
    .sort((a, b) => depth(b) - depth(a));
  const farthest = branches[0]!;
  if (depth(farthest) > path.length) return farthest;
  const tried = branches.flat();
  const hint = tried.find((branch) => branch.hint !== undefined)?.hint;
  const messages = [...new Set(tried.map((branch) => branch.message))];
  return [{ path, message: messages.join('; or '), ...(hint !== undefined && { hint }) }];
}

function hintOf({ params }: Extract<Issue, { code: 'custom' }>): Pick<SchemaIssue, 'hint'> {
  return params?.hint === undefined ? {} : { hint: params.hint };
}

function noSuchValue(
  path: MemberPath,
  value: unknown,
  valid: readonly string[],
  words: SchemaWords,
  orElse?: { readonly words: string; readonly meant: string },
): string {
  const isNamed = typeof value === 'string' && words.repeatsNothing !== true;
  const near = isNamed ? nearestName(value, valid) : null;
  const all = [...valid, ...(orElse ? [orElse.words] : [])];
  const choice = all.length === 1 ? all[0] : `${all.slice(0, -1).join(', ')} or ${all.at(-1)}`;
  const text = JSON.stringify(value) ?? 'empty';
  const shown = near === null && words.hides(path, text) ? 'this value' : text;
  const meant =
    near === null ? meantText(path, value, orElse?.meant ?? '', words) : `; did you mean ${near}?`;
  return `${shown} is not ${choice}${meant}`;
}

function meantText(
  path: MemberPath,
  value: unknown,
  meant: string,
  { hides }: SchemaWords,
): string {
  return meant === '' || path.length === 0 || hides(path, JSON.stringify(value))
    ? ''
    : `; did you mean ${meant}?`;
}

function valueText(path: MemberPath, value: unknown, { hides }: SchemaWords): string {
  if (typeof value === 'string') {
    const text = JSON.stringify(value);
    return path.length === 0 || hides(path, text) ? 'a text' : text;
  }
  if (typeof value === 'number') return Number.isFinite(value) ? 'a number' : String(value);
  if (typeof value === 'boolean') return 'true or false';
  return value === null ? 'nothing' : Array.isArray(value) ? 'a list' : 'a map';
}

function valueAt(given: unknown, path: MemberPath): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null
        ? (value as Record<PropertyKey, unknown>)[key]
        : undefined,
    given,
  );
}
