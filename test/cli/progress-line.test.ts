import assert from 'node:assert/strict';
import { test } from 'node:test';
import { colorFor } from '../../src/cli/messages/format.ts';
import {
  changeLine,
  type ProgressView,
  progressLine,
} from '../../src/cli/progress/progress-line.ts';
import { MinuteMeter, minutesLeft, pauseReason, type RunFacts } from '../../src/run/estimate.ts';
import { newProgress, type Progress } from '../../src/run/frame/progress.ts';

/** The steady time of this moment: of another day, as it mostly is. */
const STEADY = 7_000_000;

const FACTS: RunFacts = {
  startedAt: STEADY - 125_000,
  rows: 15_000,
  valueBefore: 0,
  reach: { credits: 180_000, cells: 12_000 },
  value: 0,
  budget: null,
  creditsPerMinute: 1_200,
  deadline: null,
};

const buying = (more: Partial<Progress> = {}): Progress => ({
  ...newProgress(),
  ...{
    phase: 'buying',
    cells: 12_000,
    cellsDone: 4_512,
    creditsPlanned: 180_000,
    creditsSpent: 67_680,
  },
  ...{ callsInFlight: 8, ledgerLeft: { credits: 120_000, spent: 0 } },
  ...more,
});

const view = (progress: Progress, facts: Partial<RunFacts> = {}): ProgressView => ({
  progress,
  facts: { ...FACTS, ...facts },
  last: { credits: 1_180, ms: 60_000 },
  steady: STEADY,
});

test('the line says how far a run is and what is left; a change of phase is said at once', () => {
  const all =
    'buying: 4,512 of 12,000 places · 44 minutes left · 67,680 of 180,000 credits · 1,180 credits a minute';
  assert.equal(progressLine(view(buying())), all);
  // A terminal shows what fits, the most important first.
  const three = all.split(' · ').slice(0, 3).join(' · ');
  for (const width of [80, three.length]) assert.equal(progressLine(view(buying()), width), three);
  assert.equal(progressLine(view(buying()), 20), all.split(' · ')[0]);
  assert.equal(changeLine(view(buying())), 'buying: 12,000 places for 180,000 credits');
  assert.equal(changeLine(view({ ...newProgress(), phase: 'writing' })), 'writing: 15,000 rows');
});

test('each phase before, beside and after buying has its line, and a change of phase too', () => {
  const at = { ...newProgress(), rows: 5, cells: 12_000, cellsDone: 3_000 };
  const places = '3,000 of 12,000 places (25 %)';
  const begun = `looking up: ${places}`;
  const none = 'looking up: 0 of 12,000 places (0 %)';
  for (const [phase, more, alone, priced, change] of [
    ['reading', { rows: 0 }, 'reading …', 'reading …', null],
    ['reading', {}, 'reading: 5 rows', 'reading: 5 rows', null],
    ['pricing', {}, 'pricing', 'pricing', null],
    ['writing', {}, 'writing: 5 of 5 rows', 'writing: 5 of 15,000 rows', 'writing: 0 rows'],
    [
      'looking_up',
      {},
      begun,
      `${begun} · 6 minutes left · 24 a second`,
      'looking up: 12,000 places',
    ],
    ['looking_up', { cellsDone: 0 }, none, none, 'looking up: 12,000 places'],
    ['buying', {}, 'buying: 3,000 of 12,000 places', null, 'buying'],
  ] as const) {
    const progress: Progress = { ...at, phase, ...more };
    assert.equal(progressLine({ ...view(progress), facts: null }), alone);
    if (priced !== null) assert.equal(progressLine(view(progress)), priced);
    assert.equal(changeLine({ ...view(progress), facts: null }), change);
  }
  const slow = {
    ...view(buying({ creditsPlanned: 70_000, ledgerLeft: null })),
    last: { credits: 0, ms: 60_000 },
  };
  assert.match(
    progressLine(slow),
    /time left unknown · 67,680 of 180,000 credits · 0 credits a minute$/,
  );
  assert.equal(progressLine(view({ ...at, phase: 'looking_up' }, { startedAt: STEADY })), begun);
});

test('failures by kind, retries, credits without an answer and being asked to slow down are told', () => {
  const progress = buying({
    ...{
      callsFailed: 4,
      failuresByKind: { upstream: 3, rejected: 1 },
      retries: 12,
      slowedDown: 2,
      creditsUnknown: 35,
    },
    ...{ slowedUntil: STEADY + 12_400, callsInFlight: 0 },
  });
  const line = progressLine(view(progress, { budget: 70_000 }));
  for (const part of [
    'the service asks to slow down, waiting 13 s',
    'service failed: 3 · location rejected: 1',
    '35 credits without an answer · 12 retries · asked to slow down 2 times',
  ])
    assert.ok(line.includes(part), `${part} in ${line}`);
});

test('a service that has answered nothing for a minute is told of, and when the run ends for it', () => {
  const part = (unansweredSince: number | null) =>
    progressLine(view(buying({ unansweredSince })))
      .split(' · ')
      .find((each) => each.startsWith('no answer'));
  assert.equal(part(null), undefined);
  assert.equal(part(STEADY - 59_999), undefined);
  assert.equal(part(STEADY - 60_000), 'no answer for 1 minute, the run ends after 10 minutes');
  assert.equal(part(STEADY - 599_000), 'no answer for 9 minutes, the run ends after 10 minutes');
});

test('a run that cannot buy everything measures itself by what it can buy', () => {
  const facts = {
    budget: 3_000,
    reach: { credits: 3_000, cells: 200 },
    value: 1_000,
    valueBefore: 500,
  };
  const progress = buying({
    cells: 19_226,
    cellsDone: 40,
    creditsPlanned: 288_390,
    creditsSpent: 600,
    valueDone: 250,
  });
  const all =
    'buying: 75 % of the value · 2 minutes left · 600 of 3,000 credits · 40 of 200 places · 1,180 credits a minute';
  assert.equal(progressLine(view(progress, facts)), all);
  // Eighty columns keep the share of the value, the time left and the credits of a book of 100,000.
  const large = { ...facts, reach: { credits: 1_600_000, cells: 100_000 } };
  const many = { ...progress, cells: 100_000, cellsDone: 45_678, creditsSpent: 745_678 };
  assert.match(
    progressLine(view(many, large), 80),
    /^buying: 75 % of the value · .* left · 745,678 of 1,600,000 credits$/,
  );
  const done = progressLine(view({ ...progress, cellsDone: 200, creditsSpent: 3_000 }, facts));
  assert.match(done, /200 of 200 places ·/);
  assert.equal(changeLine(view(progress, facts)), 'buying: 200 places for 3,000 credits');
  assert.equal(
    changeLine(view(progress, { ...facts, reach: { ...facts.reach, cells: 0, credits: 0 } })),
    null,
  );
});

test('a wait has its reason, and where it is known its end', () => {
  assert.match(
    progressLine(view(buying({ callsInFlight: 0, minuteLeft: () => 20 }))),
    /waiting for the minute limit/,
  );
  const progress = buying({ callsInFlight: 0, minuteUsedUntil: STEADY + 20_000 });
  const words = /other runs have used this minute, waiting 20 s/;
  const slowed = {
    ...view(buying({ callsInFlight: 0, slowedUntil: STEADY })),
    last: { credits: 0, ms: 60_000 },
  };
  const idle = { ...view(progress), last: { credits: 0, ms: 60_000 } };
  assert.match(progressLine(idle), words);
  for (const over of [{ ...idle, steady: STEADY + 20_000 }, slowed])
    assert.doesNotMatch(progressLine(over), /waiting/);
  // A call of 35 credits may be the next.
  const reasonAt = (credits: number, more: Partial<Progress> = {}) =>
    pauseReason(buying({ callsInFlight: 0, ...more }), FACTS, { credits, ms: 60_000 }, STEADY);
  assert.deepEqual([reasonAt(1_165), reasonAt(1_166)], [null, 'minute_limit']);
  assert.equal(reasonAt(1_165, { minuteLeft: () => 20 }), 'service_limit');
});

test('time left goes by credits and the limit: a first burst does not make it short', () => {
  const burst = { credits: 1_200, ms: 4_000 };
  const progress = buying({ creditsSpent: 1_200, ledgerLeft: null, creditsPlanned: 13_200 });
  assert.equal(Math.round(minutesLeft(progress, FACTS, burst, STEADY)!), 10);
  // A service at half of the limit takes twice as long, however the rows are spread.
  assert.equal(Math.round(minutesLeft(progress, FACTS, { credits: 600, ms: 60_000 }, STEADY)!), 20);
  assert.equal(minutesLeft(progress, FACTS, { credits: 0, ms: 60_000 }, STEADY), null);
  // Being asked to wait counts.
  const slowed = { ...progress, slowedUntil: STEADY + 300_000 };
  assert.equal(Math.round(minutesLeft(slowed, FACTS, burst, STEADY)!), 15);
  assert.equal(Math.round(minutesLeft(slowed, FACTS, { credits: 0, ms: 1_000 }, STEADY)!), 14);
  assert.equal(Math.round(minutesLeft(progress, FACTS, { credits: 60, ms: 3_000 }, STEADY)!), 10);
  const done = { ...progress, creditsPlanned: 1_200 };
  assert.equal(minutesLeft(done, FACTS, { credits: 0, ms: 60_000 }, STEADY), 0);
});

test('a service that lets less through than the subscription says is believed, and said', () => {
  // It has charged 300 of 1,200 credits and says that none are left.
  const progress = buying({
    creditsSpent: 300,
    creditsPlanned: 3_300,
    callsInFlight: 0,
    minuteLeft: () => 0,
  });
  const last = { credits: 300, ms: 6_000 };
  assert.equal(Math.round(minutesLeft(progress, FACTS, last, STEADY)!), 10);
  assert.match(
    progressLine({ ...view(progress), last }),
    /the service allows no more calls now, waiting/,
  );
  assert.match(progressLine(view(buying({ callsInFlight: 0 }))), /waiting for the minute limit/);
});

test('whichever comes first ends the run: all bought, budget, quota, or its time', () => {
  const last = { credits: 1_200, ms: 60_000 };
  const left = (progress: Partial<Progress>, facts: Partial<RunFacts> = {}) =>
    minutesLeft(buying(progress), { ...FACTS, ...facts }, last, STEADY);
  assert.equal(left({ creditsPlanned: 67_680 + 24_000 }), 20);
  assert.equal(left({ ledgerLeft: { credits: 6_000, spent: 67_680 } }), 5);
  assert.equal(left({ ledgerLeft: { credits: 100, spent: 67_000 } }), 0, 'never below nothing');
  assert.equal(left({}, { budget: 67_680 + 3_600 }), 3);
  assert.equal(left({ ledgerLeft: null }, { deadline: STEADY + 600_000 }), 10);
  assert.equal(left({ creditsPlanned: 67_680 }, { deadline: STEADY - 1_000 }), 0);
});

test('the meter counts the credits of the last minute, and no longer', () => {
  const meter = new MinuteMeter();
  assert.deepEqual(meter.add(0, 0), { credits: 0, ms: 0 });
  assert.deepEqual(meter.add(30_000, 300), { credits: 300, ms: 30_000 });
  assert.deepEqual(meter.add(60_000, 300), { credits: 300, ms: 60_000 });
  assert.deepEqual(meter.add(90_000, 400), { credits: 100, ms: 60_000 });
  assert.deepEqual(meter.add(180_000, 400), { credits: 0, ms: 60_000 });
  assert.deepEqual(
    meter.add(480_000, 900),
    { credits: 100, ms: 60_000 },
    'a page that was closed samples nothing',
  );
});

test('colours: on a terminal, not with NO_COLOR or a dumb terminal, and anywhere with FORCE_COLOR', () => {
  const isOn = (env: Record<string, string>, isTTY: boolean) =>
    colorFor({ env }, { isTTY })('bold', 'x') !== 'x';
  assert.ok(isOn({}, true) && !isOn({}, false));
  assert.ok(!isOn({ NO_COLOR: '1' }, true) && isOn({ NO_COLOR: '' }, true));
  assert.ok(!isOn({ TERM: 'dumb' }, true));
  assert.ok(isOn({ FORCE_COLOR: '1' }, false) && !isOn({ FORCE_COLOR: '0' }, true));
});
