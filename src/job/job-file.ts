import { z } from 'zod';
import { nearestName } from '../base/nearest-name.ts';
import { holdsKey, looksLikeKey, mayHoldKey, namesKey } from './key-shapes.ts';
import { SCHEMAS } from './setting-schemas.ts';
import { formatHelp, SETTING_LIST, type SettingName, type Settings } from './setting-table.ts';

type Shape = {
  -readonly [K in SettingName]: z.ZodOptional<ReturnType<Settings[K]['schema']>>;
};

/** The settings of a job file. All are optional: flags, the environment and the defaults add the rest. */
export const jobFileSchema = z.strictObject(
  Object.fromEntries(
    SETTING_LIST.map(([name, setting]) => [
      name,
      setting.schema(SCHEMAS).optional().describe(formatHelp(setting)),
    ]),
  ) as unknown as Shape,
);

export type JobFile = z.infer<typeof jobFileSchema>;

/** The same where words are texts, as in `const job = { service: 'sample' }`: they are checked when the job is read. */
export type JobSettings = Widened<JobFile>;

type Widened<T> = T extends string
  ? T | (string & {})
  : T extends readonly (infer Element)[]
    ? readonly Widened<Element>[]
    : T extends object
      ? { readonly [Name in keyof T]: Widened<T[Name]> }
      : T;

export function jobFileJsonSchema(): SettingsSchema {
  const schema = z.toJSONSchema(jobFileSchema, {
    target: 'draft-7',
    io: 'input',
    override: ({ jsonSchema }) => {
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  const description = 'A file of US locations, and how to buy its hazard columns.';
  return { ...schema, title: 'Perilbook job file', description } as SettingsSchema;
}

/** A name such as `${HOME}` in a setting: nothing puts the variable's value there, and a file of that name is not meant. A command of
 * `on_finish` may hold one, for its shell. */
function variableIssues(settings: object, path: readonly PropertyKey[] = []): SettingIssue[] {
  return Object.entries(settings).flatMap(([name, value]): SettingIssue[] => {
    const here = [...path, name];
    if (name === 'on_finish') return [];
    if (value instanceof Object) return variableIssues(value as object, here);
    const variable = typeof value === 'string' ? /\$\{\w+\}/.exec(value)?.[0] : undefined;
    if (variable === undefined) return [];
    const message = `${variable} is not replaced by the variable's value: give this setting as an option of the command, where the shell replaces it`;
    return [{ path: here, message }];
  });
}

/** Checks the settings of a job file, an option or a program; they are usable if there are no issues. */
export function checkSettings(given: unknown): {
  settings: JobFile;
  issues: readonly SettingIssue[];
} {
  const checked = jobFileSchema.safeParse(given, { error: issueText });
  if (checked.success) return { settings: checked.data, issues: variableIssues(checked.data) };
  return { settings: {}, issues: listIssues(checked.error.issues, given, jobFileJsonSchema()) };
}

/** The parts of the settings' JSON Schema that this module reads. */
export interface SettingsSchema {
  readonly properties?: Readonly<Record<string, SettingsSchema>>;
  readonly items?: SettingsSchema;
  readonly anyOf?: readonly SettingsSchema[];
  readonly enum?: readonly string[];
  readonly examples?: readonly string[];
  readonly description?: string;
}

export interface SettingIssue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
  /** What to do; left out where the message says enough. */
  readonly hint?: string;
  /** The name is wrong, not the value. */
  readonly isName?: boolean;
  /** The name may be a key, and the message does not repeat it. */
  readonly isHidden?: boolean;
}

type Issue = z.core.$ZodIssue;
type SettingPath = readonly PropertyKey[];

const TYPES: Readonly<Record<string, string>> = {
  int: 'a whole number',
  number: 'a number',
  string: 'a text',
  boolean: 'true or false',
  object: 'a map',
  record: 'a map',
  array: 'a list',
};

/** The message for a wrong value whose schema has none: zod calls it (`error`). '' for a union, whose branches have messages. */
function issueText(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_union':
      return '';
    case 'invalid_type':
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

/** Only a delimiter has an exact length. */
const ONE_CHARACTER = 'must be exactly one character';

/** zod's issues of `given` in terms of the job file, with the nearest valid name. */
function listIssues(
  issues: readonly Issue[],
  given: unknown,
  schema: SettingsSchema,
): SettingIssue[] {
  const all = issues.flatMap((issue) => issuesFor(issue, given, schema));
  // A missing setting is no extra error if its name is misspelt.
  const misspelt = all.filter(({ isName }) => isName);
  const follows = (issue: SettingIssue) =>
    !issue.isName &&
    misspelt.some(
      ({ path }) => path.length === issue.path.length + 1 && startsWith(path, issue.path),
    );
  return all.filter((issue) => !follows(issue));
}

const startsWith = (path: SettingPath, start: SettingPath) =>
  start.every((key, index) => path[index] === key);

/** A setting name that people expect (`key`, `api_key`), not a key. */
const PLAIN_NAME = /^[a-z]{2,8}([-_][a-z]{2,8})?$/i;

function unknownSetting(path: SettingPath, name: string, schema: SettingsSchema): SettingIssue {
  const near = nearestName(name, namesAt(schema, path));
  const parent =
    path.length > 0
      ? undefined
      : namesAt(schema, []).find((top) => namesAt(schema, [top]).includes(name));
  if (parent !== undefined) {
    const message = `unknown setting ${JSON.stringify(name)}, which belongs in ${parent}: {${name}: …}`;
    return { path: [name], message, isName: true };
  }
  const form = formOfOption(name);
  if (form !== null) {
    const message = `unknown setting ${JSON.stringify(name)}, which is an option of the command line: in a job file it is ${form}`;
    return { path: [...path, name], message, isName: true };
  }
  const isMisplaced = path.length > 0 && namesAt(schema, []).includes(name);
  const mayBeKey =
    looksLikeKey(name) || (mayHoldKey(path) && !(namesKey(name) && PLAIN_NAME.test(name)));
  if (near === null && !isMisplaced && mayBeKey) {
    const message = 'unknown setting, whose name may be a key and is not shown';
    return { path: [...path, name], message, isName: true, isHidden: true };
  }
  const hint = isMisplaced
    ? ', which belongs at the top level'
    : near
      ? `; did you mean ${near}?`
      : '';
  return {
    path: [...path, name],
    message: `unknown setting ${JSON.stringify(name)}${hint}`,
    isName: true,
  };
}

/** How a job file gives what an option gives, where the setting has another name or is a part: `location: {lat: …}` for `lat`. */
function formOfOption(name: string): string | null {
  const flag = name.replaceAll('_', '-');
  for (const [setting, { flags = {} }] of SETTING_LIST) {
    const option = flags[flag];
    if (option !== undefined && flag !== setting.replaceAll('_', '-')) {
      return flowText({ [setting]: option.value?.('…') ?? '…' }).slice(1, -1);
    }
  }
  return null;
}

/** A value as YAML writes it in one line, without members that are empty. */
function flowText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(flowText).join(', ')}]`;
  if (!(value instanceof Object)) return String(value);
  const members = Object.entries(value).filter(
    ([, member]) => member !== '' && member !== undefined,
  );
  return `{${members.map(([name, member]) => `${name}: ${flowText(member)}`).join(', ')}}`;
}

function namesAt(
  { anyOf = [], properties = {}, items }: SettingsSchema,
  path: SettingPath,
): string[] {
  const [key, ...rest] = path;
  const below = typeof key === 'number' ? items : properties[key as string];
  const here =
    key === undefined ? Object.keys(properties) : below === undefined ? [] : namesAt(below, rest);
  return [...here, ...anyOf.flatMap((branch) => namesAt(branch, path))];
}

function issuesFor(issue: Issue, given: unknown, schema: SettingsSchema): SettingIssue[] {
  const { path, message } = issue;
  const value = valueAt(given, path);
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((name) => unknownSetting(path, name, schema));
    case 'invalid_value':
      return [{ path, message: noSuchValue(path, value, issue.values.map(String)) }];
    case 'invalid_union':
      return ofUnion(issue, given, schema);
    case 'invalid_type': {
      if (value === undefined) return [{ path, message: 'missing value' }];
      // zod reports 1.5 as a wrong type: it expects a whole number.
      const isNumber = String(issue.expected) === 'int' && typeof value === 'number';
      const expected =
        path.length === 0 ? 'expected settings such as input: portfolio.csv' : message;
      return [
        { path, message: isNumber ? message : `${expected}, found ${valueText(path, value)}` },
      ];
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
  schema: SettingsSchema,
) {
  const { path, message } = issue;
  if (message !== '') return [{ path, message }];
  const value = valueAt(given, path);
  if (typeof value === 'string') {
    const all = issue.errors.flat();
    // The last: it speaks of the one name in a text with commas.
    const custom = all.findLast((branch) => branch.code === 'custom');
    if (custom) return [{ path, message: custom.message, ...hintOf(custom) }];
    const words = all.flatMap((branch) =>
      branch.code === 'invalid_value' ? branch.values.map(String) : [],
    );
    if (words.length > 0)
      return [{ path, message: noSuchValue(path, value, words, 'a map of settings') }];
  }
  const depth = (issues: readonly SettingIssue[]) =>
    Math.max(...issues.map((branch) => branch.path.length));
  const branches = issue.errors
    .map((issues) =>
      listIssues(
        issues.map((branch) => ({ ...branch, path: [...path, ...branch.path] })),
        given,
        schema,
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

function hintOf({ params }: Extract<Issue, { code: 'custom' }>): Pick<SettingIssue, 'hint'> {
  return params?.hint === undefined ? {} : { hint: params.hint };
}

function noSuchValue(
  path: SettingPath,
  value: unknown,
  words: readonly string[],
  orElse?: string,
): string {
  const near = typeof value === 'string' ? nearestName(value, words) : null;
  const all = [...words, ...(orElse ? [orElse] : [])];
  const choice = all.length === 1 ? all[0] : `${all.slice(0, -1).join(', ')} or ${all.at(-1)}`;
  const isHidden = near === null && mayHoldKey(path);
  return `${isHidden ? 'this value' : formatValue(value)} is not ${choice}${near ? `; did you mean ${near}?` : ''}`;
}

/** A value for messages: never text that looks like a key. */
function formatValue(value: unknown): string {
  const text = JSON.stringify(value) ?? 'empty';
  return holdsKey(text) ? 'this value' : text;
}

function valueText(path: SettingPath, value: unknown): string {
  if (typeof value === 'string')
    return path.length === 0 || mayHoldKey(path) ? 'a text' : formatValue(value);
  if (typeof value === 'number') return Number.isFinite(value) ? 'a number' : String(value);
  if (typeof value === 'boolean') return 'true or false';
  return value === null ? 'nothing' : Array.isArray(value) ? 'a list' : 'a map';
}

function valueAt(given: unknown, path: SettingPath): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null
        ? (value as Record<PropertyKey, unknown>)[key]
        : undefined,
    given,
  );
}
