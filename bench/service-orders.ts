import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** Where the process under load listens, and a key of its service. */
export interface Served {
  readonly url: string;
  readonly bareUrl: string;
  readonly key: string;
}

/** What is asked of the process under load (`service-process.ts`). */
export type Order =
  /** A constant body for the bare routes. */
  | { readonly body: { readonly name: string; readonly text: string } }
  | { readonly memory: true }
  /** The processor time that it has used: `cpu`, in microseconds. */
  | { readonly cpu: true }
  /** Measures where time goes until `profile: null`: the names of parts, and patterns of their modules. */
  | { readonly profile: readonly (readonly [name: string, pattern: string])[] | null };

export async function answerOf<T>(process: ChildProcess): Promise<T> {
  const [answer] = await once(process, 'message');
  return answer as T;
}

export function ordered<T>(process: ChildProcess, order: Order): Promise<T> {
  process.send(order);
  return answerOf<T>(process);
}
