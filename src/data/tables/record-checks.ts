import { z } from 'zod';
import { RATINGS } from '../../contract/topic-values.ts';
import { NATURAL_SLUGS } from '../../contract/topics.ts';
import type {
  AirQualityRecord,
  AreaRecord,
  DatasetInfo,
  EventRecord,
  NaturalRatingRecord,
  RadonRecord,
  ReadingRecord,
  SiteRecord,
} from './records.ts';

/*
 * The schemas of records. Geometries are only known to be objects here; geometry-box.ts checks their coordinates.
 */

const geometry = z.custom<object>((value) => typeof value === 'object' && value !== null, 'Expected a geometry');
const tractGeoid = z.string().regex(/^\d{11}$/, 'Expected 11 digits');
const countyGeoid = z.string().regex(/^\d{5}$/, 'Expected 5 digits');
const days = z.int().nonnegative().max(366);
const aqi = z.number().nonnegative();

const areaFields = { name: z.string(), state: z.string().regex(/^[A-Z]{2}$/, 'Expected two letters'), geometry };

export const areaRecord = z.discriminatedUnion('level', [
  z.object({ level: z.literal('tract'), geoid: tractGeoid, ...areaFields }),
  z.object({ level: z.literal('county'), geoid: countyGeoid, ...areaFields }),
]) as unknown as z.ZodType<AreaRecord>;

export const naturalRatingRecord: z.ZodType<NaturalRatingRecord> = z.object({
  geoid: z.string().regex(/^(\d{5}|\d{11})$/, 'Expected 5 or 11 digits'),
  topic: z.enum(NATURAL_SLUGS),
  rating: z.enum(RATINGS),
  score: z.number().nullable(),
  frequency: z.number().nullable(),
});

export const featureRecord = z.object({
  id: z.union([z.string(), z.number()]).optional(),
  geometry,
  properties: z.record(z.string(), z.unknown()),
}) as unknown as z.ZodType<SiteRecord | EventRecord>;

export const airQualityRecord: z.ZodType<AirQualityRecord> = z.object({
  countyGeoid,
  year: z.int(),
  daysWithAqi: days,
  goodDays: days,
  moderateDays: days,
  unhealthyForSensitiveGroupsDays: days,
  unhealthyDays: days,
  veryUnhealthyDays: days,
  hazardousDays: days,
  maxAqi: aqi,
  medianAqi: aqi,
});

export const radonRecord: z.ZodType<RadonRecord> = z.object({
  countyGeoid,
  zone: z.union([z.literal(1), z.literal(2), z.literal(3)]),
});

export const readingRecord: z.ZodType<ReadingRecord> = z.object({
  pollutant: z.enum(['ozone', 'pm25', 'pm10']),
  monitor: z.string(),
  lat: z.number().min(-90).max(90),
  lng: z.number().min(-180).max(180),
  concentration: z.number(),
  measuredAt: z.int().min(0).max(8.64e15),
});

export const datasetInfo = z.object({
  name: z.string(),
  source: z.string(),
  vintage: z.string(),
  licence: z.string(),
  sample: z.boolean(),
  states: z.array(z.string().regex(/^[A-Z]{2}$/)).optional(),
}) as unknown as z.ZodType<DatasetInfo>;
