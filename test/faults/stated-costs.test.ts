import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Call, CREDITS } from '../../src/contract/credits.ts';
import { HEADERS } from '../../src/contract/headers.ts';
import { isTopicSlug } from '../../src/contract/topics.ts';
import type { JobFile } from '../../src/job/job-file.ts';
import { parseTopics } from '../../src/job/topic-choice.ts';
import { BatchRun } from '../../src/run/batch-run.ts';
import { IN_A_ROW } from '../../src/run/buy/next-step.ts';
import type { RunEvent } from '../../src/run/frame/run-events.ts';
import type { OpenedJob } from '../../src/run/prepare.ts';
import type { RunSummary } from '../../src/run/summary-shapes.ts';
import type { Store } from '../../src/store/port.ts';
import { openPostgresStore } from '../../src/store/postgres-store.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import { envelopeOf } from '../client/answers.ts';
import { serveHttp } from '../client/servers.ts';
import { openUiOf, WILDFIRE, yes } from '../page/ui-scene.ts';
import { launchPooler, WITH_POOLER } from '../pooler.ts';
import { sharedPostgres } from '../postgres-server.ts';
import { fc } from '../properties.ts';
import { openHarness, places, type RunOptions } from '../run/harness.ts';
import { LONG, times } from '../tier.ts';

/** How a refusal words itself. */
const WORDS = [
  { body: '' },
  { body: { error: { code: 'TRY_AGAIN', message: 'try again' } } },
  { body: { message: 'over rate limit' } },
  { body: { message: 'Trop de requêtes' } },
  { body: { error: { errors: [{ reason: 'userRateLimitExceeded' }] } } },
  { body: { error: { code: 'token_quota_exceeded', message: 'Tokens per minute exceeded' } } },
  { body: { error: { code: 'insufficient_quota', message: 'You exceeded your current quota' } } },
  { body: { message: 'You have exceeded your daily limit' } },
  { body: { code: 'QUOTA_EXCEEDED' }, isQuota: true },
  { body: { code: 'SCOPE_REQUIRED' }, isScope: true },
  { body: { message: 'hail and wildfire are not part of your plan' }, isScope: true },
  { body: '<!doctype html><title>Forbidden scope</title>' },
] as const satisfies readonly { body: unknown; isQuota?: true; isScope?: true }[];

/** What the service does with a request. It charges the highest figure that it states, and an answer at least its price. */
interface Deed {
  /** 200: an answer. */
  readonly status: number;
  readonly words: (typeof WORDS)[number];
  /** The figures in the header and in `meta`; null: the price of an answer, nothing of a failure. */
  readonly header: readonly number[] | null;
  readonly meta: number | null;
  readonly wait: string | null;
  /** The connection ends in the middle of the answer; only the header states a cost then. */
  readonly isCut: boolean;
}

const figure = fc.oneof(
  { weight: 10, arbitrary: fc.integer({ min: 0, max: 40 }) },
  { weight: 1, arbitrary: fc.constantFrom(999, 1_000) },
  { weight: 1, arbitrary: fc.constantFrom(1_001, 2_000, 50_000) },
);
const header = fc.option(fc.array(figure, { minLength: 1, maxLength: 3 }), { freq: 2 });
const meta = fc.option(figure, { freq: 2 });
const deed = (status: fc.Arbitrary<number>, isStated: boolean): fc.Arbitrary<Deed> =>
  fc.record({
    status,
    words: fc.constantFrom(...WORDS),
    header: isStated ? header : fc.constant(null),
    meta: isStated ? meta : fc.constant(null),
    wait: fc.option(fc.constantFrom('0', '1', '2', '30'), { freq: 1 }),
    isCut: fc.constantFrom(true, false, false, false),
  });
const failing = fc.oneof(
  fc.integer({ min: 400, max: 599 }),
  fc.constantFrom(400, 401, 402, 403, 403, 404, 408, 420, 429, 429, 500, 502, 503),
);
const anyDeed = fc.oneof(
  { weight: 8, arbitrary: deed(fc.constant(200), false) },
  { weight: 3, arbitrary: deed(fc.constant(200), true) },
  { weight: 3, arbitrary: deed(failing, true) },
  { weight: 3, arbitrary: deed(failing, false) },
);
/** Most deeds are done once, some last. */
const lasting = fc
  .tuple(anyDeed, fc.constantFrom(1, 1, 1, 2, 3, 12))
  .map(([one, times]) => Array.from({ length: times }, () => one));
const anyStory = fc.record({
  deeds: fc.array(lasting, { minLength: 1, maxLength: 12 }).map((parts) => parts.flat()),
  places: fc.integer({ min: 1, max: 12 }),
  topics: fc.constantFrom<string[]>(['hail'], ['hail', 'wildfire', 'park'], ['natural'], ['all']),
  budget: fc.option(fc.integer({ min: 0, max: 300 }), { nil: undefined }),
  areas: fc.constantFrom(undefined, undefined, 'tract' as const, 'county' as const),
});
type Story = typeof anyStory extends fc.Arbitrary<infer Told> ? Told : never;

/** A request that was answered: its target, what was stated, and whether it was a failure with a cost. */
interface Sent {
  readonly target: string;
  readonly stated: number;
  readonly isAnswer: boolean;
  readonly isPaidFailure: boolean;
}

async function serveDeeds(t: TestContext) {
  let deeds: Deed[] = [];
  let sent: Sent[] = [];
  const url = await serveHttp(t, async (request, response) => {
    const asked = new URL(request.url!, 'http://127.0.0.1');
    const [, , topic, bundle] = asked.pathname.split('/');
    const call: Call = isTopicSlug(topic!)
      ? { kind: 'single', topic }
      : { kind: bundle as 'standard' | 'enterprise' };
    const deed: Partial<Deed> = deeds.shift() ?? {};
    const { status = 200, words, header = null, meta = null, wait = null, isCut = false } = deed;
    const isAnswer = status === 200;
    const isWhole = !(isAnswer && isCut);
    const price = CREDITS[call.kind];
    const figures = header ?? (isAnswer ? [price] : []);
    const inMeta = meta ?? (isAnswer ? price : null);
    const stated = Math.max(isAnswer ? price : 0, ...figures, isWhole ? (inMeta ?? 0) : 0);
    const isPaidFailure = !isAnswer && stated > 0;
    sent.push({ target: request.url!, stated, isAnswer: isAnswer && isWhole, isPaidFailure });
    const [lat, lng] = ['lat', 'lng'].map((name) => Number(asked.searchParams.get(name)));
    const envelope = envelopeOf(call, { lat: lat!, lng: lng! });
    const costs = inMeta === null ? {} : { credit_cost: inMeta };
    const said = words?.body ?? '';
    const body = isAnswer
      ? { ...envelope, meta: { ...envelope.meta, ...costs } }
      : typeof said === 'string' && inMeta === null
        ? said
        : { ...(typeof said === 'string' ? { message: said } : said), meta: costs };
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    response.writeHead(status, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text) + (isWhole ? 0 : 1),
      ...(figures.length > 0 && { [HEADERS.creditCost]: figures.join(', ') }),
      ...(wait !== null && !isAnswer && { [HEADERS.retryAfter]: wait }),
    });
    if (isWhole) return void response.end(text);
    await new Promise((resolve) => response.write(text, resolve));
    response.destroy();
  });
  return {
    url,
    begin(next: readonly Deed[]): void {
      deeds = [...next];
    },
    /** What was sent since the last time. */
    take(): Sent[] {
      const taken = sent;
      sent = [];
      return taken;
    },
  };
}

const CONCURRENCY = 3;
/** A higher cost is not believed (src/client/verdict.ts), and this one is not counted in full. */
const [MOST_BELIEVED, MOST_COUNTED] = [1_000, 1_000_000];

/** What a run printed as its most, and what its ledger has. */
interface Bounds {
  readonly limit: number;
  readonly ledger: number;
  readonly above: number;
  /** Whether it ended early, and whether because the service called its quota used up. */
  readonly isStopped: boolean;
  readonly isQuota: boolean;
}

type Harness = Awaited<ReturnType<typeof openHarness>>;

/** Buys so many places. Null: refused before anything was sent. */
type Buy = (
  harness: Harness,
  job: JobFile,
  options: RunOptions,
  count: number,
) => Promise<Bounds | null>;

const isNoWay = (error: { code?: string }): null => {
  // OUTPUT_EXISTS: areas turned out not to be those of the service, and fewer rows than before would have an answer.
  const codes = /^(SCOPE_MISSING|NEEDS_APPROVAL|OUTPUT_EXISTS)$/;
  assert.match(String(error.code), codes, JSON.stringify(error));
  return null;
};

const buyFile: Buy = async (harness, job, options) => {
  const plan = await harness.plan(job, options).catch(isNoWay);
  const ended = plan && (await harness.run(job, options).catch(isNoWay));
  if (ended === null) return null;
  const { credits_spent, credits_unknown, credits_above_price: above } = ended.summary;
  const [limit, ledger] = [plan!.credits_limit, credits_spent + credits_unknown];
  return { limit, ledger, above, ...endOf(ended.stop?.reason) };
};

const endOf = (stop: string | undefined) => ({
  isStopped: stop !== undefined,
  isQuota: stop === 'quota',
});

/** The same on the page, with the budget that its dialog asks for: the price and its retries, or the one that was typed. */
const buyPage: Buy = async (harness, job, { baseUrl, keys, store }, count) => {
  const { topics, areas, budget: typed } = job;
  const bugs: unknown[] = [];
  const workspace = join(harness.folder, `page-${++pages}`);
  const connection = { kind: 'service', source: 'harness', sample: false } as const;
  await using ui = await openUiOf(harness, {
    store: store!,
    workspace,
    connectionOf: async () => ({ ...connection, baseUrl: baseUrl!, keys: keys! }),
    jobOf: (said) => harness.job({ ...job, ...said }),
    onBug: (error) => bugs.push(error),
  });
  const visitor = await ui.visit();
  const table = harness.writeInput(places(count));
  const { id } = (await visitor.upload('book.csv', table)).body;
  const ask = (what: string, body: object = {}) =>
    visitor.ask('POST', `/api/files/${id}/${what}`, {
      body: { ...WILDFIRE, topics: parseTopics(topics!), ...(areas && { areas }), ...body },
    });
  const priced = await ask('price');
  if (priced.status !== 200) return isNoWay(priced.body.error);
  const limit = typed ?? priced.body.summary.credits_limit;
  assert.equal((await ask('start', yes(limit))).status, 202);
  const { error, end } = await visitor.ended(id);
  assert.deepEqual(bugs, []);
  rmSync(workspace, { recursive: true });
  if (error !== null) return isNoWay(error);
  const [run] = await store!.runs();
  const { charged, unknown, stopped } = end!;
  const above = (run!.summary as RunSummary).credits_above_price;
  const isQuota = stopped?.includes('says that the quota of') ?? false;
  return { limit, ledger: charged + unknown, above, isStopped: stopped !== null, isQuota };
};
let pages = 0;

/** The same places as rows of a program, one a batch, as `enrich` and `lookup` buy them, within a budget. */
const buyRows: Buy = async (harness, job, options, count) => {
  const limit = job.budget ?? 100;
  const context = await harness.open({ ...job, budget: limit }, options);
  const stops: string[] = [];
  let above = 0;
  const onEvent = (event: RunEvent) => {
    if (event.type === 'stopped') stops.push(event.reason);
  };
  const batches: OpenedJob[] = [];
  const approve = async (prepared: OpenedJob) => void batches.push(prepared);
  await using run = new BatchRun(context, { renew: async () => context, approve, onEvent });
  for (const [lat, lng] of places(count)) {
    if (run.refusal !== null) break;
    if ((await run.answer([[lat, lng]]).catch(isNoWay)) === null) break;
  }
  run.end();
  for (const { progress } of batches) above += progress.creditsAbovePrice;
  const { creditsSpent, creditsUnknown } = run.spent;
  return { limit, ledger: creditsSpent + creditsUnknown, above, ...endOf(stops.at(-1)) };
};

/** Two runs of a story on a store of its own: the ledger has at least what the service stated, and what it has beyond the bound are charges
 * above the price of their call. */
async function tellStory(
  harness: Harness,
  service: Awaited<ReturnType<typeof serveDeeds>>,
  store: Store,
  { deeds, topics, budget, areas, places: count }: Story,
  buy: Buy,
): Promise<void> {
  const key = harness.key();
  const said = {
    topics,
    concurrency: CONCURRENCY,
    ...(budget !== undefined && { budget }),
    ...(areas !== undefined && { areas }),
  };
  harness.writeInput(places(count));
  rmSync(join(harness.folder, 'output.csv'), { force: true });
  const options = { keys: [key], baseUrl: service.url, store };
  service.begin(deeds);
  service.take();
  for (let number = 0; number < 2; number++) {
    const bounds = await buy(harness, said as JobFile, options, count);
    const sent = service.take();
    if (bounds === null) return assert.deepEqual(sent, []);
    const { limit, ledger, above, isStopped, isQuota } = bounds;
    const stated = sent.reduce((sum, { stated }) => sum + Math.min(stated, MOST_COUNTED), 0);
    assert.ok(ledger >= stated, `${ledger} in the ledger, ${stated} stated`);
    assert.ok(ledger - above <= limit, `${ledger - above} of ${limit}`);
    // One request is paid at most twice, one that failed at a cost once.
    for (const asked of Map.groupBy(sent, ({ target }) => target).values()) {
      const paid = asked.filter(({ stated }) => stated > 0);
      assert.ok(paid.length <= 2, `paid ${paid.length} times`);
      const first = asked.findIndex(({ isPaidFailure }) => isPaidFailure);
      assert.ok(first < 0 || first === asked.length - 1, `asked again: ${JSON.stringify(asked)}`);
    }
    // The second charged failure without an answer in between stops the run; the calls in flight are completed.
    let inARow = 0;
    for (const [index, { isAnswer, isPaidFailure }] of sent.entries()) {
      inARow = isAnswer ? 0 : inARow + (isPaidFailure ? 1 : 0);
      if (inARow < IN_A_ROW.charged) continue;
      assert.ok(isStopped, 'went on after charged failures');
      assert.ok(
        sent.length - index - 1 <= 2 * CONCURRENCY,
        `${sent.length - index - 1} after them`,
      );
      break;
    }
    const unbelieved = sent.findIndex(({ stated }) => stated > MOST_BELIEVED);
    if (unbelieved >= 0) {
      assert.ok(isStopped, 'went on after a cost that no call has');
      assert.ok(sent.length - unbelieved - 1 <= 2 * CONCURRENCY, 'calls after it');
    }
    if (!deeds.some(({ words }) => 'isQuota' in words)) assert.ok(!isQuota, 'the quota');
    if (!deeds.some(({ words }) => 'isScope' in words)) {
      const source = await store.source('harness');
      const lost = await store.refusedScopes(source, key.fingerprint);
      assert.deepEqual([...lost], [], 'a scope is noted as lost');
    }
  }
}

async function tellStories(
  t: TestContext,
  numRuns: number,
  open: (harness: Harness, number: number) => Promise<Store>,
  buy: Buy,
): Promise<void> {
  const harness = await openHarness(t, { factor: 100 });
  const service = await serveDeeds(t);
  let number = 0;
  await fc.assert(
    fc.asyncProperty(anyStory, async (story) => {
      const store = await open(harness, ++number);
      await tellStory(harness, service, store, story, buy).finally(() => store.close());
    }),
    { numRuns, endOnFailure: true },
  );
}

const owner = { name: 'test', isAlive: () => true };

for (const [what, short, buy] of [
  ['a run', 8, buyFile],
  ['rows of a program', 8, buyRows],
  ['the page', 3, buyPage],
] as const) {
  test(`SQLite, ${what}: whatever a service states and refuses, in whatever words, the ledger has it and the bound holds`, async (t) => {
    await tellStories(
      t,
      times({ short, long: 30, soak: 3_000 }),
      async ({ folder, clock }, number) =>
        openSqliteStore(join(folder, `stated-${number}.db`), clock, owner),
      buy,
    );
  });
}

/** Started here, because a server that a test starts ends with it. */
const server = LONG.skip === false ? await sharedPostgres() : null;

for (const [what, options, port] of [
  ['PostgreSQL', LONG, async () => null],
  [
    'PostgreSQL behind PgBouncer',
    LONG.skip === false ? WITH_POOLER : LONG,
    async (t: TestContext) => {
      const pooler = await launchPooler(server!.port);
      t.after(() => pooler[Symbol.asyncDispose]());
      return pooler.port;
    },
  ],
] as const) {
  test(
    `${what}: whatever a service states and refuses, in whatever words, the ledger has it and the bound holds`,
    options,
    async (t) => {
      const through = await port(t);
      const address = () => server!.storeAddress(through === null ? {} : { port: through });
      const open = async ({ clock }: Harness) => openPostgresStore(address(), clock, owner);
      for (const buy of [buyFile, buyRows, buyPage])
        await tellStories(t, times({ long: 8, soak: 400 }), open, buy);
    },
  );
}
