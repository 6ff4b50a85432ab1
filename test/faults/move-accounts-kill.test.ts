import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { listAccounts } from '../../src/service/accounts/sqlite/accounts.ts';
import { moveAccounts } from '../../src/service/accounts/sqlite/move-accounts.ts';
import { FORMER_CREDITS, writeFormerDatabase } from '../service/former-database.ts';
import { databaseFile, openAccountsOf, openDatabase } from '../service/small-data.ts';
import { times } from '../tier.ts';

const KILLS = times({ short: 4, faults: 1_000 });

test('a move of the accounts that is killed at any step is completed by the next one, and nothing is doubled', async (t) => {
  const move = (file: string, env: Readonly<Record<string, string>>) =>
    spawnSync(
      process.execPath,
      ['--import', join(import.meta.dirname, 'kill-at-step.ts'), join(import.meta.dirname, 'move-accounts.ts'), file],
      { env: { ...process.env, ...env }, encoding: 'utf8' },
    );
  const calm = databaseFile(t);
  writeFormerDatabase(calm);
  const counted = move(calm, { COUNT_STEPS: `${calm}-steps` });
  assert.equal(counted.status, 0, counted.stderr);
  const steps = Number(readFileSync(`${calm}-steps`, 'utf8'));
  assert.ok(steps > 20, `${steps} steps`);
  let unfinished = 0;
  const stride = Math.max(1, Math.floor(steps / KILLS));
  for (let step = 1; step <= steps; step += stride) {
    const file = databaseFile(t);
    writeFormerDatabase(file);
    assert.equal(move(file, { KILL_AT_STEP: String(step) }).signal, 'SIGKILL', `step ${step}`);
    const [data, accounts] = [openDatabase(t, file), openAccountsOf(t, file)];
    const holds = () => data.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'accounts'").get() !== undefined;
    if (holds()) unfinished += 1;
    moveAccounts(data, accounts);
    assert.equal(holds(), false);
    assert.deepEqual(
      listAccounts(accounts).map(({ name }) => name),
      ['acme'],
      `step ${step}`,
    );
    const sums = ['charges', 'periods'].map((table) =>
      accounts.prepare(`SELECT sum(credits) FROM ${table}`).pluck().get(),
    );
    assert.deepEqual(sums, [FORMER_CREDITS, FORMER_CREDITS], `step ${step}`);
    assert.equal(accounts.prepare('SELECT count(*) FROM moves').pluck().get(), 1);
  }
  t.diagnostic(`${steps} steps, killed at every ${stride}th, ${unfinished} of them before the tables were dropped`);
  assert.ok(unfinished > 0);
});
