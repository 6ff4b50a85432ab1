import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reportPage } from '../../src/report/html/page.ts';
import { largeFacts } from './large-facts.ts';

/** 38 topics in two levels of hexagons, and 760 places with the longest names. */
const MOST_BYTES = 2_100_000;

test('the page of a book all over the country, in all topics, stays below its bound', (t) => {
  const { facts, map } = largeFacts(15_000);
  const { locations } = facts;
  assert.ok(
    map.kind === 'hexagon' && map.levels[1]!.bins.length > 1_000,
    'the hexagons cover the country',
  );
  const bytes = Buffer.byteLength(reportPage(facts, map));
  t.diagnostic(`${bytes} bytes, ${locations.length} locations`);
  assert.ok(bytes < MOST_BYTES, `${bytes} bytes`);
});
