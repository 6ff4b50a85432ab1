import {
  AIR_QUALITY_DAYS,
  type AirQualityValue,
  type NaturalValue,
  type PollutantValue,
  RATINGS_WITHOUT_SCORE,
  resultSchemaOf,
  type TopicResult,
} from '../../contract/topic-values.ts';
import {
  type DetailsKind,
  ofPollutants,
  type PaidMeasurementSlug,
  type Topic,
} from '../../contract/topics.ts';
import type { Location } from '../../geo/coordinates.ts';
import { metersToShape, parseShape } from '../../geo/nearest.ts';
import { type CheckContext, expect, expectShape } from './statement.ts';

/** How far the clocks of service and client may differ: less than a time zone. */
export const CLOCKS_APART_MS = 10 * 60_000;

/** No service's search reaches so far; coordinates in another order or projection do. */
const NEARBY_METERS = 1_000_000;

const DAYS_OF_YEAR = 366;

/** Checks value and details of the last reply (docs/developer/service-api.md, section 4) more strictly than the client reads them.
 * @throws Broken */
export function checkResult(topic: Topic, result: unknown, context: CheckContext): void {
  const { slug } = topic;
  const parsed = expectShape(resultSchemaOf(slug), result, slug);
  expect('details' in parsed, `${slug}: details is missing`);
  DETAILS_CHECKS[topic.details](slug, parsed, context);
  if (topic.category === 'natural') checkRating(slug, parsed.value as NaturalValue);
  if (topic.category === 'measurement')
    MEASUREMENT_CHECKS[slug as PaidMeasurementSlug]?.(slug, parsed, context);
}

/** What a topic's result must be beyond its schema. */
type Check = (slug: string, result: TopicResult, context: CheckContext) => void;

const DETAILS_CHECKS: Readonly<Record<DetailsKind, Check>> = {
  none: (slug, { details }) => expect(details === null, `${slug}: details is not null`),
  array: (slug, { details }) => checkRecords(`${slug}: details`, details),
  object: (slug, { details }) => expect(isObject(details), `${slug}: details is not an object`),
  wildfire(slug, { details }) {
    expect(isObject(details), `${slug}: details is not an object`);
    // It may be empty if there is no fire.
    if (Object.keys(details).length === 0) return;
    for (const list of ['current', 'historical', 'perimeters'])
      checkRecords(`${slug}: details.${list}`, details[list]);
  },
  features(slug, { value, details }, { location }) {
    expect(isObject(details), `${slug}: details is not a FeatureCollection`);
    const features = details.features as unknown[];
    const isCounted = features.length === 0 || features.length === value;
    expect(isCounted, `${slug}: ${features.length} features and a count of ${value}`);
    for (const [index, feature] of features.entries())
      checkFeature(`${slug}: feature ${index + 1}`, feature, location);
  },
};

/** Null: its schema says all. */
const MEASUREMENT_CHECKS: Readonly<Record<PaidMeasurementSlug, Check | null>> = {
  airQuality: (_, { value }) => checkAirQuality(value as AirQualityValue),
  ...ofPollutants(() => checkMeasurement),
  radon: null,
};

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function checkRecords(what: string, records: unknown): void {
  expect(Array.isArray(records), `${what} is not an array`);
  expect(!records.includes(null), `${what} has records that are null`);
}

function checkFeature(what: string, feature: unknown, location: Location): void {
  expect(isObject(feature) && feature.type === 'Feature', `${what} is not of the type Feature`);
  const meters = metersToShape(parseShape(feature.geometry), location);
  expect(meters < Number.POSITIVE_INFINITY, `${what} has no geometry`);
  expect(meters <= NEARBY_METERS, `${what} is ${Math.round(meters / 1_000)} km away`);
}

function checkRating(slug: string, { title, rating, score, frequency }: NaturalValue): void {
  expect(title !== '', `${slug}: value.title is empty`);
  const isWhole = RATINGS_WITHOUT_SCORE.has(rating) || (score !== null && frequency !== null);
  expect(isWhole, `${slug}: "${rating}" has no score or no frequency`);
  expect((frequency ?? 0) >= 0, `${slug}: value.frequency is ${frequency}, fewer events than none`);
}

function checkAirQuality({ additionalInfo }: AirQualityValue): void {
  const { daysWithAqi, maxAqi, medianAqi } = additionalInfo;
  for (const name of AIR_QUALITY_DAYS) {
    const value = additionalInfo[name];
    expect(value !== null && value >= 0, `airQuality: ${name} is ${value}`);
    const isPart = !name.endsWith('Days') || value <= daysWithAqi!;
    expect(isPart, `airQuality: ${name} is ${value}, and daysWithAqi ${daysWithAqi}`);
  }
  expect(daysWithAqi! <= DAYS_OF_YEAR, `airQuality: a year of ${daysWithAqi} days`);
  expect(medianAqi! <= maxAqi!, `airQuality: medianAqi is ${medianAqi}, and maxAqi ${maxAqi}`);
}

function checkMeasurement(slug: string, { value }: TopicResult, { exchanges }: CheckContext): void {
  const { measurement, timestamp } = value as PollutantValue;
  expect(measurement.value !== null, `${slug}: measurement.value is null`);
  const ahead = Date.parse(timestamp) - exchanges.at(-1)!.at;
  expect(ahead <= CLOCKS_APART_MS, `${slug}: timestamp is ${timestamp}, which is to come`);
}
