import { basename } from 'node:path';

const OF_TOKEN = String.raw`[A-Za-z0-9_\-+=~]`;

/** Long with lower case, upper case and digits, or hexadecimal: unlike the name of a variable or a file. */
const KEY_SHAPE = `(?=${OF_TOKEN}*[a-z])(?=${OF_TOKEN}*[A-Z])(?=${OF_TOKEN}*[0-9])${OF_TOKEN}{20,}|[0-9a-f][0-9a-f-]{31,}`;

const KEY = new RegExp(`^(?:${KEY_SHAPE})$`);
const KEY_WITHIN = new RegExp(`(?<!${OF_TOKEN})(?:${KEY_SHAPE})`);

/** An address with a user, password, query or fragment, a login without a scheme, or a password by its name. */
const LOADED_ADDRESS = /[a-z][a-z0-9+.-]*:\/\/\S*[@?#]|:[^\s@/]+@|(?:password|pwd|passwd)\s*=/i;

const VARIABLE = /^(?=.{1,64}$)[A-Z_][A-Z0-9]{0,15}(?:_[A-Z0-9]{0,15})*$/;

/** Unlike the name of a file, which is short, has an extension, or has no number. */
const LONG_WORD = /^(?=.*\d)[\w+=~-]{20,}$/;

/** Settings that name keys and secrets: people type the key itself anywhere in them. */
const KEY_SETTINGS: readonly PropertyKey[] = ['service', 'on_finish', 'store'];

/** Names of settings in which people write a key instead of its file. */
const KEY_NAME = /key|token|secret|password|credential/i;

/** Whether a text looks like a key, which no message may repeat. */
export function looksLikeKey(text: string): boolean {
  return KEY.test(text);
}

/** Whether a line seems to hold a key, so that no message may show it. */
export function holdsKey(line: string): boolean {
  return KEY_WITHIN.test(line) || LOADED_ADDRESS.test(line);
}

/** Whether a setting with this name would hold a key. */
export function namesKey(name: string): boolean {
  return KEY_NAME.test(name);
}

/** Whether a key may be in or below a setting, so that no message may repeat a name, a value or a line of it. */
export function mayHoldKey(path: readonly PropertyKey[]): boolean {
  return path.some((name) => KEY_SETTINGS.includes(name));
}

/** A key's variable or file for messages; null if its name looks like a key. */
export function shownKeySource({
  env,
  file,
}: {
  readonly env?: string;
  readonly file?: string;
}): string | null {
  if (env !== undefined) return VARIABLE.test(env) && !looksLikeKey(env) ? env : null;
  const name = basename(file!);
  return looksLikeKey(name) || LONG_WORD.test(name) ? null : file!;
}

/** The hint where a job file seems to contain a key. */
export const KEY_HINT =
  'Never put a key into a job file. Put it into a file of its own (chmod 600) and name that file: service: {base_url: …, api_keys: [{file: …}]}.';
