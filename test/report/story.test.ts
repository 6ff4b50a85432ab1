import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RATINGS } from '../../src/contract/topic-values.ts';
import { type TopicSlug, topicOf } from '../../src/contract/topics.ts';
import type { Facts, TopicFacts } from '../../src/report/figures/facts.ts';
import { findHeadline, findingsOfRun, formatStory } from '../../src/report/figures/story.ts';
import type { Rated, Sum } from '../../src/report/figures/sums.ts';

/** Every location has the same value, in dollars. */
const sum = (locations: number): Sum => ({ locations, value: locations * 1000 });
const ALL = 100;

/** Of 100 locations: so many answered, Very High and Relatively High. */
const rated = (answered: number, veryHigh = 0, high = 0): Rated => ({
  answered: sum(answered),
  known: sum(answered),
  notAnswered: sum(ALL - answered),
  severe: sum(veryHigh + high),
  classes: RATINGS.map((name) => ({ name, ...sum(name === 'Very High' ? veryHigh : 0) })),
});

function topic(
  slug: TopicSlug,
  figures: Rated,
  ...mostIn: readonly (readonly [string, number])[]
): TopicFacts {
  const { title, category } = topicOf(slug);
  const counties = mostIn.map(([county, locations]) => ({ county, ...sum(locations) }));
  return { topic: slug, title, category, mostIn: counties, ...figures };
}

interface Book {
  readonly topics: readonly TopicFacts[];
  readonly highest?: Rated | null;
  readonly counties?: number;
  readonly states?: number;
  readonly all?: Sum;
  readonly valueName?: string | null;
}

const factsOf = ({
  topics,
  highest = rated(90),
  counties = 3,
  states = 2,
  all = sum(ALL),
  valueName = 'tiv',
}: Book) =>
  ({
    ...{ topics, highest, all, valueName, currency: 'USD', units: 'miles' },
    ...{ counties: { count: counties }, states: { count: states } },
  }) as unknown as Facts;
const story = (book: Book) => formatStory(factsOf(book));

const LEON = ['Leon, Florida', 6] as const;
const BAY = ['Bay, Florida', 3] as const;
const CLAY = ['Clay, Florida', 1] as const;
const quiet = (slug: TopicSlug, answered = ALL) => topic(slug, rated(answered));
const hail = (...mostIn: readonly (readonly [string, number])[]) =>
  topic('hail', rated(80, 20, 5), ...mostIn);

test('the first sentence: the largest share that is rated high, its counties, and what is not answered', () => {
  const high = '25 % of the $80.0 K answered is rated Very High for hail';
  const lacking = '; $20.0 K is not answered.';
  for (const [book, words] of [
    [{ topics: [hail(LEON)] }, `${high}; Leon, Florida holds 100 % of it${lacking}`],
    [
      { topics: [hail(LEON, BAY)] },
      `${high}; Leon, Florida and Bay, Florida hold 100 % of it${lacking}`,
    ],
    [
      { topics: [hail(LEON, BAY, CLAY)] },
      `${high}; Leon, Florida and Bay, Florida hold 45 % of it${lacking}`,
    ],
    [
      { topics: [hail(LEON, BAY, CLAY)], states: 1 },
      `${high}; Leon and Bay hold 45 % of it${lacking}`,
    ],
    [{ topics: [hail(LEON, BAY)], counties: 2 }, `${high}${lacking}`],
    [
      { topics: [topic('hail', rated(ALL, 20))], counties: 0 },
      '20 % of the $100 K answered is rated Very High for hail.',
    ],
    [
      { topics: [topic('hail', rated(80, 0, 5))], counties: 0 },
      `6 % of the $80.0 K answered is rated Relatively High for hail${lacking}`,
    ],
    [
      { topics: [hail()], counties: 0, valueName: null },
      '25 % of the 80 locations answered are rated Very High for hail; 20 locations are not answered.',
    ],
    [
      { topics: [topic('hail', rated(1, 1))], counties: 0, valueName: null },
      '100 % of the 1 location answered is rated Very High for hail; 99 locations are not answered.',
    ],
    // A column of zeros is no measure.
    [
      { topics: [hail()], counties: 0, all: { locations: ALL, value: 0 } },
      '25 % of the 80 locations answered are rated Very High for hail; 20 locations are not answered.',
    ],
    // What was never asked of any place is said first.
    [
      { topics: [quiet('wildfire', 0), hail()], counties: 0 },
      `Wildfire: not answered. ${high}${lacking}`,
    ],
    [{ topics: [quiet('hail')], all: sum(0) }, 'No row has a location in the US.'],
    [{ topics: [quiet('hail', 0), quiet('wildfire', 0)] }, 'Nothing of $100 K is answered yet.'],
  ] as const satisfies readonly (readonly [Book, string])[]) {
    assert.equal(story(book), words);
  }
});

test('the first sentence where nothing is rated high: none only where every asked topic is answered', () => {
  const many = (['hail', 'wildfire', 'earthquake', 'tornado'] as const).map((slug) =>
    quiet(slug, 90),
  );
  for (const [topics, words] of [
    [
      [quiet('hail'), quiet('wildfire')],
      'None of the $100 K is rated Relatively High or Very High for a hazard.',
    ],
    [
      [quiet('hail', 70), quiet('wildfire', 0)],
      'Hail: nothing high in the $70.0 K answered; wildfire not answered.',
    ],
    [
      [quiet('hail', 70), quiet('wildfire', 70)],
      'Hail and wildfire: nothing high in the $70.0 K answered; $10.0 K is not answered.',
    ],
    [
      [quiet('hail', 70), quiet('wildfire', 60), quiet('earthquake', 0)],
      'Hail and wildfire: nothing high in what is answered; earthquake not answered.',
    ],
    [
      many.slice(0, 3),
      'Hail, wildfire and earthquake: nothing high in the $90.0 K answered; $10.0 K is not answered.',
    ],
    [many, '4 topics: nothing high in the $90.0 K answered; $10.0 K is not answered.'],
    [
      [quiet('hail'), quiet('wildfire', 90)],
      'Hail and wildfire: nothing high in what is answered; $10.0 K is not answered.',
    ],
    [[quiet('hail', 0), quiet('superfund')], 'Hail not answered.'],
  ] as const) {
    assert.equal(story({ topics }), words);
  }
  for (const [slug, words] of [
    [
      'superfund',
      '10 % of the $40.0 K answered is within 1 mile of Superfund Sites; $60.0 K is not answered.',
    ],
    ['radon', '10 % of the $40.0 K answered is in Zone 1 for Radon; $60.0 K is not answered.'],
  ] as const) {
    assert.equal(story({ topics: [topic(slug, rated(40, 4))], highest: null }), words);
  }
});

test('findings: Very High before Relatively High, then by value, then by locations', () => {
  const peril = (slug: TopicSlug, veryHigh: Sum, severe: Sum) => ({
    ...topic(slug, rated(ALL)),
    ...{
      severe,
      classes: RATINGS.map((name) => ({ name, ...(name === 'Very High' ? veryHigh : sum(0)) })),
    },
  });
  const of = (locations: number, value: number | null) => ({ locations, value });
  for (const [hailOf, wildfireOf, first] of [
    [[of(0, 0), of(9, 900)], [of(1, 1), of(1, 1)], 'wildfire'],
    [[of(1, 1), of(1, 1)], [of(0, 0), of(9, 900)], 'hail'],
    [[of(1, 5), of(1, 5)], [of(1, 7), of(1, 7)], 'wildfire'],
    [[of(1, 7), of(1, 7)], [of(1, 5), of(1, 5)], 'hail'],
    [[of(3, 5), of(3, 5)], [of(4, 5), of(4, 5)], 'wildfire'],
    [[of(3, null), of(3, null)], [of(4, null), of(4, null)], 'wildfire'],
    [[of(0, 0), of(2, 3)], [of(0, 0), of(2, 4)], 'wildfire'],
  ] as const) {
    const topics = [peril('hail', ...hailOf), peril('wildfire', ...wildfireOf)];
    assert.equal(findHeadline({ topics })?.peril.topic, first);
  }
  assert.equal(findHeadline({ topics: [quiet('hail')] }), null);
});

test('the findings of a run: the three that count most, in units of the scan, without value where there are several currencies', () => {
  const findingsWith = (values: number, finding: string, currency: string | null = null) =>
    findingsOfRun(
      {
        job: { currency },
        plan: {
          scan: {
            layout: { values },
            findings: [{ finding }, { finding: 'sign_lost' }],
            cells: { decimals: 2 },
            currency: 'EUR',
          },
        },
      } as unknown as Parameters<typeof findingsOfRun>[0],
      [
        [5, 0, 3],
        [9, 0, 0],
        [8, 0, 6],
        [7, 3, 1],
        [6, 2, 1],
      ].map(([answered, veryHigh, high]) => {
        const counted = (rows: number) => ({ rows, value: rows * 100 });
        return {
          title: `${answered}`,
          answered: counted(answered!),
          highest: [counted(veryHigh!), counted(high!)],
        };
      }),
    );
  const { findings, currency } = findingsWith(1, 'invalid');
  const told = findings.map(
    ({ title, rating, rated: { locations } }) => `${title}: ${rating}, ${locations}`,
  );
  assert.deepEqual(told, ['7: Very High, 3', '6: Very High, 2', '8: Relatively High, 6']);
  assert.deepEqual(findings[0]!.answered, { locations: 7, value: 7 });
  assert.deepEqual([currency, findingsWith(1, 'invalid', 'USD').currency], ['EUR', 'USD']);
  for (const { findings } of [findingsWith(0, 'invalid'), findingsWith(1, 'currency_differs')]) {
    assert.deepEqual(findings[0]!.rated, { locations: 3, value: null });
  }
});
