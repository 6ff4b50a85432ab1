import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** 128 bits. */
const TOKEN_BYTES = 16;

/**
 * Who may speak to the page: the browser that came first with a token. A token opens one session and is used up; a session
 * lasts as long as the process.
 */
export class Sessions {
  readonly #tokens = new Set<string>();
  readonly #sessions = new Set<string>();

  /** A token for the address; the ones before it stay good until they are used. */
  newToken(): string {
    const token = secret();
    this.#tokens.add(token);
    return token;
  }

  /** Takes a token for a session; null for one that is unknown or used up. */
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

/** The secret that equals what was said. Takes the same time whatever was said: by digests, so that lengths are equal too. */
function found(secrets: ReadonlySet<string>, said: string): string | null {
  const digest = digestOf(said);
  let match: string | null = null;
  for (const one of secrets) if (timingSafeEqual(digestOf(one), digest)) match = one;
  return match;
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
