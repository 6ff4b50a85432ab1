import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { PerilbookError } from '../../base/errors.ts';
import { readSecretFile, readSecretPipe } from '../../base/pipes.ts';
import type { Variables } from '../../base/platform-folders.ts';
import type { Scope } from '../../contract/credits.ts';
import type { KeySource } from '../../job/account-settings.ts';
import { namesKey, shownKeySource } from '../../job/key-shapes.ts';
import type { RefusedScope } from '../../store/ledger/port.ts';
import type { Store } from '../../store/port.ts';

/** A key that may be used. Its secret goes into a request header and nowhere else. */
export interface Key {
  readonly secret: string;
  /** Identifies the key in the ledger and in messages without revealing it. */
  readonly fingerprint: string;
  /** For messages, where it comes from: `the second key, from key.txt`. Default: `the key`. */
  readonly name?: string;
  /** The scopes that the job states for it; null where it states none. */
  readonly scopes: ReadonlySet<string> | null;
}

/** The first 12 hex digits of the key's SHA-256. Keys are long and random, so this does not reveal them. */
export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex').slice(0, 12);
}

/** Reads the keys of a job, in order.
 * @param interrupt ends the wait for a key that comes through a pipe
 * @throws KEY_MISSING when a key is not where the job says */
export async function readKeys(
  sources: readonly KeySource[],
  environment: Variables,
  interrupt?: AbortSignal,
): Promise<Key[]> {
  const keys: Key[] = [];
  for (const [index, { env, file, scopes }] of sources.entries()) {
    const content = env !== undefined ? environment[env] : await readKeyFile(file!, interrupt);
    const secret =
      content === undefined
        ? undefined
        : keyIn(content, env === undefined ? `The key file ${file}` : `The variable ${env}`);
    if (!secret && env !== undefined) throw noKeyIn(env);
    if (!secret)
      throw new PerilbookError(
        'KEY_MISSING',
        `The key file ${file} is empty`,
        'Put the key into it.',
      );
    const name = keyName(index, sources.length, { env, file });
    keys.push({
      secret,
      fingerprint: hashSecret(secret),
      name,
      scopes: scopes ? new Set(scopes) : null,
    });
  }
  return keys;
}

const ORDINALS = [
  'first',
  'second',
  'third',
  'fourth',
  'fifth',
  'sixth',
  'seventh',
  'eighth',
  'ninth',
  'tenth',
];

function keyName(
  index: number,
  of: number,
  source: { env?: string | undefined; file?: string | undefined },
): string {
  const shown = shownKeySource(source as { env?: string; file?: string });
  const which = of === 1 ? 'the key' : `the ${ORDINALS[index] ?? `${index + 1}th`} key`;
  if (shown === null) return which;
  return `${which}${of === 1 ? '' : ','} ${source.env === undefined ? 'from' : 'in'} ${shown}`;
}

function noKeyIn(env: string): PerilbookError {
  const hint =
    'Or name a key file: --api-key-file FILE, or service: {api_keys: [{file: …}]} in the job file.';
  if (shownKeySource({ env }) === null) {
    const message =
      'The environment variable that the job names for its key looks like a key itself, and is not shown';
    return new PerilbookError(
      'KEY_MISSING',
      message,
      `Name the variable, not its content. ${hint}`,
    );
  }
  return new PerilbookError(
    'KEY_MISSING',
    `The environment variable ${env} holds no API key`,
    `Set ${env}. ${hint}`,
  );
}

/** A pipe such as `<(pass show perilbook)` gives its key once, and a process may read its keys again. */
const keysOfPipes = new Map<string, string>();

async function readKeyFile(file: string, interrupt?: AbortSignal): Promise<string> {
  try {
    if (!statSync(file).isFIFO()) return readSecretFile(file);
    const known = keysOfPipes.get(file);
    if (known !== undefined) return known;
    const key = await readSecretPipe(file, interrupt);
    keysOfPipes.set(file, key);
    return key;
  } catch (error) {
    if (error instanceof PerilbookError) throw error;
    if (shownKeySource({ file }) === null) {
      const message =
        'The name of the key file looks like a key itself, and is not shown; there is no such file';
      throw new PerilbookError(
        'KEY_MISSING',
        message,
        'Put the key into a file (chmod 600), and name that file.',
      );
    }
    const message = `The key file ${file} cannot be read${error instanceof Error && !('code' in error) ? `: ${error.message}` : ''}`;
    throw new PerilbookError(
      'KEY_MISSING',
      message,
      'Check the path and that you may read it.',
      { file },
      error,
    );
  }
}

/** `NAME=value`, as files of variables have it (Docker, systemd, shells), with a name that only variables have. A key may end with =. */
const ASSIGNMENT = /^(?:export\s+)?([A-Za-z]\w*)\s*=\s*(.*[^=\s].*)$/;
const NAMES_VARIABLE = /_|^(key|token|secret|apikey)$/i;

/** The key in the content of a file or a variable, where only one reading is possible: the one line that is no comment, the value of its
 * `NAME=value`, without quotes around it. Nothing else is sent as a key: not the first line of a table or a certificate, nor a name that
 * nobody replaced. @param what for messages, which never repeat the content @throws KEY_MISSING */
function keyIn(content: string, what: string): string {
  const refuse = (seen: string, hint = 'Put the key into it, and nothing else.'): never => {
    throw new PerilbookError('KEY_MISSING', `${what} ${seen}`, hint);
  };
  const lines = content
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
  const assigned = lines.map((line) => ASSIGNMENT.exec(line)).filter((match) => match !== null);
  const named = assigned.filter(([, name = '']) => NAMES_VARIABLE.test(name));
  const keys = named.length > 1 ? named.filter(([, name = '']) => namesKey(name)) : named;
  if (lines.length > 1 && !(named.length === lines.length && keys.length === 1)) {
    const hint = named.length === lines.length ? 'Leave one line with a key in it.' : undefined;
    const ofThem = named.length === lines.length ? `, of which ${keys.length} name a key` : '';
    refuse(`has ${lines.length} lines${ofThem}`, hint);
  }
  const value = keys[0]?.[2] ?? lines[0] ?? '';
  const key = /^(["'])(.*)\1$/.exec(value)?.[2] ?? value;
  if (/^\$(\w+|\{.*\})$/.test(key))
    refuse(
      'holds the name of a variable ($…), which nobody replaced',
      'Put the key itself into it.',
    );
  if (/^["']|["']$/.test(key)) refuse('has a quote on one side alone');
  return key;
}

/** The keys in the order of the job, with their refusals: a 401 makes a key invalid, a 403 denies it one scope. */
export class ApiKeys {
  readonly #keys: readonly Key[];
  readonly #invalid = new Set<Key>();
  readonly #denied: Map<Key, Set<Scope>>;
  readonly #refused: readonly RefusedScope[];

  private constructor(
    keys: readonly Key[],
    refused: ReadonlyMap<Key, readonly RefusedScope[]> = new Map(),
  ) {
    this.#keys = keys;
    this.#refused = [...refused.values()].flat();
    this.#denied = new Map(
      keys.map((key) => [key, new Set(refused.get(key)?.map(({ scope }) => scope))]),
    );
  }

  /** The keys with the refusals that earlier runs recorded. */
  static async open(
    keys: readonly Key[],
    store: Pick<Store, 'refusedScopes'>,
    source: number,
  ): Promise<ApiKeys> {
    const refused = new Map<Key, readonly RefusedScope[]>();
    for (const key of keys) refused.set(key, await store.refusedScopes(source, key.fingerprint));
    return new ApiKeys(keys, refused);
  }

  /** The first valid key that has a scope, as far as the job says and the service has not denied it. */
  keyFor(scope: Scope): Key | null {
    const isDenied = (key: Key) => this.#invalid.has(key) || this.#denied.get(key)!.has(scope);
    return (
      this.#keys.find((key) => (key.scopes === null || key.scopes.has(scope)) && !isDenied(key)) ??
      null
    );
  }

  /** The fingerprints of all keys. */
  get fingerprints(): readonly string[] {
    return this.#keys.map(({ fingerprint }) => fingerprint);
  }

  get count(): number {
    return this.#keys.length;
  }

  /** Whether the service has refused every key. */
  get exhausted(): boolean {
    return this.#keys.every((key) => this.#invalid.has(key));
  }

  /** The scopes that earlier runs were refused. */
  get refused(): readonly RefusedScope[] {
    return this.#refused;
  }

  /** The same keys as if the service had refused nothing. */
  withoutRefusals(): ApiKeys {
    return new ApiKeys(this.#keys);
  }

  /** The service does not know this key (401). */
  markInvalid(key: Key): void {
    this.#invalid.add(key);
  }

  /** The service refused this key a scope (403). */
  denyScope(key: Key, scope: Scope): void {
    this.#denied.get(key)!.add(scope);
  }
}
