import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { gateBefore, startBin } from '../cli/bin-process.ts';
import { openHarness, places } from '../run/harness.ts';
import { openPage, options, title } from './page-scene.ts';

const CELLS = 20;

const isOff = (page: Page, id: string) => page.locator(`#${id}[aria-disabled="true"]`).waitFor();

test('a server that is stopped or killed: the page says so; the run goes on at the new address', options, async (t) => {
  const now = Date.now();
  const harness = await openHarness(t, { clock: { start: now, factor: 1, origin: now } });
  harness.writeInput(places(CELLS));
  let isHeld = true;
  const gate = await gateBefore(t, harness.url, (number) => (number > 5 && isHeld ? 'hold' : 'answer'));
  const env = { PERILBOOK_BASE_URL: gate.url, PERILBOOK_API_KEY: harness.key().secret };
  const start = async (...more: string[]) => {
    const bin = startBin(t, ['ui', 'input.csv', '--subscription', 'starter', ...more], harness.folder, env);
    await bin.said('token=');
    return bin;
  };
  const first = await start();
  const address = /http:\S+/.exec(first.text())![0];
  const { page } = await openPage(t, { ui: { newAddress: () => address } });
  await page.click('[data-topics="none"]');
  await page.getByLabel('Wildfire').click();
  await page.locator('#price', { hasText: /^20$/ }).waitFor();
  // What was in flight at the kill counts as spent, and is bought again.
  await page.fill('#budget', String(CELLS + 8));
  await page.click('#start');
  await page.click('#confirm-yes');
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
  const second = await start('--port', new URL(address).port);
  // A session ends with its process: this page belonged to the killed one.
  await page.locator('#gone', { hasText: 'This browser has no session here' }).waitFor();
  const opened = page.url();
  await page.goto(/http:\S+/.exec(second.text())![0]);
  await page.locator('html[data-ready="yes"]').waitFor();
  await page.goto(opened);
  await title(page, 'Cut off');
  await page.locator('#gone').waitFor({ state: 'hidden' });
  await page.click('#go-on');
  await page.click('#confirm-yes');
  await title(page, 'Complete');
  const charged = harness.charged();
  assert.ok(charged >= CELLS && charged <= CELLS + 8, `${charged}: at most what was in flight is bought again`);
  second.kill('SIGINT');
  assert.equal((await second.ended).code, 0);
});
