import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import { openDataDatabase } from '../../src/data/tables/data-database.ts';
import { importDataset } from '../../src/data/tables/import-dataset.ts';
import { connect } from '../../src/host/connection.ts';
import { enrich, local, lookup, openStore } from '../../src/index.ts';
import { makeJob } from '../../src/job/settings.ts';
import { readLocalData } from '../../src/run/frame/local-data.ts';
import { perilbook } from '../cli/command-line.ts';
import { all } from '../library/library-scene.ts';
import { openBook } from '../page/ui-scene.ts';
import { askedDuckdb, quoted } from '../rows/duckdb-child.ts';
import { madeParquet } from '../rows/parquet-fixture.ts';
import { workbook } from '../rows/xlsx-fixture.ts';
import { info, releaseLater, square } from '../service/small-data.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { column, openHarness, places } from './harness.ts';

/* Layers by the codes of the rows' own columns, against the tables as this test reads them. */

const LAYERS = {
  own_zip: `kind: areas
layer: own_zip
title: Own ZIP
vintage: "2026"
area: { level: zip, from: ZIP, row: [zip_code, zip] }
class: { from: Tier }
classes: [A, B]
columns: { factor: { from: Factor, type: number } }
`,
  own_county: `kind: areas
layer: own_county
title: Own county
vintage: "2026"
states: [NE, SD]
area: { level: county, from: FIPS, row: FIPS }
class: { from: Pool }
classes: [T1, T2]
outside: none
`,
  own_tract: `kind: areas
layer: own_tract
title: Own tract
vintage: "2026"
area: { level: tract, from: GEOID, row: tract }
class: { from: Grade }
classes: [C, B, A]
`,
} as const;

const TABLES = {
  own_zip: 'ZIP,Tier,Factor\n2108,B,1.5\n02108-0001,A,2.5\n68801,B,1\n',
  own_county: 'FIPS,Pool\n31001,T2\n31001,T1\n46102,T2\n31005,T2\n',
  own_tract: 'GEOID,Grade\n31001000100,B\n31001000200,A\n',
} as const;

/** Side by side, a degree wide; only the first has tracts, each half of it. */
const COUNTIES = ['31001', '31003', '31005', '20001'];
const TRACTS = ['31001000100', '31001000200'];

const [WEST, SOUTH] = [-100, 40];

async function scene(
  t: TestContext,
  clock: Clock = systemClock,
  folder = temporaryFolder(t),
): Promise<string> {
  const data = join(folder, '.local/share/perilbook');
  mkdirSync(join(data, 'layers'), { recursive: true });
  using database = openDataDatabase(join(data, 'data.db'));
  const area = (geoid: string, level: 'county' | 'tract', lng: number, size: number) => ({
    ...{ geoid, level, name: geoid, state: geoid.startsWith('31') ? 'NE' : 'KS' },
    geometry: square(lng, SOUTH, size),
  });
  const counties = COUNTIES.map((geoid, index) => area(geoid, 'county', WEST + index, 1));
  const tracts = TRACTS.map((geoid, index) => area(geoid, 'tract', WEST + index / 2, 0.5));
  const records = [...counties, ...tracts];
  importDataset(database, { kind: 'areas', info: info('areas'), records }, clock);
  for (const [layer, description] of Object.entries(LAYERS)) {
    writeFileSync(join(data, 'layers', `${layer}.yaml`), description);
    writeFileSync(join(folder, `${layer}.csv`), TABLES[layer as keyof typeof TABLES]);
    const loaded = await perilbook(['data', 'load', layer, `${layer}.csv`], { folder, clock });
    assert.equal(loaded.code, 0, loaded.stderr);
  }
  return folder;
}

/** Texts of a ZIP code, and which it is: null for none, '' for a text that is no ZIP code. */
const ZIPS: readonly (readonly [text: string, zip: string | null])[] = [
  ...[['02108', '02108'] as const, ['2108', '02108'] as const, ['2108.0', '02108'] as const],
  ...[['02108-1234', '02108'] as const, ['021081234', '02108'] as const],
  ...[['21081234', '02108'] as const, ['68801', '68801'] as const, ['99999', '99999'] as const],
  ...[['', null] as const, ['N/A', null] as const, ['ABC', ''] as const, ['123456', ''] as const],
  ['0210', ''],
];
const CODES: readonly (readonly [text: string, county: string | null])[] = [
  ...[['31001', '31001'] as const, ['31001.0', '31001'] as const, ['31003', '31003'] as const],
  ...[['31005', '31005'] as const, ['20001', '20001'] as const],
  // The county that follows it is in the table.
  ...[
    ['46113', '46113'] as const,
    ['', null] as const,
    ['99999', ''] as const,
    ['x1', ''] as const,
  ],
];
const GEOIDS: readonly (readonly [text: string, tract: string | null])[] = [
  ...[['31001000100', '31001000100'] as const, ['31001000200', '31001000200'] as const],
  ...[['31001000300', '31001000300'] as const, ['', null] as const, ['31001', ''] as const],
];

interface BookRow {
  readonly lat: string;
  readonly lng: string;
  readonly zip: (typeof ZIPS)[number];
  readonly county: (typeof CODES)[number];
  readonly tract: (typeof GEOIDS)[number];
  readonly value: number;
}

/** Some rows share a place, with other codes. */
const ROWS = Array.from({ length: 700 }, (_, row): BookRow => {
  const place = (row * 13) % 90;
  return {
    lat: row % 97 === 5 ? '' : (SOUTH + 0.2 + 0.003 * place).toFixed(5),
    lng: (WEST + 0.02 + (3.9 * ((place * 37) % 90)) / 90).toFixed(5),
    zip: ZIPS[row % ZIPS.length]!,
    county: CODES[(row * 7) % CODES.length]!,
    tract: GEOIDS[(row * 3) % GEOIDS.length]!,
    value: 1000 + row,
  };
});

const HEAD = 'id,lat,lng,TIV,zip,FIPS,tract';
const lineOf = ({ lat, lng, value, zip, county, tract }: BookRow, id: number) =>
  [id, lat, lng, value, zip[0], county[0], tract[0]].join(',');
const BOOK = `${HEAD}\n${ROWS.map(lineOf).join('\n')}\n`;

/** What the tables say, as a reader of them would say it. */
function wanted({ lat, lng, zip: [, zip], county: [, own], tract: [, code] }: BookRow) {
  if (lat === '') return { own_zip: '', own_zip_factor: '', own_county: '', own_tract: '' };
  const east = Number(lng) - WEST;
  const here = COUNTIES[Math.floor(east)]!;
  const county = own || here;
  const tract = code || (here === '31001' ? TRACTS[Math.floor(east * 2)]! : '');
  const pool =
    { '31001': 'T1', '46113': 'T2', '31005': 'T2' }[county] ?? (county === '20001' ? '' : 'none');
  const [tier, factor] = zip === '02108' ? ['A', '2.5'] : zip === '68801' ? ['B', '1'] : ['', ''];
  const grade = { '31001000100': 'B', '31001000200': 'A' }[tract] ?? '';
  return { own_zip: tier, own_zip_factor: factor, own_county: pool, own_tract: grade };
}

const wantedZip = (zip: string | null) => ({ '02108': 'A', '68801': 'B' })[zip ?? ''] ?? '';

const TOPICS = 'own_zip,own_county,own_tract';
const NAMES = ['own_zip', 'own_zip_factor', 'own_county', 'own_tract'] as const;

async function ran(folder: string, input: string, output: string, ...more: string[]) {
  const words = ['run', input, '-o', output, '--topics', TOPICS, '--precision', '5', ...more];
  const ended = await perilbook(words, { folder });
  assert.equal(ended.code, 3, ended.stderr);
  return ended;
}

const columnsOf = (text: string) => NAMES.map((name) => column(text, name));

test('700 rows get what the tables say of their codes, and of their location where they have none', async (t) => {
  const folder = await scene(t);
  writeFileSync(join(folder, 'book.csv'), BOOK);
  const { stderr } = await ran(folder, 'book.csv', 'out.csv');
  assert.match(stderr, /own_zip is answered by the code in column "zip"\./);
  assert.match(stderr, /own_county is answered by the code in column "FIPS", and by the location/);
  const text = readFileSync(join(folder, 'out.csv'), 'utf8');
  const expected = ROWS.map(wanted);
  for (const name of NAMES)
    assert.deepEqual(
      column(text, name),
      expected.map((of) => of[name]),
      name,
    );
  const [status, notes] = [column(text, 'hazard_status'), column(text, 'hazard_note')];
  let differing = 0;
  for (const [row, { lat, lng, zip, county, tract }] of ROWS.entries()) {
    const [note, about] = [notes[row]!, `row ${row}: ${notes[row]}`];
    if (lat === '') {
      assert.equal(status[row], 'invalid');
      continue;
    }
    const here = COUNTIES[Math.floor(Number(lng) - WEST)]!;
    // Only places in a county without tracts, whose rows have no code of one, lack an answer.
    assert.equal(status[row], !tract[1] && here !== '31001' ? 'partial' : 'ok', about);
    assert.equal(/own_zip: zip is empty/.test(note), zip[1] === null, about);
    assert.equal(/own_zip: zip has no ZIP code/.test(note), zip[1] === '', about);
    assert.equal(/own_county: by FIPS/.test(note), !!county[1], about);
    const isUnreadable = /own_county: FIPS has no code of a county, its location counts/.test(note);
    assert.equal(isUnreadable, county[1] === '', about);
    const ofPlace = wanted({ ...ROWS[row]!, county: ['', null] }).own_county;
    const isOther = county[1] && ofPlace !== '' && ofPlace !== expected[row]!.own_county;
    if (isOther) differing++;
    const said = /own_county: by FIPS, its location gives (\w+)/.exec(note)?.[1];
    assert.equal(said, isOther ? ofPlace : undefined, about);
    assert.equal(
      /own_(zip|tract|county) 2026/.test(note),
      /own/.test(note) && hasAnswer(row),
      about,
    );
  }
  assert.ok(differing > 50, String(differing));
  // A second run finds all places stored, and writes the same.
  await ran(folder, 'book.csv', 'again.csv');
  assert.equal(readFileSync(join(folder, 'again.csv'), 'utf8'), text);

  function hasAnswer(row: number): boolean {
    return Object.values(expected[row]!).some((field) => field !== '');
  }
});

test('CSV, Parquet, Excel, JSON, GeoJSON and part files give the same', async (t) => {
  const folder = await scene(t);
  writeFileSync(join(folder, 'book.csv'), BOOK);
  await ran(folder, 'book.csv', 'out.csv');
  const inCsv = columnsOf(readFileSync(join(folder, 'out.csv'), 'utf8'));
  // Converted, and read again.
  for (const name of ['out.parquet', 'out.ndjson', 'out.xlsx', 'out.geojson']) {
    await ran(folder, 'book.csv', name);
    await ran(folder, name, 'from.csv', '--force');
    assert.deepEqual(columnsOf(readFileSync(join(folder, 'from.csv'), 'utf8')), inCsv, name);
  }
  const query = `SELECT ${[...NAMES, 'zip'].join()} FROM ${quoted(join(folder, 'out.parquet'))}`;
  const { rows } = await askedDuckdb(query);
  const read = [...NAMES, 'zip'].map((_, at) => rows.map((row) => String(row[at] ?? '')));
  // The codes are texts as they were.
  assert.deepEqual(read, [...inCsv, ROWS.map(({ zip }) => zip[0])]);
  const lines = BOOK.trimEnd().split('\n').slice(1);
  mkdirSync(join(folder, 'parts'));
  for (const [part, own] of [lines.slice(0, 250), lines.slice(250)].entries())
    writeFileSync(join(folder, 'parts', `${part}.csv`), `${HEAD}\n${own.join('\n')}\n`);
  await ran(folder, 'parts', 'out-parts');
  const parts = [0, 1].map((part) =>
    readFileSync(join(folder, 'out-parts', `${part}.csv`), 'utf8'),
  );
  assert.deepEqual(
    NAMES.map((name) => parts.flatMap((text) => column(text, name))),
    inCsv,
  );
});

test('codes that a program has made numbers are read with their zeros', async (t) => {
  const folder = await scene(t);
  const numbers = [2108, 68801, 21081234, 99999];
  const cells = (row: number, values: readonly number[]) =>
    `<row r="${row}">${values.map((value) => `<c><v>${value}</v></c>`).join('')}</row>`;
  const head = ['lat', 'lng', 'zip', 'FIPS', 'tract'];
  const texts = head.map((name) => `<c t="inlineStr"><is><t>${name}</t></is></c>`).join('');
  const records = numbers.map((zip) => [40.5, -98.5, zip, 31001, 31001000100]);
  const sheet = `<row r="1">${texts}</row>${records.map((values, index) => cells(index + 2, values)).join('')}`;
  writeFileSync(join(folder, 'in.xlsx'), workbook([{ name: 'Book', rows: sheet }]));
  const query = `SELECT * FROM (VALUES ${records.map((row) => `(${row.join()})`).join()}) AS t(${head.join()})`;
  await madeParquet(query, join(folder, 'in.parquet'));
  const objects = records.map((row) =>
    Object.fromEntries(row.map((value, at) => [head[at]!, value])),
  );
  writeFileSync(
    join(folder, 'in.ndjson'),
    `${objects.map((row) => JSON.stringify(row)).join('\n')}\n`,
  );
  for (const input of ['in.xlsx', 'in.parquet', 'in.ndjson']) {
    const words = ['run', input, '-o', 'out.csv', '--force', '--topics', TOPICS];
    const { code, stderr } = await perilbook(words, { folder });
    assert.equal(code, 0, stderr);
    const text = readFileSync(join(folder, 'out.csv'), 'utf8');
    assert.deepEqual(
      columnsOf(text),
      [['A', 'B', 'A', ''], ['2.5', '1', '2.5', ''], Array(4).fill('T1'), Array(4).fill('B')],
      input,
    );
  }
});

test('rows of a program have their codes by the same names', async (t) => {
  const folder = await scene(t);
  const { HOME } = process.env;
  process.env.HOME = folder;
  releaseLater(t, () => {
    process.env.HOME = HOME;
  });
  const source = local({ file: join(folder, '.local/share/perilbook/data.db') });
  await using store = await openStore(join(folder, 'library.db'));
  const place = { lat: 40.25, lng: -98.5 };
  const rows = [{ zip: 2108, FIPS: '31001' }, { zip: '68801-1234' }, {}, { zip: 'x', FIPS: null }];
  const options = { source, store, topics: ['own_zip', 'own_county'] } as const;
  const found = await all(
    enrich(
      rows.map((own) => ({ ...place, ...own })),
      options,
    ),
  );
  assert.deepEqual(
    found.map(({ status, hazards }) => [status, hazards.own_zip, hazards.own_county]),
    [
      ['ok', 'A', 'T1'],
      ['ok', 'B', 'none'],
      ['ok', null, 'none'],
      ['ok', null, 'none'],
    ],
  );
  // A location alone tells no ZIP code.
  const one = await lookup(place, ['own_zip', 'own_county'], { source });
  assert.deepEqual([one.hazards.own_zip, one.hazards.own_county], [null, 'none']);
  assert.match(one.note!, /own_zip: the table says nothing here, so it is unknown/);
});

test('the report counts rows by their codes', async (t) => {
  const folder = await scene(t);
  writeFileSync(join(folder, 'book.csv'), BOOK);
  await ran(folder, 'book.csv', 'out.csv', '--order-by', 'TIV');
  const words = ['report', 'book.csv', '-o', 'out.csv', '--topics', TOPICS, '--order-by', 'TIV'];
  const { stdout, stderr } = await perilbook([...words, '--precision', '5', '--json'], { folder });
  const { topics, rows } = JSON.parse(stdout || stderr);
  assert.equal(rows, ROWS.length);
  const expected = ROWS.map(wanted);
  for (const name of ['own_zip', 'own_county', 'own_tract'] as const) {
    const { classes } = topics.find(({ topic }: { topic: string }) => topic === name);
    const counted = new Map<string, { locations: number; value: number }>();
    for (const [row, of] of expected.entries()) {
      if (of[name] === '') continue;
      const sum = counted.get(of[name]) ?? { locations: 0, value: 0 };
      counted.set(of[name], {
        locations: sum.locations + 1,
        value: sum.value + ROWS[row]!.value,
      });
    }
    for (const [zone, sum] of counted) {
      const { locations, value } = classes.find(
        (one: { name: string }) => one.name.toLowerCase() === zone.toLowerCase(),
      );
      assert.deepEqual({ locations, value }, sum, `${name} ${zone} ${JSON.stringify(classes)}`);
    }
  }
});

test('beside a service a place with several codes is bought once, and threads write the same', async (t) => {
  const harness = await openHarness(t);
  const folder = await scene(t, harness.clock);
  // 30 places of the service, each with four rows of other codes; the last ones are not bought.
  const rows = places(120).map((_, row) => {
    const [lat, lng] = places(30)[row % 30]!;
    return [row, lat, lng, ZIPS[Math.floor(row / 30) * 3]![0], CODES[row % 5]![0]].join();
  });
  const input = `id,lat,lng,zip,FIPS\n${rows.join('\n')}\n`;
  writeFileSync(join(harness.folder, 'input.csv'), input);
  const data = readLocalData(join(folder, '.local/share/perilbook/data.db'), harness.clock.now())!;
  const connection = {
    ...({ kind: 'service', baseUrl: harness.url, source: 'harness', sample: false } as const),
    keys: [harness.key()],
    beside: { kind: 'local', source: 'local beside', sample: false, data } as const,
  };
  const service = { base_url: harness.url, api_keys: [{ env: 'KEY' }] };
  // What an area has answers places without their own, whose rows have codes nevertheless.
  const ofAreas = await harness.run(
    { topics: ['own_zip', 'drought'], service, areas: 'tract', budget: 10, output: 'areas.csv' },
    { connection },
  );
  assert.equal(ofAreas.summary.status.ok, 120, JSON.stringify(ofAreas.summary.status));
  const byArea = readFileSync(join(harness.folder, 'areas.csv'), 'utf8');
  assert.deepEqual(
    column(byArea, 'own_zip'),
    rows.map((_, row) => wantedZip(ZIPS[Math.floor(row / 30) * 3]![1])),
  );
  assert.ok(column(byArea, 'drought_rating').every((rating) => rating !== ''));
  assert.ok(
    column(byArea, 'hazard_note').filter((note) => /; by tract /.test(note)).length > 60,
    byArea,
  );
  const before = harness.charged();
  assert.ok(before < 20, String(before));
  const topics = ['own_zip', 'hail', 'own_county'];
  const job = { topics, service };
  const written = new Set<string>();
  for (const [budget, rowThreads, placeBytes] of [
    ...([
      [20, 0, undefined],
      [20, 2, 2 ** 20],
      [100, 0, undefined],
      [100, 2, 2 ** 20],
    ] as const),
  ]) {
    const options = { connection, rowThreads, ...(placeBytes && { placeBytes }) };
    const { summary } = await harness.run({ ...job, budget }, options);
    assert.equal(summary.rows, 120);
    const text = harness.output();
    written.add(text);
    const isBought = (row: number) => row % 30 < harness.charged() - before;
    assert.deepEqual(
      column(text, 'hazard_status'),
      rows.map((_, row) => (isBought(row) ? 'ok' : 'deferred')),
    );
    assert.deepEqual(
      column(text, 'own_zip'),
      rows.map((_, row) => wantedZip(ZIPS[Math.floor(row / 30) * 3]![1])),
    );
    assert.deepEqual(
      column(text, 'own_county'),
      rows.map(
        (_, row) => ({ 31001: 'T1', 31003: 'none', 31005: 'T2' })[CODES[row % 5]![1]!] ?? '',
      ),
    );
    assert.ok(
      column(text, 'hail_rating').every((rating, row) => (rating !== '') === isBought(row)),
    );
  }
  assert.deepEqual(
    [harness.charged(), (await harness.ledger()).charged],
    [before + 30, before + 30],
  );
  assert.ok(written.size <= 3, 'the runs that bought nothing wrote the same in threads');
});

test('the page prices other topics by the same scan, and its run answers the codes', async (t) => {
  const table = 'id,lat,lng,zip\n1,40.25,-99.75,2108\n2,40.25,-99.75,68801\n';
  const { harness, post, run, id, visitor } = await openBook(t, table, (harness) => {
    const folder = join(harness.folder, 'home');
    const folders = {
      dataFolder: join(folder, '.local/share/perilbook'),
      workingFolder: harness.folder,
    };
    const base = { service: { base_url: harness.url }, store: join(harness.folder, 'store.db') };
    const env = { PERILBOOK_API_KEY: harness.key().secret };
    const { clock } = harness;
    const host = { ...folders, clock, random: Math.random, notice: () => {}, env };
    return {
      jobOf: (said) => makeJob([said, base], folders),
      connectionOf: async (job) => (await connect(host, job)).connection,
    };
  });
  await scene(t, harness.clock, join(harness.folder, 'home'));
  for (const topics of [['hail', 'own_zip'], ['hail'], ['wildfire', 'own_zip'], ['own_zip']]) {
    const { status, body } = await post('price', { topics });
    assert.equal(status, 200, JSON.stringify(body));
    assert.equal(body.summary.credits, topics.filter((topic) => topic !== 'own_zip').length);
  }
  await run(1, { topics: ['hail', 'own_zip'] });
  const output = await visitor.ask('GET', `/api/files/${id}/result`);
  assert.deepEqual(column(output.text, 'own_zip'), ['A', 'B']);
  assert.equal(harness.charged(), 1);
});

test('losses are those of the place and the value of the row, whatever its codes are', async (t) => {
  const folder = await scene(t);
  using database = openDataDatabase(join(folder, '.local/share/perilbook/data.db'));
  const rated = { topic: 'hail', rating: 'Relatively Low', score: 12.5, frequency: 0.25 } as const;
  const records = [...TRACTS, ...COUNTIES].map((geoid, index) => ({
    ...{ geoid, ...rated },
    lossRate: 0.0001 * (index + 1),
  }));
  importDataset(database, { kind: 'nri', info: info('nri'), records }, systemClock);
  writeFileSync(join(folder, 'book.csv'), BOOK);
  const losses = async (topics: string, output: string) => {
    const words = ['run', 'book.csv', '-o', output, '--topics', topics, '--losses'];
    const { stderr } = await perilbook([...words, '--order-by', 'TIV'], { folder });
    const text = readFileSync(join(folder, output), 'utf8');
    const names = ['hail_rating', 'hail_loss_rate', 'hail_annual_loss', 'annual_loss'];
    return { text, stderr, read: names.map((name) => column(text, name)) };
  };
  const plain = await losses('hail', 'plain.csv');
  const coded = await losses('hail,own_zip,own_county', 'coded.csv');
  assert.deepEqual(coded.read, plain.read);
  assert.ok(plain.read.every((fields) => new Set(fields).size > 1));
  assert.deepEqual(
    column(coded.text, 'own_zip'),
    ROWS.map((row) => wanted(row).own_zip),
  );
  const sumIn = (said: string) => /annual loss[^\n]*/i.exec(said)?.[0];
  assert.ok(sumIn(plain.stderr), plain.stderr);
  assert.equal(sumIn(coded.stderr), sumIn(plain.stderr));
});
