import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { noBrowser, startBrowser } from '../browser.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { handMadeBook } from './hand-made-book.ts';

const options = { skip: noBrowser, timeout: 120_000 };

interface Opened {
  readonly page: Page;
  /** What the browser complained of, and what it asked for beside the file itself. */
  readonly complaints: readonly string[];
}

/** Opens the report of a hand-made book from disk, as a user would. */
async function openReport(t: TestContext, name: string, context: BrowserContextOptions = {}): Promise<Opened> {
  const file = join(temporaryFolder(t), 'report.html');
  writeFileSync(file, await (await handMadeBook(t, name)).page());
  const browser = await startBrowser(t);
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 900 }, ...context })).newPage();
  const complaints: string[] = [];
  const address = pathToFileURL(file).href;
  page.on('console', (message) => complaints.push(`console: ${message.text()}`));
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`));
  page.on('dialog', (dialog) => complaints.push(`dialog: ${dialog.message()}`));
  page.on('request', (request) => {
    if (request.url() !== address) complaints.push(`request: ${request.url()}`);
  });
  await page.goto(address);
  return { page, complaints };
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface AxeResult {
  readonly passes: readonly unknown[];
  readonly violations: readonly { id: string; impact: string; nodes: readonly { html: string }[] }[];
}

/** What axe-core finds wrong, however grave. The page's policy forbids scripts, so it is put in from outside. */
async function findings(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const { passes, violations } = (await page.evaluate('axe.run()')) as AxeResult;
  assert.ok(passes.length > 15, 'axe-core looked at the page');
  return violations.map(({ id, impact, nodes }) => `${id} (${impact}): ${nodes[0]!.html.slice(0, 120)}`);
}

const tones = (page: Page) =>
  page.locator('#map-marks use').evaluateAll((marks) => marks.map((mark) => mark.getAttribute('class')));

for (const name of ['spread', 'town']) {
  for (const colorScheme of ['light', 'dark'] as const) {
    test(
      `the report of ${name} in ${colorScheme}: no complaint, no request, nothing found by axe-core`,
      options,
      async (t) => {
        const { page, complaints } = await openReport(t, name, { colorScheme });
        assert.deepEqual(await findings(page), []);
        assert.deepEqual(complaints, []);
        const paper = await page.evaluate('getComputedStyle(document.documentElement).backgroundColor');
        assert.equal(paper, colorScheme === 'light' ? 'rgb(255, 255, 255)' : 'rgb(20, 23, 27)');
      },
    );
  }
}

test('the map is switched by keyboard alone: topic, measure, legend, words', options, async (t) => {
  const { page, complaints } = await openReport(t, 'spread');
  const before = await tones(page);
  assert.equal(before.length, 8, 'nine places, of which San Juan is not drawn');
  const focused = () => page.evaluate('document.activeElement.id || document.activeElement.value');
  for (let presses = 0; presses < 30 && (await focused()) !== 'map-topic'; presses++) await page.keyboard.press('Tab');
  assert.equal(await focused(), 'map-topic');
  await page.keyboard.type('Superfund');
  assert.notDeepEqual(await tones(page), before);
  const shows = page.locator('#map-shows');
  assert.equal(await shows.textContent(), 'Shown: Superfund Sites, by locations.');
  assert.deepEqual(
    await page.locator('.legend:visible').evaluateAll((found) => found.map((one) => one.getAttribute('data-scale'))),
    ['distance'],
  );
  const sizes = () => page.locator('#map-marks use').first().getAttribute('transform');
  const byRows = await sizes();
  await page.keyboard.press('Tab');
  await page.keyboard.press('ArrowRight');
  assert.equal(await shows.textContent(), 'Shown: Superfund Sites, by value.');
  assert.notEqual(await sizes(), byRows);
  assert.deepEqual(complaints, []);
});

test('a mark says what it stands for', options, async (t) => {
  const { page } = await openReport(t, 'spread');
  await page.locator('#map-marks use').first().dispatchEvent('pointerover');
  assert.match((await page.locator('#map-readout').textContent())!, /^Here: 2 locations, value [\d,]+; \w/);
});

test('on a phone nothing is wider than the page, dark or light, and tables scroll on their own', options, async (t) => {
  for (const name of ['spread', 'town']) {
    const { page } = await openReport(t, name, { viewport: { width: 360, height: 740 } });
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 360, name);
    assert.deepEqual(await findings(page), [], name);
  }
});

test('on paper the switches are gone, the figures stay, and the colours are those of light', options, async (t) => {
  const { page } = await openReport(t, 'spread', { colorScheme: 'dark' });
  await page.emulateMedia({ media: 'print' });
  assert.equal(await page.locator('#map-controls').isVisible(), false);
  assert.equal(await page.locator('nav').isVisible(), false);
  assert.ok(await page.locator('#worst table').isVisible());
  assert.equal(await page.evaluate('getComputedStyle(document.documentElement).backgroundColor'), 'rgb(255, 255, 255)');
  const pdf = await page.pdf({ format: 'A4' });
  const pages = pdf.toString('latin1').match(/\/Type\s*\/Page\b/g)?.length ?? 0;
  assert.ok(pages >= 2 && pages <= 12, `${pages} pages`);
});

/** Tables that are wider than the card or the scrolling box that they stand in. */
const SPILLING = `[...document.querySelectorAll('.card, .wide')]
  .filter((box) => box.scrollWidth > box.clientWidth + 1)
  .map((box) => box.className + ': ' + box.textContent.trim().slice(0, 30))`;

test(
  'no table spills over its place: on a screen, on paper; on a phone only what can be scrolled',
  options,
  async (t) => {
    const { page } = await openReport(t, 'spread');
    for (const width of [1280, 1000, 820]) {
      await page.setViewportSize({ width, height: 900 });
      assert.deepEqual(await page.evaluate(SPILLING), [], `${width}`);
    }
    await page.setViewportSize({ width: 360, height: 900 });
    const onPhone = (await page.evaluate(SPILLING)) as string[];
    assert.deepEqual(
      onPhone.filter((box) => box.startsWith('card')),
      [],
    );
    // A4 less its margins, at 96 dots an inch.
    await page.setViewportSize({ width: 688, height: 1000 });
    await page.emulateMedia({ media: 'print' });
    assert.deepEqual(await page.evaluate(SPILLING), [], 'paper');
  },
);

test('without script the page shows all but the switches', options, async (t) => {
  const { page } = await openReport(t, 'spread', { javaScriptEnabled: false });
  assert.equal(await page.locator('#map-controls').isVisible(), false);
  assert.equal(await page.locator('#map-marks use').count(), 8);
  assert.equal(await page.locator('.legend:visible').count(), 1);
  assert.ok((await page.locator('.card').count()) >= 6);
});
