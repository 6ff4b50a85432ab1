import assert from 'node:assert/strict';
import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../src/base/clock.ts';
import { columnsOf } from '../../src/columns/topic-columns.ts';
import { customSubscription } from '../../src/contract/subscriptions.ts';
import { newProgress } from '../../src/run/progress.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import { column, type Harness, openHarness, places } from '../run/harness.ts';
import { SOCKETS as SOCKETS_OF_DISK, setDiskScene } from './disk-scene.ts';

const timeout = 300_000;
const CELLS = 100;
const SOCKETS = 4;
/** The service counts a charge up to some milliseconds after its answer: as many calls again as are in flight. */
const AFTER = 2 * SOCKETS;

interface Event {
  readonly what: string;
  /** Does it to the store `folder/buyer.db`. */
  readonly happen: (folder: string) => void;
  readonly message: RegExp;
  readonly hint: RegExp;
  /** Where the store is afterwards; null where it is lost. */
  readonly foundAt: string | null;
}

const FILES = ['', '-wal', '-shm'];
const remove = (folder: string) => {
  for (const end of FILES) rmSync(join(folder, `buyer.db${end}`), { force: true });
};

const EVENTS: readonly Event[] = [
  {
    what: 'deleted',
    happen: (folder) => rmSync(join(folder, 'buyer.db')),
    ...{ message: /buyer\.db was deleted/, hint: /Restore a copy/, foundAt: null },
  },
  {
    what: 'renamed',
    happen: (folder) => renameSync(join(folder, 'buyer.db'), join(folder, 'kept.db')),
    ...{ message: /was moved to .*kept\.db/, hint: /--store .*kept\.db/, foundAt: 'kept.db' },
  },
  {
    what: 'replaced by another store, which is renamed over it',
    happen: (folder) => renameSync(join(folder, 'other.db'), join(folder, 'buyer.db')),
    ...{ message: /was deleted.* another file is in its place/, hint: /Restore a copy/, foundAt: null },
  },
];

async function openSetup(t: TestContext) {
  const now = Date.now();
  const clock = { start: now, factor: 1, origin: now };
  const harness = await openHarness(t, { subscription: customSubscription(1_000_000, 1_000_000), clock });
  harness.writeInput(places(CELLS));
  const store = openSqliteStore(join(harness.folder, 'other.db'), systemClock, { name: 'other', isAlive: () => true });
  await store.close();
  const run = async (name = 'buyer.db', progress = newProgress()) => {
    const owner = { name: 'buyer', isAlive: () => true };
    const file = join(harness.folder, name);
    await using store = openSqliteStore(file, systemClock, owner, (topic) => columnsOf(topic).length);
    return await harness.run({ topics: ['hail'], concurrency: SOCKETS, budget: 10_000 }, { store, progress });
  };
  return { harness, run };
}

/** Lets the service charge some credits, and says how many it has charged when the event has happened. */
async function afterSome(harness: Harness, credits: number, happen: () => void): Promise<number> {
  for (let tries = 0; harness.charged() < credits; tries++) {
    assert.ok(tries < 10_000, 'nothing is bought');
    await sleep(1);
  }
  happen();
  return harness.charged();
}

for (const { what, happen, message, hint, foundAt } of EVENTS) {
  test(`a store that is ${what} while a run buys stops the run, with its calls in flight`, { timeout }, async (t) => {
    const { harness, run } = await openSetup(t);
    const [ended, before] = await Promise.all([run(), afterSome(harness, 10, () => happen(harness.folder))]);
    const charged = harness.charged();
    assert.ok(charged <= before + AFTER && charged < CELLS, `${before} credits charged before it, ${charged} in all`);
    assert.deepEqual([ended.state, ended.stop?.reason], ['stopped', 'store_moved']);
    assert.match(ended.stop!.message, message);
    assert.match(ended.stop!.message, hint);
    // Answers of calls that were in flight are in the output as well.
    const statuses = column(harness.output(), 'hazard_status');
    assert.deepEqual([statuses.length, statuses.filter((status) => status === 'ok').length], [CELLS, charged]);
    if (foundAt === null) return;
    assert.equal((await run(foundAt)).state, 'complete');
    assert.equal(harness.charged(), CELLS);
  });
}

test('a store that is deleted while the output is written is told of, though all was bought', {
  timeout,
}, async (t) => {
  const { harness, run } = await openSetup(t);
  harness.writeInput(places(5));
  const progress = newProgress();
  progress.onChange = () => {
    if (progress.phase === 'writing') remove(harness.folder);
  };
  const ended = await run('buyer.db', progress);
  assert.deepEqual([ended.stop?.reason, ended.summary.status.ok, harness.charged()], ['store_moved', 5, 5]);
});

test('the real program says it, and ends with exit code 2', { timeout }, async (t) => {
  const scene = await setDiskScene(t);
  const happen = () => rmSync(scene.path('disk.db'));
  const [{ code, stderr }, before] = await Promise.all([scene.run(), afterSome(scene.harness, 45, happen)]);
  assert.equal(code, 2, stderr);
  assert.match(stderr, /The store .*disk\.db was deleted while this run used it[\s\S]*\[STORE_MOVED\]/);
  assert.ok(scene.harness.charged() <= before + 2 * SOCKETS_OF_DISK * 15, `${before}, then ${scene.harness.charged()}`);
});
