import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { noColor } from '../../src/cli/messages/format.ts';
import { runMessages } from '../../src/cli/messages/run-messages.ts';
import { customSubscription } from '../../src/contract/subscriptions.ts';
import { NATURAL_SLUGS } from '../../src/contract/topics.ts';
import { cellOf } from '../../src/geo/coordinates.ts';
import { IN_A_ROW } from '../../src/run/buy/next-step.ts';
import { newProgress } from '../../src/run/frame/progress.ts';
import { prepare } from '../../src/run/prepare.ts';
import { run } from '../../src/run/run-job.ts';
import type { Settlement } from '../../src/store/ledger/port.ts';
import type { Store } from '../../src/store/port.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import { serveHttp } from '../client/servers.ts';
import { fakeService } from '../fake-service.ts';
import { callAt, chargedFor, termsOf } from '../store/claims.ts';
import { openCells } from '../store/open-cells.ts';
import { column, type Harness, openHarness, places } from './harness.ts';

test('an interrupt lets calls in flight land, writes all rows, and the next run goes on', async (t) => {
  const harness = await openHarness(t, { factor: 1 });
  harness.writeInput(places(120));
  const interruption = new AbortController();
  const progress = newProgress();
  const watch = setInterval(() => progress.calls >= 20 && interruption.abort(), 1);
  t.after(() => clearInterval(watch));
  const ended = await harness.run(
    { topics: ['wildfire'] },
    { interrupt: interruption.signal, progress },
  );
  assert.deepEqual([ended.stop?.reason, ended.state], ['interrupted', 'interrupted']);
  const { ok, deferred } = ended.summary.status;
  assert.ok(
    ok >= 20 && deferred > 0 && ok + deferred === 120,
    JSON.stringify(ended.summary.status),
  );
  assert.deepEqual(await harness.ledger(), { charged: ok, unknown: 0, open: 0 });
  assert.equal(harness.charged(), ok);
  assert.equal((await harness.run({ topics: ['wildfire'] })).state, 'complete');
  assert.equal(harness.charged(), 120);
});

test('a plan counts the time that the run has used before it: a short limit promises nothing that is over', async (t) => {
  const harness = await openHarness(t, { factor: 1 });
  harness.writeInput(places(400));
  const job = { topics: 'wildfire' as const, max_minutes: 0.5 };
  const inTime = await harness.plan(job);
  assert.equal(inTime.this_run.cells, 400);
  // Reading the input took longer than the run may take.
  const context = await harness.open(job);
  harness.clock.moveTo('2026-03-15T12:10:00Z');
  using late = await prepare(context);
  assert.deepEqual(
    [late.plan.bounds.time, late.summary.this_run.cells, late.summary.fits],
    [0, 0, false],
  );
  const ended = await run(late);
  assert.deepEqual(
    [ended.stop?.reason, ended.summary.credits_spent, harness.charged()],
    ['time', 0, 0],
  );
});

test('a run that waits for the minute that other runs use tells until when, and buys then', async (t) => {
  const harness = await openHarness(t);
  harness.writeInput(places(1));
  const progress = newProgress();
  const waits = [2_000, 200].map((ms) => ({ outcome: 'wait', for: 'minute', ms }) as const);
  const told: { readonly until: number; readonly least: number }[] = [];
  let least = 0;
  const store: Store = {
    ...harness.store,
    async claim(terms, requests) {
      told.push({ until: progress.minuteUsedUntil, least });
      const wait = waits.shift();
      if (wait === undefined) return harness.store.claim(terms, requests);
      // The later of two ends: the shorter wait came last.
      least = Math.max(least, harness.clock.now() + wait.ms);
      return [wait];
    },
  };
  const ended = await harness.run({ topics: 'wildfire' }, { progress, store });
  assert.deepEqual([ended.state, harness.charged(), told.length], ['complete', 1, 3]);
  for (const { until, least } of told) assert.ok(until >= least, `${until} < ${least}`);
  assert.equal(told[0]!.until, 0);
});

test('a call that waits for the minute is not made after an interrupt', async (t) => {
  const harness = await openHarness(t);
  harness.writeInput(places(1));
  const interruption = new AbortController();
  let claims = 0;
  const store: Store = {
    ...harness.store,
    async claim(terms, requests) {
      if (claims++ > 0) return harness.store.claim(terms, requests);
      interruption.abort();
      return [{ outcome: 'wait', for: 'minute', ms: 1_000 }];
    },
  };
  const { state } = await harness.run(
    { topics: 'wildfire' },
    { store, interrupt: interruption.signal },
  );
  assert.deepEqual([state, claims, harness.charged()], ['interrupted', 1, 0]);
});

test('what another run has bought since the plan is told beside what was spent', async (t) => {
  const harness = await openHarness(t);
  harness.writeInput(places(3));
  const job = { topics: ['wildfire', 'hail'] };
  using planned = await prepare(await harness.open(job));
  await harness.run({ ...job, budget: 4, output: 'other.csv' });
  const ended = await run(planned);
  assert.equal(ended.summary.credits_by_others, 4);
  const { facts } = runMessages(
    ended,
    '',
    '/',
    { width: 200, color: noColor },
    { isFree: false, isPlanShown: true },
  );
  assert.match(facts[0]!, / Spent: 2 of 6 credits planned; other runs bought 4 meanwhile\./);
});

/** The credits that are left in the minute, each time that a call is settled. */
function leftInMinute() {
  const progress = newProgress();
  const left: number[] = [];
  let spent = 0;
  Object.defineProperty(progress, 'creditsSpent', {
    get: () => spent,
    set: (credits: number) => {
      spent = credits;
      left.push(progress.minuteLeft!());
    },
  });
  return { progress, left };
}

test('what another run of the store has spent in this minute is taken from the ledger, not from the throttle once more', async (t) => {
  const harness = await openHarness(t, { subscription: customSubscription(1_000, 300), factor: 1 });
  const go = async (from: number, to: number) => {
    harness.writeInput(places(to).slice(from));
    const { progress, left } = leftInMinute();
    await harness.run({ topics: ['wildfire'], budget: 100, concurrency: 1 }, { progress });
    return Math.min(...left);
  };
  assert.equal(await go(0, 60), 240);
  // The service counts 60 of the other run; the ledger withholds them.
  assert.equal(await go(60, 63), 297);
});

test('a call that cost nothing gives its credits back to the minute at once', async (t) => {
  const harness = await openHarness(t, { subscription: customSubscription(1_000, 300), factor: 1 });
  const { url, script } = await fakeService(t, harness.url);
  script([{ status: 422, body: { error: { code: 'OUTSIDE_COVERAGE' } } }]);
  harness.writeInput(places(4));
  const { progress, left } = leftInMinute();
  await harness.run({ topics: ['wildfire'], concurrency: 1 }, { baseUrl: url, progress });
  assert.deepEqual(left, [299, 299, 299, 299]);
});

test('where the service asks to wait, no other call is sent before', async (t) => {
  const harness = await openHarness(t, { factor: 20 });
  const sentAt: number[] = [];
  const { url, script } = await fakeService(t, harness.url, (_, answer) => {
    sentAt.push(harness.clock.now());
    return answer;
  });
  script([{ requests: [1, 1], status: 429, headers: { 'retry-after': '30' } }]);
  harness.writeInput(places(4));
  const before = harness.clock.now();
  const ended = await harness.run({ topics: ['wildfire'], concurrency: 1 }, { baseUrl: url });
  assert.deepEqual([ended.state, sentAt.length], ['complete', 4]);
  assert.ok(
    Math.min(...sentAt) - before >= 30_000,
    `sent after ${Math.min(...sentAt) - before} ms`,
  );
});

test('a bundle that was paid and of no use is not bought again when another run is at the cell in between', async (t) => {
  const harness = await openHarness(t, { factor: 50 });
  const [place] = places(1) as [[number, number]];
  harness.writeInput([place]);
  const { url, script, faulted } = await fakeService(t, harness.url);
  // Paid, and of no use.
  script([{ address: ['/bundle/'], isElsewhere: true }]);
  const owner = { name: 'another', isAlive: () => true };
  const other = openSqliteStore(join(harness.folder, 'store.db'), harness.clock, owner);
  t.after(() => other.close());
  const terms = await termsOf(other, {
    source: await harness.store.source('harness'),
    account: 'embedded',
  });
  const request = {
    ...callAt(0, { kind: 'single', topic: 'radon' }),
    cell: cellOf({ lat: place[0], lng: place[1] }, 4),
    wanted: [],
  };
  /** Another run takes its turn at the cell, for some seconds. */
  const takeTurn = async () => {
    const [claim] = await other.claim(terms, [request]);
    await harness.clock.sleep(3_000);
    await other.settle([chargedFor(claim, 0, { charge: 'free' })]);
  };
  let turns = 0;
  let turn: Promise<void> = Promise.resolve();
  const { settle } = harness.store;
  const withTurns = async (settlements: readonly Settlement[]) => {
    await settle(settlements);
    if (++turns <= 3) turn = takeTurn();
  };
  Object.assign(harness.store, { settle: withTurns });
  const ended = await harness.run(
    { topics: [...NATURAL_SLUGS, 'park'], budget: 200 },
    { baseUrl: url },
  );
  await turn;
  // The bundle, and avalanche and park alone.
  assert.deepEqual([faulted(), ended.summary.credits_spent, harness.charged()], [1, 17, 17]);
});

test('what calls cost is told, also where their answers cannot be stored', async (t) => {
  const harness = await openHarness(t);
  harness.writeInput(places(1));
  Object.assign(harness.store, { settle: () => Promise.reject(new Error('the disk is full')) });
  const progress = newProgress();
  await assert.rejects(harness.run({ topics: 'radon' }, { progress }), /the disk is full/);
  assert.deepEqual([progress.creditsSpent, harness.charged()], [1, 1]);
});

const PLACES = 60;
/** The most calls that are sent at once, by default. */
const SOCKETS = 8;

/** Answers each request on a connection of its own, and after some of them refuses connections for a time; null: for ever. */
async function restarting(
  t: TestContext,
  { url, clock }: Harness,
  answers: number,
  awayMs: number | null,
) {
  let left = answers;
  let server: Server;
  const listen = async (port: number) => {
    server = createServer(async (request, response) => {
      const key = String(request.headers['x-api-key']);
      const real = await fetch(url + request.url, { headers: { 'x-api-key': key } });
      const cost = real.headers.get('x-credit-cost') ?? '0';
      response
        .writeHead(real.status, { connection: 'close', 'x-credit-cost': cost })
        .end(await real.text());
      if (--left !== 0) return;
      server.close();
      if (awayMs === null) return;
      await clock.sleep(awayMs);
      await listen(bound);
    });
    // The last answer may have been its last.
    server.unref().listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  await listen(0);
  const bound = (server!.address() as AddressInfo).port;
  t.after(() => server.close());
  return `http://127.0.0.1:${bound}`;
}

/** A run of one topic at each place. */
async function runAt(harness: Harness, baseUrl: string) {
  harness.writeInput(places(PLACES));
  const progress = newProgress();
  const { state, stop, summary } = await harness.run(
    { topics: ['park'], budget: PLACES + SOCKETS },
    { baseUrl, progress },
  );
  const charged = harness.charged();
  const ledger = await harness.ledger();
  // A connection that the server had not accepted when it stopped to listen is reset.
  assert.ok(
    ledger.charged === charged && ledger.open === 0 && ledger.unknown <= SOCKETS,
    JSON.stringify(ledger),
  );
  const unsent = progress.calls - charged - ledger.unknown;
  return { state, stop: stop?.reason ?? null, ok: summary.status.ok, charged, unsent };
}

test('a service that restarts for 12 seconds does not end a run that it had answered; nothing is paid twice', async (t) => {
  const harness = await openHarness(t, { factor: 5 });
  const { unsent, ...ended } = await runAt(harness, await restarting(t, harness, 10, 12_000));
  assert.deepEqual(ended, { state: 'complete', stop: null, ok: PLACES, charged: PLACES });
  assert.ok(unsent <= 2 * SOCKETS + IN_A_ROW.failed, `${unsent} requests were not sent`);
});

for (const answers of [0, 10]) {
  test(`a service that goes away after ${answers} answers is asked a bounded number of times`, async (t) => {
    const harness = await openHarness(t, { factor: 20 });
    const url = answers === 0 ? 'http://127.0.0.1:9' : await restarting(t, harness, answers, null);
    const { unsent, charged, ok, ...ended } = await runAt(harness, url);
    assert.deepEqual(ended, { state: 'paused', stop: 'service_down' });
    assert.deepEqual([ok, charged >= answers], [charged, true]);
    assert.ok(unsent <= 2 * SOCKETS + IN_A_ROW.failed, `${unsent} requests were not sent`);
  });
}

for (const how of ['reset', 'closed'] as const) {
  test(`each second request of a connection is ${how}: its retry takes another connection, and no row fails`, async (t) => {
    // Slow: on a busy machine an answer took longer than a call has, which was 1.5 s of the process at 100. A call that was cut has one more
    // attempt, so its row failed.
    const harness = await openHarness(t, { factor: 5 });
    let cut = 0;
    const requests = new WeakMap<Socket, number>();
    const baseUrl = await serveHttp(t, async ({ socket, url, headers }, response) => {
      const number = (requests.get(socket) ?? 0) + 1;
      requests.set(socket, number);
      if (number % 2 === 0) {
        cut++;
        return void (how === 'reset' ? socket.resetAndDestroy() : socket.destroy());
      }
      const answer = await fetch(harness.url + url, {
        headers: { 'x-api-key': String(headers['x-api-key']) },
      });
      response.writeHead(answer.status, Object.fromEntries(answer.headers));
      response.end(Buffer.from(await answer.arrayBuffer()));
    });
    harness.writeInput(places(20));
    const { summary } = await harness.run({ topics: ['park'], budget: 100 }, { baseUrl });
    const ledger = await harness.ledger();
    assert.deepEqual([summary.status.ok, ledger.charged, harness.charged()], [20, 20, 20]);
    assert.ok(cut > 0 && ledger.unknown <= cut, `${ledger.unknown} unknown, ${cut} cut`);
  });
}

/** Takes the last field from every answer, as a version with one column less would have kept them. */
function narrowAnswers(file: string): void {
  const cells = openCells(file);
  const { handle: database } = cells;
  type Key = { source: number; lat7: number; lng7: number };
  const rows = database.prepare<[], Key>('SELECT source, lat7, lng7 FROM cells').all();
  for (const { source, ...cell } of rows) {
    const answers = [...cells.read(source, cell)!.answers.values()];
    const narrow = answers.map((answer) => ({ ...answer, fields: answer.fields.slice(0, -1) }));
    cells.merge(source, cell, narrow, []);
  }
  database.close();
}

test('answers of another width, which are written as empty fields, are not called ok, and are bought again', async (t) => {
  const harness = await openHarness(t);
  harness.writeInput(places(3));
  await harness.run({ topics: ['hail'] });
  narrowAnswers(join(harness.folder, 'store.db'));
  await harness.run({ topics: ['hail'], budget: 0 });
  const written = column(harness.output(), 'hail_rating').map((rating, row) => [
    column(harness.output(), 'hazard_status')[row],
    rating === '' ? 'empty' : 'filled',
  ]);
  for (const pair of written) assert.notDeepEqual(pair, ['ok', 'empty']);
  const again = await harness.run({ topics: ['hail'] });
  assert.deepEqual([again.summary.status.ok, again.summary.credits_spent], [3, 3]);
  assert.ok(column(harness.output(), 'hail_rating').every((rating) => rating !== ''));
});
