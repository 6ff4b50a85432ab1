import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

/** One-time tokens and the sessions that they open. Both end with the process: a page of an earlier one must be opened again. */
export class Sessions {
  readonly #tokens = new Set<string>();
  readonly #sessions = new Set<string>();

  /** A new token. Earlier ones stay valid until they are used. */
  newToken(): string {
    return added(this.#tokens);
  }

  /** Exchanges a token for a session; null if it is unknown or used. */
  exchange(token: string): string | null {
    const issued = equalSecret(this.#tokens, token);
    if (issued === null) return null;
    this.#tokens.delete(issued);
    return added(this.#sessions);
  }

  isOpen(session: string): boolean {
    return equalSecret(this.#sessions, session) !== null;
  }
}

function added(secrets: Set<string>): string {
  // 128 bits.
  const secret = randomBytes(16).toString('base64url');
  secrets.add(secret);
  return secret;
}

/** The secret that equals `given`, in constant time. Comparing digests makes lengths equal too. */
function equalSecret(secrets: ReadonlySet<string>, given: string): string | null {
  const digestOf = (text: string) => hash('sha256', text, 'buffer');
  const digest = digestOf(given);
  let match: string | null = null;
  for (const secret of secrets) if (timingSafeEqual(digestOf(secret), digest)) match = secret;
  return match;
}
