import type { Rating } from '../../contract/topic-values.ts';
import { NATURAL_SLUGS, type NaturalSlug } from '../../contract/topics.ts';
import { distanceMeters } from '../../geo/distance.ts';
import type { NaturalRatingRecord } from '../tables/records.ts';
import { CITIES } from './cities.ts';
import { exposureOf } from './hazards.ts';
import type { SampleCounty } from './land.ts';
import { round } from './places.ts';
import { chance, normal, type Random } from './random.ts';

/** The rating of scores below each limit. The index itself clusters the scores of each hazard; equal fifths are enough
 * for a sample. */
export const RATING_BANDS: readonly (readonly [below: number, rating: Rating])[] = [
  [20, 'Very Low'],
  [40, 'Relatively Low'],
  [60, 'Relatively Moderate'],
  [80, 'Relatively High'],
  [Number.POSITIVE_INFINITY, 'Very High'],
];

/** The rating of a score above 0. */
export function ratingOf(score: number): Rating {
  return RATING_BANDS.find(([below]) => score < below)![1];
}

/** Yearly frequency at full exposure: events or event days, and a probability for earthquake, coastalFlood, landslide,
 * tsunami, volcano and wildfire. */
const MOST_FREQUENT: Readonly<Record<NaturalSlug, number>> = {
  avalanche: 2.5,
  coastalFlood: 0.9,
  coldWave: 3,
  drought: 60,
  earthquake: 0.04,
  hail: 9,
  heatWave: 5,
  hurricane: 0.35,
  iceStorm: 1.8,
  landslide: 0.6,
  lightning: 120,
  riverineFlood: 4,
  strongWind: 8,
  tornado: 0.7,
  tsunami: 0.06,
  volcano: 0.02,
  wildfire: 0.03,
  winterWeather: 12,
};

const INSUFFICIENT = 0.006;
/** The index has little data on the territories. */
const INSUFFICIENT_ISLANDS = 0.2;
const NO_RATING = 0.01;

/** All natural topics of all counties, county by county. */
export function* naturalRatings(counties: readonly SampleCounty[], random: Random): Generator<NaturalRatingRecord> {
  for (const county of counties) {
    const urban = urbanity(county);
    for (const topic of NATURAL_SLUGS) yield naturalRating(county, topic, urban, random);
  }
}

function naturalRating(county: SampleCounty, topic: NaturalSlug, urban: number, random: Random): NaturalRatingRecord {
  const { geoid } = county;
  const exposure = exposureOf(topic, county);
  if (exposure === null) return { geoid, topic, rating: 'Not Applicable', score: null, frequency: null };
  const missing = Number(geoid.slice(0, 2)) >= 60 ? INSUFFICIENT_ISLANDS : INSUFFICIENT;
  if (chance(random, missing)) return { geoid, topic, rating: 'Insufficient Data', score: null, frequency: null };
  const frequency = round(MOST_FREQUENT[topic] * exposure * (0.85 + 0.3 * random()), 6);
  const score = round(100 * Math.min(1, exposure * (0.88 + 0.12 * urban) + 0.04 * normal(random)), 4);
  // A hazard without expected loss keeps its frequency, as in the index.
  if (score <= 0 || chance(random, exposure < 0.2 ? 4 * NO_RATING : 0)) {
    return { geoid, topic, rating: 'No Rating', score: 0, frequency };
  }
  return { geoid, topic, rating: ratingOf(score), score, frequency };
}

/** How near to a big city, 0 to 1: more value, so a higher risk. */
function urbanity(county: SampleCounty): number {
  return CITIES.reduce((most, city) => Math.max(most, Math.exp(-distanceMeters(county.centre, city) / 60_000)), 0);
}
