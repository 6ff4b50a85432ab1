import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** 128 bits. */
const TOKEN_BYTES = 16;

/** One-time tokens and the sessions that they open. A session lasts as long as the process. */
export class Sessions {
  readonly #tokens = new Set<string>();
  readonly #sessions = new Set<string>();

  /** A new token. Earlier ones stay valid until they are used. */
  newToken(): string {
    const token = secret();
    this.#tokens.add(token);
    return token;
  }

  /** Exchanges a token for a session; null if it is unknown or used. */
  exchange(token: string): string | null {
    const known = found(this.#tokens, token);
    if (known === null) return null;
    this.#tokens.delete(known);
    const session = secret();
    this.#sessions.add(session);
    return session;
  }

  isOpen(session: string): boolean {
    return found(this.#sessions, session) !== null;
  }
}

function secret(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

/** The secret that equals `said`, in constant time. Comparing digests makes lengths equal too. */
function found(secrets: ReadonlySet<string>, said: string): string | null {
  const digest = digestOf(said);
  let match: string | null = null;
  for (const one of secrets) if (timingSafeEqual(digestOf(one), digest)) match = one;
  return match;
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
