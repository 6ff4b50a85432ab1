import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { customSubscription } from '../../src/contract/subscriptions.ts';
import { NATURAL_SLUGS } from '../../src/contract/topics.ts';
import { type Alter, fakeService, lacking } from '../fake-service.ts';
import { column, places } from '../run/harness.ts';
import { LONG, SHORT } from '../tier.ts';
import { allSources, openBook, openUi, WILDFIRE, yes } from './ui-scene.ts';

const CELLS = 40;

const count = (text: string, status: string) =>
  column(text, 'hazard_status').filter((one) => one === status).length;

/** A summary without the moment at which all would be done: the clock goes on between two plans. */
function timeless(summary: unknown): unknown {
  return JSON.parse(
    JSON.stringify(summary, (key, value) => (key === 'finish_by' ? undefined : value)),
  );
}

test(
  'the whole way: price, budget, rest, nothing; the service counts what the page said',
  SHORT,
  async (t) => {
    const scene = await openUi(t);
    const { harness } = scene;
    const visitor = await scene.visit();
    const { id, columns, location, first } = (
      await visitor.upload('A book.csv', harness.writeInput(places(CELLS)))
    ).body;
    assert.deepEqual(
      [columns, location, first.length],
      [['id', 'lat', 'lng'], { lat: 1, lng: 2 }, 6],
    );
    const price = async () =>
      (await visitor.ask('POST', `/api/files/${id}/price`, { body: WILDFIRE })).body.summary;
    const planned = await price();
    const ofPlan = await harness.plan({ topics: ['wildfire'] });
    assert.deepEqual(timeless(planned), timeless(ofPlan), 'the figures of perilbook plan');
    assert.deepEqual([planned.credits, planned.rows, harness.charged()], [CELLS, CELLS, 0]);

    const { service, account, first: named } = (await visitor.ask('GET', '/api/about')).body;
    assert.deepEqual([service, account, named], [new URL(harness.url).host, 'tester', null]);
    const column = { ...WILDFIRE, lat: 3 };
    const { status: refused, body: why } = await visitor.ask('POST', `/api/files/${id}/price`, {
      body: column,
    });
    assert.deepEqual([refused, why.error.message], [422, 'Unknown column']);

    const start = (body: object) =>
      visitor.ask('POST', `/api/files/${id}/start`, { body: { ...WILDFIRE, ...body } });
    for (const [body, status] of [
      [{}, 400],
      [{ budget: CELLS }, 400],
      [{ budget: CELLS, confirmed: 'yes' }, 409],
      [{ budget: CELLS, confirmed: 'Spend at most 4 credits' }, 409],
      [{ budget: -1, confirmed: 'Spend at most -1 credits' }, 400],
      [{ budget: 1.5, confirmed: 'Spend at most 1.5 credits' }, 400],
    ] as const) {
      assert.equal((await start(body)).status, status, JSON.stringify(body));
    }
    assert.equal(harness.charged(), 0);

    assert.equal((await start(yes(7))).status, 202);
    const paused = await visitor.ended(id);
    assert.deepEqual(
      [paused.end?.state, paused.credits_spent, harness.charged()],
      ['paused', 7, 7],
    );
    const partial = (await visitor.ask('GET', `/api/files/${id}/result`)).text;
    assert.deepEqual([count(partial, 'ok'), count(partial, 'deferred')], [7, CELLS - 7]);

    assert.equal((await price()).credits, CELLS - 7);
    assert.equal((await start(yes(1000))).status, 202);
    assert.equal((await visitor.ended(id)).end?.state, 'complete');
    assert.equal(harness.charged(), CELLS, 'the rest only');

    assert.equal((await start(yes(0))).status, 202);
    assert.equal((await visitor.ended(id)).end?.state, 'complete');
    const { headers, text } = await visitor.ask('GET', `/api/files/${id}/result`);
    assert.equal(count(text, 'ok'), CELLS);
    assert.match(
      String(headers['content-disposition']),
      /^attachment; filename="A book\.hazards\.csv"/,
    );
    assert.deepEqual([harness.charged(), (await harness.ledger()).charged], [CELLS, CELLS]);
    assert.deepEqual(scene.bugs, []);
  },
);

test(
  'two starts at once: one runs; stop lands what is in flight; after a restart the rest is bought',
  SHORT,
  async (t) => {
    // Ten credits a minute, of which one takes 1.2 s: the run waits when it is stopped.
    const slow = { subscription: customSubscription(1_000, 10), factor: 50 };
    const { harness, visitor, id, post, restart } = await openBook(t, places(30), {}, slow);
    const start = () => post('start', yes(30));
    const statuses = (await Promise.all([start(), start(), start()])).map(({ status }) => status);
    assert.deepEqual(statuses.sort(), [202, 409, 409]);
    assert.equal((await post('stop')).status, 202);
    const stopped = await visitor.ended(id);
    assert.deepEqual(
      [stopped.end?.state, stopped.credits_spent],
      ['interrupted', harness.charged()],
    );
    assert.ok(harness.charged() < 30, `${harness.charged()} were bought`);
    assert.equal((await post('stop')).status, 409);

    assert.equal((await start()).status, 202);
    const again = await restart();
    const { charged } = await harness.ledger();
    assert.equal(harness.charged(), charged, 'closing waits for what is in flight');
    const later = await again.visit();
    const { chosen, run, has_output } = (await later.ask('GET', `/api/files/${id}`)).body;
    assert.deepEqual([run.end.state, has_output], ['interrupted', true]);
    assert.deepEqual(
      [chosen.topics, chosen.lat, chosen.lng, chosen.order],
      [['wildfire'], 1, 2, 'file'],
    );
    await later.ask('POST', `/api/files/${id}/start`, {
      body: { ...WILDFIRE, ...yes(30 - charged) },
    });
    assert.equal((await later.ended(id)).end?.state, 'complete');
    assert.equal(harness.charged(), 30);
  },
);

test(
  'a limit that was set where the page was started cannot be passed on the page',
  SHORT,
  async (t) => {
    const { harness, post, run } = await openBook(t, places(9), { mostBudget: 5 });
    assert.equal((await post('start', yes(6))).status, 422);
    assert.equal(harness.charged(), 0);
    await run(5);
    assert.equal(harness.charged(), 5);
  },
);

test(
  'a price after another choice of topics or rows is that of a fresh plan, and no choice spends',
  SHORT,
  async (t) => {
    const { harness, post } = await openBook(t, [...places(5), ...places(2), [30, -140]]);
    for (const topics of [['wildfire'], ['hail', 'wildfire', 'park'], ['radon'], ['wildfire']]) {
      for (const optimize of ['credits', 'calls'] as const) {
        const { summary } = (await post('price', { topics, optimize })).body;
        assert.deepEqual(timeless(summary), timeless(await harness.plan({ topics, optimize })));
      }
    }
    const rows = async (header: boolean) => (await post('price', { header })).body.summary?.rows;
    assert.deepEqual([await rows(true), await rows(false), await rows(true)], [8, 9, 8]);
    assert.equal(harness.charged(), 0);
  },
);

test('a file without a header line: its first row is bought and comes back', SHORT, async (t) => {
  const text = places(3).map(([lat, lng]) => `x,${lat},${lng}\n`);
  const { harness, visitor, get, run } = await openBook(t, text.join(''));
  const bare = (await get('?header=no')).body;
  assert.deepEqual([bare.columns, bare.header, bare.first.length], [['1', '2', '3'], false, 3]);
  const { end } = await run(3, { header: false });
  assert.deepEqual([end?.state, end?.rows, harness.charged()], ['complete', 3, 3]);
  const again = (await get()).body;
  assert.deepEqual([again.header, again.chosen.lat], [false, 1], 'as it was chosen');
  for (const [name, table, hasHeaderLine] of [
    ['tabs.tsv', text.join('').replaceAll(',', '\t'), true],
    ['lines.ndjson', '{"lat":40.1,"lng":-99.9}\n', false],
  ] as const) {
    assert.equal((await visitor.upload(name, table)).body.hasHeaderLine, hasHeaderLine, name);
  }
});

test(
  'a key is tried before Start, once and free of charge; a refusal says what to do and shows no key',
  SHORT,
  async (t) => {
    const cases = [
      [null, null, 0],
      [{ status: 401, body: { message: 'unknown key {key}' } }, 'KEY_REFUSED', 0],
      [{ status: 402 }, 'KEY_REFUSED', 0],
      [{ status: 429, body: { code: 'QUOTA_EXCEEDED' } }, 'QUOTA_EXCEEDED', 0],
      [{ status: 403 }, null, 0],
      [{ status: 403, body: { message: 'Daily limit exceeded' } }, 'QUOTA_EXCEEDED', 0],
      // It passes.
      [{ status: 401, headers: { 'retry-after': '2' } }, null, 0],
      [{ status: 502 }, null, 0],
      [{ status: 200, body: {}, headers: { 'x-credit-cost': '1' } }, null, 1],
    ] as const;
    for (const [fault, code, charged] of cases) {
      let baseUrl = '';
      let secret = '';
      const scene = await openUi(t, (harness) => {
        const key = harness.key();
        secret = key.secret;
        return {
          connectionOf: async () => ({
            kind: 'service',
            baseUrl,
            source: 'fake',
            sample: false,
            keys: [key],
          }),
        };
      });
      const { harness } = scene;
      const fake = await fakeService(t, harness.url);
      baseUrl = fake.url;
      if (fault !== null) fake.script([fault]);
      const visitor = await scene.visit();
      const [first, second] = await Promise.all(
        [1, 2].map(() => visitor.ask('POST', '/api/key', { body: { again: false } })),
      );
      assert.equal(first!.body.refusal?.code ?? null, code, first!.text);
      assert.equal(second!.text, first!.text);
      assert.ok(!first!.text.includes(secret), first!.text);
      assert.deepEqual(await harness.ledger(), { charged, unknown: 0, open: 0 }, first!.text);
      const [tried] = await harness.store.runs({ job: 'key check' });
      assert.equal(tried!.state, code === null ? 'complete' : 'stopped');
      assert.deepEqual([fake.answers.length, harness.charged()], [1, 0]);
      assert.deepEqual(scene.bugs, []);
      if (fault?.status !== 429) continue;
      const { id } = (await visitor.upload('book.csv', harness.writeInput(places(3)))).body;
      const { summary } = (await visitor.ask('POST', `/api/files/${id}/price`, { body: WILDFIRE }))
        .body;
      assert.equal(summary.credits_available, 0);
    }
  },
);

/** The page over a service that does what it is told, with a file of places. */
async function openFaulty(t: TestContext, count: number, alter?: Alter) {
  const told = { baseUrl: '' };
  const opened = await openBook(t, places(count), (harness) => {
    const connection = { kind: 'service', source: 'fake', sample: false } as const;
    const keys = [harness.key()];
    return { connectionOf: async () => ({ ...connection, ...told, keys }) };
  });
  const fake = await fakeService(t, opened.harness.url, alter);
  told.baseUrl = fake.url;
  return { ...opened, fake };
}

test(
  'a price that a refusal made dearer is bought only where the dialog said so, with the sentence of the service',
  SHORT,
  async (t) => {
    const { harness, fake, visitor, id, post, run, bugs } = await openFaulty(t, 2);
    const body = { error: { code: 'SCOPE_REQUIRED', message: 'wildfire is not yours' } };
    fake.script([{ address: ['/wildfire/'], status: 403, body }]);
    const { end } = await run(100);
    assert.deepEqual([end?.state, harness.charged()], ['paused', 0]);
    const { summary, refused } = (await post('price')).body;
    assert.equal(summary.credits, 30);
    assert.match(
      refused,
      /^The service refused the scope wildfire on \S+ \(403 SCOPE_REQUIRED\): wildfire is not yours: this costs 30 credits in place of 2\.$/,
    );
    const unseen = await run(100);
    assert.deepEqual([unseen.error?.code, harness.charged()], ['NEEDS_APPROVAL', 0]);
    const lower = await run(100, { acceptedPrice: 29 });
    assert.deepEqual([lower.error?.code, harness.charged()], ['NEEDS_APPROVAL', 0]);
    assert.equal((await run(0)).error, null, 'nothing can be spent');
    const seen = await run(100, { acceptedPrice: summary.credits });
    assert.deepEqual([seen.error, seen.end?.state, harness.charged()], [null, 'complete', 30]);
    assert.equal((await post('price')).body.refused, null);
    assert.deepEqual([bugs, (await visitor.ask('GET', `/api/files/${id}`)).status], [[], 200]);
  },
);

for (const areas of [undefined, 'tract', 'county'] as const) {
  const where = areas ? `, with one answer for a ${areas}` : '';
  const tier = areas === undefined ? SHORT : LONG;
  const choice = { topics: [...NATURAL_SLUGS, 'radon', 'airQuality'], ...(areas && { areas }) };

  test(
    `what the dialog asks for is the most that is charged, retries together${where}`,
    tier,
    async (t) => {
      const { harness, post, run, bugs } = await openFaulty(t, 4, lacking);
      const { credits, credits_limit: most } = (await post('price', choice)).body.summary;
      assert.ok(credits < most, `${credits} of ${most}`);
      // A budget of the price alone leaves no credit for a retry.
      assert.equal((await run(credits, choice)).credits_spent, harness.charged());
      assert.ok(harness.charged() <= credits, `${harness.charged()} of ${credits}`);
      const before = harness.charged();
      const rest = (await post('price', choice)).body.summary.credits_limit;
      assert.equal((await run(rest, choice)).credits_spent, harness.charged() - before);
      assert.ok(harness.charged() - before <= rest, `${harness.charged() - before} of ${rest}`);
      assert.deepEqual(bugs, []);
    },
  );

  test(`of the costs that an answer states the highest counts${where}`, tier, async (t) => {
    for (const [cost, from, to] of [
      [2, '"credit_cost":2', '"credit_cost":5'],
      [5, '"credit_cost":5', '"credit_cost":1'],
      [5, '"credit_cost"', '"cost"'],
    ] as const) {
      const { fake, run, harness } = await openFaulty(t, 12);
      fake.script([{ cost, replace: [from, to] }]);
      const { end } = await run(8, { ...choice, topics: ['drought'] });
      assert.deepEqual([end?.state, end?.charged, end?.budget_left], ['paused', 5, 3]);
      assert.deepEqual([fake.answers.length, (await harness.ledger()).charged], [1, 5]);
      assert.match(end?.stopped ?? '', /charges 5 credits/);
    }
  });

  test(
    `a failure that states a cost is paid once, and two in a row stop the run${where}`,
    tier,
    async (t) => {
      for (const status of [408, 420, 429, 403, 500]) {
        const { fake, run, harness } = await openFaulty(t, 12);
        const headers = { 'x-credit-cost': '1', 'retry-after': '1' };
        fake.script([{ status, headers, body: { error: { code: 'TRY_AGAIN' } } }]);
        const { end } = await run(100, { ...choice, topics: ['drought', 'radon'] });
        const requests = fake.answers.length;
        assert.ok(requests <= 2 && requests === end?.charged, `${status}: ${requests} requests`);
        assert.equal((await harness.ledger()).charged, requests);
        assert.match(end.stopped ?? '', /charges for failures|states a cost/, String(status));
      }
    },
  );
}

test('a price is refused, as its start would be, where made-up answers would stand beside real ones', async (t) => {
  const made = await openBook(t, places(3), (opened) => allSources(opened));
  assert.equal((await made.run(3, { source: 'sample' })).end?.state, 'complete');
  const { body: book } = await made.visitor.upload('made.csv', (await made.get('/result')).text);
  const price = async (topics: readonly string[]) => {
    const body = { ...WILDFIRE, source: 'service', topics };
    return (await made.visitor.ask('POST', `/api/files/${book.id}/price`, { body })).body;
  };
  const refusal = {
    code: 'INPUT_COLUMNS',
    message:
      'The input has made-up answers to wildfire; those of this run are real, and no output has both',
    hint: 'Give the file without the columns of the earlier run.',
  };
  assert.deepEqual((await price(['hail'])).error, refusal);
  // Another scan than that of the topics before: of these, nothing stays.
  assert.equal((await price(['hail', 'wildfire'])).summary.credits, 6);
  assert.deepEqual((await price(['hail'])).error, refusal);
  assert.deepEqual([made.harness.charged(), made.bugs], [0, []]);
});
