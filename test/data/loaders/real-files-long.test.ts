import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'csv-parse/sync';
import { NATURAL_SLUGS, type NaturalSlug } from '../../../src/contract/topics.ts';
import { createAreaFinder } from '../../../src/data/tables/area-finder.ts';
import { noRealData, realFile } from '../../real-data.ts';
import { loading, rejects } from './loading.ts';

/** The prefixes of FEMA's March 2023 table, written out once more: the loader's own table is what is tested. */
const PREFIX: Readonly<Record<NaturalSlug, string>> = {
  ...{
    avalanche: 'AVLN',
    coastalFlood: 'CFLD',
    coldWave: 'CWAV',
    drought: 'DRGT',
    earthquake: 'ERQK',
    hail: 'HAIL',
  },
  ...{
    heatWave: 'HWAV',
    hurricane: 'HRCN',
    iceStorm: 'ISTM',
    landslide: 'LNDS',
    lightning: 'LTNG',
  },
  ...{
    riverineFlood: 'RFLD',
    strongWind: 'SWND',
    tornado: 'TRND',
    tsunami: 'TSUN',
    volcano: 'VLCN',
  },
  ...{ wildfire: 'WFIR', winterWeather: 'WNTW' },
};

function tableOf(name: string): Record<string, string>[] {
  return parse(readFileSync(realFile(name)), { columns: true, bom: true });
}

function expectedOf(row: Record<string, string>, topic: NaturalSlug) {
  const prefix = PREFIX[topic];
  const number = (text: string) => (text === '' ? null : Number(text));
  return {
    rating: row[`${prefix}_RISKR`],
    score: number(row[`${prefix}_RISKS`]!),
    frequency: number(row[`${prefix}_AFREQ`]!),
  };
}

test('every rating of Baltimore’s tracts is that of its row', { skip: noRealData }, async (t) => {
  const { database, load } = loading(t);
  const name = 'nri/NRI_Table_CensusTracts_Baltimore_24510.csv';
  const result = await load('nri', realFile(name));
  assert.deepEqual(
    [result.rows, result.loaded, result.records, result.level],
    [199, 199, 199 * 18, 'tract'],
  );
  const select = database.prepare(
    'SELECT rating, score, frequency FROM ratings_tract WHERE geoid = ? AND topic = ?',
  );
  for (const row of tableOf(name)) {
    for (const topic of NATURAL_SLUGS) {
      assert.deepEqual(
        select.get(row.TRACTFIPS, topic),
        expectedOf(row, topic),
        `${row.TRACTFIPS} ${topic}`,
      );
    }
  }
});

const PARTS = ['storms/2005-2007_torn.csv', 'storms/2011_torn.csv', 'storms/2014_torn.csv'];
const WHOLE = '167 from 1092: a part of a tornado that another row has as a whole';
const MEXICO = '1 from 139: "Country Of Mexico" is not a US state';

/** Every real file of a kind that is loaded: rows, rows used, records, and why the others were not. */
const FILES: readonly [
  loader: string,
  files: readonly string[],
  counts: readonly [rows: number, loaded: number, records: number],
  ...rejected: string[],
][] = [
  ['nri', ['nri/NRI_Table_Counties_Virginia.csv'], [133, 133, 2394]],
  ['areas', ['boundaries/va_tracts_tiger.geojson'], [61, 61, 61]],
  ['counties', ['boundaries/BayAreaCounties.shp'], [10, 10, 10]],
  ['tri', ['sites/TRI_2017_CA.csv'], [3685, 3685, 1205]],
  [
    'superfund',
    ['sites/superfund_npl.csv'],
    [1342, 1340, 1340],
    '2 from 2: the coordinates are blank',
  ],
  ['alternative-fuels', ['sites/alt_fuel_stations_MA.csv'], [4216, 4216, 4216]],
  ['power-plants', ['sites/nuclear_power_plants.csv'], [55, 55, 55]],
  ['nuclear-reactors', ['sites/nuclear_power_plants.csv'], [55, 55, 55]],
  ['nuclear-reactors', ['sites/nuclear_power_plants.geojson'], [55, 55, 55]],
  ['parks', ['sites/seattle_parks.geojson'], [1514, 1514, 1514]],
  ['hail', ['storms/2020_hail.csv'], [7670, 7670, 7670]],
  ['tornado', PARTS, [6198, 6031, 6031], WHOLE],
  ['hurdat2', ['storms/hurdat2_2014_2018.txt'], [2514, 2514, 71]],
  ['earthquakes', ['quakes/earthquakes.geojson'], [6107, 6107, 6107]],
  // Connecticut's seven counties and the nine planning regions that are answered from them come on top of the rows.
  ['air-quality', ['air/annual_aqi_by_county_2023.csv'], [992, 991, 1000], MEXICO],
  ['air-quality', ['air/annual_aqi_by_county_2024.csv'], [996, 995, 1004], MEXICO],
];

for (const [loader, files, counts, ...rejected] of FILES) {
  test(`${loader}: ${files.join(', ')}`, { skip: noRealData }, async (t) => {
    const { load } = loading(t);
    const result = await load(loader, files.map(realFile));
    assert.deepEqual([result.rows, result.loaded, result.records], counts);
    const found = rejects(result).map(
      ([reason, count, firstLine]) => `${count} from ${firstLine}: ${reason}`,
    );
    assert.deepEqual(found, rejected);
  });
}

/** Extracts of agencies' files from public repositories. */
const skip = existsSync(realFile('agencies')) ? noRealData : 'no extracts are here';

/** The files of a pattern such as `tracts_{11,44}.geojson`. */
function filesOf(pattern: string): string[] {
  const [, before = pattern, choices = '', after = ''] = /^(.*)\{(.*)\}(.*)$/.exec(pattern) ?? [];
  return choices.split(',').map((choice) => realFile(`agencies/${before}${choice}${after}`));
}

/** Extracts of agencies' files from public repositories, and what was counted in them by other means. */
const EXTRACTS: readonly (readonly [
  loader: string,
  files: string,
  counts: readonly number[],
  states?: string,
])[] = [
  ['lmop', 'lmop/lmopdata{ct,de,ma,md,nj,ny}.csv', [355, 316, 201], 'CT,DE,MA,MD,NJ,NY'],
  ['wildfire-incidents', 'wfigs_current.csv', [3, 1, 1]],
  ['wildfire-history', 'wfigs_current.csv', [3, 2, 2]],
  ['counties', 'boundaries/geojson-counties-fips.json.gz', [3221, 3221, 3221]],
  ['counties', 'boundaries/nc.shp', [100, 100, 100]],
  ['areas', 'boundaries/tl_2023_44_tract.shp', [250, 250, 250]],
  ['areas', 'boundaries/tracts_{11,44,78}.geojson', [455, 455, 455]],
];

for (const [loader, pattern, counts, states] of EXTRACTS) {
  test(`${loader}: agencies/${pattern}`, { skip }, async (t) => {
    const { load } = loading(t);
    const result = await load(loader, filesOf(pattern));
    assert.deepEqual([result.rows, result.loaded, result.records], counts);
    assert.equal(result.states?.join(), states);
  });
}

test('the Census Bureau’s internal point of each tract lies in it', { skip }, async (t) => {
  const files = filesOf('boundaries/tracts_{11,44,78}.geojson');
  const { database, load } = loading(t);
  await load('areas', files);
  const find = createAreaFinder(database);
  for (const { GEOID, INTPTLAT, INTPTLON } of files.flatMap(tractsOfGeojson)) {
    assert.equal(find({ lat: Number(INTPTLAT), lng: Number(INTPTLON) })?.geoid, GEOID);
  }
});

function tractsOfGeojson(file: string): Record<string, string>[] {
  const { features } = JSON.parse(readFileSync(file, 'utf8')) as {
    features: { properties: Record<string, string> }[];
  };
  return features.map(({ properties }) => properties);
}

test('a Superfund site that was deleted from the list is no site', { skip }, async (t) => {
  const { load } = loading(t);
  await assert.rejects(
    load('superfund', filesOf('npl_sites_with_status_1row.csv')),
    /no row is usable \(it was deleted from the National Priorities List: 1\)/,
  );
});

test('FEMA’s summary table, which has no hazards, is refused', { skip }, async (t) => {
  const { load } = loading(t);
  for (const force of [false, true]) {
    await assert.rejects(load('nri', filesOf('NRI_summary_counties_Nov2021.csv'), { force }), {
      code: 'SERVICE_DATA',
      message: /it has no ratings, scores and frequencies of hazards/,
    });
  }
});
