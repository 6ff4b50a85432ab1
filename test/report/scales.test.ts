import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Field } from '../../src/contract/answer.ts';
import { declareLayers, type TopicSlug } from '../../src/contract/topics.ts';
import { LOSS, reading, scaleOf, type Units } from '../../src/report/figures/scales.ts';

const AQI = (median: Field): Field[] => ['AQI', 1, 365, 300, 60, 5, 0, 0, 0, 170, median];

/** Of each scale: its classes in reading order, the severe ones, and the class of answers. */
const SCALES: readonly {
  readonly topic: TopicSlug;
  readonly units?: Units;
  readonly classes: string;
  readonly severe: string;
  /** How many fields decide. */
  readonly fields: number;
  readonly answers: readonly (readonly [fields: readonly Field[], name: string])[];
}[] = [
  {
    topic: 'hail',
    classes:
      'Very High 5, Relatively High 4, Relatively Moderate 3, Relatively Low 2, Very Low 1, No Rating none, Insufficient Data sparse, Not Applicable void',
    severe: 'Relatively High or Very High: Very High, Relatively High',
    fields: 1,
    answers: [
      [['Very High'], 'Very High'],
      [['Not Applicable'], 'Not Applicable'],
      [[null], 'Not answered'],
    ],
  },
  {
    topic: 'park',
    classes:
      'Within ½ mile 6, ½ to 1 mile 5, 1 to 2 miles 4, 2 to 5 miles 3, 5 to 10 miles 2, Beyond 10 miles 1, None found void, Distance not given sparse',
    severe: 'within 1 mile: Within ½ mile, ½ to 1 mile',
    fields: 2,
    answers: [
      [[1, 804], 'Within ½ mile'],
      [[1, 1609.3], '½ to 1 mile'],
      [[1, 1609.344], '1 to 2 miles'],
      [[1, 16_100], 'Beyond 10 miles'],
      [[0, null], 'None found'],
      [[2, null], 'Distance not given'],
      [[null, null], 'Not answered'],
      [[], 'Not answered'],
    ],
  },
  {
    topic: 'park',
    units: 'kilometers',
    classes:
      'Within 500 m 6, 500 m to 1 km 5, 1 to 2 km 4, 2 to 5 km 3, 5 to 10 km 2, Beyond 10 km 1, None found void, Distance not given sparse',
    severe: 'within 1 km: Within 500 m, 500 m to 1 km',
    fields: 2,
    answers: [
      [[1, 499], 'Within 500 m'],
      [[1, 1000], '1 to 2 km'],
      [[1, 10_000], 'Beyond 10 km'],
    ],
  },
  ...(['airQuality', 'ozone'] as const).map((topic) => ({
    topic,
    classes:
      'Hazardous 6, Very Unhealthy 5, Unhealthy 4, Unhealthy for Sensitive Groups 3, Moderate 2, Good 1, Other none',
    severe:
      'worse than Moderate: Hazardous, Very Unhealthy, Unhealthy, Unhealthy for Sensitive Groups',
    // The median index of the year, or the service's rating.
    fields: topic === 'airQuality' ? 11 : 3,
    answers:
      topic === 'airQuality'
        ? ([
            [AQI(50.4), 'Good'],
            [AQI(51), 'Moderate'],
            [AQI(301), 'Hazardous'],
            [AQI(null), 'Other'],
            [AQI(null).with(0, null), 'Not answered'],
          ] as const)
        : ([
            [[1, 'u', 'Good'], 'Good'],
            [[1, 'u', 'Hazardous'], 'Hazardous'],
            [[1, 'u', 'Strange'], 'Other'],
            [[null, null, null], 'Not answered'],
          ] as const),
  })),
  {
    topic: 'radon',
    classes: 'Zone 1 5, Zone 2 3, Zone 3 1, Other none',
    severe: 'in Zone 1: Zone 1',
    fields: 1,
    answers: [
      [['Zone 1'], 'Zone 1'],
      [['Zone 3'], 'Zone 3'],
      [['Zone 9'], 'Other'],
      [[null], 'Not answered'],
    ],
  },
  {
    topic: 'floodZone',
    classes:
      'Special area V, VE 6, Special area AE 5, Special area AO, AH 4, Special area A or other 3, Moderate (0.2 %), levee or other X 2, Minimal 1, Undetermined sparse, Not studied void',
    severe:
      'in a Special Flood Hazard Area: Special area V, VE, Special area AE, Special area AO, AH, Special area A or other',
    fields: 3,
    answers: [
      ...['V', 'VE', 'V30'].map((zone) => [[zone, null, 'true'], 'Special area V, VE'] as const),
      ...['AE', 'A1', 'A30'].map(
        (zone) => [[zone, 'FLOODWAY', 'true'], 'Special area AE'] as const,
      ),
      ...['AO', 'AH'].map((zone) => [[zone, null, 'true'], 'Special area AO, AH'] as const),
      ...['A', 'A99', 'AR/AE', 'NEW'].map(
        (zone) => [[zone, null, 'true'], 'Special area A or other'] as const,
      ),
      [['X', 'AREA OF MINIMAL FLOOD HAZARD', 'false'], 'Minimal'],
      [['C', null, 'false'], 'Minimal'],
      // Of these it is not said that they are minimal.
      ...[
        '0.2 PCT ANNUAL CHANCE FLOOD HAZARD',
        'AREA WITH REDUCED FLOOD RISK DUE TO LEVEE',
        'WORDS',
        null,
      ].map((subtype) => [['X', subtype, 'false'], 'Moderate (0.2 %), levee or other X'] as const),
      ...['B', 'X500'].map(
        (zone) => [[zone, null, 'false'], 'Moderate (0.2 %), levee or other X'] as const,
      ),
      // Zone D, open water, a code and a flag that contradict each other, a code that is not known.
      ...['D', 'OPEN WATER', 'AE'].map((zone) => [[zone, null, null], 'Undetermined'] as const),
      [['NEW', null, 'false'], 'Undetermined'],
      [[null, null, null], 'Not answered'],
    ],
  },
];

for (const { topic, units = 'miles', classes, severe, fields, answers } of SCALES) {
  test(`the scale of ${topic} in ${units}`, () => {
    const scale = scaleOf(topic, units);
    const read = reading(scale);
    assert.equal(
      read.map(({ of }) => `${of.name} ${of.tone}`).join(', '),
      `${classes}, Not answered unanswered`,
    );
    const isSevere = ({ index }: { readonly index: number }) =>
      index >= scale.severe.from && index < scale.ordered;
    const names = read.filter(isSevere).map(({ of }) => of.name);
    assert.equal(`${scale.severe.words}: ${names.join(', ')}`, severe);
    assert.equal(scale.fields, fields);
    for (const [answer, name] of answers) {
      // The fields of another topic stand before.
      assert.equal(
        scale.classes[scale.classOf(['Very Low', ...answer], 1)]!.name,
        name,
        String(answer),
      );
    }
  });
}

test('a place is in the class of its loss rate; without a rate in none', () => {
  const nameOf = (rate: Field) => LOSS.classes[LOSS.classOf([rate], 0)]!.name;
  const rates = [0, 0.00000999, 0.00001, 0.0001, 0.000366, 0.001, 0.003, 0.4, null];
  assert.deepEqual(rates.map(nameOf), [
    'Below 0.001 % of the value a year',
    'Below 0.001 % of the value a year',
    '0.001 to 0.01 %',
    '0.01 to 0.03 %',
    '0.03 to 0.1 %',
    '0.1 to 0.3 %',
    '0.3 % or more',
    '0.3 % or more',
    'No rate',
  ]);
});

test('a layer of many classes has as many tones as there are, with neighbours in one; the more hazardous half is severe', (t) => {
  t.after(() => declareLayers([]));
  for (const [count, shown, severe] of [
    [2, 'c1, c2', 'in c1'],
    [5, 'c1, c2, c3, c4, c5', 'in c1, c2, c3'],
    [8, 'c1 c2, c3 c4, c5 c6, c7 c8', 'in c1, c2, c3, c4'],
    [9, 'c1 c2, c3 c4, c5 c6, c7 c8, c9', 'in c6 or a more hazardous class'],
  ] as const) {
    const classes = Array.from({ length: count }, (_, at) => ({
      name: `c${at + 1}`,
      values: [at],
    }));
    const own = { layer: 'own_zone', title: 'Zone', class: { from: ['ZONE'] }, classes };
    declareLayers([own as never]);
    const scale = scaleOf('own_zone' as TopicSlug, 'miles');
    const names = reading(scale).map(({ of }) => of.name.replaceAll(', ', ' '));
    assert.equal(names.slice(0, -4).join(', '), shown);
    assert.deepEqual(names.slice(-4), ['None', 'Other class', 'Unknown', 'Not answered']);
    assert.equal(scale.severe.words, severe);
    assert.equal(scale.classes[scale.classOf(['C2'], 0)]!.name.includes('c2'), true);
  }
});
