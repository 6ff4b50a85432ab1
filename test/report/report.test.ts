import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UNLIMITED } from '../../src/job/account-settings.ts';
import { gatherFacts } from '../../src/report/figures/gather-facts.ts';
import { handMadeBook } from './hand-made-book.ts';

test('the facts of a book made by hand are its sums by hand', async (t) => {
  const { facts } = await handMadeBook(t, 'spread');
  const made = await facts();
  const { rows, all, places, invalid, outsideUs, valueName, currency, highest, missing } = made;
  assert.deepEqual([rows, all.locations, places, invalid, outsideUs], [14, 11, 9, 2, 1]);
  assert.deepEqual(
    [all.value, valueName, currency],
    [11_850_000, 'BuildingTIV + ContentsTIV', null],
  );
  const earthquake = made.topics.find(({ topic }) => topic === 'earthquake')!;
  assert.deepEqual(earthquake.severe, { locations: 5, value: 3_050_000 });
  assert.deepEqual(earthquake.classes[4], { name: 'Very High', locations: 3, value: 1_850_000 });
  assert.deepEqual(earthquake.notAnswered, { locations: 1, value: 600_000 });
  assert.deepEqual(highest!.answered, { locations: 10, value: 11_250_000 });
  assert.equal(
    made.story,
    '16 % of the 11.3 M answered is rated Very High for earthquake; Los Angeles, California and Anchorage, Alaska hold 100 % of it; 600 K is not answered.',
  );
  const rated = made.locations.map(({ id, ratings }) =>
    [id, ...ratings.map(({ topic, rating }) => `${topic} ${rating}`)].join(', '),
  );
  assert.deepEqual(rated, [
    ...['3, hail Relatively High', '1, earthquake Very High, wildfire Very High'],
    ...[
      '8, earthquake Relatively High',
      '5, hail Relatively High',
      '7, earthquake Relatively High',
    ],
    '6, earthquake Very High, wildfire Relatively High',
  ]);
  assert.deepEqual(missing.stopped, 'The quota is used up <b>.');
  const problems = made.problems.map(({ places }) => places);
  assert.deepEqual(
    problems,
    [[{ line: 12 }], [{ line: 13 }], [{ line: 14 }], [{ line: 15 }]],
    'no texts of the file',
  );
});

test('a partly answered book in two currencies: each figure is a sum of what is said of it', async (t) => {
  const book = await handMadeBook(t, 'partly');
  const [facts, page] = [await book.facts(), await book.page()];
  // In millions of USD by hand. Houston, in CAD, is a location without a value.
  const book$ = { losAngeles: 1, miami: 2, newYork: 4, denver: 8, houston: 0 };
  const sum = (...places: (keyof typeof book$)[]) => ({
    locations: places.length,
    value: places.reduce((all, place) => all + book$[place] * 1e6, 0),
  });
  assert.deepEqual(facts.all, sum('losAngeles', 'miami', 'newYork', 'denver', 'houston'));
  assert.deepEqual(facts.complete, sum('miami', 'houston'));
  const perils = facts.topics.map(({ topic, answered, notAnswered, severe, classes }) => [
    topic,
    {
      answered,
      notAnswered,
      severe,
      veryHigh: { locations: classes[4]!.locations, value: classes[4]!.value },
    },
  ]);
  assert.deepEqual(Object.fromEntries(perils), {
    coastalFlood: {
      answered: sum('losAngeles', 'miami', 'newYork', 'houston'),
      ...{ notAnswered: sum('denver'), severe: sum(), veryHigh: sum() },
    },
    hurricane: {
      ...{ answered: sum('miami', 'houston'), notAnswered: sum('losAngeles', 'newYork', 'denver') },
      ...{ severe: sum('miami', 'houston'), veryHigh: sum('miami') },
    },
    wildfire: {
      ...{ answered: sum('losAngeles', 'miami', 'houston'), notAnswered: sum('newYork', 'denver') },
      ...{ severe: sum('losAngeles'), veryHigh: sum('losAngeles') },
    },
  });
  assert.equal(
    facts.story,
    '100 % of the $2.00 M answered is rated Very High for hurricane; Miami-Dade, Florida holds 100 % of it; $13.0 M is not answered.',
  );
  assert.ok(
    page.includes(
      '<dt>Answered</dt><dd>40.0 %<small>of locations, 13.3 % of value, in all 3 topics</small>',
    ),
  );
  // The title names what is in the report, and the map and the table show the peril of the first sentence.
  assert.ok(page.includes('<h1><bdi>FL insurance</bdi>: 5 locations</h1>'));
  assert.match(page, /<option value="2" selected>Hurricane<\/option>/);
  assert.match(page, /<tr data-layer="2" class="chosen"><th scope="row">Hurricane</);
  assert.ok(page.includes('Shown: Hurricane, by value.'));
  assert.ok(
    page.includes(
      '<b>Most Very High for Hurricane:</b> <small>Miami-Dade, Florida ($2.00 M)</small>',
    ),
  );
  // Values of two currencies are never added, and no line of the page says so.
  assert.ok(page.includes('$15.0 M (4 locations), CAD 16.0 M (1 location). They are not added'));
  assert.doesNotMatch(page, /add the numbers/);
  assert.ok(page.includes('To see another currency, for example: <code>--currency CAD</code>.'));
  const sums = facts.currencies.map(({ currency, value }) => `${currency} ${value}`);
  assert.deepEqual(sums, ['USD 15000000', 'CAD 16000000']);
});

test('the run, its money and what is left, as the ledger has them; without a run, as planned', async (t) => {
  const { prepared, store, clock } = await handMadeBook(t, 'partly');
  const { job, plan } = prepared;
  const made = async (changes: object = {}, now = clock.now()) =>
    (await gatherFacts({ ...prepared, ...changes }, now)).facts;
  // Neither is the run of this report.
  const other = { output: 'o.csv', account: 'a', plannedCredits: 9, budget: 9 };
  await store.startRun({ ...other, job: job.name, input: 'other.csv' });
  await store.startRun({ ...other, job: 'other', input: job.input });
  const facts = await made();
  const { credits, missing, runAt, running, madeAt, input, output, source } = facts;
  assert.deepEqual([input, output, source], ['book.csv', 'out.csv', 'hazards.example.com/v1']);
  assert.deepEqual(
    [runAt, running, madeAt],
    ['2026-03-15T12:00:00.000Z', false, '2026-03-15T12:02:00.000Z'],
  );
  const account = {
    name: 'Sample account',
    allowance: 1000,
    left: 940,
    assumed: null,
    resetsAt: '2026-04-01T00:00:00.000Z',
  };
  assert.deepEqual(missing, {
    status: [
      { status: 'ok', rows: 2 },
      { status: 'deferred', rows: 3 },
      { status: 'invalid', rows: 1 },
    ],
    reasons: [
      'not bought yet: hurricane',
      'not bought yet: hurricane wildfire',
      'not bought yet',
    ].map((note) => ({
      note,
      rows: 1,
    })),
    ...{
      credits: 6,
      places: 3,
      stopped: 'The quota is used up <b>.',
      resumeAfter: '2026-03-31T00:00:00.000Z',
      account,
    },
  });
  const none = { unknown: 0, inFlight: 0 };
  const ledger = [
    {
      kind: 'standard',
      calls: { charged: 4, free: 0, ...none },
      credits: { charged: 60, ...none },
    },
  ];
  const saved = { byCells: 30, byCache: 4, byAreas: 0 };
  assert.deepEqual(credits, {
    isMadeUp: false,
    planned: 150,
    charged: 60,
    ...none,
    allowed: 140,
    saved,
    ledger,
  });
  const circles = facts.circles.map(({ id, name, value }) => `${id}${name}: ${value}`);
  assert.deepEqual(circles, ['4: 8000000', '3: 4000000', '2: 2000000', '1: 1000000']);
  const [first] = facts.locations;
  assert.deepEqual(
    [first!.id, first!.ratings],
    ['2', [{ topic: 'hurricane', rating: 'Very High', score: 99, frequency: 0.4 }]],
  );
  // The time has come.
  assert.equal((await made({}, Date.parse('2026-03-31T00:00:00Z'))).missing.resumeAfter, null);
  const never = { job: { ...job, input: '-', output: '-' } };
  const planned = await made(never);
  assert.deepEqual([planned.input, planned.output, planned.runAt], ['standard input', null, null]);
  const { resumeAfter, stopped, account: plannedAccount } = planned.missing;
  assert.deepEqual([resumeAfter, stopped, plannedAccount], [null, null, account]);
  const { summary } = prepared;
  assert.deepEqual(planned.credits, {
    ...{ isMadeUp: false, planned: summary.credits, charged: 0, ...none, allowed: null, ledger },
    saved: {
      byCells: summary.saved.by_cells,
      byCache: summary.saved.by_cache,
      byAreas: summary.saved.by_areas,
    },
  });
  const usedUp = structuredClone(plan.account!.account);
  Object.assign(usedUp.subscription, { creditsPerMonth: 60 });
  const empty = await made({
    ...never,
    plan: { ...plan, account: { ...plan.account, account: usedUp } },
  });
  assert.equal(empty.missing.resumeAfter, '2026-04-01T00:00:00.000Z');
  const settings = {
    job: {
      ...job,
      output: '-',
      service: { kind: 'sample' },
      account: { ...job.account, subscription: UNLIMITED },
    },
  };
  const sample = await made({
    ...settings,
    connection: { ...prepared.connection, baseUrl: 'https://h.example.com/' },
  });
  assert.deepEqual(
    [sample.output, sample.missing.account, sample.source],
    [null, null, 'h.example.com'],
  );
  const own = {
    connection: { ...prepared.connection, kind: 'local' },
    plan: { ...plan, account: null },
  };
  const local = await made(own);
  assert.deepEqual(
    [local.source, local.credits, local.missing.account],
    ['local data', null, null],
  );
});

test('without values, places are listed and circles drawn by their rows', async (t) => {
  const facts = await (await handMadeBook(t, 'town')).facts();
  assert.deepEqual(
    [facts.all, facts.valueName, facts.currencies],
    [{ locations: 3, value: null }, null, []],
  );
  const circles = facts.circles.map(({ id, locations, value }) => `${id} ${locations} ${value}`);
  assert.deepEqual(circles.sort(), ['a 1 null', 'b 1 null', 'c 1 null']);
});

test('nothing out of a file is markup on the page, and what turns the direction of writing is named', async (t) => {
  const { page } = await handMadeBook(t, 'spread');
  const made = await page();
  const times = (text: string) => made.split(text).length - 1;
  assert.deepEqual(
    [times('<script'), times('</script')],
    [4, 4],
    'the data of the map, its names, the ratings of the list, and the one script',
  );
  for (const foreign of ['<img', '<b>Curious', 'used up <b>', 'service <b>', '</td></table>&']) {
    assert.equal(times(foreign), 0, foreign);
  }
  for (const shown of [
    '&lt;script&gt;alert(&#39;name&#39;)&lt;/script&gt;',
    '&quot;Quoted&quot; &amp; &#39;single&#39; &lt;/td&gt;&lt;/table&gt;',
    'a⟨U+202E⟩gpj.exe ⟨U+2066⟩x⟨U+2069⟩ ⟨U+0007⟩bell ⟨U+200F⟩mark',
    '<bdi>5 · מגדל עברי (Hebrew)</bdi>',
  ]) {
    assert.ok(times(shown) >= 1, shown);
  }
  assert.equal(made.search(/[\p{Bidi_C}]|(?!\n)\p{Cc}/u), -1, 'no unseen character is left');
});

test('keys and tokens are not on the page, and nothing on it points elsewhere', async (t) => {
  const { page, facts } = await handMadeBook(t, 'town');
  const made = await page();
  assert.equal(
    (await facts()).story,
    '0 % of the 3 locations answered are within 1 mile of Superfund Sites.',
  );
  assert.equal(made.search(/SECRET/), -1);
  assert.ok(made.includes('answers from <bdi>hazards.example.com/v1</bdi>'));
  assert.equal(made.search(/https?:\/\/|url\((?!#)|src=|@import/), -1);
  assert.ok(
    /default-src 'none'; style-src 'sha256-[\w+/=]{44}'; script-src 'sha256-[\w+/=]{44}'/.test(
      made,
    ),
  );
});

test('the share answered is by value where the shares are of value', async (t) => {
  const page = await (await handMadeBook(t, 'spread')).page();
  // Sums of book.csv by hand: 11,850,000 in the US; Denver (600,000) was not bought, wildfire fails for Phoenix (400,000).
  const all = 11_850_000;
  const share = (value: number) => `${((value / all) * 100).toFixed(1)} %`;
  const lineOf = (topic: string) =>
    new RegExp(`<tr data-layer[^>]*><th scope="row">${topic}<.*`).exec(page)![0];
  assert.ok(
    lineOf('Earthquake').endsWith(`<td class="n">${share(all - 600_000)}</td></tr>`),
    lineOf('Earthquake'),
  );
  assert.ok(
    lineOf('Wildfire').endsWith(`<td class="n">${share(all - 1_000_000)}</td></tr>`),
    lineOf('Wildfire'),
  );
});
