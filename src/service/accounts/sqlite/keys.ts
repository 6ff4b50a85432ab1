import { hash, randomBytes } from 'node:crypto';
import type { Clock } from '../../../clock.ts';
import type { Scope } from '../../../contract/credits.ts';
import { isTopicSlug } from '../../../contract/topics.ts';
import { PerilbookError } from '../../../errors.ts';
import { findAccount } from './accounts.ts';
import type { AccountsDatabase } from './accounts-database.ts';

/** `rotating`: the key has a successor and works until the grace period ends. `retired`: that has ended. */
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

/** A key that was just made. `key` is shown once: only its hash is kept. */
export interface NewKey {
  readonly id: number;
  readonly key: string;
}

/** Gives `size` unguessable bytes. */
export type RandomBytes = (size: number) => Buffer;

const PREFIX = 'pb_';
const SECRET_BYTES = 32;
const KEY_SHAPE = /^pb_[A-Za-z0-9_-]{43}$/;

/** The SHA-256 under which a key is kept, or null for a text that cannot be a key. A slow hash protects passwords, which can
 * be guessed; 256 random bits cannot. */
export function hashOfKey(key: string): Buffer | null {
  return KEY_SHAPE.test(key) ? hash('sha256', key, 'buffer') : null;
}

/**
 * Makes a key for an account.
 *
 * @param scopes `bundle` and topic slugs, at least one
 * @param options.expiresAt when it stops working, in milliseconds since the epoch; default never
 * @throws PerilbookError SERVICE_ACCOUNT when there is no such account, a scope is unknown, or the expiry is past
 */
export function createKey(
  accounts: AccountsDatabase,
  account: string,
  scopes: readonly string[],
  clock: Clock,
  options: { readonly expiresAt?: number; readonly random?: RandomBytes } = {},
): NewKey {
  const now = clock.now();
  const { id } = findAccount(accounts, account);
  const checked = checkedScopes(scopes);
  const expiresAt = options.expiresAt ?? null;
  if (expiresAt !== null && !(expiresAt > now)) {
    throw new PerilbookError(
      'SERVICE_ACCOUNT',
      'Cannot make a key that has already expired',
      'Give a time in the future, or none.',
    );
  }
  return insertKey(accounts, { account: id, scopes: checked.join(','), expiresAt }, now, options.random);
}

/**
 * Rotates a key: makes its successor with the same scopes; the old key works until the grace period ends. With 0 seconds,
 * for a lost key, it stops at once. The successor of a key that expires gets the same lifetime.
 *
 * @param graceSeconds length of the grace period, 0 or more
 * @throws PerilbookError SERVICE_ACCOUNT when there is no such key, it no longer works, or it has a successor already
 */
export function rotateKey(
  accounts: AccountsDatabase,
  keyId: number,
  graceSeconds: number,
  clock: Clock,
  random: RandomBytes = randomBytes,
): NewKey {
  if (!(Number.isFinite(graceSeconds) && graceSeconds >= 0)) {
    throw new PerilbookError(
      'SERVICE_ACCOUNT',
      `Cannot rotate key ${keyId} with a grace of ${graceSeconds} seconds`,
      'Give a number of seconds, 0 or more.',
    );
  }
  return accounts
    .transaction(() => {
      const now = clock.now();
      const old = rowOf(accounts, keyId);
      const state = stateOf(old, now);
      if (state !== 'active') {
        throw new PerilbookError(
          'SERVICE_ACCOUNT',
          `Cannot rotate key ${keyId}: it is ${state}`,
          state === 'rotating' ? `Rotate its successor, key ${old.replacedBy}.` : 'Make a new key.',
        );
      }
      const expiresAt = old.expiresAt === null ? null : now + (old.expiresAt - old.createdAt);
      const successor = insertKey(accounts, { account: old.accountId, scopes: old.scopes, expiresAt }, now, random);
      accounts
        .prepare('UPDATE keys SET retires_at = ?, replaced_by = ? WHERE id = ?')
        .run(now + Math.round(graceSeconds * 1_000), successor.id, keyId);
      return successor;
    })
    .immediate();
}

/**
 * Revokes a key: it stops working at once, also when it is in the grace of a rotation. Revoking it again changes nothing.
 *
 * @throws PerilbookError SERVICE_ACCOUNT when there is no such key
 */
export function revokeKey(accounts: AccountsDatabase, keyId: number, clock: Clock): void {
  rowOf(accounts, keyId);
  accounts.prepare('UPDATE keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL').run(clock.now(), keyId);
}

/** The keys of an account, or of all, in the order in which they were made. */
export function listKeys(accounts: AccountsDatabase, clock: Clock, account?: string): KeyInfo[] {
  const now = clock.now();
  return accounts
    .prepare<[], KeyRow>(`${SELECT_KEYS} ORDER BY keys.id`)
    .all()
    .filter((row) => account === undefined || row.account === account)
    .map(({ accountId: _, id, account: name, scopes, ...times }) => {
      return { id, account: name, scopes: scopes.split(',') as Scope[], state: stateOf(times, now), ...times };
    });
}

/** The times that end a key's life. */
export type KeyTimes = Pick<KeyInfo, 'expiresAt' | 'retiresAt' | 'revokedAt'>;

type KeyRow = Omit<KeyInfo, 'scopes' | 'state'> & { readonly accountId: number; readonly scopes: string };

const SELECT_KEYS = `SELECT keys.id, account AS accountId, accounts.name AS account, scopes, created_at AS createdAt,
  expires_at AS expiresAt, retires_at AS retiresAt, revoked_at AS revokedAt, replaced_by AS replacedBy
  FROM keys JOIN accounts ON accounts.id = keys.account`;

/** The state of a key at a time; `active` and `rotating` keys work. */
export function stateOf(row: KeyTimes, now: number): KeyState {
  if (row.revokedAt !== null) return 'revoked';
  if (row.retiresAt !== null && now >= row.retiresAt) return 'retired';
  if (row.expiresAt !== null && now >= row.expiresAt) return 'expired';
  return row.retiresAt === null ? 'active' : 'rotating';
}

function rowOf(accounts: AccountsDatabase, keyId: number): KeyRow {
  const row = accounts.prepare<[number], KeyRow>(`${SELECT_KEYS} WHERE keys.id = ?`).get(keyId);
  if (row !== undefined) return row;
  throw new PerilbookError(
    'SERVICE_ACCOUNT',
    `Cannot find key ${keyId}`,
    '`perilbook service key list` shows the keys.',
  );
}

function checkedScopes(scopes: readonly string[]): string[] {
  const unknown = scopes.filter((scope) => scope !== 'bundle' && !isTopicSlug(scope));
  if (scopes.length > 0 && unknown.length === 0) return [...new Set(scopes)];
  throw new PerilbookError(
    'SERVICE_ACCOUNT',
    scopes.length === 0 ? 'Cannot make a key without scopes' : `Cannot make a key with scope "${unknown[0]}"`,
    'Give `bundle`, topic slugs, or both.',
  );
}

function insertKey(
  accounts: AccountsDatabase,
  key: { readonly account: number; readonly scopes: string; readonly expiresAt: number | null },
  now: number,
  random: RandomBytes = randomBytes,
): NewKey {
  const text = PREFIX + random(SECRET_BYTES).toString('base64url');
  const { lastInsertRowid } = accounts
    .prepare('INSERT INTO keys (account, hash, scopes, created_at, expires_at) VALUES (?, ?, ?, ?, ?)')
    .run(key.account, hashOfKey(text), key.scopes, now, key.expiresAt);
  return { id: Number(lastInsertRowid), key: text };
}
