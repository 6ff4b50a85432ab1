import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { openAccounts } from '../../src/service/accounts/open-accounts.ts';
import { temporaryFolder } from '../temporary-folder.ts';

test('an accounts file of another version is refused in one sentence, and left as it is', (t) => {
  const file = join(temporaryFolder(t), 'accounts.db');
  const refusals = [
    [1, 'it was made by an earlier development version of Perilbook'],
    [99, 'it has version 99, and this program knows up to 2'],
  ] as const;
  for (const [version, reason] of refusals) {
    const database = new Database(file);
    database.pragma(`user_version = ${version}`);
    database.close();
    assert.throws(() => openAccounts(file), {
      code: 'SERVICE_ACCOUNT',
      message: `Cannot open the accounts file "${file}": ${reason}`,
    });
  }
});
