import { readdirSync, readFileSync } from 'node:fs';
import { PerilbookError } from '../errors.ts';
import type { PostgresLocation } from './postgres-address.ts';
import type { PostgresPool, Session } from './postgres-pool.ts';

/** Any number that other programs of the database are unlikely to lock. */
const MIGRATION_LOCK = 7_374_551;

/**
 * Brings a schema up to date with a folder of numbered SQL files, in one transaction and under a lock: two processes may open a
 * new schema at the same time. A schema that is up to date is only read, so a role without the right to change it can run.
 *
 * @throws the errors of the database's use
 */
export async function migratePostgres(
  pool: PostgresPool,
  { use, address, schema }: PostgresLocation,
  migrations: URL,
): Promise<void> {
  const names = readdirSync(migrations)
    .filter((name) => name.endsWith('.sql'))
    .sort();
  const version = await pool.read((session) => versionOf(session, schema));
  if (version > names.length) {
    throw new PerilbookError(
      use.tooNew,
      `The ${use.name} ${address} was written by a later Perilbook (version ${version}, this one knows ${names.length})`,
      `Update Perilbook, or name another ${use.name} with ${use.option}.`,
      { file: address },
    );
  }
  if (version === names.length) return;
  await pool.read(async (session) => {
    await session.rows('BEGIN');
    try {
      await session.rows('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
      const name = `"${schema}"`;
      // IF NOT EXISTS asks for the right to create it all the same.
      const [known] = await session.rows('SELECT 1 FROM pg_namespace WHERE nspname = $1', [schema]);
      if (!known) await session.rows(`CREATE SCHEMA ${name}`);
      await session.rows(`CREATE TABLE IF NOT EXISTS ${name}.schema_version (version integer NOT NULL)`);
      for (let next = await versionOf(session, schema); next < names.length; next++) {
        await session.rows(readFileSync(new URL(names[next]!, migrations), 'utf8'));
        await session.rows(`DELETE FROM ${name}.schema_version`);
        await session.rows(`INSERT INTO ${name}.schema_version VALUES ($1)`, [next + 1]);
      }
      await session.rows('COMMIT');
    } catch (error) {
      await session.rows('ROLLBACK').catch(() => {});
      throw error;
    }
  });
}

async function versionOf(session: Session, schema: string): Promise<number> {
  const [table] = await session.rows<{ found: string | null }>('SELECT to_regclass($1)::text AS found', [
    `"${schema}".schema_version`,
  ]);
  if (!table?.found) return 0;
  const [row] = await session.rows<{ version: number }>(`SELECT version FROM "${schema}".schema_version`);
  return row?.version ?? 0;
}
