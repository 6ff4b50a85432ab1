import { z } from 'zod';
import { nearestName } from '../base/nearest-name.ts';
import { checkWritten, type SchemaIssue, type SchemaWords } from '../base/schema-issues.ts';
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

/** The JSON Schema of job files, for editors: `jobs/job.schema.json`. */
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
function variableIssues(settings: object, path: readonly PropertyKey[] = []): SchemaIssue[] {
  return Object.entries(settings).flatMap(([name, value]): SchemaIssue[] => {
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
export function checkSettings(
  given: unknown,
  isOption = false,
): {
  settings: JobFile;
  issues: readonly SchemaIssue[];
} {
  const words = () => ({ ...wordsOfSettings(), isOption });
  const { data, issues } = checkWritten(jobFileSchema, given, words);
  return data === null
    ? { settings: {}, issues }
    : { settings: data, issues: variableIssues(data) };
}

function wordsOfSettings(): SchemaWords {
  const schema = jobFileJsonSchema();
  return {
    whole: 'settings such as input: portfolio.csv',
    unknownName: (path, name) => unknownSetting(path, name, schema),
    hides: (path, text) => mayHoldKey(path) || holdsKey(text),
  };
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

/** A setting name that people expect (`key`, `api_key`), not a key. */
const PLAIN_NAME = /^[a-z]{2,8}([-_][a-z]{2,8})?$/i;

function unknownSetting(
  path: readonly PropertyKey[],
  name: string,
  schema: SettingsSchema,
): SchemaIssue {
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
  path: readonly PropertyKey[],
): string[] {
  const [key, ...rest] = path;
  const below = typeof key === 'number' ? items : properties[key as string];
  const here =
    key === undefined ? Object.keys(properties) : below === undefined ? [] : namesAt(below, rest);
  return [...here, ...anyOf.flatMap((branch) => namesAt(branch, path))];
}
