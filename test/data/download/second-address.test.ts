import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type MirroredLayer, sendJson, sendPage } from './agency-mirror.ts';
import { dataMachine } from './downloading.ts';

const FIRST =
  'services.arcgis.com/cJ9YHowT8TU7DUyn/arcgis/rest/services/FRS_INTERESTS_ACRES/FeatureServer/0';
const SECOND = 'geopub.epa.gov/arcgis/rest/services/EMEF/efpoints/MapServer/5';

/** EPA's layers of brownfields: one in capitals, the other not. */
function brownfields(count: number, names: (name: string) => string): MirroredLayer {
  const places = [
    [-119, 37],
    [-81.5, 28.5],
    [-75, 43],
    [-77, 41],
    [-99, 31],
  ];
  const fields = ['PGM_SYS_ACRNM', 'STATE_CODE'].map(names);
  return {
    fields,
    rows: Array.from({ length: count }, (_, index) => ({
      attributes: {
        [fields[0]!]: 'ACRES',
        [fields[1]!]: ['CA', 'FL', 'NY', 'PA', 'TX'][index % 5],
      },
      geometry: { type: 'Point', coordinates: places[index % places.length] },
    })),
    edited: 1_770_000_000_000,
  };
}

async function machine(t: TestContext) {
  const here = await dataMachine(t);
  here.mirror.layers.set(
    FIRST,
    brownfields(40, (name) => name),
  );
  here.mirror.layers.set(
    SECOND,
    brownfields(40, (name) => name.toLowerCase()),
  );
  const get = (...flags: string[]) => here.run(['get', 'brownfield', '--yes', ...flags]);
  const vintage = async () =>
    (await here.list()).datasets.find(({ name }: { name: string }) => name === 'sites:brownfield')
      ?.vintage;
  return { ...here, get, vintage };
}

for (const [what, fault] of [
  ['is gone', (_: unknown, response: Parameters<typeof sendPage>[0]) => sendPage(response, 404)],
  ['fails', (_: unknown, response: Parameters<typeof sendPage>[0]) => sendPage(response, 503)],
  [
    'refuses programs',
    (_: unknown, response: Parameters<typeof sendPage>[0]) => sendPage(response, 403),
  ],
  [
    'needs an account',
    (_: unknown, response: Parameters<typeof sendPage>[0]) =>
      sendJson(response, { error: { code: 499, message: 'Token Required', details: [] } }),
  ],
] as const) {
  test(`the second address is asked when the first ${what}; it is told, stored, and left again later`, async (t) => {
    const { mirror, folder, get, vintage, run } = await machine(t);
    let isAway = true;
    mirror.fail(/FRS_INTERESTS_ACRES/, 999, (request, response) =>
      isAway ? fault(request, response) : false,
    );
    const got = await get();
    assert.match(
      got.stderr,
      /brownfield: .*FRS_INTERESTS_ACRES[\s\S]*brownfield: loaded 40 records, .*from geopub\.epa\.gov/,
    );
    assert.equal(await vintage(), 'edited 2026-02-02, from geopub.epa.gov');
    const manifest = readFileSync(
      join(folder, 'perilbook/downloads/brownfield/manifest.json'),
      'utf8',
    );
    assert.match(manifest, /"from": "geopub\.epa\.gov"/);
    isAway = false;
    await run(['update', 'brownfield']);
    assert.equal(await vintage(), 'edited 2026-02-02');
  });
}

test('a first address that became nearly empty, or whose file the loader refuses, is no end either', async (t) => {
  const { mirror, folder, get, vintage } = await machine(t);
  writeFileSync(join(folder, 'perilbook/sources.yaml'), '');
  mirror.layers.set(
    SECOND,
    brownfields(10_400, (name) => name.toLowerCase()),
  );
  const got = await get();
  assert.match(got.stderr, /the load has 40 rows of US, and at least 10,000 are published/);
  assert.equal(await vintage(), 'edited 2026-02-02, from geopub.epa.gov', got.stderr);
});

test('when all addresses fail the old data stays, and data check names the one that is away', async (t) => {
  const { mirror, get, vintage, run } = await machine(t);
  await get();
  mirror.layers.delete(SECOND);
  const checked = await run(['check', 'brownfield']);
  assert.match(checked.stdout, /its second address, geopub\.epa\.gov, fails: .*efpoints/);
  mirror.layers.delete(FIRST);
  const failed = await run(['update']);
  assert.equal(failed.code, 6, failed.stderr);
  assert.equal(await vintage(), 'edited 2026-02-02');
});

test('data check says that a layer of unknown size has fewer rows than are loaded at least', async (t) => {
  const { folder, run } = await machine(t);
  writeFileSync(join(folder, 'perilbook/sources.yaml'), '');
  assert.match(
    (await run(['check', 'brownfield'])).stdout,
    /it has 40 rows, and at least 10000 were expected/,
  );
});

test('an own address is the only one that is asked', async (t) => {
  const { mirror, run, own } = await machine(t);
  const sources = own(
    'sources: {brownfield: {layer: "https://gis.example.com/acres/FeatureServer/0"}}\n',
  );
  const got = await run(['get', 'brownfield', '--yes', ...sources]);
  assert.match(got.stderr, /gis\.example\.com/);
  assert.ok(mirror.requests.every(({ target }) => !target.includes('geopub')));
});
