import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { noBrowser, startBrowser } from '../browser.ts';
import { gateBefore } from '../cli/bin-process.ts';
import { perilbook } from '../cli/command-line.ts';
import { machineWithoutRadon } from '../cli/radon-mirror.ts';
import { column, openHarness, places } from '../run/harness.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { nothingFound, onlyTopic, openPage, options, start, title } from './page-scene.ts';
import { startPage } from './ui-scene.ts';

const CELLS = 20;

const isOff = (page: Page, id: string) => page.locator(`#${id}[aria-disabled="true"]`).waitFor();

test(
  'a server that is stopped or killed: the page says so; the run goes on at the new address',
  options,
  async (t) => {
    const now = Date.now();
    const harness = await openHarness(t, { clock: { start: now, factor: 1, origin: now } });
    harness.writeInput(places(CELLS));
    let isHeld = true;
    const gate = await gateBefore(t, harness.url, (number) =>
      number > 5 && isHeld ? 'hold' : 'answer',
    );
    const env = { PERILBOOK_BASE_URL: gate.url, PERILBOOK_API_KEY: harness.key().secret };
    const serve = (...more: string[]) =>
      startPage(t, ['input.csv', '--subscription', 'starter', ...more], harness.folder, env);
    const first = await serve();
    const { address } = first;
    const { page } = await openPage(t, { ui: { newAddress: () => address } });
    await onlyTopic(page);
    await page.locator('#price', { hasText: /^20$/ }).waitFor();
    // What was in flight at the kill counts as spent, and is bought again; so is a call whose connection ended while the process stood still.
    await page.fill('#budget', String(2 * CELLS));
    await start(page);
    await title(page, 'Running');
    await gate.reached(6);

    first.kill('SIGSTOP');
    await title(page, 'Connection lost');
    await page.locator('#gone', { hasText: 'Perilbook does not respond' }).waitFor();
    await isOff(page, 'stop');
    first.kill('SIGCONT');
    await title(page, 'Running');
    await page.locator('#gone').waitFor({ state: 'hidden' });

    first.kill('SIGKILL');
    await first.ended;
    await title(page, 'Connection lost');
    await isOff(page, 'stop');
    assert.doesNotMatch(
      (await page.locator('main').innerText()).toString(),
      /You can close this page/,
      'nobody knows that it goes on',
    );
    isHeld = false;
    const second = await serve('--port', new URL(address).port);
    // A session ends with its process: this page belonged to the killed one.
    await page.locator('#gone', { hasText: 'This browser has no session here' }).waitFor();
    const opened = page.url();
    await page.goto(second.address);
    await page.locator('html[data-ready="yes"]').waitFor();
    await page.goto(opened);
    await title(page, 'Cut off');
    await page.locator('#gone').waitFor({ state: 'hidden' });
    await page.click('#go-on');
    await page.click('#confirm-yes');
    await title(page, 'Complete');
    const charged = harness.charged();
    assert.ok(
      charged >= CELLS && charged <= CELLS + 8,
      `${charged}: at most what was in flight is bought again`,
    );
    second.kill('SIGINT');
    assert.equal((await second.ended).code, 0);
  },
);

const timeout = 40_000;

test('the browser is given a file of the user alone, which leads to the page once and goes with it, and no key', {
  timeout,
  skip: process.platform !== 'linux' && 'macOS has another command',
}, async (t) => {
  const folder = temporaryFolder(t);
  const told = join(folder, 'told');
  mkdirSync(join(folder, 'bin'));
  const opener = join(folder, 'bin/xdg-open');
  writeFileSync(
    opener,
    `#!/bin/sh\nenv > ${told}.env\necho "$@" > ${told}.part && mv ${told}.part ${told}\n`,
  );
  chmodSync(opener, 0o755);
  const stopped = new AbortController();
  t.after(() => stopped.abort());
  const service = 'service: {base_url: "http://127.0.0.1:9", api_keys: [{env: THE_KEY}]}\n';
  writeFileSync(join(folder, 'job.yaml'), `input: book.csv\n${service}`);
  const keys = { THE_KEY: 'pb_secret', PERILBOOK_API_KEY: 'pb_secret', PGPASSWORD: 'pb_secret' };
  const PATH = `${join(folder, 'bin')}:${process.env.PATH}`;
  const running = perilbook(['ui', 'job.yaml'], {
    folder,
    typed: '',
    env: { PATH, DISPLAY: ':1', HOME: folder, XDG_DATA_HOME: folder, ...keys },
    interrupt: stopped.signal,
  });
  const isOver = running.then(() => true);
  while (!existsSync(told))
    assert.ok(!(await Promise.race([isOver, delay(50, false)])), 'it ended');
  const env = readFileSync(`${told}.env`, 'utf8');
  assert.match(env, /^DISPLAY=/m);
  assert.doesNotMatch(env, /pb_secret/);
  const file = readFileSync(told, 'utf8').trim();
  assert.doesNotMatch(file, /token|http/, 'every user of the machine reads arguments');
  assert.deepEqual(
    [statSync(file).mode & 0o777, statSync(dirname(file)).mode & 0o777],
    [0o600, 0o700],
  );
  const [, address] = /url=(http:[^"]+)"/.exec(readFileSync(file, 'utf8'))!;
  assert.match(address!, /^http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]{22}$/);
  if (noBrowser === false) {
    const page = await (await startBrowser(t)).newPage();
    await page.goto(pathToFileURL(file).href);
    await page.waitForURL(/^http:\/\/127\.0\.0\.1:\d+\/$/);
    await page.locator('#app, main').first().waitFor();
    assert.doesNotMatch(await page.content(), /no session|already used/);
    await page.close();
  }
  stopped.abort();
  await running;
  assert.ok(!existsSync(dirname(file)), 'removed');
});

test(
  'the page shows what public data a file lacks, gets it after a click, and answers from it',
  options,
  async (t) => {
    const { folder, mirror } = await machineWithoutRadon(t, Date.now());
    writeFileSync(join(folder, 'book.csv'), 'lat,lng\n34.0522,-118.2437\n41.8781,-87.6298\n');
    const { address } = await startPage(t, ['book.csv'], folder);
    const { page, complaints } = await openPage(t, { ui: { newAddress: () => address } });
    await onlyTopic(page, 'Hail');
    await page
      .locator('#price-step:not(.stale) #price-notes', { hasText: /^Data: (?!.*No data here)/ })
      .waitFor();
    assert.equal(await page.locator('#data').count(), 0, 'nothing is lacking');
    await page.getByLabel('Radon').check();
    await page.click('#data-offer');
    const words = page.locator('#data-words');
    await words
      .filter({ hasText: /States: .*CA.*IL[\s\S]*radon +about 200\.0 kB[\s\S]*Licence of .*radon/ })
      .waitFor();
    assert.equal(mirror.requests.length, 0, 'an offer downloads nothing');
    await nothingFound(page, 'offer of public data');
    await page.setViewportSize({ width: 360, height: 740 });
    assert.equal(
      await page.evaluate('document.documentElement.scrollWidth'),
      360,
      'long lines scroll on their own',
    );
    await page.click('#data-download');
    await words.filter({ hasText: /radon: loaded 2 records/ }).waitFor();
    await page
      .locator('#price-step:not(.stale) #price-notes', { hasText: /^Data: (?!.*No data here)/ })
      .waitFor();
    await page.click('#start');
    await title(page, 'Complete');
    const [download] = await Promise.all([page.waitForEvent('download'), page.click('#download')]);
    assert.equal(readFileSync(await download.path(), 'utf8').match(/Zone 2/g)?.length, 2);
    assert.deepEqual(complaints, []);
  },
);

test(
  'a described layer is a topic of the page: beside a paid service it costs nothing, and made-up data has none',
  options,
  async (t) => {
    const now = Date.now();
    const harness = await openHarness(t, { clock: { start: now, factor: 1, origin: now } });
    const { folder } = harness;
    harness.writeInput(places(4));
    const description = ['layer: my_fire', 'title: Fire territory', 'states: [NE]'];
    const classes = ['class: { from: ZONE }', 'classes: [High, Low]', 'outside: none'];
    writeFileSync(join(folder, 'my.layer.yaml'), [...description, ...classes].join('\n'));
    const ring = [
      [-100, 40],
      [-99.9, 40],
      [-99.9, 40.0515],
      [-100, 40.0515],
      [-100, 40],
    ];
    const zone = { type: 'Polygon', coordinates: [ring] };
    const feature = { type: 'Feature', properties: { ZONE: 'High' }, geometry: zone };
    const file = JSON.stringify({ type: 'FeatureCollection', features: [feature] });
    writeFileSync(join(folder, 'fire.geojson'), file);
    const env = { PERILBOOK_BASE_URL: harness.url, PERILBOOK_API_KEY: harness.key().secret };
    const { address } = await startPage(t, ['input.csv', '--subscription', 'starter'], folder, env);
    const { page, complaints } = await openPage(t, { ui: { newAddress: () => address } });

    // No group has it, and the layers that Perilbook brings are offered beside it.
    await page.click('[data-topics="all"]');
    await page.locator('#topics-count', { hasText: '38 of 41 chosen' }).waitFor();
    const layers = page.getByRole('group', { name: 'Layers on this machine' });
    assert.deepEqual(await layers.locator('label').allTextContents(), [
      'California Fire Hazard Severity Zone',
      'Coastal Barrier Resources System',
      'Fire territory',
    ]);
    await onlyTopic(page);
    await layers.getByLabel('Fire territory').check();
    // Without data nothing is priced, and the page names the command.
    await page
      .getByText(/No data for my_fire/)
      .first()
      .waitFor();
    await page
      .getByText(/perilbook data load my_fire FILE/)
      .first()
      .waitFor();
    const loaded = await perilbook(['data', 'load', 'my_fire', 'fire.geojson'], {
      folder,
      env: { HOME: folder, XDG_DATA_HOME: folder },
    });
    assert.equal(loaded.code, 0, loaded.stderr);
    await page.reload();
    await page.locator('[data-ready]').waitFor();
    await page.locator('#price-step:not(.stale) #price', { hasText: /^4$/ }).waitFor();
    await page.locator('#source-sample-why', { hasText: 'my_fire is a layer' }).waitFor();
    assert.ok(await page.locator('[name="source"][value="sample"]').isDisabled());
    await nothingFound(page, 'a layer among the topics');
    await page.fill('#budget', '4');
    await start(page);
    await title(page, 'Complete');
    assert.equal(harness.charged(), 4);
    await page.locator('#report-step').waitFor();
    const [download] = await Promise.all([page.waitForEvent('download'), page.click('#download')]);
    const output = readFileSync(await download.path(), 'utf8');
    assert.deepEqual(column(output, 'my_fire'), ['High', 'High', 'none', 'none']);
    assert.deepEqual(column(output, 'hazard_status'), ['ok', 'ok', 'ok', 'ok']);
    // Of layers alone no service is asked.
    await page.click('#topics-fold summary');
    await onlyTopic(page, 'Fire territory');
    await page.locator('#price-step:not(.stale) #price-line', { hasText: 'free' }).waitFor();
    // The price without data was refused.
    assert.deepEqual(
      complaints.filter((complaint) => !/status of 422/.test(complaint)),
      [],
    );
  },
);
