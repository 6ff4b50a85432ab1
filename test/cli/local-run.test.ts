import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import Database from 'better-sqlite3';
import { parse } from 'csv-parse/sync';
import { local, lookup } from '../../src/index.ts';
import { MovedClock } from '../moved-clock.ts';
import { copySampleDatabase, provideLocalData } from '../sample-database.ts';
import { coverOnly } from '../service/small-data.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { LONG } from '../tier.ts';
import { perilbook } from './command-line.ts';

const NOW = '2027-03-15T12:00:00Z';
const HOUR = 3_600_000;

/** A folder with a book of four places and, where it is asked for, the sample's data as real data. */
function scene(t: TestContext, { data = true } = {}) {
  const folder = temporaryFolder(t);
  const home = join(folder, 'home');
  const clock = new MovedClock(NOW);
  const file = data ? provideLocalData(home, clock.now() - HOUR) : join(home, 'perilbook/data.db');
  writeFileSync(
    join(folder, 'book.csv'),
    'id,lat,lng\n1,34.0522,-118.2437\n2,41.8781,-87.6298\n3,41.8781,-87.6298\n4,39.7392,-104.9903\n',
  );
  const run = (...args: string[]) => perilbook(args, { folder, clock, env: { XDG_DATA_HOME: home } });
  const change = (sql: string, ...values: unknown[]) => {
    const database = new Database(file);
    if (values.length > 0) database.prepare(sql).run(...values);
    else database.exec(sql);
    database.close();
  };
  const output = () =>
    parse(readFileSync(join(folder, 'book.hazards.csv')), { columns: true }) as Record<string, string>[];
  return { folder, home, clock, file, run, change, output };
}

test('a job that names no service answers from local data, free of charge, and says from what', async (t) => {
  const { folder, run, output } = scene(t);
  const planned = await run('plan', 'book.csv', '--topics', 'hail,radon');
  assert.equal(planned.code, 0, planned.stderr);
  assert.match(planned.stdout, /\n {2}hail {9}nri {11}sample-2 {2}US {2}test\n/);
  assert.match(planned.stdout, /3 places to look up, free of charge\.\n\n/);
  assert.doesNotMatch(planned.stdout, /credit|quota|minute|key/i);

  const ran = await run('run', 'book.csv', '--topics', 'hail,radon', '--json');
  assert.equal(ran.code, 0, ran.stderr);
  assert.doesNotMatch(ran.stderr, /credit|quota|minute|\bkey\b/i);
  const summary = JSON.parse(ran.stdout);
  assert.deepEqual(
    [
      summary.source.kind,
      summary.source.topics_without_data,
      summary.credits,
      summary.credits_spent,
      summary.sample_data,
    ],
    ['local', [], 0, 0, false],
  );
  assert.deepEqual(
    summary.source.datasets.map(({ name, vintage, states }: Record<string, unknown>) => [name, vintage, states]),
    ['areas', 'nri', 'radon', 'records:hail'].map((name) => [name, 'sample-2', null]),
  );
  const rows = output();
  assert.deepEqual(
    rows.map(({ hazard_status, hazard_as_of }) => [hazard_status, hazard_as_of]),
    new Array(4).fill(['ok', '2027-03-15T12:00:00.000Z']),
  );
  const datasets = 'local data: areas sample-2, nri sample-2, radon sample-2 and 1 more dataset';
  // The data has counties only.
  const note = `${datasets}; rating of the county, not of the tract`;
  assert.deepEqual([...new Set(rows.map(({ hazard_note }) => hazard_note))], [note]);
  assert.match(rows[0]!.radon_zone!, /^Zone \d$/);

  const again = await run('run', 'book.csv', '--topics', 'hail,radon');
  assert.match(again.stderr, /All answers are in the store\./);
  const [latest] = JSON.parse((await run('status', '--json')).stdout);
  assert.deepEqual([latest.state, latest.account, latest.charged, latest.calls.charged], ['complete', '', 0, 0]);
  assert.equal(latest.budget, null);
  const status = (await run('status')).stdout;
  assert.match(status, /^run +job +started +state +resume after\n +2 +book +2027-03-15 12:00 UTC +complete\n/);
  // Beside a run that can spend, a local run shows no credits.
  const store = new Database(join(folder, 'home/perilbook/store.db'));
  store.prepare("UPDATE runs SET account = 'acme', planned_credits = 3 WHERE id = 1").run();
  store.close();
  const both = (await run('status')).stdout;
  assert.match(
    both,
    /^run .* planned +charged +unknown .*\n +2 +book .* complete\n +1 +book .* complete +3 +0 +0 +0\n/,
  );
  const stats = await run('cache', 'stats');
  assert.match(stats.stdout, new RegExp(`local ${folder}/home/perilbook/data.db +3 places, 6 answers`));
  assert.match((await run('quota')).stdout, /starter/);
});

test(
  'the note of a row says of which year the air quality of its county is, where the counties differ',
  LONG,
  async (t) => {
    const { folder, home, run, output } = scene(t);
    const columns =
      'State,County,Year,Days with AQI,Good Days,Moderate Days,Unhealthy for Sensitive Groups Days,Unhealthy Days,' +
      'Very Unhealthy Days,Hazardous Days,Max AQI,90th Percentile AQI,Median AQI';
    const load = async (...rows: readonly string[]) => {
      const lines = rows.map((row) => `${row},360,350,10,0,0,0,0,90,60,40\n`);
      writeFileSync(join(folder, 'air.csv'), `${columns}\n${lines.join('')}`);
      const loaded = await run('data', 'load', 'air-quality', 'air.csv', '--replace');
      assert.equal(loaded.code, 0, loaded.stderr);
    };
    await load('California,Los Angeles,2023', 'Illinois,Cook,2025', 'Colorado,Adams,2025');
    const county = '; rating of the county, not of the tract';
    const noted = (hail: string) => [
      `local data: airQuality 2023, areas sample-2${hail}`,
      ...new Array(2).fill(`local data: airQuality 2025, areas sample-2${hail}`),
      // No row of its county.
      `local data: airQuality 2023-2025, areas sample-2${hail}; no data here: airQuality`,
    ];
    // Looked up, and then from the store.
    for (let time = 0; time < 2; time++) {
      assert.equal((await run('run', 'book.csv', '--topics', 'airQuality')).code, 0);
      assert.deepEqual(
        output().map(({ hazard_note }) => hazard_note),
        noted(''),
      );
    }
    assert.equal((await run('run', 'book.csv', '--topics', 'airQuality,hail')).code, 0);
    assert.deepEqual(
      output().map(({ hazard_note }) => hazard_note),
      noted(`, nri sample-2 and 1 more dataset${county}`),
    );
    using source = local({ file: join(home, 'perilbook/data.db') });
    const single = await lookup({ lat: 34.0522, lng: -118.2437 }, ['airQuality'], { source });
    assert.equal(single.note, 'local data: airQuality 2023, areas sample-2');

    // Of one year, it is the vintage of the dataset.
    await load('California,Los Angeles,2025', 'Illinois,Cook,2025', 'Colorado,Adams,2025');
    assert.equal((await run('run', 'book.csv', '--topics', 'airQuality')).code, 0);
    assert.equal(output()[0]!.hazard_note, 'local data: airQuality 2025, areas sample-2');
  },
);

test('without local data the sample answers, and a line names the command that gets real data', async (t) => {
  const { file, run } = scene(t, { data: false });
  const none = await run('plan', 'book.csv', '--topics', 'hail');
  assert.match(none.stdout, /^Sample data from .*\nFor real data: perilbook data get hail --for book\.csv\n/);
  const wanted = await run('run', 'book.csv', '--topics', 'natural,park', '--service', 'local');
  assert.equal(wanted.code, 2);
  assert.match(
    wanted.stderr,
    /No data for natural, park is in .*\n {2}Get it: perilbook data get natural park --for book\.csv\./,
  );
  assert.match(wanted.stderr, /\[LOCAL_DATA\]/);

  // A file with a made-up dataset is not real data, even where others in it are real.
  copySampleDatabase(file);
  assert.match((await run('plan', 'book.csv')).stdout, /^Sample data from/);
  assert.match((await run('plan', 'book.csv', '--service', 'local')).stderr, /is made up/);
});

test('--service chooses; a service address excludes it', async (t) => {
  const { folder, run } = scene(t);
  const sample = await run('plan', 'book.csv', '--topics', 'hail', '--service', 'sample');
  assert.match(sample.stdout, /^Sample data from .*\nbook\.csv/);
  writeFileSync(join(folder, 'job.yaml'), 'input: book.csv\ntopics: hail\nservice: sample\n');
  assert.match((await run('plan', 'job.yaml')).stdout, /^Sample data from/);
  assert.match((await run('plan', 'job.yaml', '--service', 'local')).stdout, /local data/);
  const both = await run('plan', 'book.csv', '--service', 'local', '--base-url', 'https://hazards.example.com');
  assert.match(both.stderr, /--service cannot be combined with --base-url/);
  const wrong = await run('plan', 'book.csv', '--service', 'lokal');
  assert.match(wrong.stderr, /"lokal" is not local, sample or a map of settings; did you mean local\?/);
});

test('after a load exactly the topics whose data changed are looked up again', LONG, async (t) => {
  const { clock, run, change, output } = scene(t);
  const topics = ['run', 'book.csv', '--topics', 'hail,radon'];
  await run(...topics);
  const [before] = output();
  // Both change, but only radon's dataset says so.
  change('UPDATE radon SET zone = 4 - zone');
  change("UPDATE ratings_county SET rating = 'Very High' WHERE topic = 'hail'");
  clock.move(HOUR);
  change("UPDATE datasets SET loaded_at = ? WHERE name = 'radon'", clock.now());
  clock.move(HOUR);
  const ran = await run(...topics);
  assert.match(ran.stderr, /3 places to look up/);
  const [after] = output();
  assert.equal(after!.hail_rating, before!.hail_rating);
  assert.notEqual(after!.radon_zone, before!.radon_zone);
  // Without its events a topic's counts are gone; when they come back, it is looked up again.
  change("UPDATE datasets SET loaded_at = ? WHERE name = 'records:hail'", clock.now());
  await run(...topics);
  assert.equal(output()[0]!.hail_rating, 'Very High');
  // A clock that was set back does not make the data newer than every answer.
  clock.move(-48 * HOUR);
  change('DELETE FROM datasets WHERE name = ?', 'records:tornado');
  const back = await run('run', 'book.csv', '--topics', 'hail,tornado,radon');
  assert.equal(back.code, 0, back.stderr);
});

test('where no tract has a rating, the plan counts no place of a state without data', async (t) => {
  const { run, change } = scene(t);
  change(coverOnly('CA,IL', 'nri'));
  const { stdout } = await run('plan', 'book.csv', '--topics', 'hail');
  assert.match(stdout, /\nNo data here for hail at 1 place in CO\./);
  assert.match(stdout, /\nNo outlines of tracts are here: places get the rating of their county\.\n/);
  assert.doesNotMatch(stdout, /3 of 3 places get/);
});

test('of one place in the store it says is', async (t) => {
  const { folder, run } = scene(t);
  writeFileSync(join(folder, 'one.csv'), 'lat,lng\n34.0522,-118.2437\n');
  assert.equal((await run('run', 'one.csv', '--topics', 'hail')).code, 0);
  const { stdout } = await run('plan', 'book.csv', '--topics', 'hail');
  assert.match(stdout, /\n2 places to look up, free of charge; 1 is in the store\.\n/);
});

test('topics whose data is not here are unavailable, with the command that gets them', LONG, async (t) => {
  const { clock, run, change, output } = scene(t);
  change(coverOnly('CA,IL', 'nri'));
  change("DELETE FROM datasets WHERE name = 'sites:park'");
  const topics = ['run', 'book.csv', '--topics', 'natural,park,ozone'];
  const planned = await run('plan', 'book.csv', '--topics', 'natural,park,ozone', '--json');
  const [state, ...others] = JSON.parse(planned.stdout).source.places_without_data;
  assert.deepEqual([state.state, state.places, state.topics.length, others], ['CO', 1, 18, []]);
  const ran = await run(...topics);
  assert.equal(ran.code, 3);
  assert.match(ran.stderr, /No data here for park\. Get it: perilbook data get park --for book\.csv/);
  assert.match(
    ran.stderr,
    /No data here for natural topics at 1 place in CO\. Get it: perilbook data get natural --for book\.csv/,
  );
  assert.match(ran.stderr, /4 rows lack answers: hazard_note says which data to get\./);
  const [la, , , denver] = output();
  assert.match(la!.hazard_note!, /; no local data of CA \(perilbook data get park --states CA\): park$/);
  assert.match(
    denver!.hazard_note!,
    /; no local data of CO \(perilbook data get natural park --states CO\): avalanche coastalFlood coldWave drought and 15 more$/,
  );
  assert.deepEqual([la!.hazard_status, denver!.hazard_status], ['partial', 'partial']);
  // A failure is looked up again each time, and so the data is found once it is here.
  change(coverOnly('US', 'nri'));
  await run(...topics);
  assert.doesNotMatch(output()[3]!.hazard_note!, /natural/);
  // Readings grow old.
  clock.move(9 * HOUR);
  await run('run', 'book.csv', '--topics', 'ozone', '--time-to-live', 'ozone=1h');
  assert.match(output()[0]!.hazard_note!, /local readings are too old \(perilbook data update\): ozone/);
});

test(
  'what no agency publishes for a state is loaded by hand: no command is named that gets nothing',
  LONG,
  async (t) => {
    const { run, change, output } = scene(t);
    change(coverOnly('CA', 'sites:oilGasWell'));
    const ran = await run('run', 'book.csv', '--topics', 'oilGasWell');
    assert.match(
      ran.stderr,
      /No data here for oilGasWell at 1 place in CO\. Get it: perilbook data get oilGasWell --for/,
    );
    assert.match(
      ran.stderr,
      /No data here for oilGasWell at 1 place in IL, and none to download\. Load a file that you have: perilbook data load wells FILE --states IL\n/,
    );
    const [, chicago, , denver] = output();
    assert.equal(
      chicago!.hazard_note,
      'no local data of IL, and none to download (perilbook data load wells FILE --states IL): oilGasWell',
    );
    assert.match(
      denver!.hazard_note!,
      /^no local data of CO \(perilbook data get oilGasWell --states CO\): oilGasWell$/,
    );
    const got = await run('data', 'get', 'oilGasWell', '--states', 'IL', '--dry-run');
    assert.match(
      got.stderr,
      /^Without wells: it is not published for IL\. Other states: download the list of the state agency and load it with: perilbook data load wells FILE --states OK$/m,
    );
  },
);

test('the plan names topics whose events are not here, because their counts stay empty', LONG, async (t) => {
  const { run, change, output } = scene(t);
  change("DELETE FROM datasets WHERE name = 'records:hail'");
  const without =
    /No records of events here for hail: their counts stay empty\. Get them: perilbook data get hail --for/;
  assert.match((await run('plan', 'book.csv', '--topics', 'hail,tornado,radon')).stdout, without);
  const ran = await run('run', 'book.csv', '--topics', 'hail,tornado,radon', '--json');
  assert.match(ran.stderr, without);
  assert.deepEqual(JSON.parse(ran.stdout).source.topics_without_records, ['hail']);
  const [row] = output();
  assert.deepEqual([row!.hazard_status, row!.hail_reports], ['ok', '']);
  assert.match(row!.tornado_reports!, /^\d+$/);
  // Who asks for no counts misses none.
  const uncounted = await run('plan', 'book.csv', '--topics', 'hail,tornado,radon', '--no-counts');
  assert.doesNotMatch(uncounted.stdout, /records of events/);
});

test(
  'the plan says where records of events are here for some states only, because counts stay empty near the others',
  LONG,
  async (t) => {
    const { run, change, output } = scene(t);
    change(coverOnly('CA,CO', 'records:hail'));
    const part =
      /\nRecords of events for hail are here for these states only: near others the counts stay empty\. Get them: perilbook data get hail --for/;
    assert.match((await run('plan', 'book.csv', '--topics', 'hail,tornado')).stdout, part);
    assert.match((await run('run', 'book.csv', '--topics', 'hail,tornado')).stderr, part);
    assert.match(output()[0]!.hail_reports!, /^\d+$/);
    assert.deepEqual([output()[1]!.hazard_status, output()[1]!.hail_reports], ['ok', '']);
    assert.doesNotMatch((await run('plan', 'book.csv', '--topics', 'hail', '--no-counts')).stdout, /Records of events/);
  },
);

test(
  'ratings of tracts without boundaries of tracts are missing data, in the plan, the run and its summary',
  LONG,
  async (t) => {
    const { run, change, output } = scene(t);
    // Chicago's county is rated by tract only, and Denver's not at all.
    change("DELETE FROM ratings_county WHERE geoid IN ('17031', '08031')");
    change("INSERT INTO ratings_tract VALUES ('17031010100', 'hail', 'Very High', 99, 3)");
    const planned = await run('plan', 'book.csv', '--topics', 'hail,radon', '--json');
    assert.deepEqual(JSON.parse(planned.stdout).source.places_without_data, [
      { state: 'CO', places: 1, topics: ['hail'] },
      { state: 'IL', places: 1, topics: ['hail'] },
    ]);
    const ran = await run('run', 'book.csv', '--topics', 'hail,radon');
    assert.equal(ran.code, 3);
    assert.match(
      ran.stderr,
      /No data here for hail at 2 places in CO, IL\. Get it: perilbook data get hail --for book\.csv/,
    );
    assert.match(ran.stderr, /3 rows lack answers/);
    const rows = output();
    assert.deepEqual(
      rows.map(({ hazard_status, hail_rating, radon_zone }) => [hazard_status, hail_rating === '', radon_zone === '']),
      [['ok', false, false], ...Array.from({ length: 3 }, () => ['partial', true, false])],
    );
    assert.match(rows[1]!.hazard_note!, /; no tract boundaries of IL \(perilbook data get areas --states IL\): hail$/);
    assert.match(rows[3]!.hazard_note!, /; incomplete local data of CO \(perilbook data get hail --states CO\): hail$/);
  },
);

test('a territory without boundaries lacks local data, although the rest of the US has them', LONG, async (t) => {
  const { folder, run, change, output } = scene(t);
  change("DELETE FROM areas_county WHERE state = 'VI'");
  change('DELETE FROM area_boxes_county WHERE id NOT IN (SELECT id FROM areas_county)');
  writeFileSync(join(folder, 'book.csv'), 'id,lat,lng\n1,17.74,-64.75\n');
  const planned = await run('plan', 'book.csv', '--topics', 'hail', '--json');
  assert.deepEqual(JSON.parse(planned.stdout).source.places_without_data, [
    { state: 'VI', places: 1, topics: ['hail'] },
  ]);
  await run('run', 'book.csv', '--topics', 'hail');
  const [row] = output();
  assert.deepEqual(
    [row!.hazard_status, row!.hazard_note],
    ['failed', 'no local data of VI (perilbook data get hail --states VI): hail'],
  );
});

test(
  'a place in a state whose boundaries are not whole is not refused, and its note names the command that gets them',
  LONG,
  async (t) => {
    const { clock, run, change, output } = scene(t);
    const removeAreas = (which: string) => {
      change(`DELETE FROM areas_county WHERE ${which}`);
      change('DELETE FROM area_boxes_county WHERE id NOT IN (SELECT id FROM areas_county)');
      clock.move(HOUR);
      change("UPDATE datasets SET loaded_at = ? WHERE name = 'areas'", clock.now());
    };
    removeAreas("geoid = '17031'");
    await run('run', 'book.csv', '--topics', 'hail');
    const outside = output().map(({ hazard_status, hazard_note }) => [hazard_status, hazard_note]);
    const note = 'the loaded boundaries leave out this part of IL (perilbook data get areas --states IL): hail';
    assert.deepEqual(outside[1], ['failed', note]);
    assert.deepEqual([outside[0]![0], outside[3]![0]], ['ok', 'ok']);

    removeAreas("state <> 'CA'");
    await run('run', 'book.csv', '--topics', 'hail');
    const rows = output();
    assert.deepEqual(
      rows.map(({ hazard_status }) => hazard_status),
      // Denver still has its old answer.
      ['ok', 'failed', 'failed', 'partial'],
    );
    assert.match(rows[1]!.hazard_note!, /^no local data of IL \(perilbook data get hail --states IL\): hail$/);
    assert.match((await run('data')).stdout, / areas \(county\) .* CA +test\n/);
  },
);

test('an answer without counts is none with counts', LONG, async (t) => {
  const { run, output } = scene(t);
  await run('run', 'book.csv', '--topics', 'hail', '--no-counts');
  assert.equal(output()[0]!.hail_reports, undefined);
  const ran = await run('run', 'book.csv', '--topics', 'hail');
  assert.match(ran.stderr, /3 places to look up/);
  assert.match(output()[0]!.hail_reports!, /^\d+$/);
});

test('an interrupt ends with 130, and the same command goes on', async (t) => {
  const { folder, clock, home, run, output } = scene(t);
  const interruption = new AbortController();
  const args = ['run', 'book.csv', '--topics', 'hail'];
  const ended = await perilbook(args, {
    ...{ folder, clock, env: { XDG_DATA_HOME: home }, interrupt: interruption.signal },
    onStderr: (text) => text.includes('looking up: 3 places') && interruption.abort(),
  });
  assert.equal(ended.code, 130);
  assert.match(ended.stderr, /Interrupted\. Answers that were looked up are kept\. To resume: perilbook run book\.csv/);
  assert.deepEqual([output()[0]!.hazard_status, output()[0]!.hazard_note], ['deferred', 'not looked up yet']);
  assert.equal((await run(...args)).code, 0);
  assert.equal(output()[0]!.hazard_status, 'ok');
});

test('local answers are deleted without a question, because they cost nothing', LONG, async (t) => {
  const { clock, run } = scene(t);
  await run('run', 'book.csv', '--topics', 'hail,radon');
  await run('run', 'book.csv', '--topics', 'hail', '--no-counts');
  clock.move(2 * HOUR);
  const pruned = await run('cache', 'prune', '--older-than', '1h');
  assert.equal(pruned.code, 0, pruned.stderr);
  assert.match(pruned.stderr, /^Deleted 9 answers older than 1h/);
});

test('files of several loads are one source', async (t) => {
  const { run, change } = scene(t);
  change(`UPDATE parts SET source = 'FEMA', files = '["VA.csv","MD.csv"]' WHERE dataset = 'nri'`);
  assert.match((await run('plan', 'book.csv', '--topics', 'hail')).stdout, / nri +sample-2 +US +FEMA\n/);
});

test('areas and a budget have no effect on local answers, which cost nothing', async (t) => {
  const { folder, run } = scene(t);
  writeFileSync(join(folder, 'tracts.csv'), 'id,lat,lng,tract\n1,34.0522,-118.2437,x\n2,34.0523,-118.2437,\n');
  for (const by of [['--tract', 'tract'], ['--by-tract']]) {
    const planned = await run('plan', 'tracts.csv', '--topics', 'radon', '--budget', '5', ...by);
    assert.match(planned.stdout, /\nThe budget has no effect: local answers cost nothing\.\n/);
    assert.match(planned.stdout, /\nareas has no effect: local answers cost nothing\.\n/, planned.stderr);
    assert.match(planned.stdout, /2 places to look up/);
    assert.doesNotMatch(planned.stdout, /bought/);
  }
});

test('the report names local data and shows no credits', LONG, async (t) => {
  const { folder, run } = scene(t);
  const ran = await run('run', 'book.csv', '--topics', 'hail', '--report', 'report.html');
  assert.equal(ran.code, 0, ran.stderr);
  const page = readFileSync(join(folder, 'report.html'), 'utf8');
  assert.match(page, /local data/);
  assert.match(page, /sample-2/);
  const text = page.replace(/<(style|script)>.*?<\/\1>/gs, '');
  assert.doesNotMatch(text, /credit/i);
});
