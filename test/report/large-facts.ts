import { addedColumns, enrichedFields } from '../../src/columns/row.ts';
import type { Answer, Field } from '../../src/contract/answer.ts';
import { RATINGS } from '../../src/contract/topic-values.ts';
import { POLLUTANTS, TOPIC_SLUGS, type TopicSlug, topicOf } from '../../src/contract/topics.ts';
import { countyAt } from '../../src/geo/us-counties.ts';
import { makeCellClasses, ratedTopics } from '../../src/report/figures/cell-classes.ts';
import type { Facts } from '../../src/report/figures/facts.ts';
import { PLACES_KEPT } from '../../src/report/figures/place-lists.ts';
import { formatStory } from '../../src/report/figures/story.ts';
import { makeTally } from '../../src/report/figures/tally.ts';
import { fitFrame } from '../../src/report/map/frame.ts';
import type { MapFigures } from '../../src/report/map/map-bins.ts';
import type { EnrichedCell } from '../../src/run/write/enriched-cells.ts';

/** A number from 0 up to, not including, `below`, that looks like chance and is the same in every run. */
function scattered(seed: number, below: number): number {
  return ((Math.imul(seed ^ (seed >>> 15), 0x9e3779b1) >>> 0) / 2 ** 32) * below;
}

function fieldsOf(slug: TopicSlug, seed: number): Field[] {
  const width = addedColumns([slug]).length - addedColumns([]).length;
  const { category } = topicOf(slug);
  if (category === 'natural')
    return padded([RATINGS[Math.floor(scattered(seed, 8))]!, 50, null], width);
  if (category === 'proximity') return [3, Math.floor(scattered(seed, 20_000))];
  if (slug === 'radon') return padded([`Zone ${1 + Math.floor(scattered(seed, 3))}`], width);
  if (slug === 'floodZone') return padded(['AE', 'FLOODWAY', 'true'], width);
  if (slug === 'airQuality') return padded(['AQI'], width);
  if (POLLUTANTS.some((pollutant) => pollutant === slug))
    return padded([12, 'µg/m³', 'Moderate'], width);
  throw new Error(`The large book has no fields for ${slug}: name them here`);
}

function padded(fields: readonly Field[], width: number): Field[] {
  return [...fields, ...new Array<Field>(width - fields.length).fill(1)];
}

function cellOf(number: number): EnrichedCell {
  const answers = new Map<TopicSlug, Answer>(
    TOPIC_SLUGS.map((topic, index) => [
      topic,
      { topic, asOf: 0, fields: fieldsOf(topic, number * 41 + index) },
    ]),
  );
  const record = { answers, failures: new Map() };
  return {
    number,
    group: number,
    location: { lat: 25 + scattered(number + 1, 24), lng: -124 + scattered(number * 7 + 3, 57) },
    rows: 10,
    value: 1e9 + scattered(number * 3 + 5, 1e9),
    fields: enrichedFields(record, TOPIC_SLUGS, { status: 'ok', note: '' }, () => false, true, 0),
  };
}

/** The longest that a row's texts can become on the page: each character escaped. */
const LONG_NAME = '<'.repeat(60);

/** What a report shows of a made-up book all over the country, in all topics, with as many places as its lists can hold. */
export function largeFacts(cells: number): { readonly facts: Facts; readonly map: MapFigures } {
  const each = function* () {
    for (let number = 0; number < cells; number++) yield cellOf(number);
  };
  const places = function* () {
    for (const { location } of each()) yield location;
  };
  const settings = { topics: TOPIC_SLUGS, counts: true, units: 'miles' } as const;
  const tally = makeTally({
    ...settings,
    cells,
    frame: fitFrame(places()),
    decimals: 0,
    losses: null,
  });
  const classes = makeCellClasses(ratedTopics(settings), cells);
  for (const cell of each()) {
    classes.put(cell.number, cell.fields);
    tally.add(cell, countyAt(cell.location), classes);
    tally.list(cell, classes);
  }
  const { figures, map, atRisk } = tally.tallied();
  const facts = {
    ...{
      job: 'large',
      input: 'large.csv',
      madeAt: '2026-03-15T12:00:00Z',
      runAt: null,
      running: false,
      source: 'here',
      sample: true,
    },
    ...({
      datasets: null,
      unit: 'line',
      units: 'miles',
      valueName: 'TIV',
      currency: 'USD',
    } as const),
    ...{ output: 'large.hazards.csv', rows: 600_000, invalid: 0, outsideUs: 0 },
    ...figures,
    losses: null,
    currencies: [{ currency: 'USD', locations: 600_000, value: 1e14 }],
    circles: [],
    // As many places as the lists of all perils can hold, none in two of them.
    locations: Array.from({ length: 19 * PLACES_KEPT }, (_, order) => {
      const { rows, value, veryHigh, high } = atRisk[order % 40]!;
      const label = {
        order,
        line: order,
        id: LONG_NAME,
        name: LONG_NAME,
        lat: 30,
        lng: -90,
        county: 'Orleans, Louisiana',
      };
      const rated = (topics: typeof high, rating: 'Very High' | 'Relatively High') =>
        topics.map((topic) => ({ topic, rating, score: 99.123456, frequency: 0.123456 }));
      const ratings = [...rated(veryHigh, 'Very High'), ...rated(high, 'Relatively High')];
      return { ...label, locations: rows, value, ratings };
    }),
    ...{ changes: null, problems: [], credits: null },
    missing: {
      status: [],
      reasons: [],
      credits: 0,
      places: 0,
      stopped: null,
      resumeAfter: null,
      account: null,
    },
  };
  return { facts: { story: formatStory(facts), ...facts }, map: { ...map, finds: [] } };
}
