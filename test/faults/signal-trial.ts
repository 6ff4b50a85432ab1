import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { ROW_STATUSES } from '../../src/columns/row-status.ts';
import { between, pick } from '../../src/data/sample/random.ts';
import { openRowFile } from '../../src/rows/open-row-file.ts';
import { compareBooks, lastCharge, serviceSettled } from './kill-inputs.ts';
import { type KillScene, setKillScene } from './kill-scene.ts';

export interface SignalTrial {
  readonly drawn: string;
  /** What was sent, when, and how the run ended. */
  readonly signals: readonly string[];
  readonly wrong: readonly string[];
}

/** Draws a job, interrupts it at random moments, once or twice, and looks at how it ends and what it leaves. */
export async function signalTrial(t: TestContext, seed: number, runs = 6): Promise<SignalTrial> {
  const scene = await setKillScene(t, seed);
  const { random } = scene;
  const since = lastCharge(scene);
  const signals: string[] = [];
  const wrong: string[] = [];
  let twice = 0;
  let output = readOutput(scene);
  for (let nth = 0; nth < runs; nth++) {
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
    const now = readOutput(scene);
    // A signal that comes before the program is loaded, or when Node has begun to leave after the output was put in place,
    // ends it as any other program.
    const isUnheard = signal === name && stderr === '';
    const isLeft = code === 130 || (signal === name && isTwice && stderr !== '');
    if (code === 0 && !now.equals(scene.expected)) wrong.push(`${what}: not the whole output`);
    if (isLeft && !(leavesAtOnce && now.equals(output)) && !(await isComplete(scene)))
      wrong.push(`${what}: rows are missing`);
    if (isUnheard && !now.equals(output) && !now.equals(scene.expected)) wrong.push(`${what}: the old output is gone`);
    if (code !== 0 && !isLeft && !isUnheard) wrong.push(`${what}: ${stderr}`);
    output = now;
  }
  const { code, stderr } = await scene.start().ended;
  if (code !== 0 || !readOutput(scene).equals(scene.expected)) wrong.push(`the last run ended with ${code}: ${stderr}`);
  await serviceSettled(scene);
  // Calls in flight land after one signal: only a second one leaves some of them unknown.
  wrong.push(...compareBooks(scene, since, twice, scene.sockets));
  return { drawn: scene.drawn, signals, wrong };
}

function readOutput({ harness, output }: KillScene): Buffer {
  return readFileSync(join(harness.folder, output));
}

/** Whether every row of the input is there, with a status. */
async function isComplete({ harness, output, rows }: KillScene): Promise<boolean> {
  const book = await openRowFile(join(harness.folder, output));
  const status = book.columns.indexOf('hazard_status');
  if (status < 0) return false;
  let found = 0;
  for await (const batch of book.read([status])) {
    found += batch.filter(({ fields }) => ROW_STATUSES.some((name) => name === fields[0])).length;
  }
  return found === rows;
}
