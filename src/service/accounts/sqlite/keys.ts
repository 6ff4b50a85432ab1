import type { Clock } from '../../../clock.ts';
import {
  checkExpiry,
  checkGrace,
  hashOfKey,
  type KeyInfo,
  keyInfoOf,
  keyNotFound,
  type NewKey,
  newKeyText,
  type RandomBytes,
  rotationOf,
  type StoredKey,
  scopesText,
} from '../key-life.ts';
import { findAccount } from './accounts.ts';
import type { AccountsDatabase } from './accounts-database.ts';

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
  const checked = scopesText(scopes);
  const expiresAt = options.expiresAt ?? null;
  checkExpiry(expiresAt, now);
  return insertKey(accounts, { account: id, scopes: checked, expiresAt }, now, options.random);
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
  random?: RandomBytes,
): NewKey {
  checkGrace(keyId, graceSeconds);
  return accounts
    .transaction(() => {
      const now = clock.now();
      const old = rowOf(accounts, keyId);
      const { retiresAt, expiresAt } = rotationOf(old, graceSeconds, now);
      const successor = insertKey(accounts, { account: old.accountId, scopes: old.scopes, expiresAt }, now, random);
      const update = accounts.prepare('UPDATE keys SET retires_at = ?, replaced_by = ? WHERE id = ?');
      update.run(retiresAt, successor.id, keyId);
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
    .prepare<[], StoredKey>(`${SELECT_KEYS} ORDER BY keys.id`)
    .all()
    .filter((row) => account === undefined || row.account === account)
    .map((row) => keyInfoOf(row, now));
}

const SELECT_KEYS = `SELECT keys.id, account AS accountId, accounts.name AS account, scopes, created_at AS createdAt,
  expires_at AS expiresAt, retires_at AS retiresAt, revoked_at AS revokedAt, replaced_by AS replacedBy
  FROM keys JOIN accounts ON accounts.id = keys.account`;

function rowOf(accounts: AccountsDatabase, keyId: number): StoredKey {
  const row = accounts.prepare<[number], StoredKey>(`${SELECT_KEYS} WHERE keys.id = ?`).get(keyId);
  if (row === undefined) throw keyNotFound(keyId);
  return row;
}

function insertKey(
  accounts: AccountsDatabase,
  key: { readonly account: number; readonly scopes: string; readonly expiresAt: number | null },
  now: number,
  random?: RandomBytes,
): NewKey {
  const text = newKeyText(random);
  const { lastInsertRowid } = accounts
    .prepare('INSERT INTO keys (account, hash, scopes, created_at, expires_at) VALUES (?, ?, ?, ?, ?)')
    .run(key.account, hashOfKey(text), key.scopes, now, key.expiresAt);
  return { id: Number(lastInsertRowid), key: text };
}
