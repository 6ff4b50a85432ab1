import assert from 'node:assert/strict';
import { test } from 'node:test';
import { feature } from 'topojson-client';
import { layerRequests, newestLink } from '../../../src/data/download/source-requests.ts';
import type { LayerDownload, SpanDownload } from '../../../src/data/sources/source.ts';
import { SOURCES } from '../../../src/data/sources/source-table.ts';
import { stateOf } from '../../../src/data/tables/states.ts';
import { SEARCH_RADII } from '../../../src/data/topics/coverage.ts';
import { type Box, boxesAround } from '../../../src/geo/bounding-boxes.ts';
import type { Location } from '../../../src/geo/coordinates.ts';
import { polygonsOf } from '../../../src/geo/outline.ts';
import { usAtlas } from '../../../src/geo/us-atlas.ts';
import { countyAt } from '../../../src/geo/us-counties.ts';
import { placesOf } from '../../geo/listed-places.ts';

const PAGE = 'https://www.nhc.noaa.gov/data/hurdat/';
const ATLANTIC = 'hurdat2-1851-(\\d{4})-(\\d{6,8})\\.txt';

/** Locations that far off the drawn coast are in the US too (geo/us-coverage.ts). */
const OFFSHORE_METERS = 25_000;

/** Every corner of every state's outline. */
function corners(): (Location & { readonly state: string })[] {
  const atlas = usAtlas('states-10m');
  return feature(atlas, atlas.objects.states).features.flatMap(({ id, geometry }) => {
    assert.ok(geometry.type === 'Polygon' || geometry.type === 'MultiPolygon');
    const state = stateOf(String(id));
    return polygonsOf(geometry)
      .flat(2)
      .map(([lng, lat]) => ({ state, lat: lat!, lng: lng! }));
  });
}

const ISLANDS = placesOf('island').map(([, lat, lng]) => ({ lat, lng }));

const holds = (outer: Box, inner: Box): boolean =>
  outer.minLat <= inner.minLat &&
  outer.maxLat >= inner.maxLat &&
  outer.minLng <= inner.minLng &&
  outer.maxLng >= inner.maxLng;

/** The locations around which some place within so many metres is in none of the boxes. */
function cutOff(locations: readonly Location[], meters: number, boxes: readonly Box[]): Location[] {
  return locations.filter(
    (location) =>
      !boxesAround(location, meters).every((around) => boxes.some((box) => holds(box, around))),
  );
}

const { boxes: EARTHQUAKES } = SOURCES.find(({ name }) => name === 'earthquakes')!
  .download as SpanDownload;

test('the boxes of earthquakes hold the search radius around every place of the US', () => {
  const boxes = Object.values(EARTHQUAKES);
  const meters = SEARCH_RADII.earthquake + OFFSHORE_METERS;
  assert.deepEqual(cutOff(corners(), meters, boxes).slice(0, 5), []);
  assert.deepEqual(cutOff(ISLANDS, SEARCH_RADII.earthquake, boxes), []);
  // Named, because a mistake in the corners above would hide them.
  const named = {
    'South Point, Hawaii': { lat: 18.91, lng: -155.68 },
    'Kure Atoll': { lat: 28.394, lng: -178.294 },
    'Pago Pago': { lat: -14.28, lng: -170.7 },
    'Swains Island': { lat: -11.056, lng: -171.078 },
    'St. Croix': { lat: 17.68, lng: -64.9 },
    'Mona, western Puerto Rico': { lat: 18.08, lng: -67.89 },
    'Attu, beyond the 180th meridian': { lat: 52.9, lng: 172.9 },
    'Semisopochnoi, at the 180th meridian': { lat: 51.95, lng: 179.6 },
    'Cape Flattery': { lat: 48.38, lng: -124.73 },
  };
  for (const [name, location] of Object.entries(named))
    assert.deepEqual(cutOff([location], meters, boxes), [], name);
});

test('boxes of earthquakes do not overlap, so that no event is asked for twice', () => {
  const boxes = Object.entries(EARTHQUAKES);
  for (const [first, a] of boxes) {
    for (const [second, b] of boxes) {
      const isApart =
        a.maxLng <= b.minLng ||
        b.maxLng <= a.minLng ||
        a.maxLat <= b.minLat ||
        b.maxLat <= a.minLat;
      assert.ok(first === second || isApart, `${first} and ${second}`);
    }
  }
});

test('the boxes of a state hold the search radius around its places, for each source that is asked by box', () => {
  const all = SOURCES.flatMap((source) => [
    source,
    ...(source.else ?? []).map((other) => ({ ...source, ...other })),
  ]);
  const asked = all.filter(
    ({ download }) => download.kind === 'layer' && download.stateWhere === 'box',
  );
  assert.deepEqual(
    [...new Set(asked.map(({ name }) => name))],
    ['power-plants', 'transmission-lines', 'gas-pipelines'],
  );
  const byState = Map.groupBy(corners(), ({ state }) => state);
  for (const source of asked) {
    assert.ok(source.download.kind === 'layer');
    const meters = SEARCH_RADII[source.topics[0] as 'powerPlant'];
    const boxesOf = (state: string) =>
      layerRequests(source, source.download as LayerDownload, state, '', 0).flatMap(
        ({ box }) => box ?? [],
      );
    for (const [state, locations] of byState) {
      const around = cutOff(locations, meters + OFFSHORE_METERS, boxesOf(state));
      assert.deepEqual(around.slice(0, 3), [], `${source.name} of ${state}`);
    }
    for (const island of ISLANDS) {
      const county = countyAt(island);
      if (county !== null)
        assert.deepEqual(cutOff([island], meters, boxesOf(stateOf(county.code))), []);
    }
  }
});

test('the newest file of a listing is that of the greatest year, then of the latest day', () => {
  const listing = [
    '<a href="hurdat2-1851-2025-02272026.txt">hurdat2-1851-2025-02272026.txt</a>  2026-02-27 10:00  7M',
    '<a href="hurdat2-1851-2025-091226.txt">hurdat2-1851-2025-091226.txt</a>   2026-09-12 10:00  7M',
    '<a href="hurdat2-1851-2024-040427.txt">hurdat2-1851-2024-040427.txt</a>   2027-04-04 10:00  7M',
    '<a href="hurdat2-nepac-1949-2025-091426.txt">x</a>  2026-09-14 10:00  4M',
  ].join('\n');
  assert.equal(newestLink(listing, PAGE, ATLANTIC), `${PAGE}hurdat2-1851-2025-091226.txt`);
  // All on one line and without days: those in the names count, of six digits or eight.
  const bare = listing.replaceAll(/<\/a>.*/g, '</a>').replaceAll('\n', '');
  const months = ['archive/xls/july', 'xls/august', 'xls/layout'].map(
    (name) => `<a href="${name}_generator2026.xlsx">x</a>`,
  );
  const eia = `${months.join('')}<!-- <a href="xls/december_generator2026.xlsx">x</a> --><a href="archive/xls/may_generator2025.xlsx">`;
  const { download } = SOURCES.find(({ name }) => name === 'power-plants')!;
  assert.ok(download.kind === 'linked');
  assert.match(
    newestLink(eia, download.page, download.links[0]!),
    /eia860m\/xls\/august_generator2026\.xlsx$/,
  );
  assert.equal(newestLink(bare, PAGE, ATLANTIC), `${PAGE}hurdat2-1851-2025-091226.txt`);
});

test('names that end alike are told apart, and the address of a link may be absolute', () => {
  const page = 'https://www.epa.gov/lmop/landfill-technical-data';
  const pattern = '[^"\']*/(\\d{4})-(\\d{2})/landfilllmopdata\\.xlsx';
  const html =
    '<a href="/system/files/documents/2026-09/candlfslmopdata.xlsx">candidates</a>' +
    '<a href="/system/files/documents/2024-09/landfilllmopdata.xlsx" class="x">all</a>' +
    "<a href='https://www.epa.gov/system/files/documents/2026-08/landfilllmopdata.xlsx'>all</a>";
  assert.equal(
    newestLink(html, page, pattern),
    'https://www.epa.gov/system/files/documents/2026-08/landfilllmopdata.xlsx',
  );
});

test('a page without the link says so', () => {
  assert.throws(
    () => newestLink('<html>moved</html>', PAGE, ATLANTIC),
    /has no link to hurdat2-1851-YYYY-MMDDYYYY/,
  );
});

test('of several links of one year the one that the page lists as the newest is taken', () => {
  const link = (folder: string, day: string) =>
    `<tr><td><a href="${folder}/2024_hail.csv">hail</a></td><td align="right">${day} 10:00 </td></tr>\n`;
  const html = link('old', '2025-01-31') + link('new', '2025-02-03') + link('older', '2024-12-24');
  const found = newestLink(html, 'https://a.example/data/', '(\\d{4})_hail\\.csv');
  assert.equal(found, 'https://a.example/data/new/2024_hail.csv');
});
