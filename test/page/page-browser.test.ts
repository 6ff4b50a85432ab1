import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { customSubscription } from '../../src/contract/subscriptions.ts';
import { makeJob } from '../../src/job/settings.ts';
import { fakeService } from '../fake-service.ts';
import { places } from '../run/harness.ts';
import {
  choose,
  isFocused,
  nothingFound,
  onlyTopic,
  openPage,
  options,
  price,
  start,
  title,
} from './page-scene.ts';
import { openUi } from './ui-scene.ts';

/** A file whose last rows are worth most, in a column of its own name; one row lies in the Atlantic. */
function portfolio(rows: number): string {
  const lines = places(rows).map(
    ([lat, lng], index) => `${index},${lat},${lng},${index < rows - 2 ? 1 : 1_000}\n`,
  );
  return `policyID,point_latitude,point_longitude,tiv_2012\n${lines.join('')}x,30,-50,1\n`;
}

test(
  'the slider moves one per cent a key and says the truth; a reload keeps what was chosen',
  options,
  async (t) => {
    const scene = await openUi(t);
    const { page, complaints } = await openPage(t, scene);
    await choose(page, scene, portfolio(300), 300);
    const line = page.locator('#columns-change > summary');
    assert.match(
      (await line.textContent())!,
      /^Latitude: point_latitude · Longitude: point_longitude · Value: tiv_2012 Change$/,
    );
    const slider = page.locator('#budget-slider');
    const says = (words: RegExp) =>
      page
        .locator('#budget-slider')
        .and(page.getByLabel('Budget', { exact: true }))
        .evaluate(
          (element, source) => new RegExp(source).test(element.getAttribute('aria-valuetext')!),
          words.source,
        );
    assert.ok(await says(/^No budget$/));
    await slider.focus();
    for (const [key, credits] of [
      ['ArrowRight', '3'],
      ['ArrowUp', '6'],
      ['PageUp', '36'],
      ['ArrowLeft', '33'],
    ] as const) {
      await page.keyboard.press(key);
      assert.equal(await page.locator('#budget').inputValue(), credits);
      assert.ok(
        await says(new RegExp(`^${credits} credits`)),
        'before the server has said what it buys',
      );
    }
    await page.locator('#budget-meaning', { hasText: '33 credits: 33 places' }).waitFor();
    assert.ok(await says(/^33 credits: 33 places, 88 % of value/));
    await page.fill('#budget', '100000');
    assert.ok(await says(/^100,000 credits/), 'more than the slider shows');
    assert.match((await page.locator('#budget-curve path').getAttribute('d'))!, /^M0 120L0 120L/);
    assert.match(
      (await page.locator('#budget-marks').textContent())!,
      /^[\d,]+ credits buy 50 % of the value, [\d,]+ buy 80 %, [\d,]+ buy 95 %\.$/,
    );
    assert.deepEqual(
      await page.locator('#budget-curve p span').allTextContents(),
      ['100 %', '50 %', '0 %', '0', '300 credits'],
      'the axes',
    );
    await page.fill('#budget', '');
    assert.ok(await says(/^No budget$/));
    await page.fill('#budget', '33');
    await line.click();
    await page.selectOption('#order', 'file');
    await page
      .locator('#budget-meaning', { hasText: /^33 credits: 33 places, under a minute\.$/ })
      .waitFor();
    assert.equal(await page.locator('#findings-unit').textContent(), 'First line');
    await nothingFound(page, 'value, slider, curve');
    await page.reload();
    await page.locator('[data-ready]').waitFor();
    await price(page, '300');
    assert.equal(await page.locator('#topics-count').textContent(), '1 of 38 chosen');
    assert.equal(await page.locator('#budget').inputValue(), '33');
    assert.equal(await page.locator('#order').inputValue(), 'file');
    assert.equal(scene.harness.charged(), 0);
    assert.deepEqual([complaints, scene.bugs], [[], []]);
  },
);

test(
  'the result is on top and says why; Back, a reload and another tab show what one saw',
  options,
  async (t) => {
    const scene = await openUi(
      t,
      {},
      { subscription: customSubscription(10_000, 100), factor: 20 },
    );
    const { page, context, complaints } = await openPage(t, scene);
    const [first, second] = ['first.csv', 'second.csv'].map((name) =>
      join(scene.harness.folder, name),
    );
    for (const file of [first!, second!]) writeFileSync(file, portfolio(12));
    const open = async (file: string) => {
      if (await page.locator('#path').isHidden()) await page.click('#file-fold > summary');
      await page.fill('#path', file);
      await page.keyboard.press('Enter');
      await page.locator('#file-line', { hasText: file }).waitFor();
    };
    await open(first!);
    await page.locator('#columns-fold > summary:focus').waitFor();
    await page.click('#file-fold > summary');
    await page.fill('#path', ' ');
    await page.keyboard.press('Enter');
    await page
      .locator('#file-error', { hasText: 'Enter the path of a file on this machine' })
      .waitFor();
    await page.locator('#file-line', { hasText: first! }).waitFor({ state: 'attached' });
    await onlyTopic(page);
    await price(page, '12');
    await start(page, '5');
    await title(page, 'Paused');
    const top = async (selector: string) => (await page.locator(selector).boundingBox())!.y;
    const isOnTop = async () => {
      assert.ok(
        (await top('#run-title')) < (await top('#columns-title')),
        'the result is above the set-up',
      );
      assert.ok(
        (await top('#columns-title')) < (await top('#report-root')),
        'the page ends in the report',
      );
      assert.ok(await page.locator('#columns-fold > .pair').isHidden(), 'the set-up is folded');
      assert.equal(await page.locator('#result-stop').textContent(), why);
      assert.match(await page.locator('#result-facts').innerText(), /Value complete\s+99\.6 %/);
    };
    const why = 'The budget of 5 credits is reached. The other rows are deferred.';
    await isOnTop();
    await page.locator('#report-step').waitFor();
    await page.selectOption('#list-peril', { label: 'Wildfire' });
    await page.reload();
    await title(page, 'Paused');
    await page.locator('#report-step').waitFor();
    await isOnTop();
    assert.equal(await page.locator('#list-peril option:checked').textContent(), 'Wildfire');
    await open(second!);
    await page.locator('#columns-fold > summary:focus').waitFor();
    assert.ok(
      (await page.locator('#run-step').isHidden()) &&
        (await page.locator('#report-step').isHidden()),
    );
    await page.goBack();
    await title(page, 'Paused');
    await page.locator('#file-line', { hasText: 'first.csv' }).waitFor();
    await page.locator('#report-step').waitFor();
    assert.equal(await page.locator('#list-peril option:checked').textContent(), 'Wildfire');
    assert.deepEqual([complaints, scene.bugs, context.pages().length], [[], [], 1]);
  },
);

test('two tabs show the same: what is chosen, the run and its end', options, async (t) => {
  // Ten credits a minute, of which one takes 1.2 s: long enough to stop in.
  const scene = await openUi(t, {}, { subscription: customSubscription(1_000, 10), factor: 50 });
  const { page, context, complaints } = await openPage(t, scene);
  await choose(page, scene, portfolio(40));
  await page.click('[data-topics="none"]');
  const other = await context.newPage();
  await other.goto(page.url());
  await other.locator('[data-ready]').waitFor();
  await page.getByLabel('Wildfire').click();
  await page.click('#columns-change > summary');
  await page.selectOption('#order', 'file');
  await page.fill('#budget', '39');
  await price(other, '40');
  await other.locator('#budget-meaning', { hasText: /^39 credits: 39 places, [^%]+$/ }).waitFor();
  await other.fill('#budget', '40');
  await other.click('#start');
  await other.click('#confirm-yes');
  await Promise.all([title(page, 'Running'), title(other, 'Running')]);
  await page.click('#stop');
  await Promise.all([title(page, 'Stopped'), title(other, 'Stopped')]);
  await page.reload();
  await title(page, 'Stopped');
  await page.locator('#result-story', { hasText: 'answered' }).waitFor();
  assert.equal(
    await page.locator('#result').innerText(),
    await other.locator('#result').innerText(),
  );
  await page.click('#go-on');
  await page.click('#confirm-yes');
  await Promise.all([title(page, 'Complete'), title(other, 'Complete')]);
  assert.equal(scene.harness.charged(), 40);
  assert.deepEqual([complaints, scene.bugs], [[], []]);
});

test(
  'a bad file closes the one that was open; its error names no flag and no folder of ours',
  options,
  async (t) => {
    const scene = await openUi(t);
    const { page } = await openPage(t, scene);
    const [good, bad, odd] = ['good.csv', 'bad.xlsx', 'odd.csv'].map((name) =>
      join(scene.harness.folder, name),
    );
    writeFileSync(good!, portfolio(3));
    writeFileSync(bad!, 'PK\u0003\u0004 no workbook');
    writeFileSync(odd!, 'a,b\n1,2\n');
    await page.setInputFiles('#file', good!);
    await price(page, '[0-9,]+');
    await page.setInputFiles('#file', bad!);
    await page.locator('#file-error').waitFor();
    for (const id of ['columns-step', 'topics-step', 'price-step', 'budget-step']) {
      assert.ok(await page.locator(`#${id}`).isHidden(), id);
    }
    const words = await page.locator('main').innerText();
    assert.doesNotMatch(words, /--\w|[0-9a-f]{16}|good\.csv: CSV/, words);
    await page.setInputFiles('#file', odd!);
    await page.locator('#columns-note').waitFor();
    assert.doesNotMatch(await page.locator('main').innerText(), /--\w|job file/);
  },
);

test('a wrong budget is marked and said; the focus never falls to the body', options, async (t) => {
  const scene = await openUi(t, {}, { subscription: customSubscription(10_000, 100), factor: 20 });
  const { page, complaints } = await openPage(t, scene);
  await page.click('#sample-file');
  await page.locator('#file-line', { hasText: 'sample.csv: CSV' }).waitFor();
  await price(page, '[0-9,]+');
  // The harness's service knows no city of the sample.
  await choose(page, scene, portfolio(65));
  await page.locator('#file-line', { hasText: 'book.csv: CSV' }).waitFor();
  await price(page, '65');
  await page.fill('#budget', '1.5');
  assert.equal(await page.locator('#budget').getAttribute('aria-invalid'), 'true');
  assert.match((await page.locator('#budget-words').textContent())!, /Enter a whole number/);
  assert.ok(await page.locator('#start').isDisabled());
  await nothingFound(page, 'wrong budget');
  await page.fill('#budget', '20');
  assert.equal(await page.locator('#budget').getAttribute('aria-invalid'), null);
  const body: boolean[] = [];
  const focus = async () => body.push((await isFocused(page, 'body')) as boolean);
  await page.focus('#budget');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  await focus();
  await page.keyboard.press('Enter');
  await page.locator('#run-step').waitFor();
  await focus();
  await title(page, 'Paused');
  await focus();
  assert.deepEqual(body, [false, false, false]);
  assert.ok(await page.locator('#columns-fold > .pair').isHidden(), 'finished steps are folded');
  await page.click('#go-on');
  await page.locator('#confirm-title', { hasText: 'Spend at most 45 credits?' }).waitFor();
  await page.keyboard.press('Escape');
  const stops = await tabStops(page);
  assert.ok(stops <= 26, `${stops} tab stops`);
  assert.equal(scene.harness.charged(), 20);
  assert.deepEqual([complaints, scene.bugs], [[], []]);
});

test(
  'the sample starts without a budget and a question, and says that it charges nothing',
  options,
  async (t) => {
    const scene = await openUi(t, (harness) => ({
      sample: true,
      jobOf: (said) =>
        makeJob([said, { service: 'sample' }], {
          dataFolder: harness.folder,
          workingFolder: harness.folder,
        }),
    }));
    const { page, complaints } = await openPage(t, scene, {
      viewport: { width: 1440, height: 900 },
    });
    assert.equal(await page.locator('#example tbody tr').count(), 3, 'what one will get');
    await nothingFound(page, 'the start');
    await choose(page, scene, portfolio(4), 4);
    assert.equal(await page.locator('#example').count(), 0);
    assert.match((await page.locator('#price-verdict').textContent())!, /the sample charges none/);
    await page.locator('#budget-words', { hasText: 'The sample charges nothing' }).waitFor();
    await page.click('#start');
    await title(page, 'Complete');
    assert.equal(scene.harness.charged(), 4);
    await page.locator('#start', { hasText: /^Run again$/ }).waitFor();
    await page.locator('#report-root .opening .facts').waitFor();
    const words = await page.locator('body').innerText();
    assert.doesNotMatch(words, /Use the price|Credits spent|Budget|made-up|are made up: do/);
    assert.equal(words.match(/do not base decisions/g)?.length, 1);
    const shown = await page.locator('#report-root .opening .facts').innerText();
    assert.match(shown, /credits at a paid service\s+4\s/i);
    assert.equal(await page.locator('#result-facts dt').count(), 0, 'the report has them');
    const lines = page.locator('#setup section > details > summary');
    const tops = await lines.evaluateAll((found) =>
      found.map((one) => one.getBoundingClientRect().top),
    );
    assert.equal(tops.length, 5);
    assert.equal(new Set(tops).size, 1, `the steps are one line: ${tops}`);
    await lines.last().click();
    assert.ok(
      await page.getByText('All answers are here. A run only writes the file.').isVisible(),
    );
    assert.ok(await page.locator('#report-root .sample').isHidden());
    assert.deepEqual([complaints, scene.bugs], [[], []]);
  },
);

test(
  'a key that the service refuses is said before Start, which is off until the key works',
  options,
  async (t) => {
    let isRenewed = false;
    const scene = await openUi(t, (harness) => ({
      connectionOf: async () => {
        // The same key for the page: the provider accepts it again.
        const key = { ...harness.key(), fingerprint: 'the same' };
        const keys = [isRenewed ? key : { ...key, secret: 'not-a-key' }];
        return { kind: 'service', baseUrl: harness.url, source: 'harness', sample: false, keys };
      },
    }));
    const { page, complaints } = await openPage(t, scene);
    await choose(page, scene, portfolio(4));
    await page.locator('#key-error', { hasText: 'The service refused the key (401' }).waitFor();
    await page.locator('#key-error', { hasText: 'Ask the provider for a valid key.' }).waitFor();
    await nothingFound(page, 'refused key');
    assert.doesNotMatch(await page.content(), /not-a-key/);
    await page.fill('#budget', '500');
    await page.locator('#budget-words', { hasText: 'Start is off: the service refuses' }).waitFor();
    assert.equal(await page.locator('#start').isEnabled(), false);
    await page.locator('#budget').press('Enter');
    assert.equal(await page.locator('#confirm').count(), 0);
    await page.click('#key-again');
    await page.locator('#key-again', { hasText: 'Try the key again' }).waitFor();
    assert.equal(await page.locator('#start').isEnabled(), false);
    // What is in the store can be written.
    await page.fill('#budget', '0');
    assert.equal(await page.locator('#start').isEnabled(), true);
    await page.fill('#budget', '500');
    isRenewed = true;
    await page.click('#key-again');
    await page.locator('#key-error').waitFor({ state: 'hidden' });
    await page.click('#start');
    await page.locator('#confirm-title', { hasText: 'Spend at most 500 credits?' }).waitFor();
    await page.click('#confirm-no');
    isRenewed = false;
    await page.click('#start');
    await page.click('#confirm-yes');
    // Refused in the run: it is said, and Start is off again.
    await page.locator('#key-error', { hasText: 'The service refused the key (401' }).waitFor();
    await page.fill('#budget', '500');
    assert.equal(await page.locator('#start').isEnabled(), false);
    await page.click('#source-fold > summary');
    await page.check('[value="sample"]');
    await page.locator('#key-error').waitFor({ state: 'hidden' });
    assert.deepEqual([complaints, scene.bugs, (await scene.harness.ledger()).charged], [[], [], 0]);
  },
);

test(
  'a price that a refusal made dearer says so in the step and in the dialog, before a yes',
  options,
  async (t) => {
    const told = { baseUrl: '' };
    const scene = await openUi(t, (harness) => {
      const connection = { kind: 'service', source: 'fake', sample: false } as const;
      const keys = [harness.key()];
      return { connectionOf: async () => ({ ...connection, ...told, keys }) };
    });
    const { harness } = scene;
    const fake = await fakeService(t, harness.url);
    told.baseUrl = fake.url;
    const body = { error: { code: 'SCOPE_REQUIRED', message: 'Your plan has no wildfire' } };
    fake.script([{ address: ['/wildfire/'], status: 403, body }]);
    const { page, complaints } = await openPage(t, scene);
    await choose(page, scene, portfolio(4));
    assert.equal(await page.locator('#price-refused').count(), 0);
    await start(page, '100');
    const sentence = 'Your plan has no wildfire: this costs 60 credits in place of 4.';
    await page.locator('#price-refused', { hasText: sentence }).waitFor({ state: 'attached' });
    await page.fill('#budget', '100');
    await page.click('#start');
    await page.locator('#confirm-refused', { hasText: sentence }).waitFor();
    await nothingFound(page, 'dialog of a dearer price');
    assert.equal(harness.charged(), 0);
    await page.click('#confirm-yes');
    await title(page, 'Complete');
    assert.deepEqual([complaints, scene.bugs, harness.charged()], [[], [], 60]);
  },
);

/** How often Tab is pressed to get through the page: a group of radio buttons is one stop. */
function tabStops(page: Page): Promise<number> {
  return page.evaluate(`(() => {
    const all = [...document.querySelectorAll('a[href], button, input, select, summary, [tabindex]')];
    const stops = all.filter((one) => one.tabIndex >= 0 && one.checkVisibility() && !one.disabled);
    return stops.filter((one) => one.type !== 'radio' || one.checked).length;
  })()`);
}

test('a screen reader finds each step, group and control by its name', options, async (t) => {
  const scene = await openUi(t);
  const { page } = await openPage(t, scene);
  await choose(page, scene, portfolio(4), 4);
  await page.fill('#budget', '3');
  await page.click('#columns-change > summary');
  for (const [role, ...names] of [
    ['region', 'File', 'Columns', 'Topics', 'Source', 'Price', 'Ways to buy', 'Budget'],
    [
      'group',
      /^Natural hazards/,
      /^Nearby sites/,
      /^Measurements/,
      'Answers come from',
      'One answer for each',
    ],
    ['button', 'All of Natural hazards', 'None of Nearby sites', 'Use the price', 'Start…'],
    ['combobox', 'Latitude', 'Longitude', 'Value: largest first'],
    ['radio', /^Paid service/, 'Census tract', 'Fewest credits'],
    ['img', /^Share of the value that each budget buys\. \d+ credits buy 50 % of the value, /],
    ['textbox', 'Budget in credits'],
    ['slider', 'Budget'],
    ['table', 'Ways to buy'],
  ] as const) {
    for (const name of names)
      assert.equal(await page.getByRole(role, { name, exact: true }).count(), 1, `${role} ${name}`);
  }
  await start(page);
  const result = page.getByRole('region', { name: 'Paused' });
  await result.getByText('answered').first().waitFor();
  assert.equal(await result.getByRole('link', { name: 'Download the result' }).count(), 1);
});
