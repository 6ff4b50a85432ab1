import type { Clock } from '../../../clock.ts';
import type { PostgresPool, Session } from '../../../sql/postgres-pool.ts';
import {
  checkExpiry,
  checkGrace,
  hashOfKey,
  keyInfoOf,
  keyNotFound,
  type NewKey,
  newKeyText,
  rotationOf,
  type StoredKey,
  scopesText,
} from '../key-life.ts';
import { periodStartOf } from '../limits.ts';
import { type ChargedPeriod, statementsOf } from '../period-statement.ts';
import type { ServiceAccounts } from '../port.ts';
import {
  accountNotFound,
  changedAccount,
  checkNewAccount,
  nameTaken,
  type ServiceAccount,
} from '../service-account.ts';
import { ACCOUNT_COLUMNS, accountOfRow, type PostgresAccountRow } from './account-rows.ts';
import { registerPostgresInstance } from './postgres-instance.ts';
import { releaseCrashed } from './take-back.ts';

/** The accounts of a PostgreSQL database. Everything happens by the clock of its server. Disposing them ends the pool. */
export function postgresAccounts(pool: PostgresPool, clock: Clock, leaseMs: number): ServiceAccounts {
  return {
    async createAccount(account) {
      checkNewAccount(account);
      const { name, creditsPerMonth, creditsPerMinute, overageRate } = account.subscription;
      return await pool.transact(async (tx) => {
        const added = await tx.rows(
          `INSERT INTO accounts (name, subscription, credits_per_month, credits_per_minute, overage_rate, overages, signed_up_at)
           VALUES ($1, $2, $3, $4, $5, $6, coalesce($7, clock_ms())) ON CONFLICT (name) DO NOTHING RETURNING id`,
          [
            ...[account.name, name, creditsPerMonth, creditsPerMinute, overageRate],
            ...[account.overages ?? false, account.signedUpAt ?? null],
          ],
        );
        if (added.length === 0) throw nameTaken(account.name);
        return await findAccount(tx, account.name);
      });
    },
    changeAccount: (name, change) =>
      pool.transact(async (tx) => {
        const before = await findAccount(tx, name, ' FOR UPDATE');
        const [instant] = await tx.rows<Instant>('SELECT clock_ms() AS now');
        const period = [before.id, periodStartOf(before, instant!.now)];
        const [charged] = await tx.rows<{ credits: number }>(
          'SELECT credits FROM periods WHERE account = $1 AND period_start = $2',
          period,
        );
        const after = changedAccount(before, change, charged?.credits ?? 0);
        const { name: subscription, creditsPerMonth, creditsPerMinute, overageRate } = after.subscription;
        tx.last(
          `UPDATE accounts SET subscription = $2, credits_per_month = $3, credits_per_minute = $4, overage_rate = $5, overages = $6
           WHERE id = $1`,
          [after.id, subscription, creditsPerMonth, creditsPerMinute, overageRate, after.overages],
        );
        tx.last('UPDATE periods SET allowance = $3, overage_rate = $4 WHERE account = $1 AND period_start = $2', [
          ...period,
          creditsPerMonth,
          overageRate,
        ]);
        return after;
      }),
    findAccount: (name) => pool.read((session) => findAccount(session, name)),
    listAccounts: () =>
      pool.read(async (session) =>
        (await session.rows<PostgresAccountRow>(`${SELECT_ACCOUNTS} ORDER BY a.name`)).map(accountOfRow),
      ),
    createKey: (account, scopes, lifetimeMs) =>
      pool.transact(async (tx) => {
        const { id } = await findAccount(tx, account);
        const checked = scopesText(scopes);
        checkExpiry(lifetimeMs, 0);
        return await insertKey(tx, id, checked, lifetimeMs);
      }),
    async rotateKey(keyId, graceSeconds) {
      checkGrace(keyId, graceSeconds);
      return await pool.transact(async (tx) => {
        const [old] = await tx.rows<StoredKey & Instant>(`${SELECT_KEYS} WHERE k.id = $1 FOR UPDATE OF k`, [keyId]);
        if (old === undefined) throw keyNotFound(keyId);
        const { retiresAt, expiresAt } = rotationOf(old, graceSeconds, old.now);
        const lifetimeMs = expiresAt === null ? null : expiresAt - old.now;
        const successor = await insertKey(tx, old.accountId, old.scopes, lifetimeMs);
        tx.last('UPDATE keys SET retires_at = $1, replaced_by = $2 WHERE id = $3', [retiresAt, successor.id, keyId]);
        return successor;
      });
    },
    revokeKey: (keyId) =>
      pool.transact(async (tx) => {
        const text = 'UPDATE keys SET revoked_at = coalesce(revoked_at, clock_ms()) WHERE id = $1 RETURNING id';
        if ((await tx.rows(text, [keyId])).length === 0) throw keyNotFound(keyId);
      }),
    listKeys: (account) =>
      pool.read(async (session) => {
        const text = `${SELECT_KEYS} WHERE $1::text IS NULL OR a.name = $1 ORDER BY k.id`;
        const rows = await session.rows<StoredKey & Instant>(text, [account ?? null]);
        return rows.map(({ now, ...row }) => keyInfoOf(row, now));
      }),
    async statement(account) {
      // What a crashed service left pending was never delivered.
      await releaseCrashed(pool);
      return await pool.read(async (session) => {
        const [[instant], rows] = await Promise.all([
          session.rows<Instant>('SELECT clock_ms() AS now'),
          session.rows<ChargedPeriod>(
            `SELECT period_start AS "periodStart", credits, single, standard, enterprise, allowance,
               overage_rate AS "overageRate" FROM periods WHERE account = $1 ORDER BY period_start`,
            [account.id],
          ),
        ]);
        return statementsOf(rows, account, instant!.now);
      });
    },
    register: (rules, onError) => registerPostgresInstance({ pool, clock, rules, leaseMs, onError }),
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  };
}

interface Instant {
  readonly now: number;
}

const SELECT_ACCOUNTS = `SELECT ${ACCOUNT_COLUMNS} FROM accounts a`;
const SELECT_KEYS = `SELECT k.id, k.account AS "accountId", a.name AS account, k.scopes, k.created_at AS "createdAt",
  k.expires_at AS "expiresAt", k.retires_at AS "retiresAt", k.revoked_at AS "revokedAt", k.replaced_by AS "replacedBy",
  clock_ms() AS now FROM keys k JOIN accounts a ON a.id = k.account`;

async function findAccount(session: Session, name: string, lock = ''): Promise<ServiceAccount> {
  const [row] = await session.rows<PostgresAccountRow>(`${SELECT_ACCOUNTS} WHERE a.name = $1${lock}`, [name]);
  if (row === undefined) throw accountNotFound(name);
  return accountOfRow(row);
}

async function insertKey(
  session: Session,
  account: number,
  scopes: string,
  lifetimeMs: number | null,
): Promise<NewKey> {
  const key = newKeyText();
  const [row] = await session.rows<{ id: number }>(
    `INSERT INTO keys (account, hash, scopes, created_at, expires_at)
     SELECT $1, $2, $3, now, now + $4 FROM (SELECT clock_ms() AS now OFFSET 0) t RETURNING id`,
    [account, hashOfKey(key), scopes, lifetimeMs],
  );
  return { id: row!.id, key };
}
