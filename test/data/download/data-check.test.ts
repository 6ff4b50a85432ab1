import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  AIR,
  AIR_2024,
  airZip,
  checked,
  FIRES,
  type Outcome,
  RADON,
  radonLayer,
  setUp,
} from './data-scene.ts';

/* What `perilbook data check` says of sources. */

const CHECKED = `source        state    rows  newest data  changed  first rows in
areas         FAILED
counties      FAILED
air-quality   ok                    2025
radon         WARNING     3
power-plants  FAILED
areas: /www2.census.gov/geo/tiger/GENZ2022/shp/cb_2022_us_tract_500k.zip is missing, and so are newer files
counties: /www2.census.gov/geo/tiger/GENZ2022/shp/cb_2022_us_county_500k.zip is missing, and so are newer files
air-quality: its second address, the Internet Archive, fails: https://web.archive.org/web/2id_/https://aqs.epa.gov/aqsweb/airdata/annual_aqi_by_county_2015.zip is missing, and so are newer files
radon: it has 3 rows, and about 3144 were expected
radon: its second address, geodata.epa.gov, fails: https://geodata.epa.gov/arcgis/rest/services/ORD/ROE_Radon/MapServer/0?f=json answered with status 404
power-plants: /www.eia.gov/electricity/data/eia860m/ answered with status 404
`;

test('data check says which sources moved, changed their form or shrank, and downloads nothing', async (t) => {
  const { run, mirror, downloads } = await setUp(t);
  mirror.files.set('www.spc.noaa.gov/wcm/', {
    body: Buffer.from('<html><a href="data/other.csv">hail</a></html>'),
  });
  mirror.files.set('developer.nlr.gov/api/alt-fuel-stations/v1.csv', {
    body: Buffer.from('Id,Name\n1,x\n'),
  });
  const names = [
    'air-quality',
    'tornado',
    'tri',
    'power-plants',
    'counties',
    'alternative-fuels-afdc',
    'radon',
  ];
  const key = { env: { XDG_DATA_HOME: join(downloads, '..', '..'), PERILBOOK_AFDC_KEY: 'k' } };
  const checked = await run(['check', ...names, '--json'], key);
  assert.equal(checked.code, 6);
  const { sources } = JSON.parse(checked.stdout) as { sources: Outcome[] };
  const by = new Map(sources.map((one) => [one.source, one]));
  assert.equal(by.get('air-quality')!.ok, true);
  assert.match(JSON.stringify(by.get('air-quality')), /"newest":"2025"/);
  assert.match(
    by.get('tornado')!.error!.message,
    /has no link to 1950-YYYY_actual_tornadoes\.csv$/,
  );
  assert.match(by.get('tri')!.error!.message, /is missing, and so are newer files/);
  assert.match(by.get('power-plants')!.error!.message, /status 404/);
  assert.match(by.get('alternative-fuels-afdc')!.error!.message, /begins with "Id,Name"/);
  // 3 counties where 3,144 were expected.
  assert.match(JSON.stringify(by.get('radon')), /"ok":false,"warning":"it has 3 rows/);
  assert.equal(existsSync(downloads), false);
  const words = await run(['check', 'air-quality', 'power-plants', 'radon']);
  assert.equal(words.code, 6);
  assert.equal(words.stdout.replaceAll(mirror.url, ''), CHECKED);
  assert.match(
    words.stderr,
    /^Of files \(air-quality\) only the first bytes were read, .*: perilbook data update$/m,
  );
  assert.equal(
    words.stderr.match(/The mirror http:\S+ may not have it/g)?.length,
    1,
    'the advice is printed once',
  );
  const noQuakes = await run(['check', 'earthquakes']);
  assert.equal(noQuakes.code, 6);
  assert.match(noQuakes.stdout, /count\?.* counts no events in a year$/m);
  mirror.quakes = [{ time: Date.UTC(2026, 4, 1), lat: 37, lng: -78 }];
  const quakes = await run(['check', 'earthquakes']);
  assert.match(quakes.stdout, /^earthquakes {2}ok +1$/m);
  const one = await run(['check', 'air-quality']);
  assert.equal(one.code, 0);
  assert.match(one.stdout, /^air-quality {2}ok +2025$/m);
  assert.ok(mirror.requests.at(-1)!.headers.range);
});

test('data check fails for what was named, and not for what came along: the boundaries of a rating', async (t) => {
  const { run } = await setUp(t);
  // The mirror has no boundaries.
  const along = await run(['check', 'airQuality']);
  assert.match(along.stdout, /^areas +FAILED$/m);
  assert.match(along.stdout, /^air-quality +ok/m);
  assert.equal(along.code, 0, along.stdout);
  assert.equal((await run(['check', 'airQuality', 'areas'])).code, 6, 'named itself');
});

test('data check warns about a source that missed its cadence, by its last change or the year in its address', async (t) => {
  const { mirror, run } = await setUp(t);
  const body = airZip(360);
  mirror.files.set(AIR, { body, lastModified: 'Fri, 15 May 2026 00:00:00 GMT' });
  assert.deepEqual(await checked(run, 'air-quality'), { code: 0, warning: undefined });
  mirror.files.set(AIR, { body, lastModified: 'Wed, 01 Jan 2025 00:00:00 GMT' });
  const warning = 'its last change is of 2025-01-01, and it is published twice a year';
  assert.deepEqual(await checked(run, 'air-quality'), { code: 6, warning });
  const { stdout } = await run(['check', 'air-quality']);
  assert.match(
    stdout,
    /^air-quality {2}WARNING +2025 +2025-01-01\nair-quality: its last change is of 2025-01-01/m,
  );
  mirror.files.delete(AIR);
  mirror.files.set(AIR_2024, { body: airZip(360, 2024) });
  assert.match((await checked(run, 'air-quality')).warning!, /its newest data is of 2024-12-31/);
  const fires = { fields: ['OBJECTID', 'attr_POOState'], rows: [{ attributes: {} }] };
  mirror.layers.set(FIRES, { ...fires, edited: Date.UTC(2026, 4, 30) });
  assert.equal((await checked(run, 'wildfire-perimeters')).code, 0);
  mirror.layers.set(FIRES, { ...fires, edited: Date.UTC(2026, 2, 1) });
  const { warning: late } = await checked(run, 'wildfire-perimeters');
  assert.match(late!, /last change is of 2026-03-01, and it is published daily/);
  // Without a date nothing is claimed.
  mirror.layers.set(FIRES, { ...fires, edited: null });
  assert.equal((await checked(run, 'wildfire-perimeters')).code, 0);
});

test('data check warns when newer data is published than is here, until it is updated', async (t) => {
  const { mirror, options, run } = await setUp(t);
  mirror.files.delete(AIR);
  mirror.layers.delete(RADON);
  const OUTDATED = 'newer data is published: run perilbook data update air-quality';
  mirror.files.set(AIR_2024, {
    body: airZip(360, 2024),
    lastModified: 'Fri, 15 May 2026 00:00:00 GMT',
    etag: '"1"',
  });
  assert.equal((await run(['get', 'air-quality', '--yes'])).code, 0);
  assert.equal((await checked(run, 'air-quality')).code, 0);
  mirror.files.set(AIR_2024, {
    body: airZip(360, 2024),
    lastModified: 'Sat, 16 May 2026 00:00:00 GMT',
    etag: '"2"',
  });
  assert.deepEqual(await checked(run, 'air-quality'), { code: 6, warning: OUTDATED });
  assert.equal((await run(['update'])).code, 0);
  assert.equal((await checked(run, 'air-quality')).code, 0);
  mirror.files.set(AIR, {
    body: airZip(360),
    lastModified: 'Sun, 17 May 2026 00:00:00 GMT',
    etag: '"3"',
  });
  assert.deepEqual(await checked(run, 'air-quality'), { code: 6, warning: OUTDATED });
  assert.equal((await run(['update'])).code, 0);
  assert.equal((await checked(run, 'air-quality')).code, 0);

  mirror.layers.set(RADON, { ...radonLayer(2), edited: 1_000 });
  // The topic's boundaries are not at the mirror.
  assert.match((await run(['get', 'radon', '--yes'])).stderr, /radon: loaded 3 records/);
  assert.doesNotMatch((await checked(run, 'radon')).warning!, /newer data/);
  options.clock.move(1_000);
  mirror.layers.set(RADON, { ...radonLayer(2), edited: 2_000 });
  assert.match(
    (await checked(run, 'radon')).warning!,
    /newer data is published: run perilbook data update radon/,
  );
});
