import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'csv-parse/sync';
import { NATURAL_SLUGS, type NaturalSlug } from '../../../src/contract/topics.ts';
import { noRealData, realFile } from '../../real-data.ts';
import { loading, rejects } from './loading.ts';

/** The prefixes of FEMA's March 2023 table, written out once more: the loader's own table is what is tested. */
const PREFIX: Readonly<Record<NaturalSlug, string>> = {
  avalanche: 'AVLN',
  coastalFlood: 'CFLD',
  coldWave: 'CWAV',
  drought: 'DRGT',
  earthquake: 'ERQK',
  hail: 'HAIL',
  heatWave: 'HWAV',
  hurricane: 'HRCN',
  iceStorm: 'ISTM',
  landslide: 'LNDS',
  lightning: 'LTNG',
  riverineFlood: 'RFLD',
  strongWind: 'SWND',
  tornado: 'TRND',
  tsunami: 'TSUN',
  volcano: 'VLCN',
  wildfire: 'WFIR',
  winterWeather: 'WNTW',
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
  assert.deepEqual([result.rows, result.loaded, result.records, result.level], [199, 199, 199 * 18, 'tract']);
  const select = database.prepare('SELECT rating, score, frequency FROM ratings_tract WHERE geoid = ? AND topic = ?');
  for (const row of tableOf(name)) {
    for (const topic of NATURAL_SLUGS) {
      assert.deepEqual(select.get(row.TRACTFIPS, topic), expectedOf(row, topic), `${row.TRACTFIPS} ${topic}`);
    }
  }
});

const PART = 'a part of a tornado that another row has as a whole';

/** Every real file of a kind that is loaded: rows, rows used, records, and why the others were not. */
const FILES: readonly [
  loader: string,
  files: readonly string[],
  counts: readonly [rows: number, loaded: number, records: number],
  rejected: readonly (readonly [reason: string, count: number, firstLine: number])[],
][] = [
  ['nri', ['nri/NRI_Table_Counties_Virginia.csv'], [133, 133, 2394], []],
  ['areas', ['boundaries/va_tracts_tiger.geojson'], [61, 61, 61], []],
  ['counties', ['boundaries/BayAreaCounties.shp'], [10, 10, 10], []],
  ['tri', ['sites/TRI_2017_CA.csv'], [3685, 3685, 1205], []],
  [
    'superfund',
    ['sites/superfund_npl.csv'],
    [1342, 1340, 1340],
    [
      ['a second row of headings', 1, 2],
      ['a total, not a site', 1, 1343],
    ],
  ],
  ['alternative-fuels', ['sites/alt_fuel_stations_MA.csv'], [4216, 4216, 4216], []],
  ['power-plants', ['sites/nuclear_power_plants.csv'], [55, 55, 55], []],
  ['nuclear-reactors', ['sites/nuclear_power_plants.csv'], [55, 55, 55], []],
  ['nuclear-reactors', ['sites/nuclear_power_plants.geojson'], [55, 55, 55], []],
  ['parks', ['sites/seattle_parks.geojson'], [1514, 1514, 1514], []],
  ['hail', ['storms/2020_hail.csv'], [7670, 7670, 7670], []],
  [
    'tornado',
    ['storms/2005-2007_torn.csv', 'storms/2011_torn.csv', 'storms/2014_torn.csv'],
    [6198, 6031, 6031],
    [[PART, 167, 1092]],
  ],
  ['hurdat2', ['storms/hurdat2_2014_2018.txt'], [2514, 2514, 71], []],
  ['earthquakes', ['quakes/earthquakes.geojson'], [6107, 6107, 6107], []],
  // Connecticut's seven counties and the nine planning regions that are answered from them come on top of the rows.
  [
    'air-quality',
    ['air/annual_aqi_by_county_2023.csv'],
    [992, 991, 1000],
    [['"Country Of Mexico" is not a US state', 1, 139]],
  ],
  [
    'air-quality',
    ['air/annual_aqi_by_county_2024.csv'],
    [996, 995, 1004],
    [['"Country Of Mexico" is not a US state', 1, 139]],
  ],
];

for (const [loader, files, counts, rejected] of FILES) {
  test(`${loader}: ${files.join(', ')}`, { skip: noRealData }, async (t) => {
    const { load } = loading(t);
    const result = await load(loader, files.map(realFile));
    assert.deepEqual([result.rows, result.loaded, result.records], counts);
    assert.deepEqual(rejects(result), rejected);
  });
}
