import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { downloadedSources } from '../../../src/cli/commands/data-get.ts';
import { writeManifest } from '../../../src/data/download/downloads-folder.ts';
import { NRI_PREFIXES } from '../../../src/data/loaders/nri.ts';
import { SOURCES } from '../../../src/data/sources/source-table.ts';
import { checked, NRI_TRACTS, setUp, triFileOf } from './data-scene.ts';

/* Sources that are downloaded by state. */

for (const got of ['--states VA,MD,DC', ''] as const) {
  test(`data check sees a state and columns that vanished from what was downloaded (${got || 'the whole US'})`, async (t) => {
    const { run, mirror } = await setUp(t);
    const hazards = NRI_PREFIXES.map(([, prefix]) => prefix);
    const names = hazards.flatMap((hazard) =>
      ['RISKR', 'RISKS', 'AFREQ'].map((suffix) => `${hazard}_${suffix}`),
    );
    const valueIn = (name: string) => (name.endsWith('_RISKR') ? 'Very Low' : 1);
    const rows = ['VA 51 30', 'MD 24 20', 'DC 11 12']
      .map((of) => of.split(' '))
      .flatMap(([STATEABBRV, STATEFIPS, count]) =>
        Array.from({ length: Number(count) }, (_, index) => ({
          attributes: {
            ...{
              TRACTFIPS: `${STATEFIPS}001${String(100 + index).padStart(6, '0')}`,
              STATEFIPS,
              STATEABBRV,
            },
            ...Object.fromEntries(names.map((name) => [name, valueIn(name)])),
          },
        })),
      );
    const layer = { fields: Object.keys(rows[0]!.attributes), rows, edited: 1_770_000_000_000 };
    mirror.layers.set(NRI_TRACTS, layer);
    const first = await run(['get', 'nri-tracts', ...got.split(' ').filter(Boolean), '--yes']);
    assert.match(first.stderr, /nri-tracts: loaded 1,116 records/);
    const warning = async () => (await checked(run, 'nri-tracts')).warning!;
    const usual = 'it has 62 rows, and about 85154 were expected';
    assert.equal(await warning(), usual);
    const isLeft = (name: string) => !/^DRGT_/.test(name);
    mirror.layers.set(NRI_TRACTS, { ...layer, fields: layer.fields.filter(isLeft) });
    assert.equal(await warning(), `${usual}; it has no column DRGT_RISKR, DRGT_RISKS, DRGT_AFREQ`);
    mirror.layers.set(NRI_TRACTS, {
      ...layer,
      rows: rows.filter(({ attributes }) => attributes.STATEABBRV !== 'DC'),
    });
    assert.match(await warning(), /; DC has 0 rows; 12 are loaded$/);
    mirror.layers.set(NRI_TRACTS, { ...layer, rows: rows.slice(15) });
    assert.match(await warning(), /; VA has 15 rows; 30 are loaded$/);
  });
}

test('data check sees that the file of a downloaded state is gone', async (t) => {
  const { run, mirror } = await setUp(t);
  const body = Buffer.from('1. YEAR,2. TRIFD,12. LATITUDE,13. LONGITUDE\n2025,1,37,-78\n');
  for (const slice of ['US', 'VA', 'MD']) mirror.files.set(triFileOf(slice), { body, etag: '"1"' });
  await run(['get', 'tri', '--states', 'VA,MD', '--yes']);
  assert.match((await run(['check', 'tri'])).stdout, /^tri +ok +2025$/m);
  mirror.files.delete(triFileOf('MD'));
  assert.match(
    (await run(['check', 'tri'])).stdout,
    /^tri: the file of MD is gone \(https:[^ ]*2025_MD\/csv\)$/m,
  );
});

test('the states whose files are missing are named, and keep none of the others from coming', async (t) => {
  const { run, mirror } = await setUp(t);
  for (const state of ['DC', 'VA']) {
    const body = Buffer.from(
      `TRIFD,YEAR,ST,LATITUDE,LONGITUDE\n${state}1,2025,${state},38,-78.1\n`,
    );
    mirror.files.set(triFileOf(state), { body, etag: '"1"' });
  }
  const got = await run(['get', 'tri', '--states', 'VA,CA,MD,DC', '--yes']);
  assert.equal(got.code, 6);
  assert.match(got.stderr, /tri: loaded 2 records of DC, VA, 2025\.\n/);
  assert.match(
    got.stderr,
    /_CA\/csv is missing, and so are newer files\. Not downloaded: CA, MD\n/,
  );
  // A server that does not answer is not asked for each state in turn.
  mirror.requests.length = 0;
  mirror.fail(/^data\.epa\.gov.*tri_basic/, 99, (_, response) => response.writeHead(503).end());
  const down = await run(['get', 'tri', '--states', 'VA,CA,DC', '--yes']);
  assert.match(down.stderr, /_CA\/csv answered with status 503\. Not downloaded: CA, DC, VA\n/);
  assert.equal(
    mirror.requests.filter(({ target }) => target.startsWith('data.epa.gov')).length,
    12,
  );
});

test('a source that was downloaded by state and is one file now is asked for the whole US, once', async (t) => {
  const { downloads } = await setUp(t);
  const entry = (file: string) => ({
    file,
    url: 'https://x',
    bytes: 1,
    fetchedAt: 1,
    checkedAt: 1,
  });
  for (const name of ['cell-towers', 'ust-facilities']) {
    writeManifest(
      join(downloads, name),
      new Map(['VA', 'MD'].map((state) => [state, entry(`${state}.geojson`)])),
    );
  }
  const found = downloadedSources(SOURCES, downloads).map(({ source, slices }) => [
    source.name,
    slices,
  ]);
  assert.deepEqual(found, [
    ['ust-facilities', ['VA', 'MD']],
    ['cell-towers', ['US']],
  ]);
});
