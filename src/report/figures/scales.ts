import { columnsOf } from '../../columns/topic-columns.ts';
import type { Field } from '../../contract/answer.ts';
import { RATINGS } from '../../contract/topic-values.ts';
import { type TopicSlug, topicOf } from '../../contract/topics.ts';

/** How a class is drawn: 1 to 6 from light to dark; greys for classes without an order. */
export type Tone = '1' | '2' | '3' | '4' | '5' | '6' | 'none' | 'sparse' | 'void' | 'unanswered';

export interface ScaleClass {
  readonly name: string;
  readonly tone: Tone;
}

/** The classes of a topic's answers: the ordered ones first, from the least to the most severe. */
export interface Scale {
  readonly id: 'rating' | 'distance' | 'air' | 'radon';
  /** How many of the classes are ordered. */
  readonly ordered: number;
  readonly classes: readonly ScaleClass[];
  /** How many of an answer's first fields decide on its class. */
  readonly fields: number;
  /** The class of an answer's fields, which begin at `from`. */
  readonly classOf: (fields: readonly Field[], from: number) => number;
}

const UNANSWERED = { name: 'Not answered', tone: 'unanswered' } as const;

function classes(...pairs: readonly (readonly [name: string, tone: Tone])[]): ScaleClass[] {
  return [...pairs.map(([name, tone]) => ({ name, tone })), UNANSWERED];
}

const RATING_INDEX = new Map<Field, number>(RATINGS.map((rating, index) => [rating, index]));

/** The ratings of the National Risk Index, in its order. */
const RATING: Scale = {
  id: 'rating',
  ordered: 5,
  classes: classes(
    ...RATINGS.slice(0, 5).map((name, index) => [name, String(index + 1) as Tone] as const),
    ['No Rating', 'none'],
    ['Insufficient Data', 'sparse'],
    ['Not Applicable', 'void'],
  ),
  fields: 1,
  classOf: (fields, from) => RATING_INDEX.get(fields[from]!) ?? RATINGS.length,
};

export type Units = 'miles' | 'kilometers';

/** International mile. */
export const METERS_PER_MILE = 1609.344;

/** The name of each class of distances from the farthest to the nearest, and its lower bound in meters. */
const DISTANCE_CLASSES: Readonly<Record<Units, readonly (readonly [name: string, meters: number])[]>> = {
  miles: [
    ['Beyond 10 miles', 10 * METERS_PER_MILE],
    ['5 to 10 miles', 5 * METERS_PER_MILE],
    ['2 to 5 miles', 2 * METERS_PER_MILE],
    ['1 to 2 miles', METERS_PER_MILE],
    ['½ to 1 mile', METERS_PER_MILE / 2],
    ['Within ½ mile', 0],
  ],
  kilometers: [
    ['Beyond 10 km', 10_000],
    ['5 to 10 km', 5_000],
    ['2 to 5 km', 2_000],
    ['1 to 2 km', 1_000],
    ['500 m to 1 km', 500],
    ['Within 500 m', 0],
  ],
};

function distanceScale(units: Units): Scale {
  const bounds = DISTANCE_CLASSES[units];
  return {
    id: 'distance',
    ordered: 6,
    classes: classes(
      ...bounds.map(([name], index) => [name, String(index + 1) as Tone] as const),
      ['None found', 'void'],
      ['Distance not given', 'sparse'],
    ),
    fields: 2,
    classOf: (fields, from) => {
      const [count, meters] = [fields[from], fields[from + 1]];
      if (count === null || count === undefined) return 8;
      if (typeof meters === 'number') return bounds.findIndex(([, near]) => meters >= near);
      return count === 0 ? 6 : 7;
    },
  };
}

const DISTANCE: Readonly<Record<Units, Scale>> = {
  miles: distanceScale('miles'),
  kilometers: distanceScale('kilometers'),
};

const AIR_CATEGORIES = [
  'Good',
  'Moderate',
  'Unhealthy for Sensitive Groups',
  'Unhealthy',
  'Very Unhealthy',
  'Hazardous',
];

/** The upper bound of each category of the US air quality index (40 CFR 58 App. G). */
const AIR_REACHES = [50, 100, 150, 200, 300, Number.POSITIVE_INFINITY];

/** By the field `shown`: the median index of the year, or the service's rating. */
function airScale(shown: number): Scale {
  return {
    id: 'air',
    ordered: 6,
    classes: classes(...AIR_CATEGORIES.map((name, index) => [name, String(index + 1) as Tone] as const), [
      'Other',
      'none',
    ]),
    fields: shown + 1,
    classOf: (fields, from) => {
      const rated = fields[from + shown] ?? null;
      if (rated === null) return fields[from] === null ? 7 : 6;
      if (typeof rated === 'number') return AIR_REACHES.findIndex((reach) => Math.round(rated) <= reach);
      const index = AIR_CATEGORIES.indexOf(rated);
      return index < 0 ? 6 : index;
    },
  };
}

const RADON: Scale = {
  id: 'radon',
  ordered: 3,
  classes: classes(['Zone 3', '1'], ['Zone 2', '3'], ['Zone 1', '5'], ['Other', 'none']),
  fields: 1,
  classOf: (fields, from) => {
    const zone = fields[from] ?? null;
    if (zone === null) return 4;
    const index = ['Zone 3', 'Zone 2', 'Zone 1'].indexOf(String(zone));
    return index < 0 ? 3 : index;
  },
};

/** The scale on which a topic's answers are shown. */
export function scaleOf(slug: TopicSlug, units: Units): Scale {
  const { category } = topicOf(slug);
  if (category === 'natural') return RATING;
  if (category === 'proximity') return DISTANCE[units];
  const shown = columnsOf(slug).findIndex(({ name }) => /_(median_aqi|rating)$/.test(name));
  return shown < 0 ? RADON : airScale(shown);
}

/** The scale of the highest rating over all natural topics. */
export const HIGHEST: Scale = RATING;

/** The class of unanswered cells: the last one of each scale. */
export function unansweredClass({ classes: all }: Scale): number {
  return all.length - 1;
}

/** The first severe class of each scale, and the words for the severe ones. */
export function severeClasses({ id }: Scale, units: Units): { readonly from: number; readonly words: string } {
  if (id === 'rating') return { from: HIGH, words: 'Relatively High or Very High' };
  if (id === 'distance') return { from: 4, words: units === 'miles' ? 'within 1 mile' : 'within 1 km' };
  return id === 'air' ? { from: 2, words: 'worse than Moderate' } : { from: 2, words: 'in Zone 1' };
}

/** A class as one character: its index. */
export const CLASS_LETTERS = '0123456789';

/** The indexes of the high ratings. */
export const HIGH = RATINGS.indexOf('Relatively High');
export const VERY_HIGH = RATINGS.indexOf('Very High');

/** The classes in reading order: the most severe first, then the classes without an order. */
export function reading({
  ordered,
  classes: all,
}: Scale): readonly { readonly index: number; readonly of: ScaleClass }[] {
  const entries = all.map((of, index) => ({ index, of }));
  return [...entries.slice(0, ordered).reverse(), ...entries.slice(ordered)];
}
