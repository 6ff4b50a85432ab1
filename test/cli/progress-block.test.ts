import assert from 'node:assert/strict';
import { test } from 'node:test';
import stringWidth from 'string-width';
import { colorFor, noColor } from '../../src/cli/messages/color.ts';
import { type BlockStyle, changeLine, progressBlock, progressLine, rowsTaken } from '../../src/cli/progress/block.ts';
import type { ProgressView } from '../../src/cli/progress/progress-parts.ts';
import { estimate, MinuteMeter, quotaLeft, type RunFacts } from '../../src/run/estimate.ts';
import { newProgress, type Progress } from '../../src/run/progress.ts';

const NOW = Date.parse('2026-11-20T12:00:00Z');
/** The steady time of this moment: of another day, as it mostly is. */
const STEADY = 7_000_000;
const AT = { now: NOW, steady: STEADY };

const FACTS: RunFacts = {
  startedAt: STEADY - 125_000,
  rows: 15_000,
  cellsCached: 1_024,
  reach: { credits: 180_000, cells: 12_000 },
  value: 0,
  budget: null,
  allowance: 100_000,
  creditsPerMinute: 1_200,
  anniversaryDay: 1,
  deadline: null,
};

const buying = (more: Partial<Progress> = {}): Progress => ({
  ...newProgress(),
  ...{ phase: 'buying', cells: 12_000, cellsDone: 4_512, creditsPlanned: 180_000, creditsSpent: 67_680 },
  ...{ callsInFlight: 8, ledgerLeft: { credits: 120_000, spent: 0 } },
  ...more,
});

const view = (progress: Progress, facts: Partial<RunFacts> = {}): ProgressView => ({
  progress,
  facts: { ...FACTS, ...facts },
  last: { credits: 1_180, ms: 60_000 },
  ...AT,
});

const style = (width: number): BlockStyle => ({ width, color: noColor, unicode: true });

test('the block answers what one may ask of a run, the quota that will end it included', () => {
  assert.deepEqual(progressBlock(view(buying()), style(120)), [
    'buying    ███████████░░░░░░░░░░░░░░░░░░░  4,512 of 12,000 places · 38 % · 2:05 so far',
    'credits   67,680 of 180,000 planned · period: 52,320 left of 100,000',
    'rate      1,180 of 1,200 credits in the last minute · 8 in flight',
    'store     1,024 places already in the store',
    'left      44 minutes · quota used up after 52,320 more credits · resume after 2026-12-01 00:00 UTC',
  ]);
});

test('failures by kind, retries and being asked to slow down have their place', () => {
  const progress = buying({
    ...{ failures: 4, failuresByKind: { upstream: 3, rejected: 1 }, retries: 12, slowedDown: 2 },
    slowedUntil: STEADY + 12_400,
  });
  const block = progressBlock(view(progress, { budget: 70_000 }), style(120)).join('\n');
  assert.match(block, /^failures {2}service failed: 3 · location rejected: 1$/m);
  assert.match(block, /12 retries\n {10}asked to slow down 2 times; resuming in 13 s$/m);
  assert.match(block, /budget: 2,320 left of 70,000/);
  assert.match(block, /budget reached after 2,320 more credits/);
});

for (const width of [40, 59, 79, 119]) {
  test(`no line is wider than ${width} columns, and nothing is cut off`, () => {
    const progress = buying({
      creditsUnknown: 35,
      callsUnknown: 1,
      slowedDown: 3,
      retries: 7,
      failures: 2,
      failuresByKind: { transport: 2 },
    });
    const block = progressBlock(view(progress, { budget: 100_000 }), style(width));
    const words = (lines: readonly string[]) =>
      lines
        .join(' ')
        .replace(/[█░]/g, '')
        .split(/[\s·]+/)
        .filter(Boolean);
    assert.deepEqual(words(block), words(progressBlock(view(progress, { budget: 100_000 }), style(1_000))));
    if (width > 55)
      assert.deepEqual(
        block.filter((line) => stringWidth(line) > width),
        [],
      );
  });
}

test('a run that cannot buy everything measures itself by what it can buy', () => {
  const facts = { budget: 3_000, reach: { credits: 3_000, cells: 200 }, value: 1_000 };
  const progress = buying({ cells: 19_226, cellsDone: 40, creditsPlanned: 288_390, creditsSpent: 600, valueDone: 250 });
  assert.deepEqual(progressBlock(view(progress, facts), style(120)), [
    'buying    ██████░░░░░░░░░░░░░░░░░░░░░░░░  40 of 200 places · 20 % · 25 % of the value · 2:05 so far',
    'credits   600 of 3,000 planned · budget: 2,400 left of 3,000 · period: 119,400 left of 100,000',
    'rate      1,180 of 1,200 credits in the last minute · 8 in flight',
    'store     1,024 places already in the store',
    'left      2 minutes · budget reached after 2,400 more credits',
    'later     19,026 places beyond this run · 285,390 credits',
  ]);
  const done = progressBlock(view({ ...progress, cellsDone: 200, creditsSpent: 3_000 }, facts), style(120));
  assert.match(done[0]!, /200 of 200 places · 100 %/);
  assert.equal(changeLine(view(progress, facts)), 'buying: 200 places for 3,000 credits');
  assert.match(progressLine(view(progress, facts)), /^buying: 40 of 200 places · 600 of 3,000 credits ·/);
});

test('a wait for the minute has its reason, on a terminal and off it', () => {
  const progress = buying({ callsInFlight: 0, minuteLeft: () => 20 });
  assert.match(progressBlock(view(progress), style(120)).join('\n'), /minute limit reached, waiting/);
  assert.match(progressLine(view(progress)), /minute limit reached, waiting/);
});

test('a run that waits for the credits of other runs says so, and for how long', () => {
  const progress = buying({ callsInFlight: 0, minuteUsedUntil: STEADY + 20_000 });
  const words = /other runs have used this minute, waiting 20 s/;
  const idle = { ...view(progress), last: { credits: 0, ms: 60_000 } };
  assert.match(progressBlock(idle, style(120)).join('\n'), words);
  assert.match(progressLine(idle), words);
  assert.doesNotMatch(progressLine({ ...idle, steady: STEADY + 20_000 }), words);
});

test('a terminal that became narrower has folded the block: wide letters count twice', () => {
  assert.equal(rowsTaken(['x'.repeat(100), '', '株式会社'], 60), 4);
  assert.equal(rowsTaken(['株式会社'], 4), 2);
});

test('setting the machine’s clock changes nothing of how long a run has taken, and will take', () => {
  const slow = buying({ slowedDown: 1, slowedUntil: STEADY + 30_000 });
  const lines = (now: number) =>
    progressBlock({ ...view(slow, { deadline: STEADY + 600_000 }), now }, style(120)).join('\n');
  for (const hours of [-5, 5]) assert.equal(lines(NOW + hours * 3_600_000), lines(NOW));
  assert.match(lines(NOW), /2:05 so far[\s\S]*resuming in 30 s/);
});

test('time left goes by credits and the limit: a first burst does not make it short', () => {
  const burst = { credits: 1_200, ms: 4_000 };
  const progress = buying({ creditsSpent: 1_200, ledgerLeft: null, creditsPlanned: 13_200 });
  assert.equal(Math.round(estimate(progress, FACTS, burst, AT).minutes!), 10);
  // A service at half of the limit takes twice as long, however the rows are spread.
  assert.equal(Math.round(estimate(progress, FACTS, { credits: 600, ms: 60_000 }, AT).minutes!), 20);
  assert.equal(estimate(progress, FACTS, { credits: 0, ms: 60_000 }, AT).minutes, null);
  // Being asked to wait counts.
  const slowed = { ...progress, slowedUntil: STEADY + 300_000 };
  assert.equal(Math.round(estimate(slowed, FACTS, burst, AT).minutes!), 15);
});

test('a service that lets less through than the subscription says is believed, and said', () => {
  // It has charged 300 of 1,200 credits and says that none are left.
  const progress = buying({ creditsSpent: 300, creditsPlanned: 3_300, callsInFlight: 0, minuteLeft: () => 0 });
  const last = { credits: 300, ms: 6_000 };
  assert.equal(Math.round(estimate(progress, FACTS, last, AT).minutes!), 10);
  const block = progressBlock({ ...view(progress), last }, style(120)).join('\n');
  assert.match(block, /300 of 1,200 credits in the last minute · the service allows no more calls now, waiting/);
  const own = progressBlock(view(buying({ callsInFlight: 0 })), style(120)).join('\n');
  assert.match(own, /minute limit reached, waiting/);
});

test('whichever comes first ends the run: all bought, budget, quota, or its time', () => {
  const last = { credits: 1_200, ms: 60_000 };
  const ends = (progress: Partial<Progress>, facts: Partial<RunFacts> = {}) => {
    const { endedBy, credits } = estimate(buying(progress), { ...FACTS, ...facts }, last, AT);
    return [endedBy, credits];
  };
  assert.deepEqual(ends({ creditsPlanned: 67_690 }), ['done', 10]);
  assert.deepEqual(ends({}), ['quota', 52_320]);
  assert.deepEqual(ends({}, { budget: 68_000 }), ['budget', 320]);
  assert.deepEqual(ends({ ledgerLeft: null }, { deadline: STEADY + 600_000 }), ['time', 12_000]);
  assert.equal(quotaLeft(buying({ ledgerLeft: { credits: 100, spent: 67_000 } })), 0, 'never below nothing');
});

test('the meter counts the credits of the last minute, and no longer', () => {
  const meter = new MinuteMeter();
  assert.deepEqual(meter.add(0, 0), { credits: 0, ms: 0 });
  assert.deepEqual(meter.add(30_000, 300), { credits: 300, ms: 30_000 });
  assert.deepEqual(meter.add(60_000, 300), { credits: 300, ms: 60_000 });
  assert.deepEqual(meter.add(90_000, 400), { credits: 100, ms: 60_000 });
  assert.deepEqual(meter.add(180_000, 400), { credits: 0, ms: 60_000 });
  assert.deepEqual(meter.add(480_000, 900), { credits: 100, ms: 60_000 }, 'a page that was closed samples nothing');
});

test('where nothing can be written over, a line says the same, and a change of phase is said at once', () => {
  assert.equal(
    progressLine(view(buying())),
    'buying: 4,512 of 12,000 places · 67,680 of 180,000 credits · left: 44 minutes, quota used up after 52,320 more credits, resume after 2026-12-01 00:00 UTC',
  );
  assert.equal(changeLine(view(buying())), 'buying: 12,000 places for 180,000 credits');
  assert.equal(changeLine(view({ ...newProgress(), phase: 'writing' })), 'writing: 15,000 rows');
});

test('colours: on a terminal, not with NO_COLOR or a dumb terminal, and anywhere with FORCE_COLOR', () => {
  const isOn = (env: Record<string, string>, isTTY: boolean) => colorFor({ env }, { isTTY })('bold', 'x') !== 'x';
  assert.ok(isOn({}, true) && !isOn({}, false));
  assert.ok(!isOn({ NO_COLOR: '1' }, true) && isOn({ NO_COLOR: '' }, true));
  assert.ok(!isOn({ TERM: 'dumb' }, true));
  assert.ok(isOn({ FORCE_COLOR: '1' }, false) && !isOn({ FORCE_COLOR: '0' }, true));
});
