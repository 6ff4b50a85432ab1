import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { places } from '../run/harness.ts';
import { isFocused, nothingFound, openPage, options, price, tabTo, title } from './page-scene.ts';
import { allSources, openUi } from './ui-scene.ts';

const CELLS = 60;

/** Locations with ids and values, which name one census tract. */
function portfolio(): string {
  const rows = places(CELLS).map(([lat, lng], index) => `P${index},${lat},${lng},${index + 1},31001967000\n`);
  return `policyID,lat,lng,tiv,tract\n${rows.join('')}`;
}

async function openBook(page: Page, folder: string): Promise<void> {
  const file = join(folder, 'book.csv');
  writeFileSync(file, portfolio());
  await page.setInputFiles('#file', file);
  await page.click('[data-topics="none"]');
  await page.getByLabel('Wildfire').click();
}

test('a run from local data speaks of no credits, asks nothing, and shows its results', options, async (t) => {
  const scene = await openUi(t, (harness) => allSources(harness));
  const { page, complaints } = await openPage(t, scene);
  await openBook(page, scene.harness.folder);
  await price(page, String(CELLS));
  assert.match((await page.locator('#about').textContent())!, /account 127\.0\.0\.1/);
  await page.getByLabel('Public data on this machine').check();
  await page.locator('#dock-free', { hasText: '60 places to look up, free of charge.' }).waitFor();
  assert.ok(await page.locator('#ways-box').isHidden());
  await nothingFound(page, 'local data');
  await page.click('#start');
  await title(page, 'Complete');
  assert.ok(await page.locator('#confirm').isHidden(), 'nothing to confirm');
  await page.locator('#rows tbody tr').first().waitFor();
  for (const part of ['#overview', '#budget-step', '#run-step', '#runs-step', 'header']) {
    assert.doesNotMatch(await page.locator(part).innerText(), /credit|budget|bought|price/i, part);
  }
  assert.match((await page.locator('#result-findings').innerText()) || 'none', /of 60 answered locations|none/);
  await nothingFound(page, 'results of local data');
  assert.deepEqual([scene.harness.charged(), scene.harness.charged('made up')], [0, 0]);
  assert.deepEqual([complaints, scene.bugs], [[], []]);
});

test('source, areas, priority and way to buy change the price at once and survive a reload', options, async (t) => {
  const scene = await openUi(t, (harness) => allSources(harness, ['superfund']));
  const { page, complaints } = await openPage(t, scene);
  await openBook(page, scene.harness.folder);
  await price(page, String(CELLS));
  await page.click('[data-topics="none"]');
  await page.getByLabel('Superfund').click();
  await page.locator('#source-local-why', { hasText: 'No data for superfund' }).waitFor();
  assert.ok(await page.getByLabel('Public data on this machine').isDisabled());
  assert.ok(await page.getByLabel('Natural hazards of every location').isDisabled());
  await page.getByLabel('Drought').click();
  await price(page, String(2 * CELLS));
  await page.getByLabel('Census tract').check();
  await page.selectOption('#area-column', { label: 'Column tract' });
  await page.selectOption('#area-verify', '0');
  await price(page, String(CELLS + 1));
  await page.getByLabel('Natural hazards of every location').check();
  await page.getByLabel('Fewest calls').check();
  await page.locator('#price-step:not(.stale) #tier-rows tr', { hasText: '1Drought' }).waitFor();
  // Calls of one bundle instead of two singles.
  await price(page, '94');
  await nothingFound(page, 'areas and priority');

  await page.reload();
  await page.locator('[data-ready]').waitFor();
  await price(page, '94');
  const chosen = (label: string) => page.getByLabel(label).isChecked();
  assert.deepEqual(
    await Promise.all(
      ['Paid service', 'Census tract', 'Natural hazards of every location', 'Fewest calls'].map(chosen),
    ),
    [true, true, true, true],
  );
  assert.equal(await page.locator('#area-verify').inputValue(), '0');
  await page.check('[value="sample"]');
  await page.locator('#sample').waitFor();
  await page.locator('#price-step:not(.stale)').waitFor();
  await page.fill('#budget', '3');
  await page.click('#start');
  assert.match((await page.locator('#confirm-words').textContent())!, /credits of the sample account/);
  await page.click('#confirm-yes');
  await title(page, 'Paused');
  assert.deepEqual([scene.harness.charged(), scene.harness.charged('made up')], [0, 3]);
  assert.deepEqual([complaints, scene.bugs], [[], []]);
});

test(
  'topics in steps, by keyboard: each has its price, the budget says how far it goes, and the run buys in this order',
  options,
  async (t) => {
    const scene = await openUi(t, (harness) => allSources(harness));
    const { page, complaints } = await openPage(t, scene);
    const { keyboard } = page;
    await openBook(page, scene.harness.folder);
    await page.getByLabel('Hail').click();
    await page.getByLabel('Drought').click();
    await page.getByLabel('Radon').click();
    await page.getByLabel('All topics of a location together').focus();
    await keyboard.press('ArrowDown');
    await keyboard.press('ArrowDown');
    assert.ok(await page.getByLabel('Chosen topics of every location').isChecked());
    await page.getByLabel('Topic or group for step 1').selectOption('radon');
    await tabTo(page, '[data-add="0"]');
    await keyboard.press('Enter');
    assert.ok(await isFocused(page, '#tiers select'), 'the next choice has the focus');
    await page.getByLabel('Topic or group for step 2').selectOption('wildfire');
    await page.getByLabel('Add to step 2').press('Enter');
    const rows = page.locator('#price-step:not(.stale) #tier-rows tr');
    await rows.nth(2).waitFor();
    assert.deepEqual(await rows.allTextContents(), ['1Radon60100 %', '2Wildfire60100 %', '3Drought, Hail120100 %']);
    await price(page, String(4 * CELLS));
    assert.equal(await page.locator('[data-way="standard"] .lacks').textContent(), 'without Radon');
    await nothingFound(page, 'steps');
    await page.fill('#budget', '75');
    await page
      .locator('#budget-meaning', {
        hasText: /step 1 for 100 % of the places, step 2 for 25 %, step 3 for 0 %, under a minute/,
      })
      .waitFor();
    await page.getByLabel('Add to step 3').focus();
    await page.getByLabel('Remove Radon from step 1').press('Enter');
    await page.locator('#price-step:not(.stale) #tier-rows tr', { hasText: '1Wildfire60' }).waitFor();
    assert.ok(await isFocused(page, '#tiers select'));
    await page.reload();
    await page.locator('#price-step:not(.stale) #tier-rows tr', { hasText: '1Wildfire60' }).waitFor();
    const chips = page.locator('#tiers .chip');
    assert.deepEqual(await chips.allTextContents(), ['Wildfire']);
    await page.getByLabel('All of Natural hazards').click();
    await page.getByLabel('Topic or group for step 2').selectOption('natural');
    await page.getByLabel('Add to step 2').press('Enter');
    assert.deepEqual(await chips.allTextContents(), ['Wildfire', '17 natural hazards'], 'many are one stop');
    await page.getByLabel('Remove 17 natural hazards from step 2').press('Enter');
    assert.deepEqual(await chips.allTextContents(), ['Wildfire']);
    await page.click('[data-topics="none"]');
    for (const name of ['Wildfire', 'Hail', 'Drought', 'Radon']) await page.getByLabel(name, { exact: true }).check();
    await price(page, String(4 * CELLS));
    await page.click('#start');
    await page.click('#confirm-yes');
    await title(page, 'Paused');
    assert.equal(scene.harness.charged(), 75);
    // The rest of three topics costs 180: 15 places have one of them.
    await price(page, '165');
    assert.deepEqual([complaints, scene.bugs], [[], []]);
  },
);

test('Start right after another choice asks with the price of that choice, and runs it', options, async (t) => {
  const scene = await openUi(t);
  const { page } = await openPage(t, scene);
  await openBook(page, scene.harness.folder);
  await price(page, String(CELLS));
  await page.fill('#budget', '70');
  // Two clicks in one task: the price of two topics is not there yet.
  await page.evaluate("document.querySelector('[value=hail]').click(); document.querySelector('#start').click()");
  await page.locator('#confirm-title', { hasText: 'Spend at most 70 credits?' }).waitFor();
  assert.match((await page.locator('#confirm-words').textContent())!, /The price is 120; the rest is deferred\./);
  await page.click('#confirm-yes');
  await title(page, 'Paused');
  assert.equal(scene.harness.charged(), 70);
});

test('the table of locations: filters, order, pages, the keyboard', options, async (t) => {
  const scene = await openUi(t, (harness) => allSources(harness));
  const { page, complaints } = await openPage(t, scene);
  await openBook(page, scene.harness.folder);
  await page.getByLabel('Public data on this machine').check();
  await page.locator('#dock-free', { hasText: '60 places' }).waitFor();
  await page.click('#start');
  await page.locator('#rows-count', { hasText: '1 to 50 of 60 locations' }).waitFor();
  assert.deepEqual((await page.locator('#rows tbody tr').first().locator('th, td').allTextContents()).slice(0, 3), [
    '2',
    'P0',
    '40.05, -99.95',
  ]);
  await tabTo(page, '#rows-next');
  await page.keyboard.press('Enter');
  await page.locator('#rows-count', { hasText: '51 to 60 of 60 locations' }).waitFor();
  assert.ok(await isFocused(page, '#rows-next'), 'the last page keeps the focus');
  await tabTo(page, '[data-sort="value"] button');
  await page.keyboard.press('Enter');
  await page.locator('#rows-count', { hasText: /^1 to 50 of 60 locations, largest value first$/ }).waitFor();
  const firstId = () => page.locator('#rows tbody tr').first().locator('td').first().textContent();
  assert.deepEqual(
    [await firstId(), await page.locator('#rows th[aria-sort]').getAttribute('aria-sort')],
    ['P59', 'descending'],
  );
  assert.ok(await isFocused(page, '[data-sort="value"] button'), 'a sorted table keeps the focus');
  await nothingFound(page, 'sorted');
  await page.keyboard.press('Enter');
  await page.locator('#rows th[aria-sort="ascending"]').waitFor();
  await page.locator('[data-sort="rating"] button').click();
  await page.locator('#rows-count', { hasText: 'highest rating first' }).waitFor();
  await page.fill('#filter-text', 'P7');
  await page.locator('#rows-count', { hasText: '1 location, of 60 in all, highest rating first' }).waitFor();
  await page.selectOption('#filter-peril', 'wildfire');
  await page.locator('#rows th', { hasText: /^Peril$/ }).waitFor();
  await page.fill('#filter-text', 'nothing of the kind');
  await page.locator('#rows-count', { hasText: '0 locations, of 60 in all' }).waitFor();
  await nothingFound(page, 'no rows');
  await page.reload();
  await page.locator('#rows-count', { hasText: '1 to 50 of 60 locations' }).waitFor();
  assert.deepEqual([complaints, scene.bugs], [[], []]);
});

test(
  'map, price and ways to buy are above the fold at 1440 by 900; on a phone the budget leaves room',
  options,
  async (t) => {
    const scene = await openUi(t);
    const { page } = await openPage(t, scene, { viewport: { width: 1440, height: 900 } });
    await openBook(page, scene.harness.folder);
    await price(page, String(CELLS));
    await page.locator('#map path.good').waitFor({ state: 'attached' });
    await page.fill('#budget', '5');
    await page.locator('#budget-meaning', { hasText: 'places' }).waitFor();
    await page.evaluate('scrollTo({ top: 0, behavior: "instant" })');
    const box = async (selector: string) => (await page.locator(selector).boundingBox())!;
    const fold = (await box('#budget-step')).y;
    for (const part of ['#map', '#price', '#price-verdict', '#ways']) {
      const { y, height } = await box(part);
      assert.ok(y >= 0 && y + height <= fold, `${part} ends at ${y + height}, the budget begins at ${fold}`);
    }
    await page.setViewportSize({ width: 360, height: 740 });
    const { height } = await box('#budget-step');
    assert.ok(height <= 740 / 4, `the budget takes ${height} of 740 pixels`);
  },
);
