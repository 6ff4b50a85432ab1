import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { SUBSCRIPTIONS } from '../../../src/contract/subscriptions.ts';
import { openDataDatabase } from '../../../src/data/tables/data-database.ts';
import { importDataset } from '../../../src/data/tables/import-dataset.ts';
import { openAccounts } from '../../../src/service/accounts/open-accounts.ts';
import { perilbook } from '../../cli/command-line.ts';
import { MovedClock } from '../../moved-clock.ts';
import { createAccount, createKey } from '../../service/file-accounts.ts';
import { deliveries, HERE, pathTo, request } from '../../service/small-data.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { agencyMirror, sendPage } from './agency-mirror.ts';

const MINUTE = 60_000;
const AIRNOW = 'files.airnowtech.org/airnow/today';

/** Waits of a minute and more last until the test lets the time pass; shorter ones move the clock. */
class TimerClock extends MovedClock {
  readonly #waits = new Set<{ readonly at: number; readonly ms: number; readonly end: () => void }>();

  override async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (ms < MINUTE) return super.sleep(ms);
    if (signal?.aborted) return;
    await new Promise<void>((resolve) => {
      const wait = {
        at: this.now() + ms,
        ms,
        end: () => {
          this.#waits.delete(wait);
          resolve();
        },
      };
      this.#waits.add(wait);
      signal?.addEventListener('abort', wait.end, { once: true });
    });
  }

  /** Whether the only wait is the timer's: no update runs, whose limit would be another. */
  get isIdle(): boolean {
    return this.#waits.size === 1 && [...this.#waits][0]!.ms < 30 * MINUTE;
  }

  pass(ms: number): void {
    this.move(ms);
    for (const wait of [...this.#waits].filter(({ at }) => at <= this.now())) wait.end();
  }
}

async function until(condition: () => boolean): Promise<void> {
  for (let step = 0; !condition(); step++) {
    assert.ok(step < 1_000, 'nothing happened within 10 s');
    await delay(10);
  }
}

async function setUp(t: TestContext) {
  const folder = temporaryFolder(t);
  const mirror = await agencyMirror(t);
  const clock = new TimerClock('2026-06-01T12:30:00Z');
  mkdirSync(join(folder, 'perilbook'));
  writeFileSync(join(folder, 'perilbook/sources.yaml'), `mirror: ${mirror.url}\n`);
  const database = openDataDatabase(join(folder, 'perilbook/data.db'));
  for (const delivery of deliveries(clock.now())) importDataset(database, delivery, clock);
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
    async start(...more: string[]) {
      const words = ['service', 'start', '--port', '0', '--update-every', '1h', ...more];
      const ended = perilbook(words, { ...world, interrupt: stop.signal, onStderr: (text) => (said += text) });
      t.after(() => {
        stop.abort();
        return ended;
      });
      await until(() => /http:\S+(?=,)/.test(said));
      const url = /http:\S+(?=,)/.exec(said)![0];
      const values = async (): Promise<unknown> => {
        const { pm25, pm10 } = (await request(url + pathTo('/v1/bundle/enterprise'), key)).body.data.topics;
        assert.equal(pm25.value.measurement.value, pm10.value.measurement.value, 'an answer is of one version');
        return pm25.value.measurement.value;
      };
      return { ended, values };
    },
  };
}

test('a service that updates its data answers from the new ones without a restart, and from the old ones after a failure', async (t) => {
  const { mirror, clock, stop, world, publish, start, said } = await setUp(t);
  publish(11, 10);
  assert.equal((await perilbook(['data', 'get', 'airnow', '--yes'], world)).code, 0);
  const { ended, values } = await start();
  await until(() => clock.isIdle);
  assert.equal(await values(), 10);
  assert.doesNotMatch(said(), /update:/, 'what did not change is not worth a line');

  publish(12, 30);
  clock.pass(60 * MINUTE);
  const seen = new Set<unknown>();
  while (!/update: airnow: loaded 3 records/.test(said())) seen.add(await values());
  assert.ok([...seen].every((value) => value === 10 || value === 30));
  assert.equal(await values(), 30);

  await until(() => clock.isIdle);
  mirror.fail(/HourlyData/, 99, (_, response) => sendPage(response, 403));
  clock.pass(60 * MINUTE);
  await until(() => said().includes('DOWNLOAD_FAILED'));
  assert.match(said(), /perilbook service: update: airnow: .*403/);
  assert.equal(await values(), 30);
  stop.abort();
  assert.equal((await ended).code, 0);
});

test('an update that hangs is stopped after half an hour, and no other one starts beside it', async (t) => {
  const { mirror, clock, world, publish, start, said } = await setUp(t);
  publish(11, 10);
  await perilbook(['data', 'get', 'airnow', '--yes'], world);
  const { values } = await start();
  await until(() => clock.isIdle);
  const asked = () => mirror.requests.filter(({ target }) => target.includes('HourlyData')).length;
  const before = asked();
  mirror.fail(/HourlyData/, 1, () => true);
  clock.pass(60 * MINUTE);
  await until(() => asked() > before);
  clock.pass(29 * MINUTE);
  assert.equal(await values(), 10);
  assert.equal(asked(), before + 1);
  clock.pass(MINUTE);
  await until(() => said().includes('update: The update was stopped after 30 minutes'));
  await until(() => clock.isIdle);
  publish(13, 50);
  clock.pass(60 * MINUTE);
  await until(() => said().includes('loaded 3 records'));
  assert.equal(await values(), 50);
});

test('a service without near real-time sources says how to get them; an interval that is too short is refused', async (t) => {
  const { stop, clock, start, said, world } = await setUp(t);
  const { ended } = await start();
  await until(() => clock.isIdle);
  assert.match(
    said(),
    /update: no near real-time source is downloaded\. Get them: perilbook data get earthquakes wildf/,
  );
  stop.abort();
  assert.equal((await ended).code, 0);
  for (const [said, problem] of [
    ['1m', /--update-every 1m is shorter than 5 minutes/],
    ['soon', /--update-every soon is not a duration/],
  ] as const) {
    const refused = await perilbook(['service', 'start', '--update-every', said], world);
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, problem);
  }
});

test('the updates of a service take --mirror and --sources, as data update does', async (t) => {
  const { mirror, clock, stop, world, publish, start, said } = await setUp(t);
  publish(11, 10);
  await perilbook(['data', 'get', 'airnow', '--yes'], world);
  writeFileSync(join(world.folder, 'perilbook/sources.yaml'), 'mirror: http://127.0.0.1:9\n');
  writeFileSync(join(world.folder, 'other.yaml'), 'contact: data@example.com\n');
  const { ended } = await start('--mirror', mirror.url, '--sources', 'other.yaml');
  await until(() => clock.isIdle);
  publish(12, 30);
  clock.pass(60 * MINUTE);
  await until(() => said().includes('update: airnow: loaded 3 records'));
  assert.match(mirror.requests.at(-1)!.headers['user-agent']!, /\(\+data@example\.com\)/);
  stop.abort();
  assert.equal((await ended).code, 0);
  for (const [args, problem] of [
    [['--mirror', mirror.url], /--mirror needs --update-every/],
    [['--update-every', '1h', '--mirror', 'nowhere'], /--mirror "nowhere" is neither an address nor a folder/],
  ] as const) {
    const refused = await perilbook(['service', 'start', ...args], world);
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, problem);
  }
});
