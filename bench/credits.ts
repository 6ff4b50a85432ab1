import { CREDITS, contractPrice } from '../src/contract/credits.ts';
import { customSubscription } from '../src/contract/subscriptions.ts';
import { NATURAL_SLUGS, TOPIC_SLUGS } from '../src/contract/topics.ts';
import { parseTopics } from '../src/job/topic-choice.ts';
import { cheapestCalls } from '../src/run/plan/cheapest-calls.ts';
import { FastClock } from '../test/fast-clock.ts';
import { openBenchHarness } from './bench-harness.ts';
import { NightlyBook } from './nightly-book.ts';
import { sized } from './size.ts';
import { type Goal, table } from './table.ts';

const ROWS = sized(1_500, 40);
const RUNS = sized(12, 3);
const TOPICS = ['natural', 'superfund', 'park'];
const DAY_MS = 86_400_000;

/** The clock only moves from night to night; between, it runs fast enough that a lease or a pause costs no waiting. */
const CLOCK_FACTOR = 200;

/** Large enough that neither quota nor minute stops anyone: here credits are counted, not time. */
const SUBSCRIPTION = customSubscription(100_000_000, 10_000_000);

/** What each of the naive users pays for a row. Both know what the standard bundle returns; neither knows that two rows
 * share a place, or that a place was answered yesterday. */
const ENTERPRISE_A_ROW = CREDITS.enterprise;
const CHEAPEST_A_ROW = cheapestCalls(parseTopics(TOPICS), {
  standard: new Set(NATURAL_SLUGS),
  enterprise: new Set(TOPIC_SLUGS),
  credits: contractPrice,
  most: contractPrice,
  bundles: true,
  singles: () => true,
  optimize: 'credits',
}).credits;

/** How often the book is enriched. The topics' answers are fresh for a year (natural) or 30 days (superfund, park). */
const SCHEDULES = [
  { name: 'every night', everyDays: 1 },
  { name: 'once a month', everyDays: 31 },
] as const;

interface Night {
  readonly rows: number;
  readonly buildings: number;
  readonly coordinates: number;
  readonly cells: number;
  readonly spent: number;
}

/** Credits that Perilbook spends on one book in all runs, as the service counts them, against two naive users. */
export async function run(): Promise<Goal[]> {
  console.log(
    `${RUNS} runs on one book, ${TOPICS.join(' + ')}; from one run to the next 1 % of the buildings are new and 0.2 % move.`,
  );
  console.log(
    'Perilbook: really bought through HTTP, counted by the service. The naive users: rows × price of a row.',
  );
  console.log(
    `A: an enterprise bundle a row (${ENTERPRISE_A_ROW}). B: the cheapest calls a row (${CHEAPEST_A_ROW}).`,
  );
  for (const { name, everyDays } of SCHEDULES) {
    const nights = await enrich(everyDays);
    const [first, last] = [nights[0]!, nights.at(-1)!];
    console.log(
      `\nRun ${name}: ${counted(first)} in the first run, ${counted(last)} in the last.\n\n${creditsTable(nights)}`,
    );
  }
  return [];
}

/** Really enriches the book, run by run. @throws when service and ledger do not agree to the credit */
async function enrich(everyDays: number): Promise<Night[]> {
  const clock = new FastClock('2026-01-05T03:00:00Z', CLOCK_FACTOR);
  const begun = clock.now();
  const book = new NightlyBook(ROWS);
  const harness = await openBenchHarness({ clock, subscription: SUBSCRIPTION });
  const nights: Night[] = [];
  try {
    for (let night = 0; night < RUNS; night++) {
      if (night > 0) {
        book.goOn();
        clock.moveTo(new Date(begun + night * everyDays * DAY_MS).toISOString());
      }
      const before = harness.charged();
      const { state, summary } = await harness.run(book.csv(), { topics: TOPICS });
      if (state !== 'complete')
        throw new Error(`Run ${night + 1} ended ${state}: ${JSON.stringify(summary)}`);
      const { rows, buildings, coordinates } = book;
      nights.push({
        rows,
        buildings,
        coordinates,
        cells: summary.cells,
        spent: harness.charged() - before,
      });
    }
    const { charged, unknown, open } = await harness.ledger();
    if (charged !== harness.charged() || unknown + open > 0) {
      throw new Error(
        `The service counts ${harness.charged()} credits, the ledger ${charged}, ${unknown} unknown`,
      );
    }
  } finally {
    await harness.close();
  }
  return nights;
}

function creditsTable(nights: readonly Night[]): string {
  const parts: readonly (readonly [string, readonly Night[]])[] = [
    ['first run', nights.slice(0, 1)],
    [`runs 2 to ${RUNS}`, nights.slice(1)],
    ['all runs', nights],
  ];
  return table(
    [
      'credits',
      'Perilbook',
      'A: enterprise a row',
      'A / Perilbook',
      'B: cheapest a row',
      'B / Perilbook',
    ],
    parts.map(([name, part]) => {
      const spent = sum(part.map((night) => night.spent));
      const rows = sum(part.map((night) => night.rows));
      const [a, b] = [rows * ENTERPRISE_A_ROW, rows * CHEAPEST_A_ROW];
      return [name, spent, a, `${(a / spent).toFixed(1)} ×`, b, `${(b / spent).toFixed(1)} ×`];
    }),
  );
}

function counted({ rows, buildings, coordinates, cells }: Night): string {
  const [a, b, c, d] = [rows, buildings, coordinates, cells].map((number) =>
    number.toLocaleString('en-US'),
  );
  return `${a} rows of ${b} buildings with ${c} different coordinates in ${d} cells`;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
