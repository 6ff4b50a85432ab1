import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { readManifest } from '../../../src/data/download/downloads-folder.ts';
import { fetchSlice } from '../../../src/data/download/fetch-source.ts';
import type { Source } from '../../../src/data/sources/source.ts';
import { SOURCES } from '../../../src/data/sources/source-table.ts';
import { sendPage } from './agency-mirror.ts';
import { type Downloading, downloading } from './downloading.ts';

const DAY = 86_400_000;

/** The real source with a smaller limit: 300 events stand for hundreds of thousands. */
function earthquakes(mostRows = 40): Source {
  const source = SOURCES.find(({ name }) => name === 'earthquakes')!;
  assert.ok(source.download.kind === 'spans');
  return { ...source, download: { ...source.download, mostRows } };
}

const quakesOf = (count: number) =>
  Array.from({ length: count }, (_, index) => {
    const place = index % 3 === 0 ? { lat: 61, lng: -150 } : { lat: 37, lng: -78 };
    return { time: Date.UTC(1965, 0, 1) + index * 50 * DAY, ...place };
  });

async function serving(t: TestContext, count: number): Promise<Downloading> {
  const here = await downloading(t);
  here.mirror.quakes = quakesOf(count);
  return here;
}

const fetch = ({ folder, context }: Downloading, source = earthquakes()) =>
  fetchSlice(source, 'US', folder, context);

function timesIn({ folder }: Downloading): string[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.csv'));
  const lines = files.flatMap((file) =>
    readFileSync(join(folder, file), 'utf8').trimEnd().split('\n').slice(1),
  );
  return lines.map((line) => line.split(',')[0]!).sort();
}

test('spans are halved until each holds what a query gives; every event comes once', async (t) => {
  const here = await serving(t, 300);
  const files = await fetch(here);
  assert.ok(files > 7, String(files));
  const expected = here.mirror.quakes.map(({ time }) => new Date(time).toISOString());
  assert.deepEqual(timesIn(here), expected.sort());
});

test('an update downloads the spans that have new or changed events, and no others', async (t) => {
  const here = await serving(t, 300);
  const { quakes } = here.mirror;
  await fetch(here);
  here.mirror.downloads();
  here.clock.move(30 * DAY);
  assert.equal(await fetch(here), 0);
  assert.equal(here.mirror.downloads(), 0);
  const now = here.clock.now();
  const changed = quakes.map((quake, index) =>
    index === 10 ? { ...quake, updated: now - DAY } : quake,
  );
  here.mirror.quakes = [...changed, { time: now - DAY, lat: 37, lng: -78 }];
  assert.equal(await fetch(here), 2);
  assert.equal(here.mirror.downloads(), 2);
  assert.equal(timesIn(here).length, 301);
});

test('a span that was halved since leaves no file behind', async (t) => {
  const here = await serving(t, 30);
  await fetch(here);
  assert.equal(readManifest(here.folder).size, 2);
  here.mirror.quakes = quakesOf(80);
  await fetch(here);
  const files = readdirSync(here.folder).filter((name) => name.endsWith('.csv'));
  assert.deepEqual(
    files.sort(),
    [...readManifest(here.folder).values()].map(({ file }) => file).sort(),
  );
  assert.ok(files.length > 2);
  assert.equal(timesIn(here).length, 80);
});

test('a count that is a web page stops the download, and what was there stays', async (t) => {
  const here = await serving(t, 30);
  await fetch(here);
  here.mirror.fail(/count/, 1, (_, response) => sendPage(response, 200));
  await assert.rejects(fetch(here), /instead of a count/);
  assert.equal(timesIn(here).length, 30);
});

test('a span of another box is downloaded again, though it has as many events', async (t) => {
  const here = await downloading(t);
  here.mirror.quakes = [{ time: Date.UTC(2020, 0, 1), lat: 37, lng: -78 }];
  const source = earthquakes();
  assert.ok(source.download.kind === 'spans');
  await fetch(here, source);
  here.mirror.quakes = [{ time: Date.UTC(2020, 0, 1), lat: 37, lng: -40 }];
  const boxes = {
    ...source.download.boxes,
    states: { minLat: 30, maxLat: 40, minLng: -50, maxLng: -30 },
  };
  assert.equal(await fetch(here, { ...source, download: { ...source.download, boxes } }), 1);
});
