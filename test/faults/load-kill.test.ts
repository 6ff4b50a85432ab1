import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startBin } from '../cli/bin-process.ts';
import { HERE, NEXT_DOOR, type openDatabase, pathTo, setUp } from '../service/small-world.ts';
import { seeded } from './seeded.ts';

const ROWS = 40_000;
const KILLS = process.env.SOAK === '1' ? 80 : 8;
/** About what the writing of so many rows takes. */
const WRITE_MS = 500;

/** `service load` in a process of its own, killed at random moments, beside a service that goes on answering from the file. */
test('a load that is killed leaves the old data in use, whole, and the next one completes', {
  timeout: 300_000,
}, async (t) => {
  const seed = Number(process.env.KILL_SEED ?? Date.now() % 1_000_000);
  const random = seeded(seed);
  const { get, database, file } = await setUp(t);
  const folder = dirname(file);
  const load = (here: number) => {
    writeFileSync(join(folder, 'wells.csv'), wells(here));
    return startBin(t, ['service', 'load', 'wells', 'wells.csv', '--states', 'US', '--db', file], folder);
  };
  const count = async (): Promise<number> => (await get(pathTo('/v1/oilGasWell/risk'))).body.data.result.value;
  // Each file has one more well here than the one before it, so that an answer tells which file it is of.
  let loaded = await count();
  let [killed, writing] = [0, 0];
  for (let kill = 0; kill < KILLS; kill++) {
    const next = 100 + kill;
    const bin = load(next);
    while (bin.isRunning && nextTables(database) === 0) await sleep(2);
    await sleep(random() * WRITE_MS);
    const isWriting = nextTables(database) > 0;
    bin.kill('SIGKILL');
    const { signal, code, stderr } = await bin.ended;
    if (signal === 'SIGKILL') killed += 1;
    else assert.equal(code, 0, `seed ${seed}: ${stderr}`);
    if (isWriting) writing += 1;
    const found = await count();
    assert.ok(found === next || (signal !== null && found === loaded), `seed ${seed}: ${found} after ${loaded}`);
    loaded = found;
    assert.equal(database.pragma('integrity_check', { simple: true }), 'ok', `seed ${seed}`);
  }
  const { code, stderr } = await load(7).ended;
  assert.equal(code, 0, stderr);
  assert.equal(await count(), 7);
  assert.equal(nextTables(database), 0);
  assert.equal(database.prepare('SELECT count(*) FROM loads').pluck().get(), 0);
  assert.equal(database.prepare('SELECT count(*) FROM sites_oilGasWell').pluck().get(), ROWS);
  t.diagnostic(`seed ${seed}: ${killed} of ${KILLS} killed, ${writing} of them while they wrote`);
  assert.ok(writing > 0);
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
    .prepare<[], number>("SELECT count(*) FROM sqlite_schema WHERE name GLOB '*_next*' AND name <> 'next_ids'")
    .pluck()
    .get()!;
}
