import type { Location } from '../../geo/coordinates.ts';
import { distanceMeters } from '../../geo/distance.ts';
import type { AirQualityRecord, RadonRecord, ReadingRecord } from '../tables/records.ts';
import { CITIES } from './cities.ts';
import type { Land, SampleCounty } from './land.ts';
import { kilometresTo } from './landmarks.ts';
import { landPlace, round } from './places.ts';
import { between, chance, normal, type Random, whole } from './random.ts';

const HOUR_MS = 3_600_000;

/** Air quality of every county for the full year before `now`, with more bad days near the big cities and in the basins
 * of California. The days by category add up to `daysWithAqi`. */
export function* airQualityYears(
  counties: readonly SampleCounty[],
  now: number,
  random: Random,
): Generator<AirQualityRecord> {
  const year = new Date(now).getUTCFullYear() - 1;
  const days = (Date.UTC(year + 1, 0, 1) - Date.UTC(year, 0, 1)) / (24 * HOUR_MS);
  for (const county of counties) {
    const pollution = pollutionAt(county.centre);
    const daysWithAqi = chance(random, 0.8) ? days : whole(random, 120, days - 1);
    const share = (most: number) => Math.round(daysWithAqi * pollution * most * between(random, 0.6, 1.2));
    const hazardousDays = county.centre.lng < -104 && chance(random, 0.05) ? 1 : 0;
    const veryUnhealthyDays = hazardousDays + share(0.004);
    const unhealthyDays = share(0.03);
    const unhealthyForSensitiveGroupsDays = share(0.09);
    const moderateDays = Math.round(daysWithAqi * (0.04 + 0.4 * pollution) * between(random, 0.7, 1.2));
    const others = hazardousDays + veryUnhealthyDays + unhealthyDays + unhealthyForSensitiveGroupsDays + moderateDays;
    const worst = [
      [hazardousDays, 301, 380],
      [veryUnhealthyDays, 201, 300],
      [unhealthyDays, 151, 200],
      [unhealthyForSensitiveGroupsDays, 101, 150],
      [moderateDays, 51, 100],
    ].find(([count]) => count! > 0) ?? [0, 35, 50];
    yield {
      countyGeoid: county.geoid,
      year,
      daysWithAqi,
      goodDays: daysWithAqi - others,
      moderateDays,
      unhealthyForSensitiveGroupsDays,
      unhealthyDays,
      veryUnhealthyDays,
      hazardousDays,
      maxAqi: whole(random, worst[1]!, worst[2]!),
      // The median day is good if more than half of the days are.
      medianAqi: 2 * (daysWithAqi - others) > daysWithAqi ? whole(random, 22, 49) : whole(random, 51, 75),
    };
  }
}

/** A radon zone for every county: 1 (highest) in the northern interior and along the Appalachians, 3 on the southern
 * and western coasts and the islands. */
export function* radonZones(counties: readonly SampleCounty[], random: Random): Generator<RadonRecord> {
  for (const county of counties) yield { countyGeoid: county.geoid, zone: radonZone(county, random) };
}

function radonZone({ centre }: SampleCounty, random: Random): 1 | 2 | 3 {
  const coast = Math.min(kilometresTo('gulfAtlantic', centre), kilometresTo('pacific', centre));
  const rock = Math.exp(-kilometresTo('appalachians', centre) / 120);
  const potential = (centre.lat - 36) / 5 + 1.5 * rock - (coast < 150 ? 0.9 : 0) + 0.5 * normal(random);
  if (centre.lat < 24 || potential < -0.3) return 3;
  return potential < 0.9 ? 2 : 1;
}

/**
 * The last reading of every monitor: some around each big city, one in each square degree of land, and one in each
 * county of the territories, so that no county's centre is much farther than 80 km from one. Micrograms per cubic
 * metre, at the last full hour before `now`.
 */
export function* monitorReadings(land: Land, now: number, random: Random): Generator<ReadingRecord> {
  const measuredAt = Math.floor((now - 1) / HOUR_MS) * HOUR_MS;
  let count = 0;
  for (const place of monitorPlaces(land, random)) {
    const pollution = pollutionAt(place);
    count += 1;
    const measure = (clean: number, dirty: number, spread: number) =>
      Math.max(0, round(clean + (dirty - clean) * pollution + spread * normal(random), 1));
    const pm25 = measure(4, 14, 2.5);
    // PM10 includes the finer particles.
    const concentrations = { ozone: measure(45, 75, 12), pm25, pm10: round(pm25 + measure(7, 18, 4), 1) };
    const monitor = `sample-${String(count).padStart(5, '0')}`;
    for (const pollutant of ['ozone', 'pm25', 'pm10'] as const) {
      yield { pollutant, monitor, ...place, concentration: concentrations[pollutant], measuredAt };
    }
  }
}

function* monitorPlaces(land: Land, random: Random): Generator<Location> {
  for (const city of CITIES) {
    for (let monitor = 0; monitor < 3 + city.people / 2000; monitor += 1) {
      const place = landPlace(land, () => ({
        lat: city.lat + 0.12 * normal(random),
        lng: city.lng + 0.15 * normal(random),
      }));
      if (place) yield { lat: place.lat, lng: place.lng };
    }
  }
  for (const cell of squareDegrees(land)) {
    const middle = () => ({ lat: cell.lat + between(random, 0.3, 0.7), lng: cell.lng + between(random, 0.3, 0.7) });
    const anywhere = () => ({ lat: cell.lat + random(), lng: cell.lng + random() });
    const place = landPlace(land, middle) ?? landPlace(land, anywhere);
    if (place) yield { lat: place.lat, lng: place.lng };
  }
  // Random places almost never hit the islands.
  for (const county of land.counties) {
    const { lat, lng } = county.centre;
    if (Number(county.geoid) >= 60_000) yield { lat: round(lat, 5), lng: round(lng, 5) };
  }
}

/** The south-west corners of the square degrees that a county's box touches; some have no land. */
function squareDegrees(land: Land): Location[] {
  const cells = new Map<string, Location>();
  for (const { box } of land.counties.flatMap((county) => county.parts)) {
    for (let lat = Math.floor(box[0]); lat <= box[2]; lat += 1) {
      for (let lng = Math.floor(box[1]); lng <= box[3]; lng += 1) cells.set(`${lat}/${lng}`, { lat, lng });
    }
  }
  return [...cells.values()];
}

/** How polluted the air is, 0 to 1. */
function pollutionAt(place: Location): number {
  const smog = Math.exp(-distanceMeters(place, { lat: 34.6, lng: -118 }) / 250_000);
  const cities = CITIES.reduce(
    (sum, city) => sum + (city.people / 10_000) * Math.exp(-distanceMeters(place, city) / 40_000),
    0,
  );
  return Math.min(1, 0.1 + 0.6 * smog + 0.5 * cities);
}
