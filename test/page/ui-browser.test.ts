import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { customSubscription } from '../../src/contract/subscriptions.ts';
import { column, places } from '../run/harness.ts';
import {
  choose,
  isFocused,
  nothingFound,
  onlyTopic,
  openPage,
  options,
  price,
  start,
  tabTo,
  title,
} from './page-scene.ts';
import { openUi } from './ui-scene.ts';

const CELLS = 40;

/** What a file may hold: names and values that would be markup. */
function nastyBook(): string {
  const rows = places(CELLS).map(
    ([lat, lng], index) => `${lat},${lng},"<img src=x onerror=alert(${index})>"\n`,
  );
  return `lat,lng,"<script>alert('name')</script>"\n${rows.join('')}nowhere,-99,x\n`;
}

test(
  'the whole way with the mouse: drop, choose, price, budget, run, result, rest, report',
  options,
  async (t) => {
    const scene = await openUi(t, { sample: true });
    const { harness } = scene;
    const { context, page, complaints } = await openPage(t, scene);
    await nothingFound(page, 'empty');
    assert.ok(
      await page.getByText('Sample data: made up, do not base decisions on it').isVisible(),
    );

    const dropped = await page.evaluateHandle(
      `(() => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([${JSON.stringify(nastyBook())}], '<b>my</b> book.csv'));
      return transfer;
    })()`,
    );
    await page.dispatchEvent('#drop', 'drop', { dataTransfer: dropped });
    await price(page, '[0-9,]{3,}');
    assert.equal(
      await page.locator('#rows-words').textContent(),
      '41 rows: 40 located, 1 invalid; 40 distinct places.',
    );
    assert.deepEqual(await page.locator('#findings-rows td').allTextContents(), [
      '42',
      '1',
      'Latitude or longitude is not a number.',
    ]);
    assert.equal(await page.locator('#first img, #first script').count(), 0);
    assert.equal(await page.locator('#topics-count').textContent(), '18 of 38 chosen');
    await nothingFound(page, 'columns, topics, price');

    await page.click('[data-topics="none"]');
    assert.ok(await page.locator('#start').isDisabled());
    await page.getByLabel('Wildfire').click();
    await price(page, '40');
    assert.equal(
      await page.locator('#budget').inputValue(),
      '',
      'no budget until somebody sets one',
    );
    assert.ok(await page.locator('#start').isDisabled());
    await page.fill('#budget', '7');
    await page.click('#start');
    assert.equal(await page.locator('#confirm-title').textContent(), 'Spend at most 7 credits?');
    assert.match(
      (await page.locator('#confirm-words').textContent())!,
      /^The sample account has 100,000 left/,
    );
    await nothingFound(page, 'question');
    await page.click('#confirm-no');
    assert.equal(harness.charged(), 0, 'asked, and nothing spent');
    await start(page);
    await title(page, 'Paused');
    assert.equal(harness.charged(), 7);
    await nothingFound(page, 'paused');
    const [download] = await Promise.all([page.waitForEvent('download'), page.click('#download')]);
    const partial = readFileSync(await download.path(), 'utf8');
    assert.equal(column(partial, 'hazard_status').filter((status) => status === 'ok').length, 7);

    await price(page, '33');
    await page.click('#go-on');
    await page.locator('#confirm-title', { hasText: /^Spend at most 33 credits\?$/ }).waitFor();
    await page.click('#confirm-yes');
    await title(page, 'Complete');
    assert.equal(harness.charged(), CELLS);
    const [report] = await Promise.all([context.waitForEvent('page'), page.click('#report')]);
    await report.getByText('Shown:').waitFor();
    assert.equal(
      await page.locator('#report-root img, #report-root script:not([type])').count(),
      0,
    );
    assert.deepEqual([complaints, scene.bugs], [[], []]);
  },
);

test(
  'the whole way by keyboard alone: name a file, choose, start, stop, go on',
  options,
  async (t) => {
    // Ten credits a minute, of which one takes 1.2 s: long enough to stop in.
    const scene = await openUi(t, {}, { subscription: customSubscription(1_000, 10), factor: 50 });
    const { harness } = scene;
    harness.writeInput(places(CELLS));
    const { page, complaints } = await openPage(t, scene, {
      colorScheme: 'dark',
      reducedMotion: 'reduce',
    });
    const { keyboard } = page;
    await tabTo(page, '#path');
    await keyboard.type(join(harness.folder, 'input.csv'));
    await keyboard.press('Enter');
    await price(page, '[0-9,]{3,}');
    await tabTo(page, '[data-topics="none"]');
    await keyboard.press('Space');
    // A group is one stop; the arrow keys move within it.
    await tabTo(page, '#topics input');
    for (let moves = 0; moves < 18 && !(await isFocused(page, '[value="wildfire"]')); moves++) {
      await keyboard.press('ArrowDown');
    }
    await keyboard.press('Space');
    await price(page, '40');
    await tabTo(page, '#budget');
    await keyboard.type('40');
    await keyboard.press('Enter');
    assert.equal(
      await page.evaluate('document.activeElement.id'),
      'confirm-no',
      'the safe answer is at hand',
    );
    await keyboard.press('Escape');
    assert.equal(await page.evaluate('document.activeElement.id'), 'budget');
    assert.equal(harness.charged(), 0);
    await keyboard.press('Enter');
    await page.locator('#confirm-yes').waitFor();
    // Asked again before the browser has told that the dialog was closed.
    await page.evaluate(
      `document.getElementById('confirm').close(); document.getElementById('budget-form').requestSubmit()`,
    );
    await page.waitForTimeout(300);
    await tabTo(page, '#confirm-yes');
    await keyboard.press('Enter');
    await title(page, 'Running');
    await page.locator('#run-bar').waitFor();
    await tabTo(page, '#stop');
    await keyboard.press('Enter');
    await title(page, 'Stopped');
    const spent = harness.charged();
    assert.ok(spent < CELLS, `${spent} spent before the stop`);
    await nothingFound(page, 'stopped, dark');

    await price(page, String(CELLS - spent));
    await tabTo(page, '#go-on');
    await keyboard.press('Enter');
    await tabTo(page, '#confirm-yes');
    assert.match(
      (await page.locator('#confirm-title').textContent())!,
      new RegExp(`at most ${CELLS - spent} credits`),
    );
    await keyboard.press('Enter');
    await title(page, 'Running');
    await nothingFound(page, 'running, dark');
    await title(page, 'Complete');
    assert.equal(harness.charged(), CELLS);
    assert.deepEqual([complaints, scene.bugs], [[], []]);
  },
);

test(
  'on a phone nothing is wider than the page; a page that is loaded again finds its run',
  options,
  async (t) => {
    const scene = await openUi(t, {}, { subscription: customSubscription(1_000, 10), factor: 50 });
    writeFileSync(
      join(scene.harness.folder, 'wide.csv'),
      `${Array.from({ length: 80 }, (_, i) => `column_${i}`).join()},lat,lng\n${places(15)
        .map(([lat, lng]) => `${'value,'.repeat(80)}${lat},${lng}\n`)
        .join('')}`,
    );
    const { page, complaints } = await openPage(t, scene, {
      viewport: { width: 360, height: 740 },
    });
    const fits = async (view: string) =>
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 360, view);
    await fits('empty');
    const [chooser] = await Promise.all([
      page.waitForEvent('filechooser'),
      page.click('label[for="file"]'),
    ]);
    await chooser.setFiles(join(scene.harness.folder, 'wide.csv'));
    await price(page, '[0-9,]{3,}');
    await fits('price');
    await nothingFound(page, 'phone');
    await onlyTopic(page, 'Hail');
    await price(page, '15');
    await page.click('#budget-plan');
    await start(page);
    await title(page, 'Running');
    await fits('running');
    await page.reload();
    await title(page, 'Running|Complete');
    await title(page, 'Complete');
    await fits('complete');
    assert.equal(scene.harness.charged(), 15);
    const address = page.url();
    await page.goto('about:blank');
    await page.goto(address);
    await page.locator('[data-ready]').waitFor();
    await title(page, 'Complete');
    await price(page, '0');
    await fits('the last run');
    assert.equal(await page.locator('#budget, #budget-plan').count(), 0);
    await page.locator('#start', { hasText: /^Run again$/ }).click();
    await title(page, 'Complete');
    await page.locator('#start', { hasText: /^Run again$/ }).waitFor();
    assert.equal(scene.harness.charged(), 15);
    assert.deepEqual([complaints, scene.bugs], [[], []]);
  },
);

test('a file without a header line, by the box that says so', options, async (t) => {
  const scene = await openUi(t);
  const { page, complaints } = await openPage(t, scene);
  const rows = places(3).map(([lat, lng]) => `x,${lat},${lng}\n`);
  await choose(page, scene, rows.join(''));
  await page.locator('#columns-note').waitFor();
  assert.equal(await page.locator('#price-words').textContent(), '');
  await page.getByLabel('The first line is data').check();
  await page.locator('#lat option', { hasText: /^3$/ }).waitFor({ state: 'attached' });
  await page.selectOption('#lat', { value: '1' });
  await page.selectOption('#lng', { value: '2' });
  await page.locator('#rows-words', { hasText: '3 rows: 3 located' }).waitFor();
  await nothingFound(page, 'no header');
  assert.deepEqual([complaints, scene.bugs], [[], []]);
});
