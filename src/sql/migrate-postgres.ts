import { readFileSync } from 'node:fs';
import { PerilbookError } from '../base/errors.ts';
import { migrationSteps } from './open-sqlite.ts';
import type { PostgresLocation } from './postgres-address.ts';
import type { PostgresPool, Session } from './postgres-pool.ts';

/** A number that other programs of the database are unlikely to lock. */
const MIGRATION_LOCK = 7_374_551;

/** Brings a schema up to date with a folder of numbered SQL files, of which the first makes all of it, in one transaction and under a
 * lock: two processes may open a new schema at the same time. A schema that is up to date is only read, so a role without the right to
 * change it can run.
 * @param mustExist refuses a schema without the tables
 * @throws the errors of the database's use */
export async function migratePostgres(
  pool: PostgresPool,
  { use, address, schema }: PostgresLocation,
  migrations: URL,
  mustExist = false,
): Promise<void> {
  const steps = migrationSteps(migrations);
  const [first, last] = [steps[0]!.number, steps.at(-1)!.number];
  const version = await pool.read((session) => readVersion(session, schema));
  if (version === 0 && mustExist) {
    const hint = `Check ${use.option} and the schema in the address. A run makes a new ${use.name}, and so does ${use.maker}.`;
    throw new PerilbookError(use.unusable, `There is no ${use.name} at ${address}`, hint, {
      file: address,
    });
  }
  if (version > 0 && version < first) {
    const message = `The ${use.name} ${address} was made by an earlier development version of Perilbook`;
    const hint = `Name another ${use.name} with ${use.option}, or another schema in its address.`;
    throw new PerilbookError(use.unusable, message, hint, { file: address });
  }
  if (version > last) {
    const message = `The ${use.name} ${address} was written by a later Perilbook (version ${version}, this one knows ${last})`;
    const hint = `Update Perilbook, or name another ${use.name} with ${use.option}.`;
    throw new PerilbookError(use.tooNew, message, hint, { file: address });
  }
  if (version === last) return;
  // In one transaction, which may be repeated: each attempt reads the version again.
  await pool.read(async (session) => {
    await session.rows('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
    const quoted = `"${schema}"`;
    // IF NOT EXISTS needs the right to create the schema even if it exists.
    const [existing] = await session.rows('SELECT 1 FROM pg_namespace WHERE nspname = $1', [
      schema,
    ]);
    if (!existing) await session.rows(`CREATE SCHEMA ${quoted}`);
    await session.rows(
      `CREATE TABLE IF NOT EXISTS ${quoted}.schema_version (version integer NOT NULL)`,
    );
    const reached = await readVersion(session, schema);
    for (const { number, name } of steps) {
      if (number <= reached) continue;
      await session.rows(readFileSync(new URL(name, migrations), 'utf8'));
      await session.rows(`DELETE FROM ${quoted}.schema_version`);
      await session.rows(`INSERT INTO ${quoted}.schema_version VALUES ($1)`, [number]);
    }
  });
}

async function readVersion(session: Session, schema: string): Promise<number> {
  const [table] = await session.rows<{ name: string | null }>(
    'SELECT to_regclass($1)::text AS name',
    [`"${schema}".schema_version`],
  );
  if (!table?.name) return 0;
  const [row] = await session.rows<{ version: number }>(
    `SELECT version FROM "${schema}".schema_version`,
  );
  return row?.version ?? 0;
}
