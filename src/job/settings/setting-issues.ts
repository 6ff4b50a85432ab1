import type { z } from 'zod';
import { nearestName } from '../../nearest-name.ts';
import { jobFileSchema } from './job-file.ts';
import { holdsKey, looksLikeKey, mayHoldKey, namesKey } from './key-shapes.ts';

/** An error in one setting. */
export interface SettingIssue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
  /** The name is wrong, not the value. */
  readonly isName?: boolean;
  /** The name may be a key, and the message does not repeat it. */
  readonly isHidden?: boolean;
}

type Issue = z.core.$ZodIssue;
type SettingPath = readonly PropertyKey[];

/** zod's issues of `said` in terms of the job file, with the nearest known name. */
export function issuesOf(issues: readonly Issue[], said: unknown): SettingIssue[] {
  const found = issues.flatMap((issue) => issuesFor(issue, said));
  // If a name is misspelt, that the right one is missing is no error of its own.
  const misspelt = found.filter(({ isName }) => isName);
  const follows = (issue: SettingIssue) =>
    !issue.isName && misspelt.some(({ path }) => path.length === issue.path.length + 1 && startsWith(path, issue.path));
  return found.filter((issue) => !follows(issue));
}

const startsWith = (path: readonly PropertyKey[], start: readonly PropertyKey[]) =>
  start.every((key, index) => path[index] === key);

/** A name that people expect (`key`, `api_key`), and not a key. */
const PLAIN_NAME = /^[a-z]{2,8}([-_][a-z]{2,8})?$/i;

function unknownSetting(path: readonly PropertyKey[], name: string): SettingIssue {
  const topLevel = Object.keys(jobFileSchema.shape);
  const near = nearestName(name, namesAt(jobFileSchema, path));
  const isMisplaced = path.length > 0 && topLevel.includes(name);
  const mayBeKey = looksLikeKey(name) || (mayHoldKey(path) && !(namesKey(name) && PLAIN_NAME.test(name)));
  if (near === null && !isMisplaced && mayBeKey) {
    const message = 'unknown setting, whose name may be a key and is not shown';
    return { path: [...path, name], message, isName: true, isHidden: true };
  }
  const hint = isMisplaced ? ', which belongs at the top level' : near ? `; did you mean ${near}?` : '';
  return { path: [...path, name], message: `unknown setting ${JSON.stringify(name)}${hint}`, isName: true };
}

function issuesFor(issue: Issue, said: unknown): SettingIssue[] {
  const { path } = issue;
  const value = valueAt(said, path);
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((name) => unknownSetting(path, name));
    case 'invalid_value':
      return [{ path, message: noSuchValue(path, value, issue.values.map(String)) }];
    case 'invalid_union':
      return ofUnion(issue, value, said);
    default: {
      const isName = issue.code === 'custom' && issue.params?.isName === true;
      return [{ path, message: plain(path, issue.message, value), ...(isName ? { isName } : {}) }];
    }
  }
}

/** Of a union, the branch that matched farthest has the useful message; for a word, the branches that are words. */
function ofUnion(issue: Extract<Issue, { code: 'invalid_union' }>, value: unknown, said: unknown): SettingIssue[] {
  const { path } = issue;
  if (typeof value === 'string') {
    const all = issue.errors.flat();
    const custom = all.find((branch) => branch.code === 'custom' && branch.path.length === 0);
    if (custom) return [{ path, message: custom.message }];
    const words = all.flatMap((branch) => (branch.code === 'invalid_value' ? branch.values.map(String) : []));
    if (words.length > 0) return [{ path, message: noSuchValue(path, value, words, 'a map of settings') }];
  }
  const depth = (issues: readonly SettingIssue[]) => Math.max(...issues.map((one) => one.path.length));
  const branches = issue.errors
    .map((issues) =>
      issuesOf(
        issues.map((one) => ({ ...one, path: [...path, ...one.path] })),
        said,
      ),
    )
    .sort((a, b) => depth(b) - depth(a));
  const [farthest] = branches;
  if (farthest === undefined) return [{ path, message: plain(path, issue.message, value) }];
  if (depth(farthest) > path.length) return farthest;
  return [{ path, message: [...new Set(branches.flat().map(({ message }) => message))].join('; or ') }];
}

function noSuchValue(path: SettingPath, value: unknown, known: readonly string[], orElse?: string): string {
  const near = typeof value === 'string' ? nearestName(value, known) : null;
  const all = [...known, ...(orElse ? [orElse] : [])];
  const choice = all.length === 1 ? all[0] : `${all.slice(0, -1).join(', ')} or ${all.at(-1)}`;
  const isHidden = near === null && mayHoldKey(path);
  return `${isHidden ? 'this value' : shown(value)} is not ${choice}${near ? `; did you mean ${near}?` : ''}`;
}

/** A value as messages show it: never one that looks like a key. */
function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'empty';
  return holdsKey(text) ? 'this value' : text;
}

/** Plainer wording for zod's messages. */
const PLAINER: readonly (readonly [RegExp, string])[] = [
  [/^Invalid input: /, ''],
  [/^expected int, received number$/, 'expected a whole number'],
  [/^Too big: expected number to be <=/, 'must be at most '],
  [/^Too (?:big|small): expected string to have exactly 1 characters?$/, 'must be exactly one character'],
  [/^expected \w+, received undefined$/, 'missing value'],
  [/^expected (?:record|object), received/, 'expected a map, received'],
  [/^expected array, received/, 'expected a list, received'],
  [/^expected string, received/, 'expected a text, received'],
  [/^(expected .*), received object$/, '$1, found a map'],
  [/^(expected .*), received array$/, '$1, found a list'],
  [/^(expected .*), received (null|undefined)$/, '$1, found nothing'],
  [/^(expected .*), received NaN$/, '$1, found no number'],
  [/^Invalid string: must match pattern .*$/, 'has the wrong format'],
  [/^Too big: expected string to have <=(\d+) characters?$/, 'must have at most $1 character(s)'],
  [/^Too small: expected number to be >=/, 'must be at least '],
  [/^Too small: expected number to be >/, 'must be more than '],
  [/^Too small: expected string to have >=1 characters$/, 'must not be empty'],
  [/^Too small: expected array to have >=1 items$/, 'the list must not be empty'],
  [/^expected boolean, received/, 'expected true or false, received'],
];

/** In plainer words, with the value that was found. */
function plain(path: SettingPath, message: string, value: unknown): string {
  const words = PLAINER.reduce((text, [zods, ours]) => text.replace(zods, ours), message);
  if (typeof value === 'string') {
    return words.replace(/received string$/, () => `found ${mayHoldKey(path) ? 'a text' : shown(value)}`);
  }
  return words.replace(
    /received (number|boolean)$/,
    (_, kind: string) => `found ${kind === 'number' ? 'a number' : 'true or false'}`,
  );
}

/** The value at a path. */
function valueAt(said: unknown, path: SettingPath): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null ? (value as Record<PropertyKey, unknown>)[key] : undefined,
    said,
  );
}

/** The known names at a path. */
function namesAt(schema: unknown, path: readonly PropertyKey[]): string[] {
  const { def } = schema as { readonly def: SchemaDef };
  const [key, ...rest] = path;
  switch (def.type) {
    case 'optional':
      return namesAt(def.innerType, path);
    case 'union':
      return def.options!.flatMap((option) => namesAt(option, path));
    case 'array':
      return key === undefined ? [] : namesAt(def.element, rest);
    case 'object':
      if (key === undefined) return Object.keys(def.shape!);
      return key in def.shape! ? namesAt(def.shape![key as string], rest) : [];
    default:
      return [];
  }
}

/** The parts of a zod schema that a job file uses. */
interface SchemaDef {
  readonly type: string;
  readonly innerType?: unknown;
  readonly options?: readonly unknown[];
  readonly element?: unknown;
  readonly shape?: Readonly<Record<string, unknown>>;
}
