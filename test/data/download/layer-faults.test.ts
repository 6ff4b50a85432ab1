import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { DownloadContext } from '../../../src/data/download/download-file.ts';
import { downloadLayer } from '../../../src/data/download/download-layer.ts';
import type { FileEntry } from '../../../src/data/download/downloads-folder.ts';
import { type LayerRequest, requestAddress } from '../../../src/data/download/layer-request.ts';
import { type MirroredLayer, sendJson, sendPage } from './agency-mirror.ts';
import { type Downloading, downloading } from './downloading.ts';

const LAYER = 'services.arcgis.com/FEMA/arcgis/rest/services/Sites/FeatureServer/0';
const COUNT = 1_700;

function layerOf(count: number, changes: Partial<MirroredLayer> = {}): MirroredLayer {
  const rows = Array.from({ length: count }, (_, index) => ({
    attributes: { NAME: `site ${index + 1}`, STATE: 'VA', SCORE: index === 3 ? null : index / 7 },
    geometry: { type: 'Point', coordinates: [-78 + index / 1e4, 38] },
  }));
  return { fields: ['NAME', 'STATE', 'SCORE'], rows, edited: 1_000, ...changes };
}

async function serving(t: TestContext, layer: MirroredLayer): Promise<Downloading> {
  const here = await downloading(t);
  here.mirror.layers.set(LAYER, layer);
  return here;
}

function request(here: Downloading, changes: Partial<LayerRequest> = {}): LayerRequest {
  const target = join(here.folder, `sites.${changes.as ?? 'geojson'}`);
  const limits = { mostBytes: 10_000_000, staleAfterMs: 86_400_000 };
  return { layer: `https://${LAYER}`, where: '1=1', as: 'geojson', target, ...limits, ...changes };
}

function get(
  here: Downloading,
  changes: Partial<LayerRequest> = {},
  context: DownloadContext = here.context,
) {
  return downloadLayer(request(here, changes), undefined, context);
}

function idsIn(here: Downloading): number[] {
  const { features } = JSON.parse(here.read('sites.geojson')!) as { features: { id: number }[] };
  return features.map(({ id }) => id);
}

const ALL = Array.from({ length: COUNT }, (_, index) => index + 1);
const pages = (here: Downloading) =>
  here.mirror.requests.filter(
    ({ target }) => /query/.test(target) && !/returnCountOnly/.test(target),
  ).length;

/** The old file is there, and a reading that fails leaves it so. */
async function keepsOld(
  here: Downloading,
  changes: Partial<LayerRequest>,
  message: RegExp,
  hint = /./,
): Promise<void> {
  const { target } = request(here, changes);
  writeFileSync(target, 'old');
  await assert.rejects(get(here, changes), { code: 'DOWNLOAD_FAILED', message, hint });
  assert.equal(here.read(target.endsWith('csv') ? 'sites.csv' : 'sites.geojson'), 'old');
}

for (const flag of ['top', 'properties', 'never', 'always'] as const) {
  test(`732 rows where 2,000 were asked for, with the flag of more ${flag}: all rows come once, in order`, async (t) => {
    const here = await serving(t, layerOf(COUNT, { mostRows: 732, flag }));
    const outcome = await get(here);
    assert.deepEqual(idsIn(here), ALL);
    assert.ok(outcome !== 'unchanged');
    assert.deepEqual([outcome.count, outcome.edited], [COUNT, 1_000]);
    assert.equal(pages(here), flag === 'always' ? 4 : 3);
  });
}

test('a layer without offsets is read by object ids', async (t) => {
  const here = await serving(t, layerOf(COUNT, { hasOffset: false, maxRecordCount: 500 }));
  await get(here);
  assert.deepEqual(idsIn(here), ALL);
});

test('attributes become CSV: the fields that are needed, numbers to the last digit, null as blank', async (t) => {
  const here = await serving(t, layerOf(COUNT, { mostRows: 732 }));
  await get(here, { as: 'csv', fields: '^(NAME|SCORE)$' });
  const lines = here.read('sites.csv')!.trimEnd().split('\n');
  assert.equal(lines.length, COUNT + 1);
  assert.deepEqual(lines.slice(0, 5), [
    'NAME,SCORE',
    'site 1,0',
    `site 2,${1 / 7}`,
    `site 3,${2 / 7}`,
    'site 4,',
  ]);
});

test('pages that end early give no file', async (t) => {
  const here = await serving(t, layerOf(COUNT, { mostRows: 500 }));
  here.mirror.fail(/resultOffset=1000/, 9, (_, response) =>
    sendJson(response, { type: 'FeatureCollection', features: [] }),
  );
  await keepsOld(here, {}, /announced 1700 rows and sent 1000/, /changing at this moment/);
});

test('a layer that changes while it is read is read anew', async (t) => {
  const here = await serving(t, layerOf(COUNT - 1, { mostRows: 1_000 }));
  here.mirror.fail(/resultOffset=1000/, 1, () => {
    here.mirror.layers.set(LAYER, layerOf(COUNT, { mostRows: 1_000, edited: 2_000 }));
    return false;
  });
  const outcome = await get(here);
  assert.deepEqual(idsIn(here), ALL);
  assert.equal(outcome !== 'unchanged' && outcome.edited, 2_000);
});

test('rows that are changed in place while they are read are read anew', async (t) => {
  const here = await serving(t, layerOf(COUNT, { mostRows: 1_000 }));
  const changed = layerOf(COUNT, { mostRows: 1_000, edited: 2_000 });
  const rows = changed.rows.map((row) => ({
    ...row,
    attributes: { ...row.attributes, STATE: 'MD' },
  }));
  here.mirror.fail(/resultOffset=1000/, 1, () => {
    here.mirror.layers.set(LAYER, { ...changed, rows });
    return false;
  });
  await get(here, { as: 'csv', fields: '^STATE$' });
  assert.equal(here.read('sites.csv')!.replaceAll('MD\n', ''), 'STATE\n');
});

test('rows that come twice are no data', async (t) => {
  const here = await serving(t, layerOf(COUNT, { mostRows: 850 }));
  // The server forgets the offset.
  here.mirror.fail(/resultOffset=850/, 9, (_, response) => {
    const properties = ALL.slice(0, 850).map((id) => ({ OBJECTID: id }));
    const features = properties.map((of) => ({
      type: 'Feature',
      id: of.OBJECTID,
      geometry: null,
      properties: of,
    }));
    sendJson(response, { type: 'FeatureCollection', features });
  });
  await keepsOld(here, {}, /gives the same row on several pages/);
});

test('errors under status 200: of units a minute it waits, of a token it says what to do by hand', async (t) => {
  const here = await serving(t, layerOf(COUNT));
  const message =
    'Unable to perform query. Too many requests. Maximum allowed request units (57600) per Minute. Retry after 60 sec.';
  const failWith = (target: RegExp, code: number, message: string, ...details: string[]) =>
    here.mirror.fail(target, 1, (_, response) =>
      sendJson(response, { error: { code, message, details } }),
    );
  failWith(/resultOffset/, 429, message);
  const begun = here.clock.now();
  await get(here);
  assert.equal(here.clock.now() - begun, 60_000);
  assert.deepEqual(idsIn(here), ALL);
  failWith(/./, 499, 'Token Required');
  await keepsOld(here, {}, /error 499: Token Required/, /by hand.*perilbook data load/);
  failWith(/resultOffset/, 400, 'Invalid query parameters', 'no field');
  await keepsOld(here, {}, /error 400: Invalid query parameters; no field/);
});

test('a web page, half a JSON and a broken connection in place of a page of rows are asked for again', async (t) => {
  const here = await serving(t, layerOf(COUNT, { mostRows: 600 }));
  const faults = [
    (response: ServerResponse) => sendPage(response, 200),
    (response: ServerResponse) =>
      void response.writeHead(200).end('{"type":"FeatureCollection","features":[{"ty'),
    (response: ServerResponse) => void response.socket!.destroy(),
  ];
  for (const [index, fault] of faults.entries()) {
    here.mirror.fail(new RegExp(`resultOffset=${600 * index}`), 1, (_, response) =>
      fault(response),
    );
  }
  await get(here);
  assert.deepEqual(idsIn(here), ALL);
  here.mirror.fail(/./, 6, (_, response) => sendPage(response, 200));
  await keepsOld(here, {}, /answered with a web page instead of data/, /again/);
});

test('a stop in the middle of a layer is gone on with at the next page, unless the layer changed', async (t) => {
  const here = await downloading(t);
  for (const edited of [1_000, 2_000, null]) {
    here.mirror.layers.set(
      LAYER,
      layerOf(COUNT, { mostRows: 500, edited: edited === 2_000 ? 1_000 : edited }),
    );
    const stop = new AbortController();
    here.mirror.fail(/resultOffset=1000/, 1, () => stop.abort());
    await assert.rejects(get(here, {}, here.with({ signal: stop.signal })), { name: 'AbortError' });
    assert.equal(existsSync(join(here.folder, 'sites.geojson.part')), true);
    // A kill within the next page leaves half of it behind the last whole one.
    const before = pages(here);
    if (edited === 2_000) here.mirror.layers.set(LAYER, layerOf(COUNT, { mostRows: 500, edited }));
    await get(here);
    assert.deepEqual(idsIn(here), ALL);
    assert.equal(pages(here) - before, edited === 2_000 ? 4 : 2);
  }
});

test('pages that are too heavy for the server are asked for in smaller ones', async (t) => {
  const here = await serving(t, layerOf(300));
  here.mirror.fail(/resultRecordCount=2000/, 99, (_, response) => sendPage(response, 500));
  await get(here);
  assert.equal(idsIn(here).length, 300);
  assert.ok(here.mirror.requests.some(({ target }) => /resultRecordCount=500/.test(target)));
});

test('metres, not in degrees, a layer without the fields, and one that gives no GeoJSON are refused', async (t) => {
  const here = await serving(t, layerOf(COUNT, { crs: 'EPSG:3857' }));
  await keepsOld(here, {}, /EPSG:3857, not in degrees/);
  here.mirror.layers.set(LAYER, layerOf(COUNT));
  await keepsOld(
    here,
    { as: 'csv', fields: '^HAIL_RISKR$' },
    /none of the fields that are needed: HAIL_RISKR$/,
  );
  for (const description of [{ fields: 'NAME, STATE' }, { fields: [] }, {}, []]) {
    here.mirror.fail(/Sites\/FeatureServer\/0\?f=json/, 1, (_, response) =>
      sendJson(response, description),
    );
    await keepsOld(here, {}, /does not describe its fields: it is not a layer any more$/);
  }
  here.mirror.layers.set(LAYER, layerOf(COUNT, { formats: 'JSON, PBF' }));
  await keepsOld(here, {}, /does not give GeoJSON/);
  here.mirror.layers.set(LAYER, layerOf(0));
  await keepsOld(here, {}, /counts no rows/);
  await get(here, { mayBeEmpty: true });
  assert.deepEqual(idsIn(here), []);
});

test('a disk without room for the next page ends the download, and what came before is kept', async (t) => {
  const here = await serving(t, layerOf(COUNT, { mostRows: 500 }));
  let pagesLeft = 2;
  const full = here.with({ freeBytes: () => (pagesLeft-- > 0 ? 1e9 : 100) });
  await assert.rejects(get(here, {}, full), /sites\.geojson needs 1 MB more/);
  const before = pages(here);
  await get(here);
  assert.deepEqual(idsIn(here), ALL);
  assert.equal(pages(here) - before, 2);
});

test('a layer larger than expected is refused', async (t) => {
  const here = await serving(t, layerOf(COUNT, { mostRows: 500 }));
  await keepsOld(here, { mostBytes: 100_000 }, /gives more than 1 MB/);
});

test('a layer is read again when it says that it changed, else when its file is too old', async (t) => {
  const here = await downloading(t);
  const entryOf = (edited?: number): FileEntry => ({
    file: 'sites.geojson',
    url: requestAddress(request(here)),
    bytes: here.read('sites.geojson')!.length,
    count: COUNT,
    fetchedAt: here.clock.now(),
    checkedAt: 0,
    ...(edited === undefined ? {} : { edited }),
  });
  const ask = async (entry: FileEntry) =>
    (await downloadLayer(request(here), entry, here.context)) === 'unchanged' ? 'unchanged' : 'new';
  here.mirror.layers.set(LAYER, layerOf(COUNT));
  await get(here);
  assert.equal(await ask(entryOf(1_000)), 'unchanged');
  assert.equal(await ask(entryOf(999)), 'new');
  assert.equal(await ask({ ...entryOf(1_000), count: COUNT - 1 }), 'new');
  assert.equal(await ask({ ...entryOf(1_000), url: 'another' }), 'new');
  here.mirror.layers.set(LAYER, layerOf(COUNT, { edited: null }));
  const first = await get(here);
  assert.ok(first !== 'unchanged');
  // An earlier version kept no digest.
  assert.equal(await ask(entryOf()), 'new');
  const old = { ...entryOf(), ...first };
  assert.equal(await ask(old), 'unchanged');
  here.clock.move(86_400_000);
  assert.equal(await ask(old), 'new');
});

test('outlines that simplification collapses are asked again by their ids, and come whole', async (t) => {
  const square = {
    type: 'Polygon',
    coordinates: [
      [
        [-77, 38],
        [-76.9993, 38],
        [-76.9993, 38.0007],
        [-77, 38],
      ],
    ],
  };
  // A server gives a collapsed outline as null, without rings, or with too few positions.
  const collapsed = [
    null,
    { type: 'Polygon', coordinates: [] },
    {
      type: 'Polygon',
      coordinates: [
        [
          [-77, 38],
          [-77, 38],
        ],
      ],
    },
  ];
  const rows = Array.from({ length: 1_200 }, (_, index) => ({
    attributes: { NAME: `park ${index + 1}` },
    geometry: square,
    ...(index % 4 === 3 ? {} : { simplified: collapsed[index % 4] }),
  }));
  const here = await serving(t, layerOf(0, { rows, maxRecordCount: 600 }));
  await get(here, { simplifiedBy: 0.0005 });
  const { features } = JSON.parse(here.read('sites.geojson')!) as {
    features: { id: number; geometry: unknown }[];
  };
  assert.deepEqual(
    idsIn(here),
    rows.map((_, index) => index + 1),
  );
  assert.ok(features.every(({ geometry }) => JSON.stringify(geometry) === JSON.stringify(square)));
  const again = here.mirror.requests.filter(({ target }) => target.includes('objectIds='));
  assert.equal(again.length, 10);
  assert.ok(
    again.every(({ target }) => target.length < 2_000 && !/maxAllowableOffset|&where/.test(target)),
  );
});

test('what has no geometry without simplification either stays as it is', async (t) => {
  const rows = [{ attributes: { NAME: 'lost' }, geometry: null }, ...layerOf(2).rows];
  const here = await serving(t, layerOf(0, { rows }));
  await get(here, { simplifiedBy: 0.0005 });
  assert.deepEqual(idsIn(here), [1, 2, 3]);
  assert.match(here.read('sites.geojson')!, /"geometry":null/);
});

test('a layer without an edit date is compared by its ids, and by its fields where it is asked for some', async (t) => {
  const here = await serving(t, layerOf(COUNT, { edited: null }));
  const changes = { fields: '^(NAME|SCORE)$' };
  for (const [asked, edit, state] of [
    [{}, {}, 'unchanged'],
    [changes, {}, 'unchanged'],
    [{}, { NAME: 'other' }, 'unchanged'],
    [changes, { NAME: 'other' }, 'new'],
    [changes, { STATE: 'MD' }, 'unchanged'],
  ] as const) {
    const layer = layerOf(COUNT, { edited: null });
    here.mirror.layers.set(LAYER, layer);
    const outcome = await get(here, asked);
    assert.ok(outcome !== 'unchanged');
    const entry: FileEntry = {
      file: 'sites.geojson',
      url: requestAddress(request(here, asked)),
      fetchedAt: here.clock.now(),
      checkedAt: 0,
      ...outcome,
    };
    const rows = layer.rows.map((row, index) =>
      index === 1_500 ? { ...row, attributes: { ...row.attributes, ...edit } } : row,
    );
    here.mirror.layers.set(LAYER, { ...layer, rows });
    const again = await downloadLayer(request(here, asked), entry, here.context);
    assert.equal(again === 'unchanged' ? again : 'new', state, JSON.stringify([asked, edit]));
  }
});
