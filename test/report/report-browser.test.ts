import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { NATURAL_SLUGS, topicOf } from '../../src/contract/topics.ts';
import { reportPage, reportScript, reportSections } from '../../src/report/html/page.ts';
import { axeFindings, noBrowser, startBrowser } from '../browser.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { handMadeBook } from './hand-made-book.ts';
import { largeFacts } from './large-facts.ts';
import { textOfPages } from './pdf-text.ts';

const options = { skip: noBrowser, timeout: 300_000 };

interface Opened {
  readonly page: Page;
  /** What the browser complained of, and what it asked for beside the file itself. */
  readonly complaints: readonly string[];
}

/** Opens the report of a hand-made book. */
const openReport = async (t: TestContext, name: string, context?: BrowserContextOptions) =>
  openPage(t, await (await handMadeBook(t, name)).page(), context);

/** Opens a report from disk, as a user would. */
async function openPage(
  t: TestContext,
  html: string,
  context: BrowserContextOptions = {},
): Promise<Opened> {
  const file = join(temporaryFolder(t), 'report.html');
  writeFileSync(file, html);
  const browser = await startBrowser(t);
  const page = await (
    await browser.newContext({ viewport: { width: 1280, height: 900 }, ...context })
  ).newPage();
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

/** The map moves with the frame after an event. */
const nextFrames = (page: Page) =>
  page.evaluate(
    'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))',
  );

const tones = (page: Page) =>
  page
    .locator('#marks use')
    .evaluateAll((marks) => marks.map((mark) => mark.getAttribute('class')));

for (const name of ['spread', 'town', 'flood']) {
  for (const colorScheme of ['light', 'dark'] as const) {
    test(
      `the report of ${name} in ${colorScheme}: no complaint, nothing found by axe-core`,
      options,
      async (t) => {
        const { page, complaints } = await openReport(t, name, { colorScheme });
        assert.deepEqual(await axeFindings(page), []);
        assert.deepEqual(complaints, []);
        const paper = await page.evaluate(
          'getComputedStyle(document.documentElement).backgroundColor',
        );
        assert.equal(paper, colorScheme === 'light' ? 'rgb(255, 255, 255)' : 'rgb(20, 23, 27)');
      },
    );
  }
}

test('the map is switched by keyboard alone: topic, measure, legend, words', options, async (t) => {
  const { page, complaints } = await openReport(t, 'spread');
  const before = await tones(page);
  assert.equal(before.length, 9, 'San Juan too');
  const focused = () => page.evaluate('document.activeElement.id || document.activeElement.value');
  for (let presses = 0; presses < 40 && (await focused()) !== 'map-topic'; presses++)
    await page.keyboard.press('Tab');
  assert.equal(await focused(), 'map-topic');
  await page.keyboard.type('Superfund');
  assert.notDeepEqual(await tones(page), before);
  const shows = page.locator('#map-shows');
  assert.equal(await shows.textContent(), 'Shown: Superfund Sites, by value.');
  const legends = page.locator('.legend:visible');
  assert.deepEqual(
    await legends.evaluateAll((found) => found.map((one) => one.getAttribute('data-scale'))),
    ['distance'],
  );
  const sizes = () => page.locator('#marks use').first().getAttribute('transform');
  const byValue = await sizes();
  await page.keyboard.press('Tab');
  await page.keyboard.press('ArrowRight');
  assert.equal(await shows.textContent(), 'Shown: Superfund Sites, by locations.');
  assert.notEqual(await sizes(), byValue);
  assert.deepEqual(complaints, []);
});

for (const width of [1440, 360]) {
  test(
    `every button and choice is at least 24 px high on a screen of ${width} px`,
    options,
    async (t) => {
      const { page } = await openReport(t, 'spread', { viewport: { width, height: 900 } });
      const sizes = await page
        .locator('button:visible, select:visible, summary:visible')
        .evaluateAll((found) =>
          found.map((one) => {
            const { width, height } = one.getBoundingClientRect();
            return { name: one.textContent!.trim().slice(0, 20), width, height };
          }),
        );
      assert.ok(sizes.length > 10);
      const small = sizes.filter(({ width, height }) => width < 24 || height < 24);
      assert.deepEqual(small, []);
    },
  );
}

test(
  'a mark says its county and how much of it was answered, by pointer and by key',
  options,
  async (t) => {
    const { page, complaints } = await openReport(t, 'spread');
    await page.selectOption('#map-topic', '0');
    const hint = () => page.locator('#map-hint').textContent();
    await page.locator('#marks use').first().hover();
    assert.equal(
      await hint(),
      'Los Angeles, California: 1.75 M, 14.8 % of the value. Most at risk: Earthquake 1.75 M, Wildfire 1.75 M.\n' +
        'Here: 2 locations, 1.75 M. Highest rating of all hazards: 2 of 2 answered: Very High',
    );
    await page.mouse.move(0, 0);
    const drawing = page.locator('#map-drawing');
    await drawing.press('n');
    const first = await hint();
    await drawing.press('n');
    assert.notEqual(await hint(), first);
    await drawing.press('p');
    assert.equal(await hint(), first);
    assert.deepEqual(complaints, []);
  },
);

test('a mark says of a flood zone what it is, or that it is unknown', options, async (t) => {
  const { page } = await openReport(t, 'flood');
  const said = [];
  for (const bin of [0, 6, 7, 8]) {
    await page.locator(`#marks use[data-bin="${bin}"]`).dispatchEvent('pointermove');
    said.push((await page.locator('#map-hint').textContent())!.replace(/.*: /s, '').trim());
  }
  assert.deepEqual(said, ['Special area V, VE', 'undetermined', 'not studied', 'not answered']);
});

test('a county, a city and an id are found on the map; the rest fades', options, async (t) => {
  const { page, complaints } = await openReport(t, 'spread');
  const field = page.locator('#map-find');
  const found = page.locator('#map-found');
  const look = async (text: string) => {
    await field.fill(text);
    await field.press('Enter');
    await nextFrames(page);
    return await found.textContent();
  };
  const places = () => page.locator('#names text').allTextContents();
  assert.match((await look('los angeles, calif'))!, /^Los Angeles, California: 1\.75 M, /);
  for (const _ of [1, 2, 3, 4]) await page.locator('#zoom-out').click();
  await nextFrames(page);
  const faded = (await tones(page)).filter((tone) => tone!.includes('dim'));
  assert.ok(faded.length > 0);
  assert.match(
    (await look('Los Angeles, CA'))!,
    /^Los Angeles, CA is in Los Angeles, California: /,
  );
  const [first] = JSON.parse((await page.locator('#map-data').textContent())!).finds.filter(
    ([kind]: string[]) => kind === 'location',
  );
  assert.match((await look(first[1]))!, new RegExp(`^${first[1]} is in `));
  assert.ok((await places()).includes(first[1]), 'single places have their ids');
  assert.match(
    (await look('Atlantis'))!,
    /^No county, city or id on this map begins with "Atlantis"/,
  );
  await page.locator('#zoom-reset').click();
  await nextFrames(page);
  assert.ok(await found.isHidden());
  assert.ok((await tones(page)).every((tone) => !tone!.includes('dim')));
  await page.locator('#accumulation button.to-map').first().click();
  assert.equal(
    await field.inputValue(),
    await page.locator('#accumulation button.to-map').first().textContent(),
  );
  assert.ok(await found.isVisible());
  assert.deepEqual(complaints, []);
});

/** Names on the map that cross a mark or another name. */
const CROSSED_NAMES = `(() => {
  const boxes = (selector) => [...document.querySelectorAll(selector)].map((one) => [one.textContent, one.getBoundingClientRect()]);
  const names = boxes('#names text').filter(([text]) => text !== '·');
  const crosses = (a, b) => a !== b && a.left < b.right && b.left < a.right && a.top + 3 < b.bottom && b.top + 3 < a.bottom;
  const others = [...boxes('#marks use'), ...names].map(([, box]) => box);
  return names.filter(([, box]) => others.some((other) => crosses(box, other))).map(([text]) => text);
})()`;

test(
  'no name on the map crosses a dot or another name; a county without locations has none',
  options,
  async (t) => {
    for (const name of ['spread', 'town', 'flood']) {
      const { page } = await openReport(t, name);
      for (let zooms = 0; zooms < 5; zooms += 1) {
        assert.deepEqual(await page.evaluate(CROSSED_NAMES), [], `${name}, ${zooms} times nearer`);
        await page.locator('#zoom-in').click();
        await nextFrames(page);
      }
      const read = `JSON.parse(document.getElementById('map-names').textContent).filter(([kind]) => kind === 'county').length`;
      const counties = (await page.evaluate(read)) as number;
      assert.ok(counties > 0 && counties < 12, `${name}: ${counties}`);
    }
  },
);

test(
  'a click on a peril switches the map, a second one goes back; the map zooms and pans',
  options,
  async (t) => {
    const { page, complaints } = await openReport(t, 'spread');
    const shows = page.locator('#map-shows');
    await page.selectOption('#map-topic', '0');
    await page.locator('.perils tr[data-layer] svg').first().click();
    assert.equal(await shows.textContent(), 'Shown: Earthquake, by value.');
    assert.equal(
      await page.locator('.perils button[aria-pressed=true]').textContent(),
      'Earthquake',
    );
    await page.locator('.perils button').first().press('Enter');
    assert.equal(await shows.textContent(), 'Shown: Highest rating of all hazards, by value.');
    const world = () => page.locator('#map-world').getAttribute('transform');
    await page.locator('#zoom-in').click();
    await nextFrames(page);
    assert.match((await world())!, /scale\(1\.6\)/);
    const zoomed = await world();
    await page.locator('#map-drawing').press('ArrowLeft');
    await nextFrames(page);
    assert.notEqual(await world(), zoomed);
    await page.locator('#zoom-reset').click();
    await nextFrames(page);
    assert.match((await world())!, /translate\(0 0\)scale\(1\)/);
    assert.deepEqual(complaints, []);
  },
);

test(
  'a drawing hands on the topic that the reader chose, not one that it began with',
  options,
  async (t) => {
    const { facts, map } = largeFacts(400);
    const page = await (await startBrowser(t)).newPage();
    await page.setContent(reportSections(facts, map));
    const content = `${reportScript()}globalThis.kept = {}; setUpReport(document, globalThis.kept);`;
    await page.addScriptTag({ type: 'module', content });
    await page.locator('#map-drawing[tabindex]').waitFor();
    const topic = () => page.evaluate('globalThis.kept.map.topic');
    assert.equal(await topic(), undefined);
    await page.selectOption('#map-topic', { label: 'Hail' });
    assert.equal(await topic(), 'Hail');
  },
);

test(
  'on a narrow screen the map shows finer hexagons as one zooms; its legend follows',
  options,
  async (t) => {
    const { facts, map } = largeFacts(10_000);
    const { page } = await openPage(t, reportPage(facts, map), {
      viewport: { width: 400, height: 900 },
    });
    const drawing = page.locator('#map-drawing');
    const size = () =>
      page.evaluate(
        "Number(/scale\\(([\\d.]+)/.exec(document.getElementById('map-world').getAttribute('transform') ?? 'scale(1')[1])",
      );
    const full = () => page.locator('#size-0').textContent();
    const [before, least] = [await full(), await page.locator('#marks use').count()];
    // Below the table of perils.
    await page.evaluate(
      "document.getElementById('map-drawing').scrollIntoView({ block: 'center' })",
    );
    const scrolled = (await page.evaluate('window.scrollY')) as number;
    const { x, y, width, height } = (await drawing.boundingBox())!;
    await page.mouse.move(x + width / 2, y + height / 2);
    await page.mouse.wheel(0, 100);
    // Where there is nothing to zoom out of, the wheel scrolls the page.
    while (!(await page.evaluate(`window.scrollY > ${scrolled}`))) await nextFrames(page);
    assert.equal(await size(), 1);
    await page.evaluate(`window.scrollTo(0, ${scrolled})`);
    for (let turns = 0; turns < 100 && ((await size()) as number) <= 4; turns++) {
      await page.mouse.wheel(0, -100);
      await nextFrames(page);
    }
    assert.ok(((await size()) as number) > 4);
    assert.notEqual(await full(), before, 'a small hexagon has less');
    assert.ok(
      (await page.locator('#marks use').count()) < 4 * least,
      'what is in view alone is drawn',
    );
    assert.ok((await page.locator('#names .city').count()) > 1);
    await page.click('#zoom-reset');
    await nextFrames(page);
    assert.equal(await full(), before);
    await page.click('#zoom-in');
    await nextFrames(page);
    const zoomed = (await size()) as number;
    const finger = (id: number, at: number, type: string) =>
      drawing.dispatchEvent(type, {
        pointerId: id,
        clientX: x + at,
        clientY: y + 200,
        isPrimary: id === 1,
        bubbles: true,
      });
    await finger(1, 300, 'pointerdown');
    await finger(2, 340, 'pointerdown');
    await finger(2, 420, 'pointermove');
    await nextFrames(page);
    assert.ok(((await size()) as number) > 2 * zoomed);
  },
);

test('the locations: of one peril, filtered, sorted, as CSV', options, async (t) => {
  const { page, complaints } = await openReport(t, 'spread');
  const lines = () =>
    page
      .locator('#list tbody tr:visible td:first-child')
      .evaluateAll((cells) => cells.map((one) => one.textContent));
  const all = await lines();
  assert.deepEqual(
    all,
    ['4', '2', '9', '6', '8', '7'],
    'lines of the file, the largest value first',
  );
  await page.selectOption('#list-peril', { label: 'Hail' });
  assert.deepEqual(await lines(), ['4', '6']);
  await page.selectOption('#list-peril', { label: 'All' });
  await page.fill('#list-filter', 'san juan');
  assert.deepEqual(await lines(), ['9']);
  await page.fill('#list-filter', '');
  await page.locator('#list thead button').first().click();
  assert.deepEqual(await lines(), ['9', '8', '7', '6', '4', '2']);
  const downloaded = async () => {
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.locator('#list-csv').click(),
    ]);
    return readFileSync(await download.path(), 'utf8').split('\r\n');
  };
  const csv = await downloaded();
  assert.equal(csv[0], 'Line,ID,Location,County,Value,Locations,Latitude,Longitude,High ratings');
  assert.equal(
    csv[1],
    '9,8,San Juan,"San Juan, Puerto Rico",900000,1,18.4655,-66.1057,Relatively High: Earthquake',
  );
  assert.equal(csv.length, 1 + all.length);
  await page.selectOption('#list-peril', { label: 'Wildfire' });
  assert.deepEqual(await downloaded(), [
    'Line,ID,Location,County,Value,Locations,Latitude,Longitude,Rating,Score,Frequency',
    '7,6,<img src=x onerror=alert(2)>,"Anchorage, Alaska",100000,1,61.2181,-149.9003,Relatively High,75,0.1',
    '2,1,<script>alert(\'name\')</script>,"Los Angeles, California",1750000,2,34.0522,-118.2437,Very High,98.2,0.4',
  ]);
  assert.ok(await page.locator('#locations', { hasText: 'All rows are in out.csv.' }).isVisible());
  assert.deepEqual(complaints, []);
});

/** Texts of the map and of its sizes that leave the drawing or reach into the next text. */
const CUT_TEXTS = `[...document.querySelectorAll('.map text, .sizes text')].filter((text) => {
  const box = text.getBoundingClientRect();
  const next = text.closest('.sizes') && text.nextElementSibling?.getBoundingClientRect();
  return box.width > 0 && (box.right > text.ownerSVGElement.getBoundingClientRect().right || (next && box.right > next.left));
}).map((text) => text.textContent)`;

test(
  'on a phone nothing is wider than the page, dark or light, and tables scroll on their own',
  options,
  async (t) => {
    for (const name of ['spread', 'town', 'flood']) {
      const { page } = await openReport(t, name, { viewport: { width: 360, height: 740 } });
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 360, name);
      assert.deepEqual(await page.evaluate(CUT_TEXTS), [], name);
      assert.deepEqual(await axeFindings(page), [], name);
    }
  },
);

test(
  'on paper the switches are gone, the figures stay, and the colours are those of light',
  options,
  async (t) => {
    const { page } = await openReport(t, 'spread', { colorScheme: 'dark' });
    await page.emulateMedia({ media: 'print' });
    assert.equal(await page.locator('#map-controls').isVisible(), false);
    assert.equal(await page.locator('nav').isVisible(), false);
    assert.equal(await page.getByText('Choose a peril').isVisible(), false);
    assert.ok(await page.locator('#locations table').isVisible());
    assert.equal(
      await page.evaluate('getComputedStyle(document.documentElement).backgroundColor'),
      'rgb(255, 255, 255)',
    );
  },
);

/** Without white space and ligatures: a PDF has them otherwise. */
const plain = (text: string) => text.normalize('NFKC').replaceAll(/\s/g, '');

const HEADINGS =
  "[...document.querySelectorAll('h2, h3, thead')].map((heading) => heading.innerText)";

/** Chromium writes the cells of a row one after the other. */
const ROWS = `[...document.querySelectorAll('tbody tr, tfoot tr')]
  .filter((row) => row.getBoundingClientRect().height > 0)
  .map((row) => row.innerText)`;

/** Ids that stand on more than one line. */
const BROKEN_IDS = `[...document.querySelectorAll('#list tbody tr:not([hidden]) [data-name="ID"]')]
  .filter((cell) => {
    const range = document.createRange();
    range.selectNodeContents(cell);
    return new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1;
  })
  .map((cell) => cell.textContent)`;

/** A4 less its margins, at 96 dots an inch. */
const A4_HEIGHT = 1016;

test(
  'printed: a summary of one page, numbered pages, no heading alone, no row or id cut, no paper wasted',
  options,
  async (t) => {
    const { facts: large, map } = largeFacts(3_000);
    const locations = large.locations.map((place, index) => ({
      ...place,
      id: `POL-2026 0000-${100 + index}`,
    }));
    const facts = { ...large, locations };
    const { page } = await openPage(
      t,
      reportPage({ ...facts, circles: [{ ...facts.locations[0]!, places: 1 }] }, map),
    );
    await page.emulateMedia({ media: 'print' });
    const headings = ((await page.evaluate(HEADINGS)) as string[]).map(plain);
    const rows = ((await page.evaluate(ROWS)) as string[]).map(plain);
    // A wider table would make the browser print all smaller.
    await page.setViewportSize({ width: 688, height: 1000 });
    assert.deepEqual(await page.evaluate(SPILLING), []);
    assert.deepEqual(await page.evaluate(BROKEN_IDS), []);
    const least = Math.ceil(
      (await page.evaluate<number>('document.body.scrollHeight')) / A4_HEIGHT,
    );
    assert.ok(headings.length > 10 && rows.length > 100, `${headings.length}, ${rows.length}`);
    for (const format of ['A4', 'Letter']) {
      const pages = textOfPages(await page.pdf({ format })).map(plain);
      assert.ok(
        pages.length >= 5 && pages.length <= least + 2,
        `${format}: ${pages.length}, ${least}`,
      );
      for (const [index, text] of pages.entries()) {
        assert.ok(
          text.startsWith(`Sampledata·page${index + 1}`),
          `${format}: ${text.slice(0, 60)}`,
        );
        const alone = headings.find((heading) => text.endsWith(heading));
        assert.equal(alone, undefined, `${format}, page ${index + 1}`);
      }
      const [summary, second] = pages as [string, string];
      for (const slug of NATURAL_SLUGS)
        assert.ok(summary.includes(plain(topicOf(slug).title)), slug);
      for (const said of ['Valueatriskbyperil', 'Locations', 'places,mostin', 'Notanswered']) {
        assert.ok(summary.includes(said), `${format}: ${said}`);
      }
      assert.ok(
        second.startsWith('Sampledata·page2Accumulation'),
        `${format}: ${second.slice(0, 60)}`,
      );
      const cut = rows.filter((row) => !pages.some((text) => text.includes(row)));
      assert.deepEqual(cut, [], format);
    }
    const real = reportPage({ ...facts, sample: false }, map);
    assert.ok(real.includes('Perilbook hazard report · page') && !real.includes('Sample data'));
  },
);

/** Tables that are wider than the card or the scrolling box that they stand in. */
const SPILLING = `[...document.querySelectorAll('.perils, .wide, figure')]
  .filter((box) => box.scrollWidth > box.clientWidth + 1)
  .map((box) => box.className + ': ' + box.textContent.trim().slice(0, 30))`;

test(
  'no table spills over its place: on a screen, on paper; on a phone it may scroll',
  options,
  async (t) => {
    const { page } = await openReport(t, 'spread');
    for (const width of [1280, 1000, 820]) {
      await page.setViewportSize({ width, height: 900 });
      assert.deepEqual(await page.evaluate(SPILLING), [], `${width}`);
    }
    await page.setViewportSize({ width: 360, height: 900 });
    const onPhone = (await page.evaluate(SPILLING)) as string[];
    const unscrolled = onPhone.filter((box) => !box.startsWith('wide'));
    assert.deepEqual(unscrolled, []);
    // A4 less its margins, at 96 dots an inch.
    await page.setViewportSize({ width: 688, height: 1000 });
    await page.emulateMedia({ media: 'print' });
    assert.deepEqual(await page.evaluate(SPILLING), [], 'paper');
  },
);

test('at 1440 by 900 all perils and the map are on the first screen', options, async (t) => {
  const { facts, map } = largeFacts(3_000);
  const { page } = await openPage(t, reportPage(facts, map), {
    viewport: { width: 1440, height: 900 },
  });
  assert.equal(await page.locator('.perils tbody tr').count(), 18);
  for (const what of ['.perils tbody', '#map-drawing', '.legend:not([hidden])']) {
    const bottom = await page.evaluate(
      `document.querySelector('${what}').getBoundingClientRect().bottom`,
    );
    assert.ok((bottom as number) < 900, `${what}: ${bottom}`);
  }
});

test('without script the page shows all but the switches', options, async (t) => {
  const { page } = await openReport(t, 'spread', { javaScriptEnabled: false });
  assert.equal(await page.locator('#map-controls').isVisible(), false);
  assert.equal(await page.locator('#marks use').count(), 9);
  assert.equal(await page.locator('.legend:visible').count(), 1);
  assert.equal(await page.locator('#zoom-in').isVisible(), false);
  assert.equal(await page.locator('#list tbody tr:visible').count(), 6);
  const unfolded = page.locator('table:not(details.numbers table)');
  assert.ok((await unfolded.count()) > 10);
  for (const table of await unfolded.all())
    assert.ok(await table.isVisible(), await table.innerText());
});
