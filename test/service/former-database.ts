import { readdirSync, readFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { hashOfKey } from '../../src/service/accounts/key-life.ts';
import { NOON } from './small-data.ts';

const MIGRATIONS = new URL('../../src/data/tables/migrations/', import.meta.url);
/** The last version that kept accounts in the data file. */
const VERSION = 5;

export const FORMER_KEY = `pb_${Buffer.alloc(32, 9).toString('base64url')}`;
/** Start of the billing period: the account signed up at noon. */
export const FORMER_PERIOD = Date.UTC(2026, 2, 15);
/** Credits that the former service charged and delivered. */
export const FORMER_CREDITS = 16;

/** Makes a data file as a former version left it: an account with two keys, two charges, and one that a crash left
 * pending. Key 4 has been rotated; key 5 is its successor. */
export function writeFormerDatabase(file: string): void {
  const database = new Database(file);
  for (const name of readdirSync(MIGRATIONS).sort().slice(0, VERSION)) {
    database.exec(readFileSync(new URL(name, MIGRATIONS), 'utf8'));
  }
  database.pragma('journal_mode = WAL');
  database.pragma(`user_version = ${VERSION}`);
  const hashOf = (key: string) => `x'${hashOfKey(key)!.toString('hex')}'`;
  const statements = `
    INSERT INTO accounts VALUES (7, 'acme', 'enterprise', 1000, 500, 0.05, 1, ${NOON});
    INSERT INTO keys VALUES (5, 7, ${hashOf(FORMER_KEY)}, 'bundle,hail', ${NOON}, NULL, NULL, NULL, NULL);
    INSERT INTO keys VALUES (4, 7, ${hashOf(`pb_${'A'.repeat(43)}`)}, 'hail', ${NOON}, NULL, ${NOON}, NULL, 5);
    INSERT INTO instances VALUES (3, 'crashed', ${NOON});
    INSERT INTO charges VALUES
      (1, 7, 5, 'single', 'hail', 1, ${NOON}, ${FORMER_PERIOD}, 'a', NULL),
      (2, 7, 5, 'standard', NULL, 15, ${NOON}, ${FORMER_PERIOD}, 'b', NULL),
      (3, 7, 5, 'enterprise', NULL, 35, ${NOON}, ${FORMER_PERIOD}, 'c', 3);
    INSERT INTO minutes VALUES (7, ${NOON - 60_000}, 51);
    INSERT INTO periods VALUES (7, ${FORMER_PERIOD}, 51, 1, 1, 1, 900, 0.04);`;
  database.exec(statements);
  database.close();
}
