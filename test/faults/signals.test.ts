import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { ROW_STATUSES } from '../../src/columns/row-status.ts';
import { openRowFile } from '../../src/rows/open-row-file.ts';
import { between, pick } from '../../src/sample/random.ts';
import { firstSeed, times } from '../tier.ts';
import { assertBooksAgree, lastCharge, serviceSettled } from './kill-inputs.ts';
import { type KillScene, setKillScene } from './kill-scene.ts';

const JOBS = times({ long: 2, soak: 70 });
/** Runs of a job that are interrupted. */
const RUNS = 6;

test('SIGINT, SIGTERM and SIGHUP at random moments: once, all rows are written and 130 is told; twice, nothing is half done', {
  timeout: 300_000 + JOBS * 60_000,
}, async (t) => {
  const seed = firstSeed(21);
  for (let job = 0; job < JOBS; job++) await t.test(`seed ${seed + job}`, (trial) => signalTrial(trial, seed + job));
});

/** Draws a job, interrupts it at random moments, once or twice, and looks at how it ends and what it leaves. */
async function signalTrial(t: TestContext, seed: number): Promise<void> {
  const scene = await setKillScene(t, seed);
  const { random } = scene;
  const since = lastCharge(scene);
  const signals: string[] = [];
  let twice = 0;
  let output = readOutput(scene);
  for (let nth = 0; nth < RUNS; nth++) {
    const name = pick(random, ['SIGINT', 'SIGTERM', 'SIGHUP'] as const);
    const isTwice = random() < 0.5;
    // A second hangup is the same one.
    const leavesAtOnce = isTwice && name !== 'SIGHUP';
    const ms = Math.round(between(random, 200, scene.lastedMs));
    const bin = scene.start();
    await Promise.race([delay(ms), bin.ended]);
    bin.kill(name);
    if (isTwice) {
      if (leavesAtOnce) twice++;
      await Promise.race([delay(between(random, 0, 100)), bin.ended]);
      bin.kill(name);
    }
    const { code, signal, stderr } = await bin.ended;
    const what = `${isTwice ? 'two' : 'one'} ${name} at ${ms} ms: ${signal ?? code}`;
    signals.push(what);
    const where = `${scene.drawn}, ${what}: ${stderr}`;
    const now = readOutput(scene);
    // A signal that comes before the program is loaded, or when Node has begun to leave after the output was put in place,
    // ends it as any other program.
    const isUnheard = signal === name && stderr === '';
    const isLeft = code === 130 || (signal === name && isTwice && stderr !== '');
    assert.ok(code === 0 || isLeft || isUnheard, where);
    if (code === 0) assert.ok(now.equals(scene.expected), `${where}: not the whole output`);
    if (isLeft && !(leavesAtOnce && now.equals(output)))
      assert.equal(await rowsWithStatus(scene), scene.rows, `${where}: rows are missing`);
    if (isUnheard) assert.ok(now.equals(output) || now.equals(scene.expected), `${where}: the old output is gone`);
    output = now;
  }
  const { code, stderr } = await scene.start().ended;
  assert.equal(code, 0, `${scene.drawn}: ${stderr}`);
  assert.ok(readOutput(scene).equals(scene.expected), scene.drawn);
  await serviceSettled(scene);
  // Calls in flight land after one signal: only a second one leaves some of them unknown.
  assertBooksAgree(scene, since, twice * scene.sockets, scene.drawn);
  t.diagnostic(`${scene.drawn}: ${signals.join('; ')}`);
}

function readOutput({ harness, output }: KillScene): Buffer {
  return readFileSync(join(harness.folder, output));
}

/** How many rows of the output have a status: none where it is still the old one. */
async function rowsWithStatus({ harness, output }: KillScene): Promise<number> {
  const book = await openRowFile(join(harness.folder, output));
  const status = book.columns.indexOf('hazard_status');
  if (status < 0) return 0;
  let rows = 0;
  for await (const batch of book.read([status])) {
    rows += batch.filter(({ fields }) => ROW_STATUSES.some((name) => name === fields[0])).length;
  }
  return rows;
}
