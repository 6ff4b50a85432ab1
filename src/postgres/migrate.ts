import { readdirSync, readFileSync } from 'node:fs';
import type { Pool, PoolClient } from 'pg';
import { withConnection } from './open-pool.ts';

/** One kind of tables in a PostgreSQL database, in a schema of their own. */
export interface SchemaFormat {
  /** The schema; also first in the search path of the connections. */
  readonly schema: string;
  /** Folder of numbered SQL files. */
  readonly migrations: URL;
  /** Makes the error for tables that a later program has made. */
  readonly tooNew: (version: number, known: number) => Error;
}

/**
 * Makes the tables and brings them up to the newest version, all in one transaction under an advisory lock, so that
 * instances may start at the same time. A role without rights on definitions may do this where nothing is left to do.
 */
export async function migratePostgres(pool: Pool, format: SchemaFormat): Promise<void> {
  const { schema, tooNew } = format;
  const names = readdirSync(format.migrations)
    .filter((name) => name.endsWith('.sql'))
    .sort();
  await withConnection(pool, async (client) => {
    const version = await versionOf(client, schema);
    if (version > names.length) throw tooNew(version, names.length);
    if (version === names.length) return;
    await client.query('BEGIN');
    await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [schema]);
    if (!(await isThere(client, 'to_regnamespace', schema))) await client.query(`CREATE SCHEMA ${schema}`);
    await client.query(`CREATE TABLE IF NOT EXISTS ${schema}.versions (version integer PRIMARY KEY)`);
    // Another process may have done it since.
    for (let next = await versionOf(client, schema); next < names.length; next++) {
      await client.query(readFileSync(new URL(names[next]!, format.migrations), 'utf8'));
      await client.query(`INSERT INTO ${schema}.versions VALUES ($1)`, [next + 1]);
    }
    await client.query('COMMIT');
  });
}

async function versionOf(client: PoolClient, schema: string): Promise<number> {
  if (!(await isThere(client, 'to_regclass', `${schema}.versions`))) return 0;
  const { rows } = await client.query(`SELECT coalesce(max(version), 0) AS version FROM ${schema}.versions`);
  return rows[0].version;
}

async function isThere(client: PoolClient, lookUp: 'to_regclass' | 'to_regnamespace', name: string): Promise<boolean> {
  const { rows } = await client.query(`SELECT ${lookUp}($1) IS NOT NULL AS found`, [name]);
  return rows[0].found;
}
