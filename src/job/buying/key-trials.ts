import type { Scope } from '../../contract/credits.ts';
import type { Key } from '../planning/keyring.ts';

/**
 * Keeps calls from being refused all together, once the service has refused a key (401 or 403) in this run: from then on a
 * key is tried for a scope by one call, and the others wait for what comes of it. A service that refused all 38 scopes was
 * asked 4,840 times for 200 places; so it is asked by the calls in flight, and then once for each scope. A run without
 * refusals waits for nothing.
 */
export class KeyTrials {
  #isNeeded = false;
  readonly #accepted = new Set<string>();
  readonly #running = new Map<string, Promise<void>>();

  /** The service refused a key. */
  refused(): void {
    this.#isNeeded = true;
  }

  /** The service answered a call of this key and scope. */
  accepted(key: Key, scope: Scope): void {
    this.#accepted.add(nameOf(key, scope));
  }

  /** Resolves when the call that tries the key is over; null where nothing is to be waited for. */
  running(key: Key, scope: Scope): Promise<void> | null {
    return this.#running.get(nameOf(key, scope)) ?? null;
  }

  /** A call of this key and scope leaves. It is the trial where one is needed; to be told when it is over. */
  begin(key: Key, scope: Scope): () => void {
    const name = nameOf(key, scope);
    if (!this.#isNeeded || this.#accepted.has(name)) return () => {};
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#running.set(name, promise);
    return () => {
      this.#running.delete(name);
      resolve();
    };
  }
}

function nameOf({ fingerprint }: Key, scope: Scope): string {
  return `${fingerprint} ${scope}`;
}
