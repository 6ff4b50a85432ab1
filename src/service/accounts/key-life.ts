import { hash, randomBytes } from 'node:crypto';
import { PerilbookError } from '../../base/errors.ts';
import type { Scope } from '../../contract/credits.ts';
import { isTopicSlug } from '../../contract/topics.ts';

/** `rotating`: the key has a successor and works until the grace period ends. `retired`: the grace period has ended. */
export type KeyState = 'active' | 'rotating' | 'retired' | 'revoked' | 'expired';

/** A key without its secret. Times are milliseconds since the epoch. */
export interface KeyInfo {
  readonly id: number;
  readonly account: string;
  readonly scopes: readonly Scope[];
  readonly state: KeyState;
  readonly createdAt: number;
  readonly expiresAt: number | null;
  /** When the grace period after its rotation ends. */
  readonly retiresAt: number | null;
  readonly revokedAt: number | null;
  readonly replacedBy: number | null;
}

/** The times that end a key's life. */
export type KeyTimes = Pick<KeyInfo, 'expiresAt' | 'retiresAt' | 'revokedAt'>;

/** A stored key, without its hash. */
export type StoredKey = Omit<KeyInfo, 'scopes' | 'state'> & { readonly accountId: number; readonly scopes: string };

/** A new key. `key` is shown once: only its hash is stored. */
export interface NewKey {
  readonly id: number;
  readonly key: string;
}

/** Gives `size` unguessable bytes. */
export type RandomBytes = (size: number) => Buffer;

const PREFIX = 'pb_';
const SECRET_BYTES = 32;
const KEY_SHAPE = /^pb_[A-Za-z0-9_-]{43}$/;

/** Makes the text of a new key. */
export function newKeyText(random: RandomBytes = randomBytes): string {
  return PREFIX + random(SECRET_BYTES).toString('base64url');
}

/** The stored SHA-256 of a key; null for a text that cannot be a key. A slow hash protects passwords, which can
 * be guessed; 256 random bits cannot. */
export function hashOfKey(key: string): Buffer | null {
  return KEY_SHAPE.test(key) ? hash('sha256', key, 'buffer') : null;
}

/** The state of a key at a time; `active` and `rotating` keys work. */
export function stateOf(row: KeyTimes, now: number): KeyState {
  if (row.revokedAt !== null) return 'revoked';
  if (row.retiresAt !== null && now >= row.retiresAt) return 'retired';
  if (row.expiresAt !== null && now >= row.expiresAt) return 'expired';
  return row.retiresAt === null ? 'active' : 'rotating';
}

export function keyInfoOf({ accountId: _, id, account, scopes, ...times }: StoredKey, now: number): KeyInfo {
  return { id, account, scopes: scopes.split(',') as Scope[], state: stateOf(times, now), ...times };
}

/**
 * The scopes of a new key, as they are stored.
 *
 * @throws PerilbookError SERVICE_ACCOUNT if the list is empty, or has a scope that is neither `bundle` nor a topic
 */
export function scopesText(scopes: readonly string[]): string {
  const unknown = scopes.filter((scope) => scope !== 'bundle' && !isTopicSlug(scope));
  if (scopes.length > 0 && unknown.length === 0) return [...new Set(scopes)].join(',');
  throw new PerilbookError(
    'SERVICE_ACCOUNT',
    scopes.length === 0 ? 'Cannot make a key without scopes' : `Cannot make a key with scope "${unknown[0]}"`,
    'Give `bundle`, topic slugs, or both.',
  );
}

/** @throws PerilbookError SERVICE_ACCOUNT when a new key would have expired already */
export function checkExpiry(expiresAt: number | null, now: number): void {
  if (expiresAt === null || expiresAt > now) return;
  throw new PerilbookError(
    'SERVICE_ACCOUNT',
    'Cannot make a key that has already expired',
    'Give a time in the future, or none.',
  );
}

/** @throws PerilbookError SERVICE_ACCOUNT when the grace period is not 0 or more seconds */
export function checkGrace(keyId: number, graceSeconds: number): void {
  if (Number.isFinite(graceSeconds) && graceSeconds >= 0) return;
  throw new PerilbookError(
    'SERVICE_ACCOUNT',
    `Cannot rotate key ${keyId} with a grace of ${graceSeconds} seconds`,
    'Give a number of seconds, 0 or more.',
  );
}

/**
 * When a rotated key stops working, and when its successor expires: the successor of a key that expires has the same
 * lifetime.
 *
 * @throws PerilbookError SERVICE_ACCOUNT when the key no longer works, or has a successor already
 */
export function rotationOf(
  old: StoredKey,
  graceSeconds: number,
  now: number,
): { readonly retiresAt: number; readonly expiresAt: number | null } {
  const state = stateOf(old, now);
  if (state !== 'active') {
    throw new PerilbookError(
      'SERVICE_ACCOUNT',
      `Cannot rotate key ${old.id}: it is ${state}`,
      state === 'rotating' ? `Rotate its successor, key ${old.replacedBy}.` : 'Make a new key.',
    );
  }
  return {
    retiresAt: now + Math.round(graceSeconds * 1_000),
    expiresAt: old.expiresAt === null ? null : now + (old.expiresAt - old.createdAt),
  };
}

/** The error for an unknown key number. */
export function keyNotFound(keyId: number): PerilbookError {
  return new PerilbookError(
    'SERVICE_ACCOUNT',
    `Cannot find key ${keyId}`,
    '`perilbook service key list` shows the keys.',
  );
}
