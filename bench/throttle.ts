import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ServerResponse } from 'node:http';
import { CREDITS } from '../src/contract/credits.ts';
import { customSubscription } from '../src/contract/subscriptions.ts';
import { FastClock } from '../test/fast-clock.ts';
import { COUNTRY, openBenchHarness } from './bench-harness.ts';
import { type LimitUse, limitUse, measuredSpan } from './limit-use.ts';
import { sized } from './size.ts';
import { type Goal, percent, table } from './table.ts';

/** Minutes of the window that is measured. */
const MINUTES = sized(3, 1);

/** The goal: at least this share of the allowed credits, and not one 429. */
const TARGET = 0.97;

/**
 * How much faster than the wall the clock runs that service and run share. A timer is late by 1 to 2 ms of the wall and
 * the clock is read to 1 ms: 4 to 12 ms of its own time, 0.02 % of a minute. A call on loopback takes 3 to 20 ms of the
 * wall: 12 to 80 ms, less than over the internet. A clock 10 times as fast measures this machine, not the throttle: a
 * minute's 1,200 singles come in one burst, of which two cores make some 400 a second of the wall, and a burst that is
 * stretched to half a minute never catches up what one hiccup cost it (so measured: 83 % instead of 99 %).
 */
const CLOCK_FACTOR = sized(4, 60);

interface Mix {
  readonly name: string;
  readonly topics: readonly string[];
  /** What a cell costs, in the fewest credits. */
  readonly creditsOfCell: number;
}

const MIXES: readonly Mix[] = [
  { name: 'singles', topics: ['drought', 'superfund', 'park'], creditsOfCell: 3 * CREDITS.single },
  { name: 'standard bundles', topics: ['natural'], creditsOfCell: CREDITS.standard },
  {
    name: 'a bundle, two singles',
    topics: ['natural', 'superfund', 'park'],
    creditsOfCell: CREDITS.standard + 2 * CREDITS.single,
  },
];

/** The service of a round of runs. Starter and Professional allow 300 and 1,200 credits a minute. */
interface Setting {
  readonly limit: number;
  /** Milliseconds, of the fast clock, by which answers come later than on loopback. */
  readonly late: number;
}

/** The mixes of one setting run side by side: they wait most of the time. More at once would measure the machine: with
 * eight runs on two cores, singles used 67 % of what one run alone used 99 % of. */
const SETTINGS: readonly Setting[] = sized(
  [
    { limit: 300, late: 0 },
    { limit: 1_200, late: 0 },
    { limit: 1_200, late: 500 },
  ],
  [{ limit: 60, late: 500 }],
);

/** Most singles that 8 sockets get through in a minute when an answer takes half a second more are about 900: then not
 * the minute limits, and there is nothing to measure. */
function isMeasured({ late }: Setting, { name }: Mix): boolean {
  return late === 0 || name !== 'singles';
}

interface Measured extends LimitUse {
  /** 429s that the service sent, and that the run met. */
  readonly sent: number;
  readonly met: number;
}

/** How much of the credits a minute a real run uses, and whether the service ever says 429. */
export async function run(): Promise<Goal[]> {
  console.log(
    `Real runs through HTTP in which only the minute limits. Service and run share a clock ${CLOCK_FACTOR} times as fast as the wall.`,
  );
  console.log(
    `Used: credits charged in ${MINUTES} minutes, over ${MINUTES} limits; the mean over all such windows that begin in the run's second minute.`,
  );
  console.log(
    "Fullest 60 s: of all 60 s of the run. All by the service's own charges. Late: added to every answer.\n",
  );
  const rows: (string | number)[][] = [];
  const goals: Goal[] = [];
  for (const setting of SETTINGS) {
    const runs = MIXES.filter((mix) => isMeasured(setting, mix)).map(async (mix) => ({
      mix,
      ...(await measure(setting, mix)),
    }));
    for (const { mix, share, fullest, sent, met } of await Promise.all(runs)) {
      const { limit, late } = setting;
      const row = [mix.name, limit, `${late} ms`, percent(share), fullest, sent, met];
      rows.push(row);
      const what = row.slice(0, 3).join(', ');
      goals.push({
        what: `${what}: used`,
        measured: 100 * share,
        unit: '%',
        atLeast: 100 * TARGET,
      });
      goals.push({ what: `${what}: 429s`, measured: sent + met, unit: 'answers', atMost: 0 });
    }
  }
  console.log(
    table(['calls', 'limit', 'late', 'used', 'fullest 60 s', '429 sent', '429 met'], rows),
  );
  return goals;
}

/** One run against one service, both new, for as long as the measure takes. */
async function measure(
  { limit, late }: Setting,
  { topics, creditsOfCell }: Mix,
): Promise<Measured> {
  const clock = new FastClock('2026-03-15T12:00:20Z', CLOCK_FACTOR);
  const subscription = customSubscription(10_000_000, limit);
  const harness = await openBenchHarness({
    clock,
    subscription,
    answersLateMs: late / CLOCK_FACTOR,
  });
  const counter = countRefused(harness.port);
  const enough = new AbortController();
  try {
    // More than can be bought in the time, so that the end of the measure is not the end of the book.
    const cells = Math.ceil((limit * (MINUTES + 4)) / creditsOfCell);
    const ended = harness.run(rowFileOf(cells), { topics }, enough.signal);
    const [{ state, progress }] = await Promise.all([
      ended,
      stopAfterMeasure(harness, clock, enough),
    ]);
    if (state !== 'interrupted') throw new Error(`The run ended too early: ${state}`);
    return {
      ...limitUse(harness.charges(), limit, MINUTES),
      sent: counter.sent,
      met: progress.slowedDown,
    };
  } finally {
    counter.stop();
    await harness.close();
  }
}

/** Interrupts the run once all that is measured has happened. */
async function stopAfterMeasure(
  harness: { charges(): readonly { readonly at: number }[] },
  clock: FastClock,
  enough: AbortController,
): Promise<void> {
  let first = harness.charges()[0];
  for (const until = clock.now() + 10 * 60_000; first === undefined; first = harness.charges()[0]) {
    if (clock.now() > until) throw new Error('The run bought nothing within ten minutes');
    await clock.sleep(500);
  }
  await clock.sleep(first.at + measuredSpan(MINUTES) - clock.now());
  enough.abort();
}

/** A location a cell. */
function rowFileOf(cells: number): string {
  const { south, west } = COUNTRY;
  const lines = Array.from({ length: cells }, (_, index) => {
    const [lat, lng] = [south + 0.001 * (index % 400), west + 0.001 * Math.floor(index / 400)];
    return `${index + 1},${lat.toFixed(4)},${lng.toFixed(4)}\n`;
  });
  return `id,lat,lng\n${lines.join('')}`;
}

/** Counts the 429s that a service of this process sends, on its side of the socket: no client's retry hides one. */
function countRefused(port: number): { readonly sent: number; stop(): void } {
  let sent = 0;
  const onFinish = (message: unknown) => {
    const { response } = message as { readonly response: ServerResponse };
    if (response.statusCode === 429 && response.req.socket.localPort === port) sent++;
  };
  subscribe('http.server.response.finish', onFinish);
  return {
    get sent() {
      return sent;
    },
    stop: () => unsubscribe('http.server.response.finish', onFinish),
  };
}
