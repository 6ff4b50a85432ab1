import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { SUBSCRIPTIONS } from '../../../src/contract/subscriptions.ts';
import { openDataDatabase } from '../../../src/data/tables/data-database.ts';
import { importDataset } from '../../../src/data/tables/import-dataset.ts';
import type { Dataset } from '../../../src/data/tables/records.ts';
import { openAccounts } from '../../../src/service/accounts/open-accounts.ts';
import { perilbook } from '../../cli/command-line.ts';
import { MovedClock } from '../../moved-clock.ts';
import { createAccount, createKey } from '../../service/file-accounts.ts';
import { deliveries, HERE, pathTo, request } from '../../service/small-data.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { agencyMirror, sendPage } from './agency-mirror.ts';

const AIRNOW = 'files.airnowtech.org/airnow/today';

async function until(condition: () => boolean): Promise<void> {
  for (let step = 0; !condition(); step++) {
    assert.ok(step < 1_000, 'nothing happened within 10 s');
    await delay(10);
  }
}

/** @param without kinds of data that are not loaded */
async function setUp(t: TestContext, without?: Dataset['kind']) {
  const folder = temporaryFolder(t);
  const mirror = await agencyMirror(t);
  const clock = new MovedClock('2026-06-01T12:30:00Z');
  mkdirSync(join(folder, 'perilbook'));
  writeFileSync(join(folder, 'perilbook/sources.yaml'), `mirror: ${mirror.url}\n`);
  const database = openDataDatabase(join(folder, 'perilbook/data.db'));
  for (const delivery of deliveries(clock.now()))
    if (delivery.kind !== without) importDataset(database, delivery, clock);
  database.close();
  const accounts = openAccounts(join(folder, 'perilbook/data-accounts.db'));
  createAccount(accounts, { name: 'a', subscription: SUBSCRIPTIONS.professional, overages: false }, clock);
  const { key } = createKey(accounts, 'a', ['bundle'], clock);
  accounts.close();
  const stop = new AbortController();
  let said = '';
  const world = { folder, clock, env: { XDG_DATA_HOME: folder } };
  return {
    mirror,
    clock,
    stop,
    world,
    said: () => said,
    /** The hour's file: the same value for each pollutant, so that a mixed answer shows. */
    publish(hour: number, value: number): void {
      const rows = [
        ['OZONE', 'PPB'],
        ['PM2.5', 'UG/M3'],
        ['PM10', 'UG/M3'],
      ].map(([name, unit]) => `06/01/26|${hour}:00|310010001|Here|-6|${name}|${unit}|${value}|NE\n`);
      mirror.files.set(`${AIRNOW}/HourlyData_20260601${hour}.dat`, {
        body: Buffer.from(rows.join('')),
        etag: `"${hour}"`,
      });
      const site = `StationID|AQSID|FullAQSID|Latitude|Longitude\n1|310010001|x|${HERE.lat}|${HERE.lng}\n`;
      mirror.files.set(`${AIRNOW}/Monitoring_Site_Locations_V2.dat`, { body: Buffer.from(site), etag: '"s"' });
    },
    /** Starts the service; the address is known when it listens. */
    async start() {
      const words = ['service', 'start', '--port', '0'];
      const ended = perilbook(words, { ...world, interrupt: stop.signal, onStderr: (text) => (said += text) });
      t.after(() => {
        stop.abort();
        return ended;
      });
      await until(() => /http:\S+(?=,)/.test(said));
      const url = /http:\S+(?=,)/.exec(said)![0];
      const topics = async () => (await request(url + pathTo('/v1/bundle/enterprise'), key)).body.data.topics;
      const values = async (): Promise<unknown> => {
        const { pm25, pm10 } = await topics();
        assert.equal(pm25.value.measurement.value, pm10.value.measurement.value, 'an answer is of one version');
        return pm25.value.measurement.value;
      };
      return { ended, topics, values };
    },
  };
}

test('a running service answers from what data update loads, and from the old data after a failure', async (t) => {
  const { mirror, stop, world, publish, start } = await setUp(t);
  publish(11, 10);
  assert.equal((await perilbook(['data', 'get', 'airnow', '--yes'], world)).code, 0);
  const { ended, values } = await start();
  assert.equal(await values(), 10);

  publish(12, 30);
  const updated = perilbook(['data', 'update', 'airnow'], world);
  const seen = new Set<unknown>();
  for (let isOver = false; !isOver; ) {
    seen.add(await values());
    isOver = await Promise.race([updated.then(() => true), delay(1).then(() => false)]);
  }
  assert.ok([...seen].every((value) => value === 10 || value === 30));
  const { code, stderr } = await updated;
  assert.deepEqual([code, await values()], [0, 30], stderr);

  mirror.fail(/HourlyData/, 99, (_, response) => sendPage(response, 403));
  const failed = await perilbook(['data', 'update'], world);
  assert.equal(failed.code, 6);
  assert.match(failed.stderr, /airnow: .*403.*DOWNLOAD_FAILED/s);
  assert.equal(await values(), 30);
  stop.abort();
  assert.equal((await ended).code, 0);
});

test('a running service answers topics whose first data is loaded while it runs', async (t) => {
  const { stop, world, publish, start } = await setUp(t, 'readings');
  publish(11, 10);
  const { ended, topics } = await start();
  assert.deepEqual((await topics()).pm25, { error: 'unavailable' });
  assert.equal((await perilbook(['data', 'get', 'airnow', '--yes'], world)).code, 0);
  assert.equal((await topics()).pm25.value.measurement.value, 10);
  stop.abort();
  assert.equal((await ended).code, 0);
});
