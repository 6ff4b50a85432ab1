import { resolve } from 'node:path';
import { z } from 'zod';
import { isLoopback } from '../../contract/service-address.ts';

/** The receiver of a run's summary: a program gets it on its standard input, a webhook as a POST. */
export type FinishHook =
  | { readonly kind: 'command'; readonly command: readonly string[] }
  | { readonly kind: 'webhook'; readonly url: string; readonly secret: SecretSource | null };

/** The variable or file with the secret that signs the requests. Never the secret itself: job files are kept in source control. */
interface SecretSource {
  readonly env?: string | undefined;
  readonly file?: string | undefined;
}

const secretSource = z
  .strictObject({
    env: z.string().min(1).optional().describe('environment variable with the secret'),
    file: z.string().min(1).optional().describe('file with the secret on its first line'),
  })
  .refine(({ env, file }) => (env === undefined) !== (file === undefined), {
    error: 'name either the environment variable (env) or the file (file) with the secret',
  });

/** `on_finish` of a job file. */
export const onFinishSchema = z
  .strictObject({
    command: z
      .array(z.string().min(1))
      .min(1)
      .optional()
      .describe('program and its arguments, started without a shell; gets the summary as JSON on standard input'),
    url: z
      .url({ protocol: /^https?$/, error: 'must be an address that begins with https://' })
      .optional()
      .describe('webhook: gets the summary as JSON in a POST; https, or http on this machine'),
    secret: secretSource.optional().describe('where the secret is that signs the requests (Standard Webhooks)'),
    allow_http: z.boolean().optional().describe('true: the webhook may be on another machine without encryption'),
  })
  .refine(({ command, url }) => (command === undefined) !== (url === undefined), {
    error: 'name either a program (command) or a webhook (url)',
  })
  .refine(({ url, secret, allow_http }) => url !== undefined || (secret === undefined && allow_http === undefined), {
    error: 'secret and allow_http belong to a webhook (url)',
  })
  .refine(({ url, allow_http }) => url === undefined || allow_http === true || isProtected(url), {
    error: 'the webhook is on another machine and not encrypted: use https://, or add allow_http: true',
    path: ['url'],
  })
  .refine(({ url }) => url === undefined || !URL.canParse(url) || hasNoLogin(new URL(url)), {
    error: 'must be an address without user and password; a secret can sign the requests',
    path: ['url'],
  });

function hasNoLogin({ username, password }: URL): boolean {
  return username === '' && password === '';
}

function isProtected(url: string): boolean {
  if (!URL.canParse(url)) return true;
  const { protocol, hostname } = new URL(url);
  return protocol === 'https:' || isLoopback(hostname);
}

export function finishHookOf(given: z.infer<typeof onFinishSchema> | undefined, folder: string): FinishHook | null {
  if (given === undefined) return null;
  const { command, url, secret } = given;
  if (url === undefined) return { kind: 'command', command: commandIn(command!, (path) => resolve(folder, path)) };
  const file = secret?.file === undefined ? undefined : resolve(folder, secret.file);
  return { kind: 'webhook', url, secret: secret === undefined ? null : { env: secret.env, file } };
}

/** Resolves the path of a program; the system looks for a plain name in PATH. */
export function commandIn([program = '', ...args]: readonly string[], resolvePath: (path: string) => string): string[] {
  if (!program.includes('/')) return [program, ...args];
  const resolved = resolvePath(program);
  // Joining paths drops the ./ of a program in the current folder: without it, the system would look in PATH.
  return [resolved.includes('/') ? resolved : `./${resolved}`, ...args];
}
