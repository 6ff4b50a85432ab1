import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { parse } from 'csv-parse/sync';
import { local, lookup } from '../../src/index.ts';
import { MovedClock } from '../moved-clock.ts';
import { square } from '../service/small-data.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { perilbook } from './command-line.ts';

/** Two tracts of the county 31001, and the county 31003 without tracts. */
const TRACTS = [
  ['31001000100', square(-100, 40, 0.5)],
  ['31001000200', square(-99.5, 40, 0.5)],
] as const;
const COUNTIES = [
  ['31001', square(-100, 40, 1)],
  ['31003', square(-99, 40, 1)],
] as const;
const BOOK = `id,lat,lng
rated,40.25,-99.75
unrated,40.25,-99.25
next door,40.5,-98.5
rated too,40.3,-99.7
abroad,48.9,2.3
`;

const outlines = (areas: readonly (readonly [string, object])[]) =>
  JSON.stringify({
    type: 'FeatureCollection',
    features: areas.map(([GEOID, geometry]) => ({ type: 'Feature', properties: { GEOID }, geometry })),
  });

const ratings = (column: string, rows: readonly (readonly [string, string])[]) =>
  `${column},NRI_VER,HAIL_RISKR,HAIL_RISKS,HAIL_AFREQ\n${rows.map(([code, rating]) => `${code},March 2023,${rating},50,0.5\n`).join('')}`;

function scene(t: TestContext) {
  const folder = temporaryFolder(t);
  const options = { folder, env: { XDG_DATA_HOME: folder }, clock: new MovedClock('2026-06-01T00:00:00Z') };
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return name;
  };
  file('book.csv', BOOK);
  const run = (...args: string[]) => perilbook(args, options);
  return {
    ...{ folder, run },
    load: async (loader: string, name: string, text: string) => {
      const loaded = await run('data', 'load', loader, file(name, text), '--replace');
      assert.equal(loaded.code, 0, loaded.stderr);
      return loaded.stderr;
    },
    /** Rating and note of each row. */
    output: () =>
      (parse(readFileSync(join(folder, 'book.hazards.csv')), { columns: true }) as Record<string, string>[]).map(
        (row) => [row.id, row.hail_rating, row.hazard_note],
      ),
  };
}

test('a county rating in place of one of the tract is told at load, by data, in the plan and on its rows', async (t) => {
  const { run, load, output, folder } = scene(t);
  await load('areas', 'tracts_2010.geojson', outlines(TRACTS));
  await load('counties', 'counties_2010.geojson', outlines(COUNTIES));
  assert.doesNotMatch(
    await load(
      'nri',
      'tracts.csv',
      ratings('TRACTFIPS', [
        ['31001000100', 'Very High'],
        ['31001000300', 'Very Low'],
      ]),
    ),
    /rating of their county/,
  );
  const told = await load(
    'nri',
    'counties.csv',
    ratings('STCOFIPS', [
      ['31001', 'Very Low'],
      ['31003', 'Very Low'],
    ]),
  );
  const words =
    /1 of 2 tracts here has no rating \(outlines 2010, ratings March 2023\): places in it get the rating of their county\./;
  assert.match(told, words);
  assert.match(
    told,
    /In 2 counties the outlines of tracts are not all here: places outside of them get the rating of their county\./,
  );
  assert.match((await run('data')).stdout, words);
  assert.deepEqual(JSON.parse((await run('data', '--json')).stdout).county_ratings, {
    ...{ tracts: 2, tracts_without_rating: 1, counties_without_all_tracts: 2 },
  });

  const planned = await run('plan', 'book.csv', '--topics', 'hail');
  assert.match(
    planned.stdout,
    /\n2 of 4 places get the rating of their county: their tracts have none here, or no outline\.\n/,
  );
  const json = JSON.parse((await run('plan', 'book.csv', '--topics', 'hail', '--json')).stdout);
  assert.equal(json.source.places_with_county_ratings, 2);

  const plain = 'local data: areas 2010, nri March 2023';
  const expected = [
    ['rated', 'Very High', plain],
    ['unrated', 'Very Low', `${plain}; rating of the county, not of the tract`],
    ['next door', 'Very Low', `${plain}; rating of the county, not of the tract`],
    ['rated too', 'Very High', plain],
  ];
  // Looked up, and then from the store.
  for (let time = 0; time < 2; time++) {
    assert.equal((await run('run', 'book.csv', '--topics', 'hail')).code, 0);
    assert.deepEqual(output().slice(0, 4), expected);
  }
  using source = local({ file: join(folder, 'perilbook/data.db') });
  const single = await lookup({ lat: 40.25, lng: -99.25 }, ['hail'], { source });
  assert.match(String(single.note), /; rating of the county, not of the tract$/);

  // A topic that is no rating says nothing of it.
  await load('radon', 'radon.csv', 'CountyFIPS,RadonZone\n31001,1\n31003,2\n');
  assert.equal((await run('run', 'book.csv', '--topics', 'radon')).code, 0);
  assert.doesNotMatch(String(output()[1]![2]), /rating of the county/);

  // With the right outlines nothing is left to tell.
  await load(
    'areas',
    'tracts_2020.geojson',
    outlines([TRACTS[0], ['31001000300', square(-99.5, 40, 0.5)], ['31003000100', square(-99, 40, 1)]]),
  );
  const last = await load(
    'nri',
    'tracts.csv',
    ratings('TRACTFIPS', [
      ['31001000100', 'Very High'],
      ['31001000300', 'Very Low'],
      ['31003000100', 'Very Low'],
    ]),
  );
  assert.doesNotMatch(last, /rating of their county/);
  assert.doesNotMatch((await run('data')).stdout, /rating of their county/);
  assert.doesNotMatch((await run('plan', 'book.csv', '--topics', 'hail')).stdout, /rating of their county/);
});
