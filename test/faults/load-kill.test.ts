import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { makeRandom } from '../../src/sample/random.ts';
import { startBin } from '../cli/bin-process.ts';
import { HERE, NEXT_DOOR, type openDatabase, pathTo, setUp } from '../service/small-data.ts';
import { firstSeed, times } from '../tier.ts';

/** Several batches of the load (src/data/tables/staged-load.ts). */
const ROWS = 7_000;
const KILLS = times({ long: 3, soak: 80 });
/** The new tables are put in the place of the old ones in the last steps: half of the kills are drawn from these. */
const LAST_STEPS = 40;

/** `data load` in a process of its own, killed at random steps, beside a service that goes on answering from the file. */
test('a load that is killed leaves the old data in use, whole, and the next one completes', {
  timeout: 300_000,
}, async (t) => {
  const seed = firstSeed(1);
  const random = makeRandom(seed, 'load');
  const { get, database, file } = await setUp(t);
  const folder = dirname(file);
  const load = (here: number, env: Readonly<Record<string, string>> = {}) => {
    writeFileSync(join(folder, 'wells.csv'), wells(here));
    const preload = `--import ${join(import.meta.dirname, 'kill-at-step.ts')}`;
    const words = ['data', 'load', 'wells', 'wells.csv', '--states', 'US', '--db', file];
    return startBin(t, words, folder, { NODE_OPTIONS: preload, ...env }).ended;
  };
  const count = async (): Promise<number> =>
    (await get(pathTo('/v1/oilGasWell/risk'))).body.data.result.value;
  const calm = await load(99, { COUNT_STEPS: join(folder, 'steps') });
  assert.equal(calm.code, 0, calm.stderr);
  const steps = Number(readFileSync(join(folder, 'steps'), 'utf8'));
  assert.ok(steps > ROWS, `${steps} steps`);
  let loaded = await count();
  assert.equal(loaded, 99);
  let cutOff = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    // Each file has one more well here than the one before it, so that an answer tells which file it is of.
    const next = 100 + kill;
    const step =
      kill % 2 === 0 ? 1 + Math.floor(random() * steps) : steps - Math.floor(random() * LAST_STEPS);
    const where = `seed ${seed}, step ${step} of ${steps}`;
    const { signal, stderr } = await load(next, { KILL_AT_STEP: String(step) });
    assert.equal(signal, 'SIGKILL', `${where}: ${stderr}`);
    if (nextTables(database) > 0) cutOff += 1;
    const found = await count();
    assert.ok(found === next || found === loaded, `${where}: ${found} after ${loaded}`);
    loaded = found;
    assert.equal(database.pragma('integrity_check', { simple: true }), 'ok', where);
  }
  const { code, stderr } = await load(7);
  assert.equal(code, 0, stderr);
  assert.equal(await count(), 7);
  assert.equal(nextTables(database), 0);
  assert.equal(database.prepare('SELECT count(*) FROM loads').pluck().get(), 0);
  assert.equal(database.prepare('SELECT count(*) FROM sites_oilGasWell').pluck().get(), ROWS);
  t.diagnostic(
    `seed ${seed}: ${KILLS} killed, ${cutOff} of them before the new tables were in place`,
  );
  assert.ok(cutOff > 0);
});

/** A table of wells, so many of them here and the others elsewhere. */
function wells(here: number): string {
  const rows = Array.from({ length: ROWS }, (_, index) => {
    const { lat, lng } = index < here ? HERE : NEXT_DOOR;
    return `well ${index},${lat},${lng}\n`;
  });
  return `Well,Latitude,Longitude\n${rows.join('')}`;
}

/** Tables that a load has begun and not put in place. */
function nextTables(database: ReturnType<typeof openDatabase>): number {
  return database
    .prepare<[], number>(
      "SELECT count(*) FROM sqlite_schema WHERE name GLOB '*_next*' AND name <> 'next_ids'",
    )
    .pluck()
    .get()!;
}
