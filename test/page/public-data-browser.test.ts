import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startBin } from '../cli/bin-process.ts';
import { machineWithoutRadon } from '../cli/radon-mirror.ts';
import { nothingFound, openPage, options, title } from './page-scene.ts';

test(
  'the page shows what public data a file lacks, downloads it after a click, and answers from it',
  options,
  async (t) => {
    const { folder, mirror } = await machineWithoutRadon(t, Date.now());
    writeFileSync(join(folder, 'book.csv'), 'lat,lng\n34.0522,-118.2437\n41.8781,-87.6298\n');
    const bin = startBin(t, ['ui', 'book.csv'], folder);
    await bin.said('token=');
    const address = /http:\S+/.exec(bin.text())![0];
    const { page, complaints } = await openPage(t, { ui: { newAddress: () => address } });
    await page.click('[data-topics="none"]');
    await page.getByLabel('Hail').check();
    await page.locator('#price-step:not(.stale) #price-notes', { hasText: /^Data: (?!.*No data here)/ }).waitFor();
    assert.equal(await page.locator('#data').count(), 0, 'nothing is lacking');
    await page.getByLabel('Radon').check();
    await page.click('#data-offer');
    const words = page.locator('#data-words');
    await words.filter({ hasText: /States: .*CA.*IL[\s\S]*radon +about 200\.0 kB[\s\S]*Licence of .*radon/ }).waitFor();
    assert.equal(mirror.requests.length, 0, 'an offer downloads nothing');
    await nothingFound(page, 'offer of public data');
    await page.setViewportSize({ width: 360, height: 740 });
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 360, 'long lines scroll on their own');
    await page.click('#data-download');
    await words.filter({ hasText: /radon: loaded 2 records/ }).waitFor();
    await page.locator('#price-step:not(.stale) #price-notes', { hasText: /^Data: (?!.*No data here)/ }).waitFor();
    await page.click('#start');
    await title(page, 'Complete');
    const [download] = await Promise.all([page.waitForEvent('download'), page.click('#download')]);
    assert.equal(readFileSync(await download.path(), 'utf8').match(/Zone 2/g)?.length, 2);
    assert.deepEqual(complaints, []);
  },
);
