import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient, enrich, local, lookup, type RunEvent } from '../../src/index.ts';
import { storeBehind } from '../../src/library/answer-store.ts';
import { forAnotherPlace, standBetween } from '../fake-service.ts';
import { places } from '../run/harness.ts';
import { all, localFile, openScene, rowsOf, statuses } from './library-scene.ts';

test('each place is bought once over all batches, and a second enrichment is free', async (t) => {
  const { client, store, charged } = await openScene(t);
  const rows = rowsOf([...places(7), ...places(7), ...places(3)]);
  const options = {
    topics: ['wildfire', 'park'] as const,
    source: client(),
    store,
    budget: 1_000,
    batch: 3,
  };
  const found = await all(enrich(rows, options));
  assert.equal(found.length, rows.length);
  assert.ok(found.every(({ row, status }, index) => row === rows[index] && status === 'ok'));
  assert.equal(found[0]!.hazards.park_count, found[7]!.hazards.park_count);
  assert.equal(charged(), 14);
  await all(enrich(rows, { ...options, budget: 0 }));
  assert.equal(charged(), 14);
});

test('one budget holds for all batches; every row comes back, and says what it lacks', async (t) => {
  const { client, store, charged } = await openScene(t);
  const events: RunEvent[] = [];
  const options = { topics: 'wildfire' as const, source: client(), store, budget: 5, batch: 2 };
  const found = await all(
    enrich(rowsOf(places(9)), { ...options, onEvent: (event) => events.push(event) }),
  );
  assert.equal(charged(), 5);
  assert.deepEqual(statuses(found), [...Array(5).fill('ok'), ...Array(4).fill('deferred')]);
  assert.equal(found[8]!.note, 'not bought yet. The budget of 5 credits is reached.');
  const progress = events.filter((event) => event.type === 'progress');
  const { rows, creditsSpent, calls } = progress.at(-1)!;
  assert.deepEqual([rows, creditsSpent, calls], [9, 5, 5]);
  const least = Math.min(...progress.map(({ callsInFlight }) => callsInFlight));
  assert.equal(least, 0, 'no call ended that was not in flight');
  const [stopped, ...others] = events.filter(({ type }) => type === 'stopped');
  const why = {
    reason: 'budget',
    message: 'The budget of 5 credits is reached.',
    resumeAfter: null,
  };
  assert.deepEqual([stopped, others], [{ type: 'stopped', ...why }, []]);
  await all(enrich(rowsOf(places(9)), options));
  assert.equal(charged(), 9);
});

test('a budget does not approve what a refused scope made dearer; an accepted price does', async (t) => {
  const { harness, client, store, charged } = await openScene(t);
  const source = client({ api_key: harness.key('bundle').secret });
  const options = { topics: 'wildfire' as const, source, store, budget: 1_000 };
  const rows = rowsOf(places(3));
  const stopped = await all(enrich(rows, options));
  assert.deepEqual([statuses(stopped), charged()], [['deferred', 'deferred', 'deferred'], 0]);
  await assert.rejects(all(enrich(rows, options)), {
    code: 'NEEDS_APPROVAL',
    message:
      /^The service refused the scope wildfire on .*: this costs 45 credits in place of 3\. Neither a budget/,
    hint: 'Pass acceptPrice: 45, or ask the provider for the scope.',
  });
  await assert.rejects(lookup(rows[0]!, 'wildfire', { ...options, acceptPrice: 14 }), {
    code: 'NEEDS_APPROVAL',
  });
  assert.equal(charged(), 0);
  await all(enrich(rows, { ...options, acceptPrice: 45 }));
  assert.equal(charged(), 45);
});

test('what was paid for nothing is not paid again in a later batch', async (t) => {
  const { harness, client, store, charged } = await openScene(t);
  const [place] = places(1) as [[number, number]];
  const base_url = await standBetween(t, harness.url, (_, answer) =>
    answer.status === 200 ? forAnotherPlace(answer) : answer,
  );
  const rows = rowsOf([place, place, place]);
  const options = {
    topics: ['wildfire'] as const,
    source: client({ base_url }),
    store,
    budget: 100,
    batch: 1,
  };
  const found = await all(enrich(rows, options));
  assert.equal(charged(), 1);
  assert.deepEqual(statuses(found), ['failed', 'failed', 'failed']);
});

test('a consumer that stops early has paid for its batch only', async (t) => {
  const { client, store, charged } = await openScene(t);
  for await (const { row } of enrich(rowsOf(places(9)), {
    ...{ topics: ['wildfire'] as const, source: client(), store, budget: 100, batch: 2 },
  })) {
    if (row.id === 3) break;
  }
  assert.equal(charged(), 4);
  assert.equal((await storeBehind(store).runs())[0]!.state, 'interrupted');
});

test('an abort completes the calls in flight, throws INTERRUPTED, and the answers are kept', async (t) => {
  const { client, store, charged } = await openScene(t);
  const interruption = new AbortController();
  const onEvent = (event: RunEvent) =>
    event.type === 'progress' && event.phase === 'buying' && interruption.abort();
  const options = {
    topics: ['wildfire'] as const,
    source: client({ concurrency: 2 }),
    store,
    budget: 100,
  };
  const first = all(
    enrich(rowsOf(places(60)), { ...options, signal: interruption.signal, onEvent }),
  );
  await assert.rejects(first, { name: 'PerilbookError', code: 'INTERRUPTED' });
  const before = charged();
  assert.ok(before < 60, `${before} credits`);
  await all(enrich(rowsOf(places(60)), options));
  assert.equal(charged(), 60);
});

test('an abort between two rows ends before the next one; what was bought is kept', async (t) => {
  const { client, store, charged } = await openScene(t);
  const interruption = new AbortController();
  const options = { topics: ['wildfire'] as const, source: client(), store, budget: 100, batch: 4 };
  const seen: unknown[] = [];
  await assert.rejects(
    async () => {
      for await (const { row } of enrich(rowsOf(places(9)), {
        ...options,
        signal: interruption.signal,
      })) {
        seen.push(row.id);
        if (row.id === 2) interruption.abort();
      }
    },
    { code: 'INTERRUPTED' },
  );
  assert.deepEqual(seen, [1, 2]);
  await all(enrich(rowsOf(places(4)), options));
  assert.equal(charged(), 4);
});

test('a signal that is already aborted spends nothing', async (t) => {
  const { harness, client, store, charged } = await openScene(t);
  const [row] = rowsOf(places(1));
  const options = { signal: AbortSignal.abort(), budget: 1 };
  const interrupted = { name: 'PerilbookError', code: 'INTERRUPTED' };
  await assert.rejects(
    lookup(row!, 'wildfire', { ...options, source: client(), store }),
    interrupted,
  );
  await assert.rejects(
    all(enrich([row!], { ...options, topics: 'wildfire', source: client(), store })),
    interrupted,
  );
  using here = local({ file: localFile(harness) });
  await assert.rejects(lookup(row!, 'wildfire', { ...options, source: here }), interrupted);
  assert.equal(charged(), 0);
});

test('a metered source needs a budget before anything is sent', async (t) => {
  const { client, store, charged } = await openScene(t);
  assert.throws(
    () => enrich(rowsOf(places(1)), { topics: ['wildfire'] as const, source: client(), store }),
    {
      code: 'NEEDS_APPROVAL',
    },
  );
  const one = { lat: 40.25, lng: -99.75 };
  await assert.rejects(lookup(one, 'wildfire', { source: client(), store }), {
    code: 'NEEDS_APPROVAL',
  });
  await assert.rejects(lookup(one, 'wildfire', { source: client(), budget: 1 }), {
    code: 'USAGE',
    message: 'Missing store',
  });
  assert.equal(charged(), 0);
});

test('look-ups of one place at one time buy it once', async (t) => {
  const { client, store, charged } = await openScene(t);
  const options = { source: client(), store, budget: 1 };
  const asked = Array.from({ length: 8 }, () =>
    lookup({ lat: 40.25, lng: -99.75 }, 'wildfire', options),
  );
  const found = await Promise.all(asked);
  assert.deepEqual(new Set(found.map(({ status }) => status)), new Set(['ok']));
  assert.equal(charged(), 1);
});

test('a key that the service refuses is an error after the rows of the batch, which name it too; nothing is charged', async (t) => {
  const { harness, store, charged, client } = await openScene(t);
  const hailOnly = createClient({ base_url: harness.url, api_key: harness.key('hail').secret });
  for (const [source, why, code] of [
    [
      client({ api_key: 'no-such-key' }),
      'The service refused the key (401 UNAUTHENTICATED): The X-API-Key header must carry a valid key.',
      'KEY_REFUSED',
    ],
    [hailOnly, 'What is left costs 30 credits now, 2 before: nothing more was bought.', null],
    [hailOnly, 'No key may buy wildfire (403).', 'KEY_REFUSED'],
    // The store remembers it: nothing is sent.
    [hailOnly, 'No key may buy wildfire', 'SCOPE_MISSING'],
  ] as const) {
    const money = { budget: 60, acceptPrice: 30 };
    const options = { topics: ['wildfire'] as const, source, store, ...money, batch: 2 };
    const rows: string[] = [];
    const end = (async () => {
      for await (const { status, note } of enrich(rowsOf(places(3)), options))
        rows.push(`${status}: ${note}`);
    })();
    // Another way to buy that costs more is no error: the next enrichment plans it.
    if (code === null) await end;
    else
      await assert.rejects(end, { name: 'PerilbookError', code, message: why.replace(/\.$/, '') });
    assert.equal(rows.length, code === null ? 3 : code === 'SCOPE_MISSING' ? 0 : 2);
    for (const row of rows)
      assert.ok(row.startsWith('deferred: not bought yet. ') && row.endsWith(why), row);
  }
  const place = { lat: 40.25, lng: -99.75 };
  const refused = { source: client({ api_key: 'no-such-key' }), store, budget: 1 };
  await assert.rejects(lookup(place, 'wildfire', refused), { code: 'KEY_REFUSED' });
  // What the store has needs no key.
  await lookup(place, 'wildfire', { ...refused, source: client() });
  assert.equal((await lookup(place, 'wildfire', refused)).status, 'ok');
  assert.equal(charged(), 1);
});

test('a row that is not bought says why; later rows that the store has, or that the rest of the budget pays, still come', async (t) => {
  const { client, store } = await openScene(t);
  const options = { source: client(), store, batch: 1 };
  const rows = rowsOf(places(4));
  await all(enrich(rows.slice(2), { ...options, topics: 'wildfire', budget: 2 }));
  await all(enrich(rows.slice(3), { ...options, topics: 'hail', budget: 1 }));
  const found = await all(enrich(rows, { ...options, topics: ['wildfire', 'hail'], budget: 3 }));
  assert.deepEqual(
    found.map(({ status, note }) => [status, note?.split(':')[0]]),
    [
      ['ok', "service's data"],
      ['deferred', 'not bought yet. The budget of 3 credits is reached.'],
      ['ok', "service's data"],
      ['ok', "service's data"],
    ],
  );
});

test('the ledger has one run for an enrichment, with its end, and none where nothing was bought', async (t) => {
  const { client, store } = await openScene(t);
  const run = async (count: number, budget: number, source = client()) =>
    await all(
      enrich(rowsOf(places(count)), {
        topics: ['wildfire'] as const,
        source,
        store,
        budget,
        batch: 1,
      }),
    );
  await run(4, 100);
  await run(4, 100);
  await run(7, 2);
  await run(9, 100, client({ subscription: { credits_per_month: 7, credits_per_minute: 100 } }));
  const runs = await storeBehind(store).runs();
  assert.deepEqual(
    runs.map((run) => [
      run.job,
      run.state,
      run.plannedCredits,
      run.budget,
      run.charged,
      run.summary,
    ]),
    [
      [
        'library',
        'paused',
        100,
        100,
        1,
        { stopped: 'The quota of this billing period is used up.' },
      ],
      ['library', 'paused', 2, 2, 2, { stopped: 'The budget of 2 credits is reached.' }],
      ['library', 'complete', 100, 100, 4, null],
    ],
  );
  assert.deepEqual(
    runs.map(({ resumeAfter }) => resumeAfter !== null),
    [true, false, false],
  );
});
