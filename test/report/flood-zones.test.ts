import assert from 'node:assert/strict';
import { test } from 'node:test';
import { enrichedFields } from '../../src/columns/row.ts';
import { cellStatus } from '../../src/columns/row-status.ts';
import type { Answer } from '../../src/contract/answer.ts';
import { makeCellClasses, ratedTopics } from '../../src/report/figures/cell-classes.ts';
import { gatherFacts } from '../../src/report/figures/gather-facts.ts';
import { formatStory } from '../../src/report/figures/story.ts';
import { reportPage } from '../../src/report/html/page.ts';
import { handMadeBook } from './hand-made-book.ts';
import { largeFacts } from './large-facts.ts';

/** In millions by hand: each place is worth twice the one before, so a sum says which places are in it. */
const PLACES = {
  ve: 1,
  ae: 2,
  ah: 4,
  moderate: 8,
  a99: 16,
  minimal: 32,
  zoneD: 64,
  notStudied: 128,
  notAnswered: 256,
};
const sum = (...places: (keyof typeof PLACES)[]) => ({
  locations: places.length,
  value: places.reduce((all, place) => all + PLACES[place] * 1e6, 0),
});

test('value by flood zone, state and county; what is unknown is never outside of an area', async (t) => {
  const facts = await (await handMadeBook(t, 'flood')).facts();
  const [zones] = facts.topics;
  const page = reportPage(facts, largeFacts(200).map);
  assert.match(page, /<dt>Answered<\/dt><dd>[^<]+<small>[^<]+; 192 M not determined<\/small>/);
  assert.deepEqual(
    zones!.classes.map(({ name, ...of }) => [name, of]),
    [
      ['Minimal', sum('minimal')],
      ['Moderate (0.2 %), levee or other X', sum('moderate')],
      ['Special area A or other', sum('a99')],
      ['Special area AO, AH', sum('ah')],
      ['Special area AE', sum('ae')],
      ['Special area V, VE', sum('ve')],
      ['Undetermined', sum('zoneD')],
      ['Not studied', sum('notStudied')],
    ],
  );
  const determined = sum('ve', 'ae', 'ah', 'moderate', 'a99', 'minimal');
  assert.deepEqual(
    [zones!.known, zones!.severe, zones!.notAnswered],
    [determined, sum('ve', 'ae', 'ah', 'a99'), sum('notAnswered')],
  );
  assert.deepEqual(zones!.answered, { locations: 8, value: 255e6 });
  assert.equal(
    facts.story,
    '37 % of the 63.0 M determined is in a Special Flood Hazard Area; 64.0 M is undetermined; 128 M is not studied; 256 M is not answered.',
  );
  const areas = [...facts.states.largest, ...facts.counties.largest, facts.states.all].map(
    ({ name, perils }) => {
      const [{ topic, ...of }] = perils as [(typeof perils)[0]];
      return [name, topic, of];
    },
  );
  const none = { answered: sum(), severe: sum() };
  assert.deepEqual(areas, [
    ['Colorado', 'floodZone', none],
    ['Texas', 'floodZone', { answered: sum('a99', 'minimal'), severe: sum('a99') }],
    [
      'Florida',
      'floodZone',
      { answered: sum('ve', 'ae', 'ah', 'moderate'), severe: sum('ve', 'ae', 'ah') },
    ],
    ['Boulder, Colorado', 'floodZone', none],
    ['Denver, Colorado', 'floodZone', none],
    ['Harris, Texas', 'floodZone', { answered: sum('a99', 'minimal'), severe: sum('a99') }],
    ['Broward, Florida', 'floodZone', { answered: sum('ah', 'moderate'), severe: sum('ah') }],
    ['Miami-Dade, Florida', 'floodZone', { answered: sum('ve', 'ae'), severe: sum('ve', 'ae') }],
    ['All', 'floodZone', { answered: determined, severe: sum('ve', 'ae', 'ah', 'a99') }],
  ]);
});

test('the page says what a flood zone is not, beside the map and the shares, and a place without a study is no dot', async (t) => {
  const { prepared, clock, page } = await handMadeBook(t, 'flood');
  const { map } = await gatherFacts(prepared, clock.now());
  const [, zones] = map.levels[0]!.layers;
  const drawn = map.levels[0]!.bins.map(
    ({ locations }, bin) => `${locations} ${zones!.rows[bin]} ${zones!.answered[bin]}`,
  );
  // The class of each place, and whether its zone is determined.
  assert.deepEqual(drawn, [
    '1 5 1',
    '1 4 1',
    '1 3 1',
    '1 1 1',
    '1 2 1',
    '1 0 1',
    '1 6 0',
    '1 7 0',
    '1 8 0',
  ]);
  const made = await page();
  const limits =
    'no determination for a lender, no depth of a flood, and says nothing of a future climate';
  assert.equal(made.split(limits).length, 3);
  assert.match(made, /<a href="#flood-zones">Flood zones<\/a>/);
  assert.doesNotMatch(made, /id="measurements"/);
  assert.match(made, /in a Special Flood Hazard Area, of determined<\/th>/);
  assert.match(
    made,
    /The value in a Special Flood Hazard Area \(Flood Zone\)\. A dot \(·\) is none of what was answered or determined/,
  );
  const cellOf = (area: string) =>
    made.match(
      new RegExp(
        `<th scope="row"(?: data-county="[^"]*")?>${area}</th><td class="n h-\\d">([^<]*)</td></tr>`,
      ),
    )?.[1];
  assert.deepEqual(['Denver, Colorado', 'Harris, Texas', 'Colorado'].map(cellOf), [
    '–',
    '16.0 M',
    '–',
  ]);
});

test('without a place whose zone is determined, the first sentence has no share', async (t) => {
  const facts = await (await handMadeBook(t, 'flood')).facts();
  const [zones] = facts.topics;
  const unknown = {
    ...zones!,
    known: sum(),
    severe: sum(),
    classes: zones!.classes.map((of, at) => (at < 6 ? { ...of, ...sum() } : of)),
  };
  const story = formatStory({ ...facts, topics: [unknown] });
  assert.equal(story, '64.0 M is undetermined; 128 M is not studied; 256 M is not answered.');
});

test('a place without a study that waits for another topic is not taken for one without an answer', () => {
  const topics = ['floodZone', 'park'] as const;
  const rated = ratedTopics({ topics, counts: true, units: 'miles' });
  const classes = makeCellClasses(rated, 2);
  const answer = { topic: 'floodZone', asOf: 5, fields: new Array<null>(9).fill(null) } as const;
  for (const [cell, answers] of [
    new Map([['floodZone', answer] as const]),
    new Map<'floodZone', Answer>(),
  ].entries()) {
    const record = { answers, failures: new Map() };
    const status = cellStatus(record, topics, () => ({ freshSince: 0 }), 0);
    assert.equal(status.status, 'deferred');
    classes.put(
      cell,
      enrichedFields(record, topics, status, () => false, true, 0),
    );
  }
  const names = [0, 1].map((cell) =>
    rated.map(({ scale }, topic) => scale.classes[classes.classOf(cell, topic)]!.name),
  );
  assert.deepEqual(names, [
    ['Not studied', 'Not answered'],
    ['Not answered', 'Not answered'],
  ]);
});
