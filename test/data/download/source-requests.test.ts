import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newestLink } from '../../../src/data/download/source-requests.ts';

const PAGE = 'https://www.nhc.noaa.gov/data/hurdat/';
const ATLANTIC = 'hurdat2-1851-(\\d{4})-(\\d{6,8})\\.txt';

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
  assert.throws(() => newestLink('<html>moved</html>', PAGE, ATLANTIC), /has no link to hurdat2-1851/);
});
