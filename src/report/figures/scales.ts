import { memo } from '../../base/memo.ts';
import { columnsOf } from '../../columns/topic-columns.ts';
import type { Field } from '../../contract/answer.ts';
import type { PolygonLayer } from '../../contract/layers/layer-description.ts';
import { RATINGS } from '../../contract/topic-values.ts';
import {
  type MeasurementSlug,
  ofPollutants,
  type TopicSlug,
  topicOf,
} from '../../contract/topics.ts';

/** How a class is drawn: 1 to 6 from light to dark; greys for classes without an order. */
export type Tone = '1' | '2' | '3' | '4' | '5' | '6' | 'none' | 'sparse' | 'void' | 'unanswered';

interface ScaleClass {
  readonly name: string;
  readonly tone: Tone;
}

/** The classes of a topic's answers: the ordered ones first, from the least to the most severe; the last one is of unanswered cells. */
export interface Scale {
  /** Scales of one id have the same classes: a layer of zones has one of its own. */
  readonly id: string;
  readonly kind: 'rating' | 'distance' | 'air' | 'radon' | 'flood' | 'zone';
  readonly ordered: number;
  /** How many of the classes say what the place is; the answers of later ones leave that open. */
  readonly known: number;
  readonly classes: readonly ScaleClass[];
  /** The first severe class, and the words for the severe ones. */
  readonly severe: { readonly from: number; readonly words: string };
  /** How many of an answer's first fields decide on its class. */
  readonly fields: number;
  /** The class of an answer's fields, which begin at `from`. `isAnswered`: fields that are all null are an answer, too. */
  readonly classOf: (fields: readonly Field[], from: number, isAnswered?: boolean) => number;
  /** What the answers are not, where they may be taken for it. */
  readonly limits?: string;
}

interface ScaleParts extends Omit<Scale, 'id' | 'ordered' | 'known' | 'classes'> {
  readonly id?: string;
  readonly ordered: readonly string[];
  readonly others: readonly ScaleClass[];
  readonly known?: number;
  readonly tones?: readonly Tone[];
  /** The name of the class of unanswered cells. */
  readonly unanswered?: string;
}

function makeScale({
  ordered,
  others,
  tones = ['1', '2', '3', '4', '5', '6'],
  unanswered: none = 'Not answered',
  ...scale
}: ScaleParts): Scale {
  const classes = ordered.map((name, index) => ({ name, tone: tones[index]! }));
  const unanswered: ScaleClass = { name: none, tone: 'unanswered' };
  const known = ordered.length + others.length;
  return {
    id: scale.kind,
    known,
    ...scale,
    ordered: ordered.length,
    classes: [...classes, ...others, unanswered],
  };
}

const RATING_INDEX = new Map<Field, number>(RATINGS.map((rating, index) => [rating, index]));

export const HIGH = RATINGS.indexOf('Relatively High');
export const VERY_HIGH = RATINGS.indexOf('Very High');

/** The ratings of the National Risk Index, in its order. It is the scale of the highest rating over all natural topics, too. */
export const HIGHEST: Scale = makeScale({
  kind: 'rating',
  ordered: RATINGS.slice(0, 5),
  others: [
    { name: 'No Rating', tone: 'none' },
    { name: 'Insufficient Data', tone: 'sparse' },
    { name: 'Not Applicable', tone: 'void' },
  ],
  severe: { from: HIGH, words: 'Relatively High or Very High' },
  fields: 1,
  classOf: (fields, from) => RATING_INDEX.get(fields[from]!) ?? RATINGS.length,
});

/** The lower bounds of the classes of expected annual losses, as parts of the value, from the second class on: a factor of about three. */
const LOSS_BOUNDS = [0.00001, 0.0001, 0.0003, 0.001, 0.003];

/** The scale of a place's expected annual loss over all topics, by its rate. */
export const LOSS: Scale = makeScale({
  id: 'loss',
  kind: 'rating',
  ordered: [
    ...['Below 0.001 % of the value a year', '0.001 to 0.01 %', '0.01 to 0.03 %'],
    ...['0.03 to 0.1 %', '0.1 to 0.3 %', '0.3 % or more'],
  ],
  others: [],
  unanswered: 'No rate',
  severe: { from: 4, words: 'with a loss of 0.1 % of the value a year or more' },
  fields: 1,
  classOf: (fields, from) => {
    const rate = fields[from] ?? null;
    if (typeof rate !== 'number') return LOSS_BOUNDS.length + 1;
    const above = LOSS_BOUNDS.findIndex((bound) => rate < bound);
    return above < 0 ? LOSS_BOUNDS.length : above;
  },
  limits:
    'The rates of the asked hazards together. They compare places, and are no price of a house.',
});

export type Units = 'miles' | 'kilometers';

export const METERS_PER_MILE = 1609.344;

/** The lower bounds of the classes of distances, from the farthest to the nearest. */
const BOUNDS = [10, 5, 2, 1, 0.5, 0];

const DISTANCES: Readonly<
  Record<Units, Pick<ScaleParts, 'ordered'> & { readonly meters: number }>
> = {
  miles: {
    meters: METERS_PER_MILE,
    ordered: [
      'Beyond 10 miles',
      '5 to 10 miles',
      '2 to 5 miles',
      '1 to 2 miles',
      '½ to 1 mile',
      'Within ½ mile',
    ],
  },
  kilometers: {
    meters: 1000,
    ordered: [
      ...['Beyond 10 km', '5 to 10 km', '2 to 5 km', '1 to 2 km'],
      ...['500 m to 1 km', 'Within 500 m'],
    ],
  },
};

/** Of a layer of places, it may be unknown what lies near. */
function distanceScale(units: Units, isOfLayer: boolean): Scale {
  const { meters: unit, ordered } = DISTANCES[units];
  const unknown: readonly ScaleClass[] = isOfLayer ? [{ name: 'Unknown', tone: 'void' }] : [];
  return makeScale({
    id: isOfLayer ? 'distance-of-layer' : 'distance',
    kind: 'distance',
    ordered,
    others: [
      { name: 'None found', tone: isOfLayer ? 'none' : 'void' },
      { name: 'Distance not given', tone: 'sparse' },
      ...unknown,
    ],
    known: 8,
    ...(isOfLayer && { limits: 'Unknown: the layer does not cover all around these places.' }),
    severe: { from: 4, words: units === 'miles' ? 'within 1 mile' : 'within 1 km' },
    fields: 2,
    classOf: (fields, from, isAnswered) => {
      const [count, meters] = [fields[from], fields[from + 1]];
      if (count === null || count === undefined) return isOfLayer && !isAnswered ? 9 : 8;
      if (typeof meters === 'number') return BOUNDS.findIndex((bound) => meters >= bound * unit);
      return count === 0 ? 6 : 7;
    },
  });
}

const DISTANCE: Readonly<Record<Units, Scale>> = {
  miles: distanceScale('miles', false),
  kilometers: distanceScale('kilometers', false),
};

const DISTANCE_OF_LAYER: typeof DISTANCE = {
  miles: distanceScale('miles', true),
  kilometers: distanceScale('kilometers', true),
};

/** The categories of the US air quality index, and the upper bound of each (40 CFR 58 App. G). */
const CATEGORIES = [
  'Good',
  'Moderate',
  'Unhealthy for Sensitive Groups',
  'Unhealthy',
  'Very Unhealthy',
  'Hazardous',
];
const AIR_REACHES = [50, 100, 150, 200, 300, Number.POSITIVE_INFINITY];

/** By the median index of the year, or the service's rating. */
function airScale(slug: MeasurementSlug): Scale {
  const shown = columnsOf(slug).findIndex(({ name }) => /_(median_aqi|rating)$/.test(name));
  return makeScale({
    kind: 'air',
    ordered: CATEGORIES,
    others: [{ name: 'Other', tone: 'none' }],
    severe: { from: 2, words: 'worse than Moderate' },
    fields: shown + 1,
    classOf: (fields, from) => {
      const rated = fields[from + shown] ?? null;
      if (rated === null) return fields[from] === null ? 7 : 6;
      if (typeof rated === 'number')
        return AIR_REACHES.findIndex((reach) => Math.round(rated) <= reach);
      const index = CATEGORIES.indexOf(rated);
      return index < 0 ? 6 : index;
    },
  });
}

const ZONES = ['Zone 3', 'Zone 2', 'Zone 1'];

const RADON = makeScale({
  kind: 'radon',
  ordered: ZONES,
  tones: ['1', '3', '5'],
  others: [{ name: 'Other', tone: 'none' }],
  severe: { from: 2, words: 'in Zone 1' },
  fields: 1,
  classOf: (fields, from) => {
    const zone = fields[from] ?? null;
    if (zone === null) return 4;
    const index = ZONES.indexOf(String(zone));
    return index < 0 ? 3 : index;
  },
});

/** The zones of special areas after the first class of them, which has all others. */
const SPECIAL_ZONES = [/^A[OH]$/, /^A(E|[1-9]|[12]\d|30)$/, /^V/];

const FLOOD_CLASSES = [
  ...[
    'Minimal',
    'Moderate (0.2 %), levee or other X',
    'Special area A or other',
    'Special area AO, AH',
  ],
  ...['Special area AE', 'Special area V, VE'],
];

const FLOOD = makeScale({
  kind: 'flood',
  ordered: FLOOD_CLASSES,
  others: [
    { name: 'Undetermined', tone: 'sparse' },
    { name: 'Not studied', tone: 'void' },
  ],
  known: FLOOD_CLASSES.length,
  severe: { from: 2, words: 'in a Special Flood Hazard Area' },
  fields: 3,
  classOf: (fields, from, isAnswered) => {
    const [zone = null, subtype, special] = [fields[from], fields[from + 1], fields[from + 2]];
    if (zone === null) return isAnswered ? 7 : 8;
    const code = String(zone).toUpperCase();
    if (special === 'true') return 3 + SPECIAL_ZONES.findIndex((zones) => zones.test(code));
    // Of another code it is not known that it means little.
    if (special !== 'false' || !/^(X|X500|B|C)$/.test(code)) return 6;
    return code === 'C' || (code === 'X' && /MINIMAL/i.test(String(subtype))) ? 0 : 1;
  },
  limits:
    'A zone is no determination for a lender, no depth of a flood, and says nothing of a future climate. Undetermined and not studied are unknown, not safe.',
});

const MEASUREMENT_SCALES: Readonly<Record<MeasurementSlug, Scale>> = {
  airQuality: airScale('airQuality'),
  ...ofPollutants(airScale),
  radon: RADON,
};

/** Scales that are made for one layer. */
const LAYER_SCALES: Readonly<Record<string, Scale>> = { floodZone: FLOOD };

/** The most classes that have tones of their own. */
const MOST_TONES = 6;

/** The scale of a layer of polygons, from its description. The tones begin dark for few classes: they are hazards, not their absence. */
const zoneScale = memo((layer: PolygonLayer): Scale => {
  const { constant } = layer.class ?? {};
  const names = (layer.classes ?? []).map(({ name }) => name);
  const worstFirst = [
    ...new Set(names.length > 0 ? names : constant === undefined ? [] : [constant]),
  ];
  const size = Math.ceil(worstFirst.length / MOST_TONES);
  const groups = Array.from({ length: Math.ceil(worstFirst.length / size) || 0 }, (_, index) =>
    worstFirst.slice(index * size, (index + 1) * size),
  ).reverse();
  const groupOf = new Map(
    groups.flatMap((group, index) => group.map((name) => [name.toLowerCase(), index] as const)),
  );
  const [none, other, nothing, unanswered] = [0, 1, 2, 3].map((at) => groups.length + at);
  const half = Math.floor(groups.length / 2);
  const tones = ['1', '2', '3', '4', '5', '6'] as const;
  return makeScale({
    id: `zone-${layer.layer}`,
    kind: 'zone',
    ordered: groups.map((group) => group.join(', ')),
    tones: groups.map((_, index) => tones[MOST_TONES - groups.length + index]!),
    others: [
      { name: 'None', tone: 'none' },
      { name: 'Other class', tone: 'sparse' },
      { name: 'Unknown', tone: 'void' },
    ],
    known: groups.length + 2,
    severe: { from: half, words: severeWords(groups.slice(half).reverse().flat()) },
    fields: 1,
    classOf: (fields, from, isAnswered) => {
      const zone = fields[from] ?? null;
      if (zone === null) return isAnswered ? nothing! : unanswered!;
      if (zone === 'none') return none!;
      return groupOf.get(String(zone).toLowerCase()) ?? other!;
    },
    limits: 'Unknown is not safe: the layer says nothing of these places.',
  });
});

/** The most classes that are named one by one. */
const MOST_NAMED = 4;

/** @param names from the most hazardous to the least */
function severeWords(names: readonly string[]): string {
  return names.length > MOST_NAMED
    ? `in ${names.at(-1)!} or a more hazardous class`
    : `in ${names.join(', ')}`;
}

/** The scale on which a topic's answers are shown. */
export function scaleOf(slug: TopicSlug, units: Units): Scale {
  const { category, layer } = topicOf(slug);
  if (category === 'natural') return HIGHEST;
  if (category === 'proximity') return (layer === null ? DISTANCE : DISTANCE_OF_LAYER)[units];
  if (layer !== null) return LAYER_SCALES[slug] ?? zoneScale(layer as PolygonLayer);
  return MEASUREMENT_SCALES[slug as MeasurementSlug];
}

/** What it means for some topics that a place is at risk: it is in a severe class of the topic's scale. */
export function atRiskWords(
  perils: readonly { readonly topic: TopicSlug }[],
  units: Units,
): string {
  const words = perils.map(({ topic }) => {
    const { title, category } = topicOf(topic);
    const { severe } = scaleOf(topic, units);
    return category === 'natural' ? `rated ${severe.words}` : `${severe.words} (${title})`;
  });
  return [...new Set(words)].join(', or ');
}

/** The class of unanswered cells: the last one of each scale. */
export function unansweredClass({ classes: all }: Scale): number {
  return all.length - 1;
}

/** The words on the part in known classes. */
export function knownWord(scale: Scale): 'answered' | 'determined' {
  return scale.known === unansweredClass(scale) ? 'answered' : 'determined';
}

/** A class as one character: its index. */
export const CLASS_LETTERS = '0123456789';

/** A class of a scale, and its index in it. */
interface IndexedClass {
  readonly index: number;
  readonly of: ScaleClass;
}

/** The classes in reading order: the most severe first, then the classes without an order. */
export function reading({ ordered, classes: all }: Scale): readonly IndexedClass[] {
  const entries = all.map((of, index) => ({ index, of }));
  return [...entries.slice(0, ordered).reverse(), ...entries.slice(ordered)];
}
