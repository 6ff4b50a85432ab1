import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { CELLS_PER_BATCH } from '../../src/run/look-up/look-up.ts';
import { drawBetween, makeRandom } from '../../src/sample/random.ts';
import { startBin } from '../cli/bin-process.ts';
import { openHarness, places } from '../run/harness.ts';
import { firstSeed, times } from '../tier.ts';

const KILLS = times({ long: 2, soak: 400 });
const CELLS = 5_500;
const OLD = 'id,hazard_status,hazard_note,hazard_as_of\n';

test(`a local run killed at ${KILLS} random instants loses no batch and ends as an undisturbed one`, {
  timeout: 300_000 + KILLS * 30_000,
}, async (t) => {
  const { folder, writeInput, database, charged } = await openHarness(t);
  writeInput(places(CELLS));
  mkdirSync(join(folder, 'perilbook'));
  database.exec(`VACUUM INTO '${join(folder, 'perilbook/data.db')}'`);
  const start = (name: string) =>
    startBin(
      t,
      ['run', 'input.csv', '--topics', 'natural', '-o', `${name}.csv`, '--store', `${name}.db`],
      folder,
    );
  const began = performance.now();
  assert.equal((await start('calm').ended).code, 0);
  const lasted = performance.now() - began;
  const expected = rowsOf('calm');
  assert.equal(expected.length, CELLS + 1);

  const random = makeRandom(firstSeed(16), 'local kill');
  for (let round = 0, kills = 0; kills < KILLS; round++) {
    const name = `killed-${round}`;
    writeFileSync(join(folder, `${name}.csv`), OLD);
    let stored = 0;
    for (let isDone = false; !isDone; ) {
      const bin = start(name);
      const ms = Math.round(drawBetween(random, 0.1, 0.7) * lasted);
      if (kills < KILLS) void delay(ms).then(() => bin.kill('SIGKILL'));
      const { code, signal, stderr } = await bin.ended;
      assert.ok(code === 0 || signal === 'SIGKILL', stderr);
      isDone = code === 0;
      if (!isDone) kills++;
      // A batch is stored as a whole or not at all, and stays.
      const now = storedIn(name);
      assert.ok(
        now >= stored &&
          (now % CELLS_PER_BATCH === 0 || now % CELLS_PER_BATCH === CELLS % CELLS_PER_BATCH),
      );
      stored = now;
      const rows = rowsOf(name);
      if (isDone || rows.length > 1) assert.deepEqual(rows, expected);
      t.diagnostic(
        `${name}: ${isDone ? 'done' : `killed after ${ms} ms`}, ${stored} of ${CELLS} places stored`,
      );
    }
    assert.equal(stored, CELLS);
  }
  assert.equal(charged(), 0);
  assert.ok(readdirSync(folder).every((name) => !name.startsWith('.killed')));

  /** Without the time of the answers, which differs from run to run. */
  function rowsOf(name: string): string[] {
    const text = readFileSync(join(folder, `${name}.csv`), 'utf8').replace(
      /\d{4}-\d\d-\d\dT[\d:.]+Z/g,
      '',
    );
    return text.trimEnd().split('\n');
  }

  function storedIn(name: string): number {
    const file = join(folder, `${name}.db`);
    // It was killed before the store was made, which has its tables from the beginning.
    if (!existsSync(file)) return 0;
    const store = new Database(file);
    try {
      return store.prepare<[], number>('SELECT count(*) FROM cells').pluck().get()!;
    } finally {
      store.close();
    }
  }
});
