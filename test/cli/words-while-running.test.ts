import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import type { CliContext } from '../../src/cli/frame/context.ts';
import { endsInOrder, stopMessage } from '../../src/cli/frame/log-lines.ts';
import { showProgress } from '../../src/cli/progress/show.ts';
import { runFacts } from '../../src/run/estimate.ts';
import { enterPhase } from '../../src/run/frame/progress.ts';
import type { Prepared } from '../../src/run/prepare.ts';

test('an interrupt is told what still happens: an output is written by what writes one only', () => {
  assert.match(
    stopMessage(['run', 'job.yaml']),
    /finishing work in progress, then writing the output\. Press Ctrl-C again/,
  );
  assert.match(
    stopMessage(['service', 'start', '--port', '1']),
    /stopping: finishing requests in flight\. Press Ctrl-C again/,
  );
  assert.equal(stopMessage(['plan', 'book.csv']), '\nperilbook: stopped\n');
  const { level, event, time } = JSON.parse(
    stopMessage(['run', 'b.csv', '--log', 'json'], Date.UTC(2026, 0, 1)),
  );
  assert.deepEqual([level, event, time], ['warning', 'stopping', '2026-01-01T00:00:00.000Z']);
});

test('a run ends in order after an interrupt, also where options stand before its name', () => {
  for (const args of [
    'run b.csv',
    '--yes run b.csv',
    '-b 500 run b.csv',
    '--quiet data get hail',
  ]) {
    assert.ok(endsInOrder(args.split(' ')), args);
  }
  assert.match(
    stopMessage(['--yes', 'run', 'b.csv']),
    /finishing work in progress, then writing the output/,
  );
  for (const args of ['plan data', '--json plan b.csv', '--json', ''])
    assert.ok(!endsInOrder(args.split(' ')), args);
});

/** A terminal of so many columns; `screen` is what was written, in order. */
function terminal(columns: number, env: Record<string, string> = {}) {
  const written: string[] = [];
  const stderr = Object.assign(new PassThrough(), { isTTY: true, columns, rows: 30 });
  stderr.on('data', (chunk: Buffer) => written.push(chunk.toString()));
  const interruption = new AbortController();
  const setup = {
    env,
    stderr,
    clock: systemClock,
    interrupt: interruption.signal,
  } as unknown as CliContext;
  return { setup, stderr, interruption, screen: () => written.splice(0).join('') };
}

/** The facts of a run of 10 rows on one account. */
function factsOf(creditsPerMinute: number, sample: boolean) {
  const account = {
    anniversaryDay: 1,
    subscription: { creditsPerMonth: 10_000, creditsPerMinute },
  };
  const prepared = {
    job: { budget: null, account, maxMinutes: null },
    plan: {
      account: { account },
      reach: { credits: 60, cells: 4, value: 0, complete: { value: 0 } },
      scan: { cells: { total: () => 0 }, findings: [] },
    },
    summary: { rows: 10 },
    freshness: { startedAt: 0 },
    connection: { sample },
    effects: { clock: { now: () => 0, sleep: async () => {} } },
  } as unknown as Prepared;
  return runFacts(prepared);
}

const FACTS = factsOf(300, false);

test('a sample has no minute limit, unless its minute is too small for a bundle', () => {
  const limits = [factsOf(300, false), factsOf(300, true), factsOf(20, true)].map(
    (facts) => facts.creditsPerMinute,
  );
  assert.deepEqual(limits, [300, Number.POSITIVE_INFINITY, 20]);
});

test('on a terminal the line is drawn at a change, makes room for words and for an interrupt, and leaves nothing', async (t) => {
  const { setup, interruption, screen } = terminal(80, { LANG: 'C.UTF-8', NO_COLOR: '1' });
  const show = showProgress(setup);
  t.after(() => show[Symbol.dispose]());
  enterPhase(show.progress, 'pricing');
  assert.match(screen(), /pricing/);
  show.pause();
  assert.ok(!screen().includes('pricing'), 'only wiped');
  show.resume(FACTS);
  Object.assign(show.progress, { cells: 4, creditsPlanned: 60 });
  enterPhase(show.progress, 'buying');
  assert.match(screen(), /buying: 0 of 4 places · time left unknown · 0 of 60 credits$/);
  show.say('a notice');
  assert.match(screen(), /a notice\n[\s\S]*0 of 4 places/, 'the line stands below what was said');
  interruption.abort();
  const wiped = screen();
  assert.equal(wiped, '\r\u001b[J', 'wiped before the bin speaks');
  show[Symbol.dispose]();
  assert.ok(!screen().includes('places'));
});

test('off a terminal being asked to slow down is told, but not a thousand times, and a change of phase always', async (t) => {
  const { setup, stderr, screen } = terminal(80);
  stderr.isTTY = false;
  const show = showProgress(setup);
  t.after(() => show[Symbol.dispose]());
  show.resume(FACTS);
  enterPhase(show.progress, 'buying');
  const now = systemClock.steady!();
  const silence = { unansweredSince: now - 125_000 };
  Object.assign(show.progress, { slowedDown: 1, slowedUntil: now + 30_000, ...silence });
  for (let times = 0; times < 1_000; times++) show.progress.onChange!();
  enterPhase(show.progress, 'writing');
  const [buying, slowed, writing, ...rest] = screen().trimEnd().split('\n');
  assert.match(buying!, /^perilbook: buying: /);
  assert.match(
    slowed!,
    /^perilbook: the service asks to slow down; resuming in (29|30) s · no answer for 2 minutes, the run ends after 10 minutes$/,
  );
  assert.match(writing!, /^perilbook: writing: 10 rows$/);
  assert.deepEqual(rest, []);
});

test('a terminal that becomes narrower: what it folded is wiped, and nothing drawn is wider', async (t) => {
  const { setup, stderr, screen } = terminal(100, { NO_COLOR: '1' });
  const show = showProgress(setup);
  t.after(() => show[Symbol.dispose]());
  show.resume(FACTS);
  Object.assign(show.progress, { cells: 4, creditsPlanned: 60 });
  enterPhase(show.progress, 'buying');
  screen();
  stderr.columns = 40;
  show.progress.onChange!();
  assert.equal(screen(), '\r\u001b[1A\u001b[Jbuying: 0 of 4 places · 0 of 60 credits');
});
