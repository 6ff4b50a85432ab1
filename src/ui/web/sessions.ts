import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { z } from 'zod';

/** 128 bits. */
const TOKEN_BYTES = 16;

/** How long an open page stays valid when Perilbook is started again. */
const KEPT_MS = 24 * 3_600_000;

const MOST_KEPT = 20;

const keptSchema = z.array(z.object({ digest: z.string(), openedAt: z.number() }));

/** One-time tokens and the sessions that they open. Sessions are kept for a day in a file that only its owner can read. It holds
 * digests, which open no session. */
export class Sessions {
  readonly #tokens = new Set<string>();
  readonly #file: string;
  readonly #now: () => number;
  #sessions: { readonly digest: string; readonly openedAt: number }[];

  constructor(file: string, now: () => number) {
    this.#file = file;
    this.#now = now;
    this.#sessions = readKept(file);
  }

  /** A new token. Earlier ones stay valid until they are used. */
  newToken(): string {
    const token = secret();
    this.#tokens.add(token);
    return token;
  }

  /** Exchanges a token for a session; null if it is unknown or used. */
  exchange(token: string): string | null {
    const issued = equalSecret(this.#tokens, token);
    if (issued === null) return null;
    this.#tokens.delete(issued);
    const session = secret();
    const opened = { digest: digestOf(session).toString('hex'), openedAt: this.#now() };
    this.#sessions = [...this.#sessions.filter((kept) => this.#isFresh(kept)), opened].slice(-MOST_KEPT);
    writeFileSync(this.#file, JSON.stringify(this.#sessions), { mode: 0o600 });
    return session;
  }

  isOpen(session: string): boolean {
    const digest = digestOf(session);
    let isOpen = false;
    for (const kept of this.#sessions) {
      if (timingSafeEqual(Buffer.from(kept.digest, 'hex'), digest) && this.#isFresh(kept)) isOpen = true;
    }
    return isOpen;
  }

  #isFresh({ openedAt }: { readonly openedAt: number }): boolean {
    return this.#now() - openedAt < KEPT_MS;
  }
}

function readKept(file: string): { digest: string; openedAt: number }[] {
  try {
    return keptSchema
      .parse(JSON.parse(readFileSync(file, 'utf8')))
      .filter(({ digest }) => /^[0-9a-f]{64}$/.test(digest));
  } catch {
    // A missing or damaged file opens no session.
    return [];
  }
}

function secret(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

/** The secret that equals `given`, in constant time. Comparing digests makes lengths equal too. */
function equalSecret(secrets: ReadonlySet<string>, given: string): string | null {
  const digest = digestOf(given);
  let match: string | null = null;
  for (const secret of secrets) if (timingSafeEqual(digestOf(secret), digest)) match = secret;
  return match;
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
