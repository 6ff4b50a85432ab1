import {
  AIR_QUALITY_DAYS,
  type AirQualityValue,
  type NaturalValue,
  type PollutantValue,
  RATINGS_WITHOUT_SCORE,
  RESULT_SCHEMAS,
} from '../../contract/topic-values.ts';
import type { Topic } from '../../contract/topics.ts';
import type { Location } from '../../geo/coordinates.ts';
import { metersToShape, shapeOf } from '../../geo/nearest.ts';
import { expect, expectShape } from './checked-statement.ts';

/** How far the clocks of service and client may differ: less than a time zone. */
export const CLOCKS_APART_MS = 10 * 60_000;

/** No service's search reaches so far; coordinates in another order or projection do. */
const NEARBY_METERS = 1_000_000;

const DAYS_OF_YEAR = 366;

/** The location and the time of a request. */
export interface ResultContext {
  readonly location: Location;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Checks value and details (docs/developer/service-api.md, section 4) more strictly than the client reads them. @throws Broken */
export function checkResult(topic: Topic, result: unknown, context: ResultContext): void {
  const parsed = expectShape(RESULT_SCHEMAS.get(topic.slug)!, result, topic.slug);
  expect('details' in parsed, `${topic.slug}: details is missing`);
  checkDetails(topic, parsed.details, parsed.value, context.location);
  if (topic.category === 'natural') checkRating(topic.slug, parsed.value as NaturalValue);
  const { value } = parsed;
  if (isObject(value) && 'additionalInfo' in value) checkAirQuality(value as unknown as AirQualityValue);
  if (isObject(value) && 'measurement' in value) {
    checkMeasurement(topic.slug, value as unknown as PollutantValue, context);
  }
}

function checkDetails({ slug, details: kind }: Topic, details: unknown, value: unknown, location: Location): void {
  switch (kind) {
    case 'none':
      expect(details === null, `${slug}: details is not null`);
      break;
    case 'array':
      checkRecords(`${slug}: details`, details);
      break;
    case 'object':
      expect(isObject(details), `${slug}: details is not an object`);
      break;
    case 'wildfire':
      expect(isObject(details), `${slug}: details is not an object`);
      // It may be empty if there is no fire.
      if (Object.keys(details).length === 0) break;
      for (const list of ['current', 'historical', 'perimeters'])
        checkRecords(`${slug}: details.${list}`, details[list]);
      break;
    case 'features': {
      expect(isObject(details), `${slug}: details is not a FeatureCollection`);
      const features = details.features as unknown[];
      expect(
        features.length === 0 || features.length === value,
        `${slug}: ${features.length} features and a count of ${value}`,
      );
      for (const [index, feature] of features.entries())
        checkFeature(`${slug}: feature ${index + 1}`, feature, location);
    }
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function checkRecords(what: string, records: unknown): void {
  expect(Array.isArray(records), `${what} is not an array`);
  expect(!records.includes(null), `${what} has records that are null`);
}

function checkFeature(what: string, feature: unknown, location: Location): void {
  expect(isObject(feature) && feature.type === 'Feature', `${what} is not of the type Feature`);
  const meters = metersToShape(shapeOf(feature.geometry), location);
  expect(meters < Number.POSITIVE_INFINITY, `${what} has no geometry`);
  expect(meters <= NEARBY_METERS, `${what} is ${Math.round(meters / 1_000)} km away`);
}

function checkRating(slug: string, { title, rating, score, frequency }: NaturalValue): void {
  expect(title !== '', `${slug}: value.title is empty`);
  expect(
    RATINGS_WITHOUT_SCORE.has(rating) || (score !== null && frequency !== null),
    `${slug}: "${rating}" has no score or no frequency`,
  );
  expect((frequency ?? 0) >= 0, `${slug}: value.frequency is ${frequency}, fewer events than none`);
}

function checkAirQuality({ additionalInfo }: AirQualityValue): void {
  const { daysWithAqi, maxAqi, medianAqi } = additionalInfo;
  for (const name of AIR_QUALITY_DAYS) {
    const value = additionalInfo[name];
    expect(value !== null && value >= 0, `airQuality: ${name} is ${value}`);
    expect(
      !name.endsWith('Days') || value <= daysWithAqi!,
      `airQuality: ${name} is ${value}, and daysWithAqi ${daysWithAqi}`,
    );
  }
  expect(daysWithAqi! <= DAYS_OF_YEAR, `airQuality: a year of ${daysWithAqi} days`);
  expect(medianAqi! <= maxAqi!, `airQuality: medianAqi is ${medianAqi}, and maxAqi ${maxAqi}`);
}

function checkMeasurement(slug: string, { measurement, timestamp }: PollutantValue, context: ResultContext): void {
  expect(measurement.value !== null, `${slug}: measurement.value is null`);
  expect(Date.parse(timestamp) - context.at <= CLOCKS_APART_MS, `${slug}: timestamp is ${timestamp}, which is to come`);
}
