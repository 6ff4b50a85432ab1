import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { customSubscription } from '../../src/contract/subscriptions.ts';
import { axeFindings, startBrowser } from '../browser.ts';
import { places } from '../run/harness.ts';
import {
  choose,
  nothingFound,
  onlyTopic,
  openPage,
  options,
  price,
  start,
  title,
} from './page-scene.ts';
import { allSources, openUi } from './ui-scene.ts';

const CELLS = 60;

/** Locations with ids and values, in one census tract. */
function portfolio(): string {
  const rows = places(CELLS).map(([lat, lng], index) => `P${index},${lat},${lng},${index + 1}\n`);
  return `policyID,lat,lng,tiv\n${rows.join('')}`;
}

test(
  'a run from local data speaks of no credits, asks nothing, and shows its results',
  options,
  async (t) => {
    const scene = await openUi(t, (harness) => allSources(harness));
    const { page, complaints } = await openPage(t, scene);
    await choose(page, scene, portfolio(), CELLS);
    // The account is named where it is another than the address.
    const about = (await page.locator('#about').textContent())!;
    assert.match(about, /Answers come from 127\.0\.0\.1:\d+ \(custom\)\./);
    await page.fill('#budget', '1.5');
    await page.getByLabel('Public data on this machine').check();
    await page
      .locator('#budget-words', { hasText: '60 places to look up, free of charge.' })
      .waitFor();
    assert.ok(await page.locator('#ways-box').isHidden());
    await nothingFound(page, 'local data');
    await page.click('#start');
    await title(page, 'Complete');
    assert.ok(await page.locator('#confirm').isHidden(), 'nothing to confirm');
    await page.locator('#report-step').waitFor();
    await page.locator('#result-story', { hasText: 'of the' }).waitFor();
    for (const part of ['#overview', '#budget-step', '#run-step', 'header']) {
      assert.doesNotMatch(
        await page.locator(part).innerText(),
        /credit|budget|bought|price/i,
        part,
      );
    }
    await nothingFound(page, 'results of local data');
    assert.deepEqual([scene.harness.charged(), scene.harness.charged('made up')], [0, 0]);
    assert.deepEqual([complaints, scene.bugs], [[], []]);
  },
);

test(
  'source, areas and way to buy change the price at once and survive a reload',
  options,
  async (t) => {
    const scene = await openUi(t, (harness) => allSources(harness, ['superfund']));
    const { page, complaints } = await openPage(t, scene);
    await choose(page, scene, portfolio(), CELLS);
    await onlyTopic(page, 'Superfund');
    await page.locator('#source-local-why', { hasText: 'No data for superfund' }).waitFor();
    assert.ok(await page.getByLabel('Public data on this machine').isDisabled());
    await page.getByLabel('Drought').click();
    await price(page, String(2 * CELLS));
    await page.getByLabel('Census tract').check();
    // One for the tract, and twenty to verify.
    await price(page, String(CELLS + 21));
    await page.getByLabel('Fewest calls').check();
    // A bundle of 35 credits instead of two singles.
    await price(page, '774');
    await nothingFound(page, 'areas');

    await page.reload();
    await page.locator('[data-ready]').waitFor();
    await price(page, '774');
    const chosen = (label: string) => page.getByLabel(label).isChecked();
    assert.deepEqual(
      await Promise.all(['Paid service', 'Census tract', 'Fewest calls'].map(chosen)),
      [true, true, true],
    );
    await page.check('[value="sample"]');
    await page.locator('#sample').waitFor();
    await page.locator('#price-step:not(.stale)').waitFor();
    await page.fill('#budget', '3');
    await page.click('#start');
    assert.match(
      (await page.locator('#confirm-words').textContent())!,
      /^The sample account has [\d,]+ left/,
    );
    await page.click('#confirm-yes');
    await title(page, 'Paused');
    assert.deepEqual([scene.harness.charged(), scene.harness.charged('made up')], [0, 3]);
    assert.deepEqual([complaints, scene.bugs], [[], []]);
  },
);

test(
  'Start right after another choice asks with the price of that choice, and runs it',
  options,
  async (t) => {
    const scene = await openUi(t);
    const { page } = await openPage(t, scene);
    await choose(page, scene, portfolio(), CELLS);
    // The account has a name of its own.
    const about = (await page.locator('#about').textContent())!;
    assert.match(about, /Answers come from 127\.0\.0\.1:\d+, account tester \(custom\)\./);
    await page.fill('#budget', '70');
    // Two clicks in one task: the price of two topics is not there yet.
    await page.evaluate(
      "document.querySelector('[value=hail]').click(); document.querySelector('#start').click()",
    );
    await page.locator('#confirm-title', { hasText: 'Spend at most 70 credits?' }).waitFor();
    assert.match(
      (await page.locator('#confirm-words').textContent())!,
      /The price is 120; the rest is deferred\./,
    );
    // The run ends before the page gets the reply to its start.
    await page.route('**/start', async (route) => {
      const response = await route.fetch();
      await title(page, 'Paused');
      await route.fulfill({ response });
    });
    await page.click('#confirm-yes');
    while ((await page.locator('#budget').inputValue()) !== '')
      await page.evaluate('new Promise(requestAnimationFrame)');
    await title(page, 'Paused');
    assert.equal(scene.harness.charged(), 70);
  },
);

test(
  'the page ends in the report: renewed while answers come, it keeps map, filter and focus',
  options,
  async (t) => {
    // Ten credits a minute, of which one takes 0.6 s.
    const scene = await openUi(t, {}, { subscription: customSubscription(1_000, 10), factor: 10 });
    const { page, complaints } = await openPage(t, scene);
    await choose(page, scene, portfolio(), CELLS);
    await page.fill('#budget', '30');
    // A drawing that takes longer than an update of the run: it is waited for, not asked again.
    let cancelled = 0;
    page.on('requestfailed', (request) => {
      if (request.url().endsWith('/sections')) cancelled++;
    });
    await page.route('**/sections', async (route) => {
      await delay(600);
      await route.continue().catch(() => {});
    });
    await start(page);
    const credits = () => page.locator('#missing li').first().textContent();
    const shows = page.locator('#map-shows');
    await page.locator('#report-step').waitFor();
    const running = page.locator('.opening .note', { hasText: 'The run is under way.' });
    await running.waitFor();
    const before = await credits();
    await page.selectOption('#map-topic', { label: 'Wildfire' });
    await page.click('#zoom-in');
    await page.selectOption('#list-peril', { label: 'Wildfire' });
    await page.fill('#list-filter', 'P5');
    await page.locator('#quality summary').click();
    await page.focus('#map-topic');
    await page
      .locator('#missing li')
      .filter({ hasNotText: before! })
      .first()
      .waitFor({ state: 'attached' });
    const kept = async () => {
      assert.equal(await shows.textContent(), 'Shown: Wildfire, by value.');
      assert.match((await page.locator('#map-world').getAttribute('transform'))!, /scale\(1\.6\)/);
      assert.equal(await page.locator('#list-filter').inputValue(), 'P5');
      assert.equal(
        await page.locator('#quality table, #quality p').first().isVisible(),
        false,
        'a fold stays folded',
      );
    };
    await kept();
    assert.equal(cancelled, 0);
    const focused = () =>
      page.evaluate("document.activeElement.shadowRoot?.activeElement.id ?? 'not in the report'");
    assert.equal(await focused(), 'map-topic', 'the focus stays');
    await page.focus('#list-filter');
    await title(page, 'Paused');
    await page.locator('#result-story', { hasText: 'of the' }).waitFor();
    await running.waitFor({ state: 'detached' });
    await kept();
    assert.equal(await focused(), 'list-filter', 'the end of the run takes it from no text field');
    await page.fill('#list-filter', '');
    await page.selectOption('#list-peril', '');
    // A second click at once turns nothing round.
    await page.locator('#list thead button', { hasText: 'Value' }).dblclick();
    assert.equal(await page.locator('#list th[aria-sort]').getAttribute('aria-sort'), 'descending');
    assert.ok(
      await page
        .locator('#locations', { hasText: 'All rows are in book.hazards.csv.' })
        .isVisible(),
    );
    const [download] = await Promise.all([page.waitForEvent('download'), page.click('#list-csv')]);
    assert.match(
      readFileSync(await download.path(), 'utf8'),
      /^Line,ID,Location,County,Value,Locations,/,
    );
    await page.getByRole('navigation', { name: 'Sections' }).getByText('Credits').click();
    assert.match(page.url(), /#file=/, 'the address still names the file');
    await nothingFound(page, 'report in the page');
    await page.reload();
    await title(page, 'Paused');
    await page.locator('#list tbody tr').first().waitFor({ state: 'attached' });
    assert.deepEqual([complaints, scene.bugs], [[], []]);
  },
);

test(
  'with all answers in the store nothing is priced or asked: the file is written',
  options,
  async (t) => {
    const scene = await openUi(t);
    const { harness } = scene;
    const { page, complaints } = await openPage(t, scene);
    await choose(page, scene, portfolio(), CELLS);
    await page.locator('#columns-change', { hasText: '· Value: tiv Change' }).waitFor();
    await start(page, '5');
    await title(page, 'Paused');
    const classOf = (selector: string) => page.locator(selector).getAttribute('class');
    assert.deepEqual(
      [await classOf('#go-on'), await classOf('#download'), await classOf('#start')],
      ['button primary', 'button', 'button'],
      'to resume is what comes next',
    );
    await price(page, String(CELLS - 5));
    await start(page, String(CELLS - 5));
    await title(page, 'Complete');
    const other = join(harness.folder, 'other.csv');
    writeFileSync(other, portfolio());
    await page.click('#file-step summary');
    await page.setInputFiles('#file', other);
    await page.locator('#file-line', { hasText: 'other.csv' }).waitFor({ state: 'attached' });
    await onlyTopic(page);
    await page.locator('#budget-words', { hasText: 'All answers are here' }).waitFor();
    assert.equal(await page.locator('#price-line').textContent(), 'nothing to buy');
    for (const gone of ['#budget', '#budget-slider', '#ways', '#budget-curve'])
      assert.equal(await page.locator(gone).count(), 0, gone);
    assert.ok(await page.locator('#price').isHidden());
    await nothingFound(page, 'all answers are here');
    await page.locator('#start', { hasText: /^Write the file$/ }).click();
    await title(page, 'Complete');
    assert.ok(await page.locator('#confirm').isHidden(), 'nothing to confirm');
    assert.equal(harness.charged(), CELLS);
    assert.deepEqual([complaints, scene.bugs], [[], []]);
  },
);

test(
  'what is asked again can be read meanwhile; enlarged fourfold, the dock covers nothing',
  options,
  async (t) => {
    const scene = await openUi(t);
    const { page } = await openPage(t, scene);
    await choose(page, scene, portfolio(), CELLS);
    await page.fill('#budget', '5');
    await page.locator('#budget-meaning', { hasText: 'places' }).waitFor();
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route('**/price', async (route) => {
      await held;
      await route.continue();
    });
    await page.getByLabel('Drought').click();
    await page.locator('#price-step.stale').waitFor();
    assert.deepEqual(await axeFindings(page), []);
    release();
    await price(page, String(2 * CELLS));
    await page.setViewportSize({ width: 320, height: 225 });
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await page.getByLabel('Hail').focus();
    const covered = await page.evaluate(`(() => {
      const { left, top } = document.activeElement.getBoundingClientRect();
      return !document.activeElement.contains(document.elementFromPoint(left + 5, top + 5));
    })()`);
    assert.equal(covered, false);
    const position = "getComputedStyle(document.querySelector('#budget-step')).position";
    assert.equal(await page.evaluate(position), 'static');
  },
);

test('without its script the page says what it is, and what it needs', options, async (t) => {
  const scene = await openUi(t);
  const browser = await startBrowser(t);
  const page = await browser.newPage({ javaScriptEnabled: false });
  await page.goto(scene.ui.newAddress());
  assert.equal(await page.locator('h1').textContent(), 'Perilbook');
  assert.match(await page.locator('body').innerText(), /This page needs JavaScript\./);
});

test(
  'map, price and ways to buy are above the fold; on a phone the budget leaves room',
  options,
  async (t) => {
    const scene = await openUi(t);
    const { page } = await openPage(t, scene, { viewport: { width: 1440, height: 900 } });
    await choose(page, scene, portfolio(), CELLS);
    await page.fill('#budget', '5');
    await page.locator('#budget-meaning', { hasText: 'places' }).waitFor();
    await page.evaluate('scrollTo({ top: 0, behavior: "instant" })');
    const box = async (selector: string) => (await page.locator(selector).boundingBox())!;
    const fold = (await box('#budget-step')).y;
    for (const part of ['#budget-curve', '#price', '#price-verdict', '#ways']) {
      const { y, height } = await box(part);
      assert.ok(
        y >= 0 && y + height <= fold,
        `${part} ends at ${y + height}, the budget begins at ${fold}`,
      );
    }
    await page.setViewportSize({ width: 360, height: 740 });
    const { height } = await box('#budget-step');
    assert.ok(height <= 740 / 4, `the budget takes ${height} of 740 pixels`);
    await start(page);
    await title(page, 'Paused');
    await page.locator('#run-title:focus').waitFor();
    await page.locator('#result-story', { hasText: 'answered' }).waitFor();
    await price(page, String(CELLS - 5));
    const resume = await box('#go-on');
    assert.ok(resume.y + resume.height <= (await box('#budget-step')).y, 'Resume is in view');
    assert.match(
      await page.locator('#budget-words').innerText(),
      /^Enter a budget to start/,
      'why Start is off',
    );
  },
);
