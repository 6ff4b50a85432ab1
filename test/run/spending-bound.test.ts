import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Call, CREDITS, type Prices } from '../../src/contract/credits.ts';
import { HEADERS } from '../../src/contract/headers.ts';
import { isTopicSlug, NATURAL_SLUGS } from '../../src/contract/topics.ts';
import type { JobFile } from '../../src/job/job-file.ts';
import { newProgress } from '../../src/run/frame/progress.ts';
import type { Stop } from '../../src/run/frame/stop.ts';
import type { Store } from '../../src/store/port.ts';
import { openPostgresStore } from '../../src/store/postgres-store.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import { envelopeOf } from '../client/answers.ts';
import { serveHttp } from '../client/servers.ts';
import { sharedPostgres } from '../postgres-server.ts';
import { fc } from '../properties.ts';
import { LONG, SHORT, times } from '../tier.ts';
import { openHarness, places } from './harness.ts';

/** What the service does with a request. `lost`: charged, and the answer is cut; `thin`: a bundle without some topics; `charged_failure`: a
 * failure that states its cost. */
type Deed =
  | { readonly kind: 'answer' | 'lost' | 'thin' | 'unavailable' | 'unusable' }
  | { readonly kind: 'charged_failure'; readonly status: number }
  | { readonly kind: 'refuse'; readonly status: number; readonly code: string }
  | { readonly kind: 'price'; readonly prices: Prices; readonly hail?: number };

const ANSWER: Deed = { kind: 'answer' };
const LOST: Deed = { kind: 'lost' };
const anyDeed: fc.Arbitrary<Deed> = fc.oneof(
  { weight: 12, arbitrary: fc.constant(ANSWER) },
  {
    weight: 4,
    arbitrary: fc.constantFrom<Deed>({ kind: 'unavailable' }, { kind: 'thin' }, { kind: 'lost' }),
  },
  { weight: 1, arbitrary: fc.constant<Deed>({ kind: 'unusable' }) },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom(404, 422, 429, 500, 503)
      .map((status): Deed => ({ kind: 'charged_failure', status })),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('refuse' as const),
      status: fc.constantFrom(400, 401, 402, 403, 403, 403, 404, 422, 429, 500, 502, 503),
      code: fc.constantFrom('', 'QUOTA_EXCEEDED', 'OUTSIDE_COVERAGE', 'NO_DATA', 'SCOPE_REQUIRED'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('price' as const),
      prices: fc.record({
        single: fc.constantFrom(1, 1, 2, 5),
        standard: fc.constantFrom(15, 10, 30),
        enterprise: fc.constantFrom(35, 20, 70),
      }),
    }),
  },
);

const TOPICS = [
  ['hail'],
  ['hail', 'wildfire', 'park'],
  ['natural'],
  ['natural', 'ozone', 'radon'],
  ['all'],
] as const satisfies readonly JobFile['topics'][];

const anyStory = fc.record({
  deeds: fc.array(anyDeed, { minLength: 1, maxLength: 30 }),
  places: fc.integer({ min: 1, max: 12 }),
  topics: fc.constantFrom(...TOPICS),
  budget: fc.option(fc.integer({ min: 0, max: 300 }), { nil: undefined }),
  scopes: fc.constantFrom<readonly string[]>(
    [],
    ['bundle'],
    ['hail', 'wildfire', 'park', 'bundle'],
  ),
});

/** A service that does one deed after the other, then answers. It charges what it says. */
async function serveDeeds(t: TestContext) {
  let [deeds, prices]: [Deed[], Prices & { hail?: number }] = [[], CREDITS];
  /** The cost of each call that was charged, by its request id: the client's ledger has it too. */
  let charged: number[] = [];
  let answersFrom: Promise<void> = Promise.resolve();
  const url = await serveHttp(t, async (request, response) => {
    await answersFrom;
    const asked = new URL(request.url!, 'http://127.0.0.1');
    const name = asked.pathname.split('/').at(-1)!;
    const topic = asked.pathname.split('/')[2]!;
    const call: Call = isTopicSlug(topic)
      ? { kind: 'single', topic }
      : { kind: name as 'standard' | 'enterprise' };
    let deed = deeds.shift() ?? ANSWER;
    for (; deed.kind === 'price'; deed = deeds.shift() ?? ANSWER)
      prices = { ...deed.prices, ...(deed.hail && { hail: deed.hail }) };
    if (deed.kind === 'refuse') {
      response.writeHead(deed.status, { 'content-type': 'application/json' });
      return void response.end(JSON.stringify({ error: { code: deed.code, message: 'No' } }));
    }
    const cost = (topic === 'hail' && prices.hail) || prices[call.kind];
    charged.push(cost);
    if (deed.kind === 'lost') return void response.destroy();
    if (deed.kind === 'charged_failure')
      return void response.writeHead(deed.status, { [HEADERS.creditCost]: String(cost) }).end();
    const [lat, lng] = ['lat', 'lng'].map((name) => Number(asked.searchParams.get(name)));
    const envelope = envelopeOf(call, { lat: deed.kind === 'unusable' ? 20 : lat!, lng: lng! });
    const data = envelope.data as { topics?: Record<string, unknown>; result?: unknown };
    const { topics } = data;
    for (const slug of Object.keys(topics ?? {}).slice(0, 5)) {
      if (deed.kind === 'unavailable') topics![slug] = { error: 'unavailable' };
      if (deed.kind === 'thin') delete topics![slug];
    }
    if (deed.kind === 'unavailable' && !topics) data.result = { error: 'unavailable' };
    envelope.meta.credit_cost = cost;
    response.writeHead(200, {
      'content-type': 'application/json',
      [HEADERS.creditCost]: String(cost),
    });
    response.end(JSON.stringify(envelope));
  });
  return {
    url,
    /** @param from answers nothing before */
    begin(next: readonly Deed[], from: Promise<void> = Promise.resolve()): void {
      [deeds, prices, charged, answersFrom] = [[...next], CREDITS, [], from];
    },
    charged: () => charged.reduce((sum, cost) => sum + cost, 0),
  };
}

/** Two runs of a story on a store of its own. Whatever the service does, neither spends more than it printed as the most, except for what
 * calls that were claimed at a lower price cost above it, of which there are at most as many as calls in flight for each rise. */
async function holdsBound(
  harness: Awaited<ReturnType<typeof openHarness>>,
  service: Awaited<ReturnType<typeof serveDeeds>>,
  store: Store,
  story: typeof anyStory extends fc.Arbitrary<infer Story> ? Story : never,
): Promise<void> {
  const { budget } = story;
  const key = harness.key(...story.scopes);
  const job = {
    topics: [...story.topics],
    concurrency: 3,
    ...(budget !== undefined && { budget }),
  } as JobFile;
  // Stories share a folder, and an output with more answers would not be replaced.
  rmSync(join(harness.folder, 'output.csv'), { force: true });
  harness.writeInput(places(story.places));
  const options = { keys: [key], baseUrl: service.url, store };
  const rises = story.deeds.filter(({ kind }) => kind === 'price').length;
  const most = Math.max(
    ...story.deeds.flatMap((deed) => (deed.kind === 'price' ? Object.values(deed.prices) : [35])),
  );
  service.begin(story.deeds);
  for (let number = 0; number < 2; number++) {
    const before = service.charged();
    const plan = await harness.plan(job, options).catch(() => null);
    if (plan === null) return; // No key may buy the topics: nothing is sent.
    const ended = await harness.run(job, options).catch((error: { code?: string }) => {
      // No key may buy the topics, or an output with more answers stays: nothing is sent.
      assert.match(error.code ?? '', /^(SCOPE_MISSING|OUTPUT_EXISTS)$/, String(error));
      return null;
    });
    const spent = service.charged() - before;
    if (ended === null) return assert.equal(spent, 0);
    assert.ok(
      plan.credits_limit <=
        Math.min(budget ?? Number.POSITIVE_INFINITY, plan.credits + plan.credits * 20),
    );
    const { credits_spent, credits_unknown, credits_above_price: above } = ended.summary;
    // By the ledger: what was claimed is within the bound.
    assert.ok(
      credits_spent + credits_unknown - above <= plan.credits_limit,
      `${credits_spent} of ${plan.credits_limit}`,
    );
    assert.ok(above <= rises * 3 * most, `${above} above the price`);
    // At the service: nothing was charged that the ledger does not have, except for a lost call whose price had risen unseen.
    assert.ok(spent <= credits_spent + credits_unknown + rises * 3 * most, `${spent} charged`);
    if (rises === 0)
      assert.ok(
        spent <= plan.credits_limit,
        `${spent} charged, at most ${plan.credits_limit} printed`,
      );
  }
}

async function tryStories(
  t: TestContext,
  numRuns: number,
  open: (harness: Awaited<ReturnType<typeof openHarness>>, number: number) => Promise<Store>,
): Promise<void> {
  const harness = await openHarness(t, { factor: 2_000 });
  const service = await serveDeeds(t);
  let number = 0;
  await fc.assert(
    fc.asyncProperty(anyStory, async (story) => {
      const store = await open(harness, ++number);
      await holdsBound(harness, service, store, story).finally(() => store.close());
    }),
    { numRuns, endOnFailure: true },
  );
}

const owner = { name: 'test', isAlive: () => true };

test('SQLite: whatever the service answers, no run spends more than it printed as the most', async (t) => {
  await tryStories(
    t,
    times({ short: 25, long: 150, soak: 5_000 }),
    async ({ folder, clock }, number) =>
      openSqliteStore(join(folder, `bound-${number}.db`), clock, owner),
  );
});

test(
  'PostgreSQL: whatever the service answers, no run spends more than it printed as the most',
  LONG,
  async (t) => {
    const server = await sharedPostgres();
    await tryStories(t, times({ long: 30, soak: 1_000 }), async ({ clock }) =>
      openPostgresStore(server.storeAddress(), clock, owner),
    );
  },
);

test(
  'a service that charges for its failures, and says so, is not paid beyond the bound',
  SHORT,
  async (t) => {
    const harness = await openHarness(t, { factor: 2_000 });
    const service = await serveDeeds(t);
    const store = openSqliteStore(join(harness.folder, 'charged.db'), harness.clock, owner);
    t.after(() => store.close());
    for (const status of [404, 429, 500]) {
      const deeds = new Array<Deed>(60).fill({ kind: 'charged_failure', status });
      await holdsBound(harness, service, store, {
        deeds,
        places: 12,
        topics: TOPICS[1],
        budget: 20,
        scopes: [],
      });
    }
  },
);

/** What the rest costs now, by the message of a stop. */
function costOfRest(stop: Stop | null): number {
  return Number(/What is left costs (\d+)/.exec(stop?.message ?? '')?.[1]);
}

/** The body of a refusal may take 5 s of the clock: with a factor of 2,000 a busy machine read it as a lost answer. */
const FACTOR = 50;

test(
  'one run after the other: a refused scope, then its price, then what was approved',
  SHORT,
  async (t) => {
    const harness = await openHarness(t, { factor: FACTOR });
    const service = await serveDeeds(t);
    harness.writeInput(places(20));
    const options = { baseUrl: service.url };
    const quota: Deed = { kind: 'refuse', status: 403, code: 'SCOPE_REQUIRED' };
    service.begin([...Array<Deed>(5).fill(ANSWER), ...Array<Deed>(8).fill(quota)]);
    const first = await harness.run({ topics: 'wildfire', budget: 1_000 }, options);
    assert.deepEqual(
      [first.stop?.reason, costOfRest(first.stop), service.charged()],
      ['price', 225, 5],
    );
    const second = await harness.run({ topics: 'wildfire', budget: 1_000 }, options);
    assert.deepEqual(
      [second.state, second.summary.credits, service.charged()],
      ['complete', 225, 230],
    );
  },
);

test(
  'two runs of one store at once pay for one first call, which shows both the price',
  SHORT,
  async (t) => {
    const harness = await openHarness(t, { factor: FACTOR });
    const service = await serveDeeds(t);
    harness.writeInput(places(20));
    // At once: both have planned at the old price before either call is answered.
    const bothBuy = Promise.withResolvers<void>();
    service.begin([{ kind: 'price', prices: { ...CREDITS, single: 5 } }], bothBuy.promise);
    const runs = ['a.csv', 'b.csv'].map((name) => ({ name, progress: newProgress() }));
    const ends = await Promise.all(
      runs.map(({ name, progress }) => {
        progress.onChange = () => {
          if (runs.every((run) => run.progress.phase === 'buying')) bothBuy.resolve();
        };
        const job = { topics: 'wildfire', budget: 20, output: join(harness.folder, name) } as const;
        return harness.run(job, { baseUrl: service.url, progress });
      }),
    );
    assert.deepEqual(
      [ends.map(({ stop }) => stop?.reason), service.charged()],
      [['price', 'price'], 5],
    );
  },
);

test(
  'the first call goes out alone and shows the price; the rest waits for approval, and the next plan knows it',
  SHORT,
  async (t) => {
    const harness = await openHarness(t, { factor: FACTOR });
    const service = await serveDeeds(t);
    harness.writeInput(places(20));
    const options = { baseUrl: service.url };
    const dear: Deed = { kind: 'price', prices: { ...CREDITS, single: 5 } };
    service.begin([dear]);
    const first = await harness.run({ topics: 'wildfire', budget: 5 }, options);
    assert.deepEqual(
      [first.stop?.reason, first.summary.credits_above_price, service.charged()],
      ['price', 4, 5],
    );
    // Of the plan's 20 credits 15 are left, but the 19 other places cost 19.
    assert.match(
      first.stop!.message,
      /What is left costs 95 credits now, 19 before: nothing more was bought\.$/,
    );
    const plan = await harness.plan({ topics: 'wildfire' }, options);
    assert.deepEqual(
      [plan.credits, plan.prices.map(({ kind, credits, contract }) => [kind, credits, contract])],
      [...[95, [['single', 5, 1]]]],
    );
    // A rise in mid-run stops it, too; a lower price is taken as it is.
    service.begin([
      dear,
      ...Array<Deed>(4).fill(ANSWER),
      { kind: 'price', prices: { ...CREDITS, single: 7 } },
    ]);
    const second = await harness.run({ topics: 'wildfire', budget: 95, concurrency: 2 }, options);
    assert.equal(second.stop?.reason, 'price');
    const above = second.summary.credits_above_price;
    assert.ok(above >= 2 && above <= 4, 'one difference for each call in flight');
    service.begin([{ kind: 'price', prices: { ...CREDITS, single: 2 } }]);
    const rest = costOfRest(second.stop);
    const third = await harness.run({ topics: 'wildfire', budget: rest }, options);
    assert.deepEqual(
      [third.state, third.summary.credits, service.charged()],
      ['complete', rest, (rest / 7) * 2],
    );
    const { credits } = await harness.plan({ topics: ['hail'] }, options);
    assert.equal(credits, 20, 'the price of wildfire is not that of hail');
  },
);

test(
  'each topic has its own price: what one costs is not expected of another, and the run buys all for what the service charges',
  SHORT,
  async (t) => {
    const harness = await openHarness(t, { factor: FACTOR });
    const service = await serveDeeds(t);
    harness.writeInput(places(20));
    const options = { baseUrl: service.url };
    service.begin([{ kind: 'price', prices: CREDITS, hail: 3 }]);
    // 20 places at 3 and 1 are 80. With 3 for each topic, a run of 80 stopped: 120 were expected.
    const ended = await harness.run({ topics: ['hail', 'wildfire'], budget: 80 }, options);
    const again =
      ended.state === 'complete'
        ? null
        : await harness.plan({ topics: ['hail', 'wildfire'] }, options);
    assert.equal(service.charged() + (again?.credits ?? 0), 80);
    assert.deepEqual(
      again?.prices.map(({ topic, credits, contract, holds }) => [topic, credits, contract, holds]),
      [['hail', 3, 1, true]],
    );
  },
);

test(
  'a bundle that was charged more once is bought again a day later, within the bound; not before',
  SHORT,
  async (t) => {
    const harness = await openHarness(t, { factor: FACTOR });
    const service = await serveDeeds(t);
    harness.writeInput(places(10));
    const options = { baseUrl: service.url };
    const job = { topics: NATURAL_SLUGS.filter((slug) => slug !== 'avalanche') };
    const odd: Deed = { kind: 'price', prices: { ...CREDITS, standard: 45 } };
    service.begin([odd, ANSWER, { kind: 'price', prices: CREDITS }]);
    const first = await harness.run({ ...job, budget: 150 }, options);
    assert.deepEqual([first.stop?.reason, service.charged()], ['price', 45]);
    assert.equal((await harness.plan(job, options)).credits, 9 * 17, 'singles, for a day');
    harness.clock.moveTo('2026-03-16T12:30:00Z');
    const plan = await harness.plan(job, options);
    assert.deepEqual(
      [plan.credits, plan.prices.map(({ kind, credits, holds }) => [kind, credits, holds])],
      [9 * 15, [['standard', 45, false]]],
    );
    // Too small for a bundle at 45: that price is expected on, and nothing is risked.
    assert.equal((await harness.plan({ ...job, budget: 44 }, options)).credits, 9 * 17);
    const second = await harness.run({ ...job, budget: 9 * 15 }, options);
    assert.deepEqual([second.state, service.charged()], ['complete', 45 + 9 * 15]);
    assert.deepEqual((await harness.plan(job, options)).prices, []);
  },
);

test(
  'a bundle that is dear again a day later costs its own price, no more, and the run stops',
  SHORT,
  async (t) => {
    const harness = await openHarness(t, { factor: FACTOR });
    const service = await serveDeeds(t);
    harness.writeInput(places(10));
    const options = { baseUrl: service.url };
    const job = { topics: NATURAL_SLUGS.filter((slug) => slug !== 'avalanche') };
    service.begin([{ kind: 'price', prices: { ...CREDITS, standard: 45 } }]);
    await harness.run({ ...job, budget: 150 }, options);
    harness.clock.moveTo('2026-03-16T12:30:00Z');
    const second = await harness.run({ ...job, budget: 135 }, options);
    assert.deepEqual([second.stop?.reason, service.charged()], ['price', 90]);
    const { credits_spent, credits_limit } = second.summary;
    assert.ok(credits_spent <= credits_limit);
  },
);

test(
  'the message of a reached budget counts the calls that were in flight at the stop: it agrees with the ledger',
  SHORT,
  async (t) => {
    const harness = await openHarness(t, { factor: FACTOR });
    const service = await serveDeeds(t);
    harness.writeInput(places(60));
    const answered: Deed[] = Array.from({ length: 9 }, () => ANSWER);
    service.begin([
      ...answered,
      ...Array.from({ length: 60 }, (_, at) => (at % 3 === 0 ? ANSWER : LOST)),
    ]);
    const job = { topics: 'wildfire' as const, budget: 30, concurrency: 8 };
    const { stop } = await harness.run(job, { baseUrl: service.url });
    const [run] = await harness.store.runs();
    const [statement] = await harness.store.statement({ by: 'run' });
    const [, calls, credits] = /: (\d+) calls? without a usable answer may have cost (\d+)/.exec(
      stop!.message,
    )!;
    assert.deepEqual([Number(calls), Number(credits)], [statement!.calls.unknown, run!.unknown]);
  },
);
