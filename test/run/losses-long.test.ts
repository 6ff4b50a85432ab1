import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { snakeCase } from '../../src/columns/topic-columns.ts';
import { NATURAL_SLUGS, type NaturalSlug } from '../../src/contract/topics.ts';
import { openDataDatabase } from '../../src/data/tables/data-database.ts';
import { importDataset } from '../../src/data/tables/import-dataset.ts';
import type { AreaRecord, Dataset, NaturalRatingRecord } from '../../src/data/tables/records.ts';
import { enrich, local, openStore, run } from '../../src/index.ts';
import { openRowFile } from '../../src/rows/open/open-row-file.ts';
import type { LossSummary } from '../../src/run/summary-shapes.ts';
import { type Ended, perilbook } from '../cli/command-line.ts';
import { all, openScene } from '../library/library-scene.ts';
import { sharedPostgres } from '../postgres-server.ts';
import { info, square } from '../service/small-data.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { column, places } from './harness.ts';

/* Expected annual losses: the rates of the index, and what they come to. */

const server = await sharedPostgres();

/** Tracts of a grid, a tenth of a degree wide, from this corner to the north-east. */
const [WEST, SOUTH, SIDE, COLUMNS] = [-98, 40, 0.1, 10];
const TRACTS = 60;

const codeOf = (tract: number) => `31001${String(tract + 1).padStart(6, '0')}`;

const areas: AreaRecord[] = Array.from({ length: TRACTS }, (_, tract) => ({
  geoid: codeOf(tract),
  level: 'tract',
  name: codeOf(tract),
  state: 'NE',
  geometry: square(
    WEST + SIDE * (tract % COLUMNS),
    SOUTH + SIDE * Math.floor(tract / COLUMNS),
    SIDE,
  ),
}));
const county: AreaRecord = {
  ...{ geoid: '31001', level: 'county', name: 'County', state: 'NE' },
  geometry: square(WEST, SOUTH, 1),
};

/** A rate with 15 decimals, as the index writes it; none of drought, and none or 0 of others here and there. */
function rateOf(tract: number, topic: number): number | null {
  if (NATURAL_SLUGS[topic] === 'drought' || (tract + topic) % 7 === 0) return null;
  if ((tract + topic) % 7 === 1) return 0;
  return Math.round(1e15 * 1e-6 * Math.abs(Math.sin(1 + tract * 18 + topic)) ** 9 * 400) / 1e15;
}

const rated = { rating: 'Relatively Low', score: 12.5, frequency: 0.25 } as const;

/** The ratings of the tracts. @param factor of the rates: another release */
const ratings = (factor = 1): NaturalRatingRecord[] =>
  Array.from({ length: TRACTS }, (_, tract) => tract).flatMap((tract) =>
    NATURAL_SLUGS.map((topic, index) => {
      const rate = rateOf(tract, index);
      return { geoid: codeOf(tract), topic, ...rated, lossRate: rate && rate * factor };
    }),
  );

/** The county's rates, for what its tracts lack. */
const countyRatings = NATURAL_SLUGS.map((topic) => ({
  ...{ geoid: '31001', topic, ...rated },
  lossRate: topic === 'drought' ? null : 0.00025,
}));

/** Loads areas and ratings as if an agency had published them. */
async function loadIndex(folder: string, records = ratings()): Promise<void> {
  const data = join(folder, '.local/share/perilbook');
  mkdirSync(data, { recursive: true });
  using database = openDataDatabase(join(data, 'data.db'));
  const datasets: Dataset[] = [
    { kind: 'areas', info: info('areas'), records: [county, ...areas] },
    { kind: 'nri', info: info('nri'), records: [...countyRatings, ...records] },
  ];
  for (const dataset of datasets) importDataset(database, dataset, systemClock);
}

/** The tract of a row, its place and its value: each 50th has none. */
const ROWS = Array.from({ length: 300 }, (_, row) => {
  const tract = (row * 7) % TRACTS;
  const lng = WEST + SIDE * (tract % COLUMNS) + 0.01 + 0.00027 * row;
  const lat = SOUTH + SIDE * Math.floor(tract / COLUMNS) + 0.09 - 0.00025 * row;
  return { tract, lat, lng, value: row % 50 === 7 ? null : 100_000 + 12_345.67 * row };
});

const BOOK = `id,lat,lng,BuildingTIV,ContentsTIV\n${ROWS.map(
  ({ lat, lng, value }, id) => `${id},${lat.toFixed(5)},${lng.toFixed(5)},${value ?? ''},5000`,
).join('\n')}\n`;

async function bookFolder(t: TestContext, records?: NaturalRatingRecord[]): Promise<string> {
  const folder = temporaryFolder(t);
  await loadIndex(folder, records);
  writeFileSync(join(folder, 'book.csv'), BOOK);
  return folder;
}

async function ran(folder: string, ...args: string[]): Promise<Ended> {
  const ended = await perilbook(['run', 'book.csv', '--yes', ...args], { folder });
  assert.equal(ended.code, 0, ended.stderr);
  return ended;
}

const outputOf = (folder: string, name = 'book.hazards.csv') =>
  readFileSync(join(folder, name), 'utf8');

const numbersIn = (text: string, name: string): (number | null)[] =>
  column(text, name).map((field) => (field === '' ? null : Number(field)));

const cents = (amount: number | null) => (amount === null ? null : Math.round(amount * 100));

test('300 places get the rates of their tract, and the amounts of their building; a row without a value has none', async (t) => {
  const folder = await bookFolder(t);
  const { stderr } = await ran(folder, '--losses');
  const text = outputOf(folder);
  assert.deepEqual(new Set(column(text, 'hazard_status')), new Set(['ok']), stderr);
  const read = NATURAL_SLUGS.map((topic, index) => {
    const rates = numbersIn(text, `${snakeCase(topic)}_loss_rate`);
    assert.deepEqual(
      rates,
      ROWS.map(({ tract }) => rateOf(tract, index)),
      topic,
    );
    const amounts = numbersIn(text, `${snakeCase(topic)}_annual_loss`);
    const expected = ROWS.map(({ tract, value }) => {
      const rate = rateOf(tract, index);
      return rate === null || value === null ? null : Math.round(rate * value * 100);
    });
    assert.deepEqual(amounts.map(cents), expected, topic);
    return { rates, amounts };
  });
  const sums = numbersIn(text, 'annual_loss_rate');
  const [counts, losses] = [numbersIn(text, 'annual_loss_topics'), numbersIn(text, 'annual_loss')];
  for (const [row, { value }] of ROWS.entries()) {
    const own = read.map(({ rates }) => rates[row]!).filter((rate) => rate !== null);
    assert.equal(counts[row], own.length);
    const sum = own.reduce((total, rate) => total + rate, 0);
    assert.ok(Math.abs(sums[row]! - sum) <= 1e-4 * sum, `${sums[row]} for ${sum}`);
    // The columns add up, to the cent.
    const ofTopics = read.map(({ amounts }) => cents(amounts[row]!) ?? 0);
    const total = value === null ? null : ofTopics.reduce((some, cent) => some + cent, 0);
    assert.equal(cents(losses[row]!), total);
  }
});

/** A member that is renamed breaks the programs of users. */
const LOSSES: Readonly<Record<keyof LossSummary, true>> = {
  currency: true,
  annual_loss: true,
  value: true,
  all_value: true,
  topics: true,
};

test('the summary, the line at the end and the report have the sums of the output', async (t) => {
  const folder = await bookFolder(t);
  const { stderr, stdout } = await ran(folder, '--losses', '--json');
  const {
    losses: [losses],
    columns,
  } = JSON.parse(stdout);
  assert.deepEqual(Object.keys(losses).sort(), Object.keys(LOSSES).sort());
  assert.deepEqual(columns.loss_value, ['BuildingTIV']);
  const text = outputOf(folder);
  const sumOf = (name: string) =>
    numbersIn(text, name).reduce<number>((sum, n) => sum + (n ?? 0), 0);
  // A row is rounded to the cent in each topic.
  const near = (got: number, sum: number, topics = 1) =>
    assert.ok(Math.abs(got - sum) <= 0.005 * ROWS.length * topics + 0.01, `${got} for ${sum}`);
  near(losses.annual_loss, sumOf('annual_loss'), 18);
  const whole = ROWS.reduce((sum, { value }) => sum + (value ?? 0), 0);
  near(losses.all_value, whole);
  near(losses.value, whole);
  for (const { topic, annual_loss } of losses.topics)
    near(annual_loss, sumOf(`${snakeCase(topic as NaturalSlug)}_annual_loss`));
  assert.ok(!losses.topics.some(({ topic }: { topic: string }) => topic === 'drought'));
  assert.match(
    stderr,
    /\nExpected annual loss: [\d.]+ K a year, 0\.\d+ % of the value \(BuildingTIV\); [A-Z][A-Za-z ]+ \d+ %\n/,
  );
  const report = await perilbook(['report', 'book.csv', '--losses', '--json'], { folder });
  assert.equal(report.code, 0, report.stderr);
  const facts = JSON.parse(report.stdout).losses;
  near(facts.annual_loss, losses.annual_loss);
  assert.equal(facts.value_name, 'BuildingTIV');
  assert.deepEqual(
    facts.perils.map(({ topic }: { topic: string }) => topic),
    losses.topics.map(({ topic }: { topic: string }) => topic),
  );
  const [county] = facts.counties.largest;
  assert.equal(
    facts.counties.largest.reduce((n: number, c: { locations: number }) => n + c.locations, 0),
    300,
  );
  assert.ok(county.annual_loss > 0);
  const own = numbersIn(text, 'annual_loss').map((loss) => loss ?? 0);
  const largest = own.toSorted((a, b) => b - a).slice(0, 10);
  for (const [at, place] of facts.locations.entries())
    near(place.annual_loss, largest[at]!, 18 / 300);
  await perilbook(['report', 'book.csv', '--losses', '--report', 'report.html'], { folder });
  const page = readFileSync(join(folder, 'report.html'), 'utf8');
  assert.match(page, /<h2[^>]*>Expected annual loss<\/h2>/);
  assert.match(page, /They are no price of a house/);
  // On the map, the class of each place's rate.
  const map = JSON.parse(/id="map-data">(.*?)<\/script>/s.exec(page)![1]!);
  assert.deepEqual(map.layers.at(-1), { name: 'Expected annual loss', scale: 'loss' });
  assert.match(page, /<option value="19">Expected annual loss<\/option>/);
  const bounds = [0.00001, 0.0001, 0.0003, 0.001, 0.003];
  const classes = numbersIn(text, 'annual_loss_rate').map((rate) =>
    bounds.reduce((above, bound) => above + (rate! >= bound ? 1 : 0), 0),
  );
  const [level] = map.levels;
  assert.deepEqual([...level.letters.rows.at(-1)].map(Number).sort(), classes.sort());
  assert.ok(new Set(classes).size > 1);
});

test('amounts in several currencies have a sum each, of the buildings alone', async (t) => {
  const folder = await bookFolder(t);
  const [rate, other] = [0, 3].map((tract) => rateOf(tract, NATURAL_SLUGS.indexOf('hail'))!);
  const [here, there] = ['40.05,-97.95', '40.05,-97.65'];
  // Two currencies at one place, and a place without a rate.
  writeFileSync(
    join(folder, 'book.csv'),
    `lat,lng,BuildingTIV,ContentsTIV,LocCurrency\n${[
      `${here},1000000,700,USD`,
      `${here},3000000,700,EUR`,
      `${there},2000000,700,EUR`,
      `${there},5000000,,`,
      '42.5,-99,8000000,700,EUR',
    ].join('\n')}\n`,
  );
  const hail = ['--losses', '--topics', 'hail'];
  const { stderr, stdout } = await perilbook(['run', 'book.csv', '--yes', ...hail, '--json'], {
    folder,
  });
  const { losses } = JSON.parse(stdout || assert.fail(stderr));
  const cent = (amount: number) => Math.round(amount * 100) / 100;
  const sums = [
    ['EUR', 3e6 * rate! + 2e6 * other!, 5e6, 13e6],
    ['USD', 1e6 * rate!, 1e6, 1e6],
    [null, 5e6 * other!, 5e6, 5e6],
  ] as const;
  assert.deepEqual(
    losses,
    sums.map(([currency, sum, value, all_value]) => ({
      ...{ currency, annual_loss: cent(sum), value, all_value },
      topics: [{ topic: 'hail', annual_loss: cent(sum) }],
    })),
  );
  const lines = stderr.split('\n').filter((line) => line.startsWith('Expected annual loss'));
  assert.equal(lines.length, 3, stderr);
  assert.match(
    lines[0]!,
    /: EUR .* of the value \(BuildingTIV\); .*; 38 % of the value has a rate$/,
  );
  assert.match(lines[1]!, /: \$/);
  const report = await perilbook(['report', 'book.csv', ...hail, '--json'], { folder });
  assert.equal(cent(JSON.parse(report.stdout).losses.annual_loss), cent(sums[0][1]));
});

test('a city and the county around it have a loss each', async (t) => {
  const folder = await bookFolder(t);
  const tract = { ...areas[0]!, geometry: square(-77, 39, 1) };
  using database = openDataDatabase(join(folder, '.local/share/perilbook/data.db'));
  const records = [tract];
  importDataset(database, { kind: 'areas', info: info('areas'), records }, systemClock);
  // The city of Baltimore, and Towson in the county around it.
  const rows = ['39.29,-76.61,1000000', '39.4,-76.6,3000000'];
  writeFileSync(join(folder, 'book.csv'), `lat,lng,price\n${rows.join('\n')}\n`);
  const hail = ['--losses', '--topics', 'hail'];
  await ran(folder, ...hail);
  const { stdout } = await perilbook(['report', 'book.csv', ...hail, '--json'], { folder });
  const { counties } = JSON.parse(stdout).losses;
  const told = counties.largest.map((county: Record<string, unknown>) => [
    county.name,
    county.value,
  ]);
  const expected = [
    ['Baltimore County, Maryland', 3e6],
    ['Baltimore city, Maryland', 1e6],
  ];
  assert.deepEqual([counties.count, told], [2, expected]);
});

test('a comparison explains the change of the loss: new, gone, moved, another value, another rate', async (t) => {
  const folder = await bookFolder(t);
  const book = (rows: readonly string[]) =>
    writeFileSync(join(folder, 'book.csv'), `id,lat,lng,price\n${rows.join('\n')}\n`);
  const [here, there] = ['40.05,-97.95', '40.05,-97.65'];
  book([`a,${here},1000000`, `b,${here},1000000`, `c,${here},1000000`, `d,${here},1000000`]);
  const hail = ['--losses', '--topics', 'hail'];
  await ran(folder, ...hail, '-o', 'then.csv');
  // b is gone, c moved, d is worth double, e is new; and of all the rate has doubled.
  book([`a,${here},1000000`, `c,${there},1000000`, `d,${here},2000000`, `e,${here},1000000`]);
  await loadIndex(folder, ratings(2));
  await ran(folder, ...hail);
  const compared = ['report', 'book.csv', ...hail, '--compare', 'then.csv'];
  const { stdout, stderr } = await perilbook([...compared, '--json'], { folder });
  const { changes } = JSON.parse(stdout || assert.fail(stderr));
  const index = NATURAL_SLUGS.indexOf('hail');
  const [rate, other] = [rateOf(0, index)! * 1e6, rateOf(3, index)! * 1e6];
  const { before, now, steps } = changes.losses;
  const told = [before, ...steps.map(({ change }: { change: number }) => change), now];
  const expected = [
    4 * rate,
    -rate,
    2 * rate,
    2 * other - rate,
    rate,
    3 * rate,
    8 * rate + 2 * other,
  ];
  for (const [at, sum] of expected.entries())
    assert.ok(Math.abs(told[at] - sum) < 0.01, `${told[at]} for ${sum}`);
  assert.deepEqual(
    steps.map(({ step, rows }: { step: string; rows: number }) => [step, rows]),
    [
      ['gone', 1],
      ['new', 1],
      ['moved', 1],
      ['revalued', 1],
      ['other_rate', 2],
    ],
  );
  await perilbook([...compared, '--report', 'report.html'], { folder });
  const page = readFileSync(join(folder, 'report.html'), 'utf8');
  assert.match(page, /Expected annual loss from then to now/);
});

test('losses are the same in each format, in turn and by threads, and are no part of an output without them', async (t) => {
  const folder = await bookFolder(t);
  await ran(folder);
  const before = outputOf(folder);
  assert.ok(!/_loss/.test(before));
  await ran(folder, '--losses');
  const losses = outputOf(folder);
  await ran(folder);
  assert.equal(outputOf(folder), before);
  const [head] = losses.split('\n');
  const names = head!.split(',').filter((name) => /_loss/.test(name));
  assert.equal(names.length, 2 * (18 + 1) + 1);
  for (const format of ['ndjson', 'parquet', 'xlsx', 'geojson']) {
    await ran(folder, '--losses', '-o', `out.${format}`);
    const file = await openRowFile(join(folder, `out.${format}`), {});
    const indexes = names.map((name) => file.columns.indexOf(name));
    const read: (number | null)[][] = [];
    for await (const batch of file.read(indexes))
      for (const { fields } of batch)
        read.push(fields.map((field) => (field === '' ? null : Number(field))));
    for (const [index, name] of names.entries())
      assert.deepEqual(
        read.map((fields) => fields[index]),
        numbersIn(losses, name),
        `${format} ${name}`,
      );
  }
});

test('a newer index gives its rates at once; without an index the run says what gets them', async (t) => {
  const folder = await bookFolder(t);
  await ran(folder, '--losses', '--topics', 'hail');
  const first = numbersIn(outputOf(folder), 'hail_loss_rate');
  await loadIndex(folder, ratings(2));
  await ran(folder, '--losses', '--topics', 'hail');
  const second = numbersIn(outputOf(folder), 'hail_loss_rate');
  assert.deepEqual(
    second,
    first.map((rate) => rate && rate * 2),
  );
  const without = ratings().map(({ lossRate: _, ...record }) => record);
  await loadIndex(folder, without);
  using database = openDataDatabase(join(folder, '.local/share/perilbook/data.db'));
  database.exec('UPDATE ratings_county SET loss_rate = NULL');
  const { stderr } = await ran(folder, '--losses', '--topics', 'hail');
  assert.match(
    stderr,
    /The loaded index has no loss rates of buildings: .* Get them: perilbook data get areas nri-tracts --for book\.csv/,
  );
  const text = outputOf(folder);
  assert.deepEqual(new Set(column(text, 'hazard_status')), new Set(['ok']));
  for (const name of ['hail_loss_rate', 'annual_loss_rate', 'annual_loss_topics', 'annual_loss'])
    assert.deepEqual(new Set(column(text, name)), new Set(['']), name);
});

test('a store in PostgreSQL gives the losses of one in a file: looked up, from the store, and beside answers that it had', async (t) => {
  const folder = await bookFolder(t);
  const runs = async (store: string, times: readonly (readonly string[])[]) => {
    const found: unknown[] = [];
    for (const flags of times) {
      const { stdout } = await ran(folder, '--json', '--store', store, ...flags);
      const text = outputOf(folder);
      const names = text.split('\n', 1)[0]!.split(',');
      const own = names.filter((name) => name !== 'hazard_as_of');
      found.push(JSON.parse(stdout).losses ?? 'none', ...own.map((name) => column(text, name)));
    }
    return found;
  };
  const first = [['--losses'], ['--losses']];
  // Rates come beside ratings that are in the store.
  const later = [
    ['--topics', 'hail,tornado'],
    ['--topics', 'hail,tornado', '--losses'],
  ];
  for (const [index, times] of [first, later].entries()) {
    const inFile = await runs(`store-${index}.db`, times);
    assert.ok(JSON.stringify(inFile).includes('"annual_loss":'));
    assert.deepEqual(await runs(server.storeAddress(), times), inFile);
  }
});

test('a hazard that the tract lacks has the rate of the county; a place outside has none', async (t) => {
  const folder = await bookFolder(
    t,
    ratings().filter(({ topic }) => topic !== 'hail'),
  );
  // Amounts of each size: of cents, and of all groups of three digits.
  const prices = [20, 400, 4_200, 4e6 + 1234, 4_001_000, 4e9, 4_012_345_678, 8e12, 1e15];
  const more = prices.map((price) => `40.05,-97.95,${price}\n`).join('');
  writeFileSync(
    join(folder, 'book.csv'),
    `lat,lng,price\n40.05,-97.95,1000000\n42.5,-99,1\n${more}40.05,-97.95,1.23e15\n`,
  );
  await perilbook(['run', 'book.csv', '--losses', '--topics', 'hail,tornado'], { folder });
  const text = outputOf(folder);
  const tornado = rateOf(0, NATURAL_SLUGS.indexOf('tornado'));
  const [rates, own] = [numbersIn(text, 'hail_loss_rate'), numbersIn(text, 'tornado_loss_rate')];
  assert.deepEqual(rates.slice(0, 2), [0.00025, null]);
  assert.deepEqual(own.slice(0, 2), [tornado, null]);
  const amounts = prices.map((price) => String(Math.round(0.00025 * price * 100) / 100));
  // The last value is larger than any amount of money.
  assert.deepEqual(column(text, 'hail_annual_loss'), ['250', '', ...amounts, '']);
});

test('rows of a program get rates, which have no amounts', async (t) => {
  const folder = await bookFolder(t);
  using source = local({ file: join(folder, '.local/share/perilbook/data.db') });
  await using store = await openStore(join(folder, 'library.db'));
  const rows = ROWS.slice(0, 20).map(({ lat, lng }) => ({ lat, lng }));
  const found = await all(enrich(rows, { topics: ['hail', 'radon'], losses: true, source, store }));
  const hail = NATURAL_SLUGS.indexOf('hail');
  for (const [row, { hazards }] of found.entries()) {
    const rate = rateOf(ROWS[row]!.tract, hail);
    assert.deepEqual(
      [hazards.hail_loss_rate, hazards.annual_loss_rate, hazards.annual_loss_topics],
      [rate, rate, rate === null ? 0 : 1],
    );
    assert.ok(!Object.keys(hazards).some((name) => name.endsWith('annual_loss')));
  }
  const bare = await all(enrich(rows, { topics: ['hail'], source, store }));
  assert.ok(!('hail_loss_rate' in bare[0]!.hazards));
});

test('beside a paid service rates come from this machine, and cost nothing', async (t) => {
  const { harness, folder, secret, charged } = await openScene(t);
  const home = join(folder, 'home');
  const dataFolder = join(home, '.local/share/perilbook');
  const job = {
    ...{ input: 'input.csv', output: 'output.csv', store: 'own.db', budget: 100 },
    topics: ['hail', 'tornado'],
    service: { base_url: harness.url, api_keys: [{ env: 'KEY' }] },
  };
  const options = { workingFolder: folder, dataFolder, env: { KEY: secret } };
  harness.writeInput(places(4));
  await run(job as never, options);
  const before = charged();
  assert.ok(before > 0);
  const notices: string[] = [];
  const onEvent = (event: { readonly type: string; readonly message?: string }) => {
    if (event.type === 'notice') notices.push(event.message!);
  };
  // Without an index: empty, and no more credits.
  await run({ ...job, losses: true } as never, { ...options, onEvent });
  assert.deepEqual(new Set(column(harness.output(), 'annual_loss_rate')), new Set(['']));
  assert.match(notices.join(), /No index with loss rates .* perilbook data get areas nri-tracts/);
  const moved = areas.map((area) => ({ ...area, geometry: square(-100, 40, 1) })).slice(0, 1);
  await loadIndex(home);
  using database = openDataDatabase(join(dataFolder, 'data.db'));
  importDataset(database, { kind: 'areas', info: info('areas'), records: moved }, systemClock);
  await run({ ...job, losses: true } as never, options);
  const text = harness.output();
  const rate = rateOf(0, NATURAL_SLUGS.indexOf('tornado'));
  assert.deepEqual(numbersIn(text, 'tornado_loss_rate'), [rate, rate, rate, rate]);
  for (const note of column(text, 'hazard_note'))
    assert.match(note, /; loss rates on this machine: nri 2026$/);
  assert.equal(charged(), before);
  // A purchase with losses costs what one without does.
  harness.writeInput(places(8));
  await run({ ...job, losses: true } as never, options);
  assert.equal(charged(), 2 * before);
  // Made-up answers never stand beside real rates.
  harness.database.exec(
    'UPDATE datasets SET sample = 1; CREATE TABLE loaded (a); DROP TABLE loaded',
  );
  harness.writeInput(places(9));
  const { summary } = await run({ ...job, losses: true } as never, options);
  assert.equal(summary.sample_data, true);
  assert.deepEqual(new Set(column(harness.output(), 'annual_loss_rate')), new Set(['']));
});

test('made-up answers have made-up rates', async (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'book.csv'), 'lat,lng,price\n29.76,-95.37,1000000\n');
  await ran(folder, '--losses', '--service', 'sample', '--topics', 'hurricane,drought');
  const text = outputOf(folder);
  const [rate] = numbersIn(text, 'hurricane_loss_rate');
  assert.ok(rate! > 0 && rate! < 0.01, String(rate));
  assert.deepEqual(numbersIn(text, 'drought_loss_rate'), [null]);
  assert.deepEqual(numbersIn(text, 'annual_loss').map(cents), [Math.round(rate! * 1e8)]);
  assert.match(column(text, 'hazard_note')[0]!, /^sample data/);
  const asked = ['report', 'book.csv', '--losses', '--service', 'sample', '--topics', 'hurricane'];
  const { stdout } = await perilbook([...asked, '--json'], { folder });
  assert.equal(cents(JSON.parse(stdout).losses.annual_loss), Math.round(rate! * 1e8));
});
