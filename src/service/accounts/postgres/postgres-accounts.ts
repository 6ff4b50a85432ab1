import type { Pool, QueryResultRow } from 'pg';
import type { Clock } from '../../../clock.ts';
import { PerilbookError } from '../../../errors.ts';
import { isConnectionLost, withConnection } from '../../../postgres/open-pool.ts';
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
import { type ChargedPeriod, statementsOf } from '../period-statement.ts';
import type { ServiceAccounts } from '../port.ts';
import { accountNotFound, checkNewAccount, nameTaken, type ServiceAccount } from '../service-account.ts';
import { ACCOUNT_COLUMNS, accountOfRow, type PostgresAccountRow } from './account-rows.ts';
import { registerPostgresInstance } from './postgres-instance.ts';
import { releaseCrashed } from './take-back.ts';

/** How long an instance that is not heard of counts as running, in milliseconds: what it left pending counts as spent for so
 * long. A pause of a virtual machine is shorter. */
const LEASE_MS = 15_000;
/** A restart of the server takes less, in milliseconds. */
const PATIENCE_MS = 3_000;

/** What the accounts of a test do sooner or later than others. */
interface PostgresAccountsOptions {
  readonly leaseMs?: number;
  readonly patienceMs?: number;
}

/** The accounts of a PostgreSQL database. Everything happens by the clock of its server. Disposing them ends the pool. */
export function postgresAccounts(
  pool: Pool,
  clock: Clock,
  { leaseMs = LEASE_MS, patienceMs = PATIENCE_MS }: PostgresAccountsOptions = {},
): ServiceAccounts {
  /** Runs statements whose effect, when the connection is lost, is unknown to the caller. */
  async function rowsOf<Row extends QueryResultRow>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return await once(async () => (await pool.query<Row>(text, [...values])).rows);
  }

  async function findAccount(name: string): Promise<ServiceAccount> {
    const [row] = await rowsOf<PostgresAccountRow>(`${SELECT_ACCOUNTS} WHERE a.name = $1`, [name]);
    if (row === undefined) throw accountNotFound(name);
    return accountOfRow(row);
  }

  return {
    async createAccount(account) {
      checkNewAccount(account);
      const { name, creditsPerMonth, creditsPerMinute, overageRate } = account.subscription;
      const added = await rowsOf(
        `INSERT INTO accounts (name, subscription, credits_per_month, credits_per_minute, overage_rate, overages, signed_up_at)
         VALUES ($1, $2, $3, $4, $5, $6, coalesce($7, clock_ms())) ON CONFLICT (name) DO NOTHING RETURNING id`,
        [
          ...[account.name, name, creditsPerMonth, creditsPerMinute, overageRate],
          ...[account.overages ?? false, account.signedUpAt ?? null],
        ],
      );
      if (added.length === 0) throw nameTaken(account.name);
      return await findAccount(account.name);
    },
    findAccount,
    listAccounts: async () =>
      (await rowsOf<PostgresAccountRow>(`${SELECT_ACCOUNTS} ORDER BY a.name`)).map(accountOfRow),
    async createKey(account, scopes, lifetimeMs) {
      const { id } = await findAccount(account);
      const checked = scopesText(scopes);
      checkExpiry(lifetimeMs, 0);
      return await insertKey(rowsOf, id, checked, lifetimeMs);
    },
    async rotateKey(keyId, graceSeconds) {
      checkGrace(keyId, graceSeconds);
      return await once(() =>
        withConnection(pool, async (connection) => {
          const query: RowsOf = async (text, values) => (await connection.query(text, [...values])).rows;
          await connection.query('BEGIN');
          const [old] = await query<StoredKey & Instant>(`${SELECT_KEYS} WHERE k.id = $1 FOR UPDATE OF k`, [keyId]);
          if (old === undefined) throw keyNotFound(keyId);
          const { retiresAt, expiresAt } = rotationOf(old, graceSeconds, old.now);
          const lifetimeMs = expiresAt === null ? null : expiresAt - old.now;
          const successor = await insertKey(query, old.accountId, old.scopes, lifetimeMs);
          await query('UPDATE keys SET retires_at = $1, replaced_by = $2 WHERE id = $3', [
            retiresAt,
            successor.id,
            keyId,
          ]);
          await connection.query('COMMIT');
          return successor;
        }),
      );
    },
    async revokeKey(keyId) {
      const text = 'UPDATE keys SET revoked_at = coalesce(revoked_at, clock_ms()) WHERE id = $1 RETURNING id';
      if ((await rowsOf(text, [keyId])).length === 0) throw keyNotFound(keyId);
    },
    async listKeys(account) {
      const text = `${SELECT_KEYS} WHERE $1::text IS NULL OR a.name = $1 ORDER BY k.id`;
      const rows = await rowsOf<StoredKey & Instant>(text, [account ?? null]);
      return rows.map(({ now, ...row }) => keyInfoOf(row, now));
    },
    async statement(account) {
      // What a crashed service left pending was never delivered.
      await once(() => withConnection(pool, releaseCrashed));
      const [instant] = await rowsOf<Instant>('SELECT clock_ms() AS now');
      const rows = await rowsOf<ChargedPeriod>(
        `SELECT period_start AS "periodStart", credits, single, standard, enterprise, allowance, overage_rate AS "overageRate"
         FROM periods WHERE account = $1 ORDER BY period_start`,
        [account.id],
      );
      return statementsOf(rows, account, instant!.now);
    },
    register: (rules, onError) =>
      once(() => registerPostgresInstance({ pool, clock, rules, leaseMs, patienceMs, onError })),
    [Symbol.asyncDispose]: () => pool.end(),
  };
}

interface Instant {
  readonly now: number;
}

type RowsOf = <Row extends QueryResultRow>(text: string, values: readonly unknown[]) => Promise<Row[]>;

const SELECT_ACCOUNTS = `SELECT ${ACCOUNT_COLUMNS} FROM accounts a`;
const SELECT_KEYS = `SELECT k.id, k.account AS "accountId", a.name AS account, k.scopes, k.created_at AS "createdAt",
  k.expires_at AS "expiresAt", k.retires_at AS "retiresAt", k.revoked_at AS "revokedAt", k.replaced_by AS "replacedBy",
  clock_ms() AS now FROM keys k JOIN accounts a ON a.id = k.account`;

async function insertKey(rowsOf: RowsOf, account: number, scopes: string, lifetimeMs: number | null): Promise<NewKey> {
  const key = newKeyText();
  const [row] = await rowsOf<{ id: number }>(
    `INSERT INTO keys (account, hash, scopes, created_at, expires_at)
     SELECT $1, $2, $3, now, now + $4 FROM (SELECT clock_ms() AS now OFFSET 0) t RETURNING id`,
    [account, hashOfKey(key), scopes, lifetimeMs],
  );
  return { id: row!.id, key };
}

/** An operator's command is tried once: whether one that got no answer was done, the lists show. */
async function once<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!isConnectionLost(error)) throw error;
    throw new PerilbookError(
      'ACCOUNTS_UNAVAILABLE',
      `The PostgreSQL server of the accounts does not answer: ${(error as Error).message}`,
      'Try again; before you repeat a change, `perilbook service account list` and `key list` show whether it was made.',
      {},
      error,
    );
  }
}
