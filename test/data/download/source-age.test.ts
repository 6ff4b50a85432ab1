import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { strToU8, zipSync } from 'fflate';
import { perilbook } from '../../cli/command-line.ts';
import { MovedClock } from '../../moved-clock.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { agencyMirror } from './agency-mirror.ts';

const AIR = (year: number) => `aqs.epa.gov/aqsweb/airdata/annual_aqi_by_county_${year}.zip`;
const FIRES = 'services3.arcgis.com/T4QMspbfLg3qTGWY/arcgis/rest/services/WFIGS_Interagency_Perimeters/FeatureServer/0';
const RADON = 'gispub.epa.gov/arcgis/rest/services/ORD/ROE_Radon/MapServer/0';

function airZip(year: number): Buffer {
  const header =
    'State,County,Year,Days with AQI,Good Days,Moderate Days,Unhealthy for Sensitive Groups Days,Unhealthy Days,' +
    'Very Unhealthy Days,Hazardous Days,Max AQI,90th Percentile AQI,Median AQI';
  const row = `Virginia,Accomack,${year},360,350,10,0,0,0,0,90,60,40`;
  return Buffer.from(zipSync({ [`annual_aqi_by_county_${year}.csv`]: strToU8(`${header}\n${row}\n`) }));
}

const radon = (edited: number) => ({
  fields: ['CountyFIPS', 'CountyName', 'StateName', 'RadonZone'],
  rows: [{ attributes: { CountyFIPS: '51001', CountyName: 'X', StateName: 'VA', RadonZone: 2 } }],
  edited,
});

async function setUp(t: TestContext) {
  const folder = temporaryFolder(t);
  const mirror = await agencyMirror(t);
  const clock = new MovedClock('2026-06-01T00:00:00Z');
  const run = (...args: string[]) =>
    perilbook(['data', ...args, '--mirror', mirror.url], { folder, env: { XDG_DATA_HOME: folder }, clock });
  return {
    mirror,
    clock,
    run,
    async check(name: string) {
      const { code, stdout } = await run('check', name, '--json');
      const { sources } = JSON.parse(stdout) as { sources: { source: string; ok: boolean; warning?: string }[] };
      assert.equal(
        sources.every(({ ok }) => ok),
        code === 0,
      );
      const { warning } = sources.find(({ source }) => source === name)!;
      return { code, warning };
    },
  };
}

test('data check warns about a source that missed its cadence, by its last change or the year in its address', async (t) => {
  const { mirror, check, run } = await setUp(t);
  const body = airZip(2025);
  mirror.files.set(AIR(2025), { body, lastModified: 'Fri, 15 May 2026 00:00:00 GMT' });
  assert.deepEqual(await check('air-quality'), { code: 0, warning: undefined });
  mirror.files.set(AIR(2025), { body, lastModified: 'Wed, 01 Jan 2025 00:00:00 GMT' });
  const warning = 'its newest data is of 2025-01-01, and it is published twice a year';
  assert.deepEqual(await check('air-quality'), { code: 6, warning });
  assert.match((await run('check', 'air-quality')).stdout, /^air-quality {2}WARNING: its newest data is of 2025-01-01/);
  mirror.files.delete(AIR(2025));
  mirror.files.set(AIR(2024), { body: airZip(2024) });
  assert.match((await check('air-quality')).warning!, /its newest data is of 2024-12-31/);
  const fires = { fields: ['OBJECTID'], rows: [{ attributes: {} }] };
  mirror.layers.set(FIRES, { ...fires, edited: Date.UTC(2026, 4, 30) });
  assert.equal((await check('wildfire-perimeters')).code, 0);
  mirror.layers.set(FIRES, { ...fires, edited: Date.UTC(2026, 2, 1) });
  assert.match(
    (await check('wildfire-perimeters')).warning!,
    /newest data is of 2026-03-01, and it is published daily/,
  );
  // Without a date nothing is claimed.
  mirror.layers.set(FIRES, { ...fires, edited: null });
  assert.equal((await check('wildfire-perimeters')).code, 0);
});

test('data check warns when newer data is published than is here, until it is updated', async (t) => {
  const { mirror, clock, check, run } = await setUp(t);
  const OUTDATED = 'newer data is published than is here: run perilbook data update air-quality';
  mirror.files.set(AIR(2024), { body: airZip(2024), lastModified: 'Fri, 15 May 2026 00:00:00 GMT', etag: '"1"' });
  assert.equal((await run('get', 'air-quality', '--yes')).code, 0);
  assert.equal((await check('air-quality')).code, 0);
  mirror.files.set(AIR(2024), { body: airZip(2024), lastModified: 'Sat, 16 May 2026 00:00:00 GMT', etag: '"2"' });
  assert.deepEqual(await check('air-quality'), { code: 6, warning: OUTDATED });
  assert.equal((await run('update')).code, 0);
  assert.equal((await check('air-quality')).code, 0);
  mirror.files.set(AIR(2025), { body: airZip(2025), lastModified: 'Sun, 17 May 2026 00:00:00 GMT', etag: '"3"' });
  assert.deepEqual(await check('air-quality'), { code: 6, warning: OUTDATED });
  assert.equal((await run('update')).code, 0);
  assert.equal((await check('air-quality')).code, 0);

  mirror.layers.set(RADON, radon(1_000));
  // The topic's boundaries are not at the mirror.
  assert.match((await run('get', 'radon', '--yes')).stderr, /radon: loaded 1 record/);
  assert.doesNotMatch((await check('radon')).warning!, /newer data/);
  clock.move(1_000);
  mirror.layers.set(RADON, radon(2_000));
  assert.match(
    (await check('radon')).warning!,
    /newer data is published than is here: run perilbook data update radon/,
  );
});
