import { z } from 'zod';
import { memo } from '../base/memo.ts';
import {
  type DetailsKind,
  type MeasurementSlug,
  ofPollutants,
  type Topic,
  type TopicSlug,
  topicOf,
} from './topics.ts';

/** NRI risk categories: `rating` is exactly one of these (docs/developer/service-api.md, 4.1). */
export const RATINGS = [
  'Very Low',
  'Relatively Low',
  'Relatively Moderate',
  'Relatively High',
  'Very High',
  'No Rating',
  'Insufficient Data',
  'Not Applicable',
] as const;
export type Rating = (typeof RATINGS)[number];

/** With these ratings the index has neither score nor frequency, even if numbers are given. */
export const RATINGS_WITHOUT_SCORE: ReadonlySet<Rating> = new Set([
  'Insufficient Data',
  'Not Applicable',
]);

/** The only unit, with the micro sign U+00B5 and not the Greek mu U+03BC. */
export const CONCENTRATION_UNIT = '\u00b5g/m\u00b3';

/** The contract promises numbers without a range; the index has none where a hazard does not apply, so null is accepted
 * and kept distinct from 0. */
const finiteOrNull = z.number().nullable();

const naturalValue = z.looseObject({
  title: z.string(),
  rating: z.enum(RATINGS),
  score: finiteOrNull,
  frequency: finiteOrNull,
});

const proximityValue = z.int().nonnegative();

/** The numbers of `airQuality`'s `additionalInfo`, in the contract's order. */
export const AIR_QUALITY_DAYS = [
  'daysWithAqi',
  'goodDays',
  'moderateDays',
  'unhealthyForSensitiveGroupsDays',
  'unhealthyDays',
  'veryUnhealthyDays',
  'hazardousDays',
  'maxAqi',
  'medianAqi',
] as const;

const airQualityValue = z.looseObject({
  metric: z.string(),
  progressValue: finiteOrNull,
  additionalInfo: z.looseObject({
    ...(Object.fromEntries(AIR_QUALITY_DAYS.map((name) => [name, finiteOrNull])) as Record<
      (typeof AIR_QUALITY_DAYS)[number],
      typeof finiteOrNull
    >),
    /** Our extension: the year of our own service's figures. */
    year: z.unknown().optional(),
  }),
});

const pollutantValue = z.looseObject({
  measurement: z.looseObject({ value: finiteOrNull, unit: z.literal(CONCENTRATION_UNIT) }),
  rating: z.string(),
  timestamp: z.iso.datetime({ offset: true }),
});

const radonValue = z.looseObject({
  title: z.string(),
  value: z.string(),
  caption: z.string(),
  description: z.string(),
});

/** The zone of an agency's map that holds a place. Null is unknown, or not stated. */
const zoneValue = z.looseObject({
  zone: z.string(),
  subtype: z.string().nullable(),
  specialArea: z.boolean().nullable(),
  facts: z.record(z.string(), z.union([z.number(), z.string()]).nullable()),
  /** The sheet of the map, and the day since which it is in force. */
  panel: z.string().nullable(),
  effective: z.iso.date().nullable(),
  /** Metres to the nearest other zone, rounded up; 0 where zones overlap or meet; null where none is near. */
  boundaryMeters: z.int().nonnegative().nullable(),
  /** Our extension: what is to be known of its figures. */
  remarks: z.array(z.string()).optional(),
});

export type NaturalValue = z.infer<typeof naturalValue>;
export type AirQualityValue = z.infer<typeof airQualityValue>;
export type PollutantValue = z.infer<typeof pollutantValue>;
export type RadonValue = z.infer<typeof radonValue>;
export type ZoneValue = z.infer<typeof zoneValue>;

/** A GeoJSON FeatureCollection. Only the geometries are read, so nothing else is validated: checking every member of a
 * 6 MB bundle would cost more than parsing it. */
const featureCollection = z.looseObject({
  type: z.literal('FeatureCollection'),
  features: z.array(z.unknown()),
});
export type FeatureCollection = z.infer<typeof featureCollection>;

/** Records are opaque (their fields are not documented); null means none. */
const DETAILS: Readonly<Record<DetailsKind, z.ZodType>> = {
  none: z.unknown().optional(),
  array: z.array(z.unknown()).nullish(),
  object: z.union([z.record(z.string(), z.unknown()), z.array(z.unknown())]).nullish(),
  wildfire: z
    .looseObject({
      current: z.array(z.unknown()).nullish(),
      historical: z.array(z.unknown()).nullish(),
      perimeters: z.array(z.unknown()).nullish(),
    })
    .nullish(),
  features: featureCollection.nullish(),
};

const MEASUREMENT_VALUES = {
  airQuality: airQualityValue,
  ...ofPollutants(() => pollutantValue),
  radon: radonValue,
} satisfies Record<MeasurementSlug, z.ZodType>;

export type MeasurementValue = z.infer<(typeof MEASUREMENT_VALUES)[MeasurementSlug]>;

function valueSchema({ category, slug, layer }: Topic): z.ZodType {
  if (category === 'natural') return naturalValue;
  if (category === 'measurement' && layer !== null) return zoneValue;
  return category === 'proximity' ? proximityValue : MEASUREMENT_VALUES[slug as MeasurementSlug];
}

/** The schema of a topic's `{value, details}`, for a result without `error`. */
export const resultSchemaOf = (slug: TopicSlug): z.ZodType<TopicResult> =>
  schemaOfTopic(topicOf(slug));

const schemaOfTopic = memo(
  (topic: Topic) =>
    z.looseObject({
      value: valueSchema(topic),
      details: DETAILS[topic.details],
    }) as unknown as z.ZodType<TopicResult>,
);

/** A topic's result on the wire: `value` depends on the category, `details` on the topic. */
export interface TopicResult {
  value: NaturalValue | number | MeasurementValue | ZoneValue;
  details?: unknown;
}

/** A topic's result without its records: all that the columns are read from. */
export interface CountedResult {
  readonly value: TopicResult['value'];
  /** The number of records for each of the topic's `countColumns`, in their order; a count is null where the service gave none. Null in
   * place of the list: the records were not counted, and the answer has no such columns. */
  readonly counts: readonly (number | null)[] | null;
  /** Metres to the nearest feature of a proximity topic, not rounded; null where there is none. */
  readonly nearestMeters: number | null;
}
