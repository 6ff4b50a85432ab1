import {
  NATURAL_SLUGS,
  type NaturalSlug,
  POLLUTANTS,
  type PollutantSlug,
} from '../contract/topics.ts';
import type {
  AirQualityRecord,
  NaturalRatingRecord,
  RadonRecord,
  ReadingRecord,
} from '../data/tables/records.ts';
import { sampleRating } from '../data/topics/sample-ratings.ts';
import { CITIES, findUrbanity } from '../geo/cities.ts';
import type { Location } from '../geo/coordinates.ts';
import { round, type SampleCounty } from './land.ts';
import { exposureTo, findStrength, PERILS, RADON, SMOG } from './perils.ts';
import { drawBetween, drawNormal, drawWhole, type Random } from './random.ts';

const INSUFFICIENT = 0.006;
/** The index has little data on the territories. */
const INSUFFICIENT_ISLANDS = 0.2;
const NO_RATING = 0.08;

/** All natural topics of all counties, county by county. */
export function* naturalRatings(
  counties: readonly SampleCounty[],
  random: Random,
): Generator<NaturalRatingRecord> {
  const urban = counties.map(({ centre }) => 0.75 + 0.25 * findUrbanity(centre));
  const topics = NATURAL_SLUGS.map((topic) => ({
    topic,
    ratings: makeRatings(topic, counties, urban, random),
  }));
  for (const [index, { geoid }] of counties.entries()) {
    for (const { topic, ratings } of topics) yield { geoid, topic, ...ratings[index]! };
  }
}

/** A score is a rank among the counties that have the peril, as in the index: by exposure, and by how much stands there. */
function makeRatings(
  topic: NaturalSlug,
  counties: readonly SampleCounty[],
  urban: readonly number[],
  random: Random,
) {
  const exposures = counties.map(({ centre }) => exposureTo(topic, centre));
  const risks = exposures.map(
    (exposure, index) => (exposure ?? 0) * urban[index]! * drawBetween(random, 0.85, 1.15),
  );
  const ranked = [...counties.keys()].filter((index) => exposures[index] !== null);
  ranked.sort((a, b) => risks[a]! - risks[b]!);
  const scores = new Map(ranked.map((index, rank) => [index, (100 * (rank + 1)) / ranked.length]));
  return counties.map(({ geoid }, index) => {
    const score = scores.get(index);
    if (score === undefined)
      return { rating: 'Not Applicable', score: null, frequency: null } as const;
    const lossRate = lossRateOf(topic, score);
    if (random() < (geoid >= '60' ? INSUFFICIENT_ISLANDS : INSUFFICIENT)) {
      return { rating: 'Insufficient Data', score: null, frequency: null } as const;
    }
    const frequency = round(
      PERILS[topic].mostFrequent * exposures[index]! * drawBetween(random, 0.85, 1.15),
      6,
    );
    // A peril without expected loss keeps its frequency, as in the index.
    if (score < 20 && random() < NO_RATING)
      return { rating: 'No Rating', score: 0, frequency, lossRate: lossRate && 0 } as const;
    return { rating: sampleRating(score), score: round(score, 4), frequency, lossRate };
  });
}

/** The rate of the highest score. The rates of an area add up to some hundredths of a percent, as in the index; a few high ones are most of
 * it. */
const HIGHEST_LOSS_RATES: Readonly<Partial<Record<NaturalSlug, number>>> = {
  hurricane: 0.003,
  earthquake: 0.0015,
  riverineFlood: 0.0012,
  coastalFlood: 0.0009,
  tornado: 0.0006,
  wildfire: 0.0009,
  hail: 0.0003,
  strongWind: 0.00015,
  winterWeather: 0.00003,
  iceStorm: 0.00005,
};
/** Of each of the others, but drought: it damages no buildings. */
const OTHER_LOSS_RATE = 0.00001;

function lossRateOf(topic: NaturalSlug, score: number): number | null {
  if (topic === 'drought') return null;
  return round((HIGHEST_LOSS_RATES[topic] ?? OTHER_LOSS_RATE) * (score / 100) ** 6, 9);
}

/** Days above each category of the air quality index in the dirtiest air, as a share of all days; the highest value of each. */
const AIR_CATEGORIES = [
  ['hazardousDays', 0.002, 380],
  ['veryUnhealthyDays', 0.004, 300],
  ['unhealthyDays', 0.03, 200],
  ['unhealthyForSensitiveGroupsDays', 0.09, 150],
  ['moderateDays', 0.45, 100],
] as const;

/** How polluted the air is, 0 to 1. */
function pollutionAt(location: Location): number {
  return Math.min(1, 0.1 + findStrength(SMOG, location) + 0.5 * findUrbanity(location));
}

/** Air quality of every county for the full year before `now`. The days by category add up to `daysWithAqi`. */
export function* airQualityYears(
  counties: readonly SampleCounty[],
  now: number,
  random: Random,
): Generator<AirQualityRecord> {
  const year = new Date(now).getUTCFullYear() - 1;
  for (const county of counties) {
    const pollution = pollutionAt(county.centre);
    const daysWithAqi = random() < 0.8 ? 365 : drawWhole(random, 120, 364);
    const daysOf = (share: number) =>
      Math.floor(daysWithAqi * pollution * share * drawBetween(random, 0.6, 1.2) + 0.3);
    const days = AIR_CATEGORIES.map(([name, share]) => [name, daysOf(share)] as const);
    const goodDays = daysWithAqi - days.reduce((sum, [, count]) => sum + count, 0);
    const worst = AIR_CATEGORIES[days.findIndex(([, count]) => count > 0)]?.[2] ?? 50;
    yield {
      countyGeoid: county.geoid,
      year,
      daysWithAqi,
      goodDays,
      ...(Object.fromEntries(days) as Record<(typeof AIR_CATEGORIES)[number][0], number>),
      maxAqi: drawWhole(random, worst - 45, worst),
      // The median day is good if more than half of the days are.
      medianAqi: 2 * goodDays > daysWithAqi ? drawWhole(random, 22, 49) : drawWhole(random, 51, 55),
    } satisfies AirQualityRecord;
  }
}

/** The radon zones of counties: 1 where the potential is highest. */
export function* radonZones(
  counties: readonly SampleCounty[],
  random: Random,
): Generator<RadonRecord> {
  for (const { geoid, centre } of counties) {
    const potential = findStrength(RADON, centre) + 0.08 * drawNormal(random);
    yield { countyGeoid: geoid, zone: potential > 0.6 ? 1 : potential > 0.2 ? 2 : 3 };
  }
}

const HOUR_MS = 3_600_000;

/** The last reading of every monitor, in micrograms per cubic metre, at the last full hour before `now`: two in each big city, and one in
 * the middle of each third county and each large one, so that hardly a county's centre is farther than 80 km from one. */
export function* monitorReadings(
  counties: readonly SampleCounty[],
  now: number,
  random: Random,
): Generator<ReadingRecord> {
  const measuredAt = Math.floor((now - 1) / HOUR_MS) * HOUR_MS;
  const rural = counties.filter(
    ({ geoid, centre }, index) => index % 3 === 0 || centre.lng < -100 || geoid >= '60',
  );
  const monitors = [...CITIES, ...CITIES, ...rural.map(({ centre }) => centre)];
  for (const [index, { lat, lng }] of monitors.entries()) {
    const location = {
      lat: round(lat + (index < CITIES.length ? 0.05 : 0), 5),
      lng: round(lng, 5),
    };
    const pollution = pollutionAt(location);
    const measure = (clean: number, dirty: number, spread: number) =>
      Math.max(0, round(clean + (dirty - clean) * pollution + spread * drawNormal(random), 1));
    const pm25 = measure(4, 14, 2.5);
    // PM10 includes the finer particles.
    const concentrations: Record<PollutantSlug, number> = {
      ozone: measure(45, 75, 12),
      pm25,
      pm10: round(pm25 + measure(7, 18, 4), 1),
    };
    for (const pollutant of POLLUTANTS) {
      const monitor = `sample-${String(index + 1).padStart(5, '0')}`;
      const concentration = concentrations[pollutant];
      yield { pollutant, monitor, ...location, concentration, measuredAt } satisfies ReadingRecord;
    }
  }
}
