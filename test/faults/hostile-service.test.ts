import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { EXIT } from '../../src/cli/options/exit-codes.ts';
import { REPEATED_NOTICE } from '../../src/client/answer-origin.ts';
import { TIMEOUTS } from '../../src/client/exchange.ts';
import type { RowStatus } from '../../src/columns/row-status.ts';
import { CREDITS } from '../../src/contract/credits.ts';
import { RATE_WINDOW_MS } from '../../src/contract/subscriptions.ts';
import { LONGEST_ASKED_MS } from '../../src/net/waits.ts';
import { IN_A_ROW, MOST_ATTEMPTS } from '../../src/run/buy/next-step.ts';
import { makeRandom, pick } from '../../src/sample/random.ts';
import { firstSeed, times } from '../tier.ts';
import type { Answer, Entry } from './fault-proxy.ts';
import { FAULTS, type FaultCase, type Money } from './faults.ts';
import {
  CELLS,
  type Ended,
  openHostileSetup,
  type Row,
  SOCKETS,
  type Trial,
} from './hostile-setup.ts';

/** Trials of the random mix. */
const SEEDS = times({ long: 3, soak: 500 });

const setup = await openHostileSetup();

/** Cells that are at work at once (src/run/buy/buy-cells.ts). */
const AT_WORK = 4 * SOCKETS;
/** Calls that an undisturbed run makes: a bundle and two singles a cell. */
const CALLS = 3 * CELLS;
/** A topic's second look at each cell, until so many in a row have failed. */
const SECOND_LOOKS = 20 * (IN_A_ROW.topic + AT_WORK);

/** How a run under one lasting fault ends, and how many requests it may make: none of these grows with the book, but for
 * what is answered. */
interface End {
  readonly exit: number;
  readonly statuses: readonly RowStatus[];
  readonly requests: number;
  /** How often one request may be paid. */
  readonly paid: number;
  /** What holds a run longest is a service that answers nothing. */
  readonly isUnanswered?: true;
}

const UNDONE = ['failed', 'deferred'] as const;

/** The service is taken for down after eight calls, each with all its attempts, and those at work beside them. */
const down = (attempts: number, paid: number): End => ({
  exit: EXIT.serviceDown,
  statuses: UNDONE,
  requests: (IN_A_ROW.failed + AT_WORK) * attempts,
  paid,
});

const ENDS: Readonly<Record<string, End>> = {
  fine: { exit: EXIT.complete, statuses: ['ok'], requests: CALLS, paid: 1 },
  doubt: down(MOST_ATTEMPTS.fresh.charged, MOST_ATTEMPTS.fresh.charged),
  // In ten minutes each of them can be tried a few times.
  silent: {
    exit: EXIT.serviceDown,
    statuses: UNDONE,
    requests: 6 * SOCKETS,
    paid: 2,
    isUnanswered: true,
  },
  once: down(1, 1),
  malformed: down(1, 1),
  upstream: down(MOST_ATTEMPTS.fresh.upstream, MOST_ATTEMPTS.fresh.upstream),
  topics: { exit: EXIT.serviceDown, statuses: UNDONE, requests: CALLS + SECOND_LOOKS, paid: 1 },
  errors: { exit: EXIT.someFailed, statuses: UNDONE, requests: CALLS + SECOND_LOOKS, paid: 1 },
  // What a bundle did not bring is bought alone.
  halves: { exit: EXIT.complete, statuses: ['ok'], requests: 21 * CELLS, paid: 1 },
  rate: {
    exit: EXIT.serviceDown,
    statuses: UNDONE,
    requests: 16 * AT_WORK,
    paid: 0,
    isUnanswered: true,
  },
  asked: {
    exit: EXIT.serviceDown,
    statuses: UNDONE,
    requests: AT_WORK,
    paid: 0,
    isUnanswered: true,
  },
  // The calls in flight wait once: a second wait would be beyond ten minutes.
  waited: {
    exit: EXIT.serviceDown,
    statuses: UNDONE,
    requests: 2 * AT_WORK,
    paid: 0,
    isUnanswered: true,
  },
  dear: { exit: EXIT.paused, statuses: ['ok', 'deferred'], requests: CALLS, paid: 1 },
  quota: { exit: EXIT.paused, statuses: ['deferred'], requests: SOCKETS, paid: 0 },
  keys: { exit: EXIT.keyRefused, statuses: ['deferred'], requests: SOCKETS, paid: 0 },
  // The first of 21 scopes is asked for by the calls in flight, each other by one.
  scope: { exit: EXIT.keyRefused, statuses: ['deferred'], requests: SOCKETS + 20, paid: 0 },
  unexplained: {
    exit: EXIT.usage,
    statuses: UNDONE,
    requests: IN_A_ROW.refused + AT_WORK,
    paid: 0,
  },
  denied: { exit: EXIT.keyRefused, statuses: ['deferred'], requests: AT_WORK, paid: 0 },
  rejected: { exit: EXIT.someFailed, statuses: ['rejected'], requests: CELLS, paid: 0 },
  misdirected: { exit: EXIT.usage, statuses: ['deferred'], requests: SOCKETS, paid: 0 },
};

const isOwn = (name: string) => ['id', 'lat', 'lng'].includes(name);
const isLeading = (name: string) => name.startsWith('hazard_');

/** Never a wrong status in a row: what a row says of itself is true, and its fields are what the undisturbed service says
 * or empty. */
function assertTrueRows(
  rows: readonly Row[],
  truth: readonly Row[],
  allowed: readonly RowStatus[],
): void {
  assert.equal(rows.length, truth.length);
  for (const [index, row] of rows.entries()) {
    const expected = truth[index]!;
    const names = Object.keys(expected);
    const where = `row ${index + 1} (${row.hazard_status}: ${row.hazard_note})`;
    assert.deepEqual(Object.keys(row), names);
    const answered = names.filter((name) => !isOwn(name) && !isLeading(name));
    const wrong = names.filter((name) => {
      if (isLeading(name)) return false;
      return row[name] !== expected[name] && (isOwn(name) || row[name] !== '');
    });
    assert.deepEqual(wrong, [], `${where} has fields that the service did not say`);
    const status = row.hazard_status as RowStatus;
    assert.ok(allowed.includes(status), `${where}: only ${allowed.join(', ')} could be true`);
    const blank = answered.filter((name) => row[name] === '' && expected[name] !== '').length;
    const filled = answered.filter((name) => row[name] !== '').length;
    if (status === 'ok') assert.equal(blank, 0, `${where} is not complete`);
    else assert.ok(blank > 0, `${where} is complete`);
    if (status === 'partial') assert.ok(filled > 0, `${where} has nothing`);
    if (status === 'failed' || status === 'rejected')
      assert.equal(filled, 0, `${where} has something`);
    assert.equal(row.hazard_as_of !== '', filled > 0, where);
  }
}

/** The summary counts what the rows say. */
function assertTrueSummary({ summary, rows }: Ended): void {
  for (const [status, count] of Object.entries(summary!.status)) {
    assert.equal(
      rows.filter((row) => row.hazard_status === status).length,
      count,
      `rows that are ${status}`,
    );
  }
}

/** What the service has charged, and what the ledger says of it. */
async function booksOf(trial: Trial) {
  const ledger = await trial.inStore(async (store) => (await store.stats()).credits);
  return { charged: trial.charged(), ledger };
}

/** What the service charged, against what the ledger says. */
function assertTrueBooks(
  { charged, ledger }: Awaited<ReturnType<typeof booksOf>>,
  money: Money,
): void {
  const told = `the service charged ${charged}, the ledger has ${ledger.charged} charged, ${ledger.unknown} unknown`;
  assert.equal(ledger.open, 0, 'no call is left open');
  const counted = ledger.charged + ledger.unknown;
  assert.ok(counted >= charged, `spent without being counted: ${told}`);
  if (money !== 'lied')
    assert.ok(ledger.charged <= charged, `called charged, and was not: ${told}`);
  if (money === 'free') assert.deepEqual([charged, counted], [0, 0], told);
  if (money === 'exact') assert.equal(counted, charged, told);
}

/** No request was paid more often than the retry policy promises, and none at all after its answer had arrived. */
function assertNotPaidTwice(entries: readonly Entry[], most: number): void {
  const paid = new Map<string, number>();
  const delivered = new Set<string>();
  for (const { path, fault, charged } of entries) {
    assert.ok(!delivered.has(path), `asked again although it was answered: ${path}`);
    if (charged > 0) paid.set(path, (paid.get(path) ?? 0) + 1);
    if (charged > 0 && (fault === null || fault.delivers)) delivered.add(path);
  }
  for (const [path, times] of paid) assert.ok(times <= most, `paid ${times} times: ${path}`);
}

/** The longest time by the run's clock that a service may hold a run without an answer: the first call fails, ten minutes pass, and the
 * calls in flight end. A call may wait for its minute before it is sent. */
const LONGEST_UNANSWERED_MS = LONGEST_ASKED_MS + 2 * (TIMEOUTS.total + RATE_WINDOW_MS);

/** No run may hang: the longest of these takes some seconds, a minute where four share a busy core. */
const LONGEST_MS = 300_000;

/** A run in which every request meets the same fault, and what the user does afterwards. Rejects when a promise is broken. */
async function faultTrial(fault: FaultCase): Promise<void> {
  await using trial = await setup.trial(fault.name.length);
  const end = ENDS[fault.end]!;
  trial.proxy.disturb(() => fault);
  const startedAt = trial.clock.now();
  const ended = await trial.run();
  const took = trial.clock.now() - startedAt;
  if (end.isUnanswered) assert.ok(took <= LONGEST_UNANSWERED_MS, `the run was held for ${took} ms`);
  const requests = trial.proxy.entries.length;
  assert.equal(ended.code, end.exit, ended.stderr);
  assertTrueRows(ended.rows, setup.truth, end.statuses);
  assertTrueSummary(ended);
  assert.ok(requests <= end.requests, `${requests} requests are more than ${end.requests}`);
  const foreign = trial.proxy.entries.filter(({ path }) => !path.startsWith('/v1/'));
  assert.deepEqual(foreign, [], 'a redirect was followed');
  assertTrueBooks(await booksOf(trial), fault.money);
  assertNotPaidTwice(trial.proxy.entries, end.paid);
  trial.proxy.disturb(null);
  await assertResumed(trial, fault.believed ?? null);
  assertNotPaidTwice(trial.proxy.entries, end.paid + 1);
  assertTrueBooks(await booksOf(trial), fault.money === 'free' ? 'exact' : fault.money);
}

/** After the fault is gone the next run completes the file. What the service stated about the quota, a scope or a place holds as long as
 * docs/reliability.md says. */
async function assertResumed(trial: Trial, believed: FaultCase['believed'] | null): Promise<void> {
  if (believed === 'quota') {
    assert.equal((await trial.run()).code, EXIT.paused);
    await trial.command('quota', 'set', '--spent', '0');
  }
  if (believed === 'place') {
    const asked = trial.proxy.entries.length;
    const { code, rows } = await trial.run();
    assert.deepEqual([code, trial.proxy.entries.length], [EXIT.someFailed, asked]);
    assert.ok(rows.every((row) => row.hazard_status === 'rejected'));
    assert.equal((await trial.forget('--rejected')).code, EXIT.complete);
  }
  const again = await trial.run();
  if (believed === 'scope') {
    assert.equal(again.code, EXIT.keyRefused, again.stderr);
    return;
  }
  assert.equal(again.code, EXIT.complete, again.stderr);
  assertTrueRows(again.rows, setup.truth, ['ok']);
}

/** A complete book has nothing left to ask. */
async function assertComplete(trial: Trial): Promise<void> {
  const asked = trial.proxy.entries.length;
  assert.equal((await trial.run()).code, EXIT.complete);
  assert.equal(trial.proxy.entries.length, asked, 'a complete book is asked for again');
}

const IN_THE_MIX: readonly FaultCase[] = FAULTS.filter(({ alone }) => !alone);
/** For the tenth fault: with what is slow or ends a run at once. What is believed beyond the run would need the user. */
const IN_THE_WIDE_MIX: readonly FaultCase[] = FAULTS.filter(
  ({ believed, end }) => !believed && end !== 'dear',
);

const priceOf = (path: string): number => {
  const bundle = /^\/v1\/bundle\/(standard|enterprise)/.exec(path)?.[1] as
    | 'standard'
    | 'enterprise'
    | undefined;
  return CREDITS[bundle ?? 'single'];
};

/** A run in which each request may meet a fault of its own, as the seed says. Rejects when a promise is broken. */
async function seedTrial(seed: number): Promise<void> {
  const random = makeRandom(seed, 'faults');
  const share = pick(random, [0.05, 0.2, 0.5, 0.9]);
  const budget = random() < 0.3 ? Math.floor(400 * random()) : null;
  // Some of the wide mix end a run at once: too many of them would leave nothing to see.
  const pool = () => (random() < 0.1 ? IN_THE_WIDE_MIX : IN_THE_MIX);
  await using trial = await setup.trial(seed);
  try {
    trial.proxy.disturb(() => (random() < share ? pick(random, pool()) : null));
    const ended = await trial.run(...(budget === null ? [] : ['--budget', String(budget)]));
    const entries = [...trial.proxy.entries];
    assertTrueRows(ended.rows, setup.truth, ['ok', 'partial', 'failed', 'deferred']);
    assertTrueSummary(ended);
    const most = 2 * CALLS + SECOND_LOOKS + 16 * AT_WORK;
    assert.ok(entries.length <= most, `${entries.length} requests are more than ${most}`);
    assertNotPaidTwice(entries, MOST_ATTEMPTS.fresh.charged);
    const books = await booksOf(trial);
    assertTrueBooks(books, 'bounded');
    // To the credit: what was never asked, and what the client cannot know that it was not.
    const neverAsked = entries.filter(
      ({ fault }) => (fault as FaultCase | null)?.money === 'bounded',
    );
    const feared = neverAsked.reduce((sum, { path }) => sum + priceOf(path), 0);
    assert.equal(books.ledger.charged + books.ledger.unknown, books.charged + feared);
    const limit = budget ?? ended.summary!.credits_limit;
    assert.ok(
      books.charged + feared <= limit,
      `${books.charged + feared} credits, and ${limit} were allowed`,
    );
    trial.proxy.disturb(null);
    await assertResumed(trial, null);
    await assertComplete(trial);
    assertNotPaidTwice(trial.proxy.entries, MOST_ATTEMPTS.fresh.charged + 1);
  } catch (error) {
    const faults = trial.proxy.entries.map(
      ({ path, fault, charged }) => `${path}  ${charged}  ${fault?.name ?? ''}`,
    );
    throw new Error(`Seed ${seed}: ${(error as Error).message}\n${faults.slice(-40).join('\n')}`, {
      cause: error,
    });
  }
}

test('every request meets the same fault: true rows, true books, few requests, an end, and a next run that completes', {
  concurrency: 4,
}, async (t) => {
  assert.equal(new Set(FAULTS.map(({ name }) => name)).size, FAULTS.length);
  await Promise.all(
    FAULTS.map((fault) => {
      const { exit, requests } = ENDS[fault.end]!;
      const name = `${fault.name}: exit ${exit}, at most ${requests} requests`;
      return t.test(name, { timeout: LONGEST_MS }, () => faultTrial(fault));
    }),
  );
});

test('each request meets a fault of its own, or none', { concurrency: 4 }, async (t) => {
  const first = firstSeed(1);
  await Promise.all(
    Array.from({ length: SEEDS }, (_, index) =>
      t.test(`seed ${first + index}`, { timeout: LONGEST_MS }, () => seedTrial(first + index)),
    ),
  );
});

test('a budget holds where answers of no use state that they cost nothing', async (t) => {
  const free = FAULTS.filter(({ name }) => name.endsWith('at a stated cost of 0'));
  assert.ok(free.length > 1);
  for (const fault of free) {
    await t.test(fault.name, async () => {
      await using trial = await setup.trial(1);
      trial.proxy.disturb(() => fault);
      const { code, stderr } = await trial.run('--budget', '40');
      assert.ok(code === EXIT.paused || code === EXIT.serviceDown, stderr);
      assert.ok(
        trial.charged() > 30 && trial.charged() <= 40,
        `${trial.charged()} credits of a budget of 40`,
      );
      assertTrueBooks(await booksOf(trial), 'exact');
    });
  }
});

test("a cache that ignores the query: no row has another place's values, and the next run buys what is left", async () => {
  await using trial = await setup.trial(1);
  const kept = new Map<string, Answer>();
  trial.proxy.disturb(() => ({
    name: 'every place gets what the first one got',
    async act(passage) {
      const path = passage.path.split('?')[0]!;
      const answer = kept.get(path) ?? (await passage.ask());
      kept.set(path, answer);
      passage.answer(answer);
    },
  }));
  const { code, rows, stderr } = await trial.run();
  assert.notEqual(code, 0);
  assertTrueRows(rows, setup.truth, ['ok', 'partial', 'failed', 'deferred']);
  assert.ok(rows.filter(({ hazard_status }) => hazard_status !== 'ok').length >= rows.length - 1);
  assert.ok(stderr.includes(REPEATED_NOTICE), stderr);
  assert.match(stderr + rows.map((row) => row.hazard_note).join(), /for another location/);
  trial.proxy.disturb(null);
  const again = await trial.run();
  assert.equal(again.code, 0, again.stderr);
  assertTrueRows(again.rows, setup.truth, ['ok']);
});

const file = (name: string) => readFileSync(join(import.meta.dirname, 'certificates', name));
const certificateOf = (name: string) => ({ key: file('service.key'), cert: file(`${name}.pem`) });
// The authority is trusted, so that each certificate fails by what is wrong with itself.
setDefaultCACertificates([...getCACertificates('default'), file('authority.pem').toString()]);

for (const [name, reason] of [
  ['expired', /certificate has expired/],
  ['other-host', /does not match certificate's altnames/],
] as const) {
  test(`a certificate that is ${name}: no request is sent, the run ends as down, and says why; with the right one the next run completes`, async () => {
    await using trial = await setup.trial(1, { certificate: certificateOf(name) });
    const ended = await trial.run();
    const end = ENDS.upstream!;
    assert.equal(ended.code, end.exit, ended.stderr);
    assert.match(ended.stderr, reason);
    assertTrueRows(ended.rows, setup.truth, end.statuses);
    assertTrueBooks(await booksOf(trial), 'free');
    assert.equal(trial.proxy.entries.length, 0, 'the key was sent');
    const { connections } = trial.proxy;
    assert.ok(
      connections <= end.requests,
      `${connections} connections are more than ${end.requests}`,
    );
    trial.proxy.tls!.setSecureContext(certificateOf('good'));
    const again = await trial.run();
    assert.equal(again.code, 0, again.stderr);
    assertTrueRows(again.rows, setup.truth, ['ok']);
    assertTrueBooks(await booksOf(trial), 'exact');
  });
}
