import { hash, randomBytes } from 'node:crypto';
import type { Scope } from '../../contract/credits.ts';
import { isTopicSlug } from '../../contract/topics.ts';
import { type EngineDialect, read, type SqlWork, statement, write } from '../../sql/sql-work.ts';
import { accountError, findAccount, instant } from './service-account.ts';

/** `rotating`: the key has a successor and works until the grace period ends. `retired`: the grace period has ended. */
type KeyState = 'active' | 'rotating' | 'retired' | 'revoked' | 'expired';

/** A key without its secret. Times are milliseconds since the epoch. */
export interface KeyInfo {
  /** Its number. */
  readonly id: number;
  /** The name of its account. */
  readonly account: string;
  /** What it may call. */
  readonly scopes: readonly Scope[];
  /** Whether it works: `active` and `rotating` keys do. */
  readonly state: KeyState;
  /** When it was made. */
  readonly createdAt: number;
  /** When it ends by itself; null for never. */
  readonly expiresAt: number | null;
  /** When the grace period after its rotation ends; null where it was not rotated. */
  readonly retiresAt: number | null;
  /** When it was revoked; null where it was not. */
  readonly revokedAt: number | null;
  /** The number of the key that replaced it; null where none did. */
  readonly replacedBy: number | null;
}

/** The times that end a key's life. */
export type KeyTimes = Pick<KeyInfo, 'expiresAt' | 'retiresAt' | 'revokedAt'>;

/** A stored key, without its hash. */
type StoredKey = Omit<KeyInfo, 'scopes' | 'state'> & {
  readonly accountId: number;
  readonly scopes: string;
};

/** A new key. `key` is shown once: only its hash is stored. */
export interface NewKey {
  readonly id: number;
  readonly key: string;
}

const SECRET_BYTES = 32;
const KEY_SHAPE = /^pb_[A-Za-z0-9_-]{43}$/;

/** The stored SHA-256 of a key; null for a text that cannot be one. A slow hash is for passwords: 256 random bits cannot be guessed. */
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

/** Makes a key for an account.
 * @param scopes `bundle` and topic slugs, at least one
 * @param lifetimeMs after which it stops working; null for never
 * @throws PerilbookError SERVICE_ACCOUNT when there is no such account, a scope is unknown, or the lifetime is not above 0 */
export function* createKey(
  dialect: EngineDialect,
  name: string,
  scopes: readonly string[],
  lifetimeMs: number | null,
): SqlWork<NewKey> {
  const { id } = yield* findAccount(name);
  const unknown = scopes.filter((scope) => scope !== 'bundle' && !isTopicSlug(scope));
  if (scopes.length === 0 || unknown.length > 0) {
    const what = scopes.length === 0 ? 'without scopes' : `with scope "${unknown[0]}"`;
    throw accountError(`Cannot make a key ${what}`, 'Give `bundle`, topic slugs, or both.');
  }
  if (lifetimeMs !== null && lifetimeMs <= 0) {
    throw accountError(
      'Cannot make a key that has already expired',
      'Give a time in the future, or none.',
    );
  }
  const [[instantRow]] = yield* read(instant(dialect));
  const { now } = instantRow!;
  return yield* insertKey(
    id,
    [...new Set(scopes)].join(','),
    now,
    lifetimeMs === null ? null : now + lifetimeMs,
  );
}

/** Rotates a key: makes its successor with the same scopes; the old key works until the grace period ends. With 0 seconds,
 * for a lost key, it stops at once. The successor of a key that expires gets the same lifetime.
 * @param graceSeconds length of the grace period, 0 or more
 * @throws PerilbookError SERVICE_ACCOUNT when there is no such key, it no longer works, or it has a successor already */
export function* rotateKey(
  dialect: EngineDialect,
  keyId: number,
  graceSeconds: number,
): SqlWork<NewKey> {
  if (!(graceSeconds >= 0 && graceSeconds < Number.POSITIVE_INFINITY)) {
    const hint = 'Give a number of seconds, 0 or more.';
    throw accountError(`Cannot rotate key ${keyId} with a grace of ${graceSeconds} seconds`, hint);
  }
  const [, [old], [instantRow]] = yield* read(
    statement(`SELECT id FROM keys WHERE id = $1 ${dialect.forUpdate}`, [keyId]),
    statement<StoredKey>(`${SELECT_KEYS} WHERE k.id = $1`, [keyId]),
    instant(dialect),
  );
  if (old === undefined) throw keyNotFound(keyId);
  const { now } = instantRow!;
  const state = stateOf(old, now);
  if (state !== 'active') {
    const hint =
      state === 'rotating' ? `Rotate its successor, key ${old.replacedBy}.` : 'Make a new key.';
    throw accountError(`Cannot rotate key ${keyId}: it is ${state}`, hint);
  }
  const expiresAt = old.expiresAt === null ? null : now + (old.expiresAt - old.createdAt);
  const successor = yield* insertKey(old.accountId, old.scopes, now, expiresAt);
  const retiresAt = now + Math.round(graceSeconds * 1_000);
  const sql = 'UPDATE keys SET retires_at = $1, replaced_by = $2 WHERE id = $3';
  yield* write(statement(sql, [retiresAt, successor.id, keyId]));
  return successor;
}

/** Revokes a key: it stops working at once, also when it is in the grace of a rotation. Revoking it again changes nothing.
 * @throws PerilbookError SERVICE_ACCOUNT when there is no such key */
export function* revokeKey({ now }: EngineDialect, keyId: number): SqlWork<void> {
  const sql = `UPDATE keys SET revoked_at = coalesce(revoked_at, ${now}) WHERE id = $1 RETURNING id`;
  const [revoked] = yield* read(statement(sql, [keyId]));
  if (revoked.length === 0) throw keyNotFound(keyId);
}

/** The keys of an account, or of all (null), oldest first, with their state by the database's clock. The keys themselves are not stored. */
export function* listKeys(dialect: EngineDialect, account: string | null): SqlWork<KeyInfo[]> {
  const sql = `${SELECT_KEYS} WHERE CAST($1 AS text) IS NULL OR a.name = $1 ORDER BY k.id`;
  const [rows, [instantRow]] = yield* read(statement<StoredKey>(sql, [account]), instant(dialect));
  return rows.map(({ accountId: _, id, account: name, scopes, ...times }) => {
    const state = stateOf(times, instantRow!.now);
    return { id, account: name, scopes: scopes.split(',') as Scope[], state, ...times };
  });
}

const SELECT_KEYS = `SELECT k.id, k.account AS "accountId", a.name AS account, k.scopes, k.created_at AS "createdAt",
  k.expires_at AS "expiresAt", k.retires_at AS "retiresAt", k.revoked_at AS "revokedAt", k.replaced_by AS "replacedBy"
  FROM keys k JOIN accounts a ON a.id = k.account`;

function* insertKey(
  account: number,
  scopes: string,
  now: number,
  expiresAt: number | null,
): SqlWork<NewKey> {
  const key = `pb_${randomBytes(SECRET_BYTES).toString('base64url')}`;
  const sql =
    'INSERT INTO keys (account, hash, scopes, created_at, expires_at) VALUES ($1, $2, $3, $4, $5) RETURNING id';
  const values = [account, hashOfKey(key), scopes, now, expiresAt];
  const [[row]] = yield* read(statement<{ readonly id: number }>(sql, values));
  return { id: row!.id, key };
}

function keyNotFound(keyId: number) {
  return accountError(`Cannot find key ${keyId}`, 'perilbook service key list shows the keys.');
}
