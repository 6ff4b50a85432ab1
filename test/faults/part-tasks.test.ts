import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { SUBSCRIPTIONS } from '../../src/contract/subscriptions.ts';
import { randomOf, whole } from '../../src/data/sample/random.ts';
import { type BinEnd, startBin } from '../cli/bin-process.ts';
import { startPostgres } from '../postgres-server.ts';
import { openHarness, places } from '../run/harness.ts';
import { type Call, compareCalls, lastCharge, serviceCharges, serviceSettled } from './kill-inputs.ts';

const server = await startPostgres();

const PARTS = 8;
const WORKERS = 4;
const KILLS = 4;
/** Places of a part; each shares half of them with the next part. */
const PLACES = 60;
const TOPICS = ['hail', 'park'];
const SOCKETS = 8;
/** Pieces of data that a task receives from the database and the service: it is killed in the middle of its calls. */
const PIECES = { from: 60, to: 160 };

/** Ends of the attempts at each part, as an engine with so many workers makes them: an attempt that fails is followed by
 * another one. */
async function schedule(attempt: (part: number, nth: number) => Promise<BinEnd>): Promise<BinEnd[][]> {
  const attempts = Array.from({ length: PARTS }, (): BinEnd[] => []);
  const queue = [...attempts.keys()];
  const work = async () => {
    for (let part = queue.shift(); part !== undefined; part = queue.shift()) {
      const ended = await attempt(part, attempts[part]!.length + 1);
      attempts[part]!.push(ended);
      if (ended.code !== 0 && attempts[part]!.length < 3) queue.push(part);
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, work));
  return attempts;
}

async function ledgerCalls(schema: string): Promise<Call[]> {
  return await server.query<Call & Record<string, unknown>>(
    `SELECT kind || coalesce(' ' || topic, '') AS call, charge, credits, request_id AS "requestId",
       kind || coalesce(' ' || topic, '') || ' ' || lat7 || ' ' || lng7 AS at FROM ${schema}.calls`,
  );
}

test(`parts as the tasks of an engine: of ${PARTS} on ${WORKERS} workers ${KILLS} are killed and tried again, nothing is bought twice`, {
  timeout: 600_000,
}, async (t: TestContext) => {
  const now = Date.now();
  const random = randomOf(1, 'tasks');
  // The service's clock stands still, so that the answers of all runs bear the same time.
  const harness = await openHarness(t, {
    subscription: SUBSCRIPTIONS.professional,
    clock: { start: now, factor: 1e-9, origin: now },
  });
  const file = (...names: string[]) => join(harness.folder, ...names);
  for (const folder of ['in', 'out', 'calm']) mkdirSync(file(folder));
  writeFileSync(file('key.txt'), harness.key().secret);
  const spots = places((PLACES / 2) * (PARTS + 1));
  const names = Array.from({ length: PARTS }, (_, part) => {
    const own = spots.slice((part * PLACES) / 2, (part * PLACES) / 2 + PLACES);
    writeFileSync(file('in', `${part}.csv`), `lat,lng\n${own.map((spot) => `${spot.join(',')}\n`).join('')}`);
    return `${part}.csv`;
  });
  // Undisturbed, in this process and with another store.
  for (const name of names) await harness.run({ input: `in/${name}`, output: `calm/${name}`, topics: TOPICS });
  const price = harness.charged();
  const since = lastCharge({ harness });
  const schema = 'tasks';
  const store = server.storeAddress({ schema });
  const attempts = await schedule((part, nth) => {
    const account = ['--subscription', 'professional', '--anniversary-day', '31', '--api-key-file', 'key.txt'];
    const args = ['run', `in/${part}.csv`, '-o', `out/${part}.csv`, '--topics', TOPICS.join(), '--store', store];
    const isDoomed = part < KILLS && nth === 1;
    const env = {
      NODE_OPTIONS: `--import ${join(import.meta.dirname, 'kill-at-step.ts')}`,
      KILL_AT_STEP: `push ${whole(random, PIECES.from, PIECES.to)}`,
    };
    const words = [...args, ...account, '--base-url', harness.url, '--yes', '--json'];
    return startBin(t, words, harness.folder, isDoomed ? env : {}).ended;
  });
  for (const [part, ends] of attempts.entries()) {
    const expected = part < KILLS ? ['SIGKILL', 0] : [0];
    assert.deepEqual(
      ends.map(({ code, signal }) => signal ?? code),
      expected,
      `part ${part}: ${ends.map(({ stderr }) => stderr).join('\n')}`,
    );
    // What the engine is told of the attempt that succeeded.
    assert.equal(JSON.parse(ends.at(-1)!.stdout).status.ok, PLACES);
    assert.deepEqual(readFileSync(file('out', names[part]!)), readFileSync(file('calm', names[part]!)));
  }
  await serviceSettled({ harness });
  const calls = await ledgerCalls(schema);
  const charges = serviceCharges({ harness }, since);
  const sum = (some: readonly { readonly credits: number }[]) =>
    some.reduce((total, { credits }) => total + credits, 0);
  const unknown = calls.filter(({ charge }) => charge === 'unknown');
  t.diagnostic(
    `${price} credits undisturbed, ${sum(charges)} charged at the service, ${sum(unknown)} unknown in the ledger`,
  );
  assert.deepEqual(compareCalls(calls, charges, { price, unknown: KILLS * SOCKETS }), []);
});
