import type { Scope } from '../../contract/credits.ts';
import type { Key } from '../plan/api-keys.ts';

/**
 * Limits the calls that a refused key can cost. Once the service has refused a key (401 or 403) in this run, one call probes a
 * key for a scope, and the others wait for its result. A service that refused all 38 scopes was asked 4,840 times for 200
 * places; with probes it is asked by the calls in flight, and then once for each scope. A run without refusals never waits.
 */
export class KeyProbes {
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

  /** Resolves when the running probe of a key and scope is over; null where there is none. */
  running(key: Key, scope: Scope): Promise<void> | null {
    return this.#running.get(nameOf(key, scope)) ?? null;
  }

  /** Begins a call of this key and scope, as a probe where one is needed. Dispose of it when the call is over. */
  begin(key: Key, scope: Scope): Disposable {
    const name = nameOf(key, scope);
    if (!this.#isNeeded || this.#accepted.has(name)) return { [Symbol.dispose]() {} };
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#running.set(name, promise);
    return {
      [Symbol.dispose]: () => {
        this.#running.delete(name);
        resolve();
      },
    };
  }
}

function nameOf({ fingerprint }: Key, scope: Scope): string {
  return `${fingerprint} ${scope}`;
}
