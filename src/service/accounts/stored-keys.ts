import { type EngineDialect, read, type SqlWork, statement, write } from '../../sql/sql-work.ts';
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
} from './key-life.ts';
import { findAccount, instant } from './stored-accounts.ts';

/**
 * Makes a key for an account.
 *
 * @param scopes `bundle` and topic slugs, at least one
 * @param lifetimeMs after which it stops working; null for never
 * @throws PerilbookError SERVICE_ACCOUNT when there is no such account, a scope is unknown, or the lifetime is not above 0
 */
export function* createKey(
  dialect: EngineDialect,
  account: string,
  scopes: readonly string[],
  lifetimeMs: number | null,
  random?: RandomBytes,
): SqlWork<NewKey> {
  const { id } = yield* findAccount(account);
  const checked = scopesText(scopes);
  checkExpiry(lifetimeMs, 0);
  const [[instantRow]] = yield* read(instant(dialect));
  const { now } = instantRow!;
  const expiresAt = lifetimeMs === null ? null : now + lifetimeMs;
  return yield* insertKey({ account: id, scopes: checked, expiresAt }, now, random);
}

/**
 * Rotates a key: makes its successor with the same scopes; the old key works until the grace period ends. With 0 seconds,
 * for a lost key, it stops at once. The successor of a key that expires gets the same lifetime.
 *
 * @param graceSeconds length of the grace period, 0 or more
 * @throws PerilbookError SERVICE_ACCOUNT when there is no such key, it no longer works, or it has a successor already
 */
export function* rotateKey(
  dialect: EngineDialect,
  keyId: number,
  graceSeconds: number,
  random?: RandomBytes,
): SqlWork<NewKey> {
  checkGrace(keyId, graceSeconds);
  const [, [old], [instantRow]] = yield* read(
    statement(`SELECT id FROM keys WHERE id = $1 ${dialect.forUpdate}`, [keyId]),
    statement<StoredKey>(`${SELECT_KEYS} WHERE k.id = $1`, [keyId]),
    instant(dialect),
  );
  if (old === undefined) throw keyNotFound(keyId);
  const { now } = instantRow!;
  const { retiresAt, expiresAt } = rotationOf(old, graceSeconds, now);
  const successor = yield* insertKey({ account: old.accountId, scopes: old.scopes, expiresAt }, now, random);
  yield* write(
    statement('UPDATE keys SET retires_at = $1, replaced_by = $2 WHERE id = $3', [retiresAt, successor.id, keyId]),
  );
  return successor;
}

/**
 * Revokes a key: it stops working at once, also when it is in the grace of a rotation. Revoking it again changes nothing.
 *
 * @throws PerilbookError SERVICE_ACCOUNT when there is no such key
 */
export function* revokeKey({ now }: EngineDialect, keyId: number): SqlWork<void> {
  const sql = `UPDATE keys SET revoked_at = coalesce(revoked_at, ${now}) WHERE id = $1 RETURNING id`;
  const [revoked] = yield* read(statement(sql, [keyId]));
  if (revoked.length === 0) throw keyNotFound(keyId);
}

/** The keys of an account, or of all, in the order in which they were made. */
export function* listKeys(dialect: EngineDialect, account: string | null): SqlWork<KeyInfo[]> {
  const [rows, [instantRow]] = yield* read(
    statement<StoredKey>(`${SELECT_KEYS} WHERE CAST($1 AS text) IS NULL OR a.name = $1 ORDER BY k.id`, [account]),
    instant(dialect),
  );
  return rows.map((row) => keyInfoOf(row, instantRow!.now));
}

const SELECT_KEYS = `SELECT k.id, k.account AS "accountId", a.name AS account, k.scopes, k.created_at AS "createdAt",
  k.expires_at AS "expiresAt", k.retires_at AS "retiresAt", k.revoked_at AS "revokedAt", k.replaced_by AS "replacedBy"
  FROM keys k JOIN accounts a ON a.id = k.account`;

function* insertKey(
  {
    account,
    scopes,
    expiresAt,
  }: { readonly account: number; readonly scopes: string; readonly expiresAt: number | null },
  now: number,
  random?: RandomBytes,
): SqlWork<NewKey> {
  const key = newKeyText(random);
  const [[row]] = yield* read(
    statement<{ readonly id: number }>(
      'INSERT INTO keys (account, hash, scopes, created_at, expires_at) VALUES ($1, $2, $3, $4, $5) RETURNING id',
      [account, hashOfKey(key), scopes, now, expiresAt],
    ),
  );
  return { id: row!.id, key };
}
