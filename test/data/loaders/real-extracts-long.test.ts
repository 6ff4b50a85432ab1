import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { createAreaFinder } from '../../../src/data/tables/area-finder.ts';
import { noRealData, realFile } from '../../real-data.ts';
import { loading } from './loading.ts';

const skip = existsSync(realFile('agencies')) ? noRealData : 'no extracts are here';

/** The files of a pattern such as `tracts_{11,44}.geojson`. */
function filesOf(pattern: string): string[] {
  const [, before = pattern, choices = '', after = ''] = /^(.*)\{(.*)\}(.*)$/.exec(pattern) ?? [];
  return choices.split(',').map((choice) => realFile(`agencies/${before}${choice}${after}`));
}

/** Extracts of agencies' files from public repositories, and what was counted in them by other means. */
const EXTRACTS: readonly (readonly [loader: string, files: string, counts: readonly number[], states?: string])[] = [
  ['lmop', 'lmop/lmopdata{ct,de,ma,md,nj,ny}.csv', [355, 316, 201], 'CT,DE,MA,MD,NJ,NY'],
  ['wildfire-incidents', 'wfigs_current.csv', [3, 1, 1]],
  ['wildfire-history', 'wfigs_current.csv', [3, 2, 2]],
  ['superfund', 'npl_sites_with_status_1row.csv', [1, 1, 1], 'MD'],
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
  for (const [pattern, tracts] of [
    ['boundaries/tracts_{11,44,78}.geojson', filesOf('boundaries/tracts_{11,44,78}.geojson').flatMap(tractsOfGeojson)],
    ['boundaries/tl_2023_44_tract.shp', rowsOfDbf(realFile('agencies/boundaries/tl_2023_44_tract.dbf'))],
  ] as const) {
    const { database, load } = loading(t);
    await load('areas', filesOf(pattern));
    const find = createAreaFinder(database);
    assert.ok(tracts.length >= 250);
    for (const { GEOID, INTPTLAT, INTPTLON } of tracts) {
      assert.equal(find({ lat: Number(INTPTLAT), lng: Number(INTPTLON) })?.geoid, GEOID);
    }
  }
});

function tractsOfGeojson(file: string): Record<string, string>[] {
  const { features } = JSON.parse(readFileSync(file, 'utf8')) as { features: { properties: Record<string, string> }[] };
  return features.map(({ properties }) => properties);
}

/** A dBASE table, read by its specification: 32 bytes of header, 32 for each field, then rows of fixed width. */
function rowsOfDbf(file: string): Record<string, string>[] {
  const bytes = readFileSync(file);
  const [rows, start, width] = [bytes.readUInt32LE(4), bytes.readUInt16LE(8), bytes.readUInt16LE(10)];
  const fields = Array.from({ length: Math.floor((start - 33) / 32) }, (_, index) => {
    const at = 32 * (index + 1);
    return { name: bytes.toString('latin1', at, at + 11).replace(/\0.*$/s, ''), length: bytes[at + 16]! };
  });
  return Array.from({ length: rows }, (_, index) => {
    let at = start + index * width + 1;
    const values = fields.map(({ name, length }) => {
      at += length;
      return [name, bytes.toString('latin1', at - length, at).trim()];
    });
    return Object.fromEntries(values) as Record<string, string>;
  });
}

test('FEMA’s summary table, which has no hazards, is refused', { skip }, async (t) => {
  const { load } = loading(t);
  for (const force of [false, true]) {
    await assert.rejects(load('nri', filesOf('NRI_summary_counties_Nov2021.csv'), { force }), {
      code: 'SERVICE_DATA',
      message: /it has no ratings, scores and frequencies of hazards/,
    });
  }
});
