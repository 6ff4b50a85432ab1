import type { MeasurementSlug } from '../../contract/topics.ts';
import {
  type AirQualityValue,
  CONCENTRATION_UNIT,
  type PollutantValue,
  type RadonValue,
} from '../../contract/values.ts';
import type { Location } from '../../geo/coordinates.ts';
import { distanceMeters } from '../../geo/distance.ts';
import type { Area } from '../data/area-finder.ts';
import { boxesAround } from '../data/bounding-boxes.ts';
import type { ServiceDatabase } from '../data/database.ts';
import { categoryOfAqi, categoryOfConcentration } from './air-quality-index.ts';
import type { ResultText } from './result-text.ts';

/** A monitor farther away says nothing of the air at a location. */
export const MONITOR_METERS = 80_000;

/** Where the index ends; `progressValue` is the median as a share of it. */
const TOP_OF_AQI = 500;

/** EPA Map of Radon Zones: what was predicted for the average indoor screening level of a county. */
const RADON_CAPTIONS: Readonly<Record<number, string>> = {
  1: 'High potential: predicted average indoor level above 4 pCi/L',
  2: 'Moderate potential: predicted average indoor level from 2 to 4 pCi/L',
  3: 'Low potential: predicted average indoor level below 2 pCi/L',
};

/** Identical on every response (contract, radon). */
const RADON_DESCRIPTION =
  'Radon is a radioactive gas that comes from the ground and cannot be seen or smelled. Homes with high levels have ' +
  'been found in all three zones, so every home should be tested, whatever its zone.';

interface Reading {
  readonly monitor: string;
  readonly lat: number;
  readonly lng: number;
  readonly concentration: number;
  readonly measured_at: number;
}

/**
 * Makes the function that answers a measurement topic; null when the county has no row, or no monitor stands within 80 km.
 * `airQuality`: `metric` is the category of the year's median index value, `progressValue` that median as a percentage of
 * the index's 500, at most 100. Pollutants: the nearest monitor, its newest reading. `details` is always null.
 */
export function createMeasurementAnswers(
  database: ServiceDatabase,
): (topic: MeasurementSlug, location: Location, area: Area) => ResultText | null {
  const daysOf = database.prepare<[string], string>('SELECT days FROM air_quality WHERE county = ?').pluck();
  const zoneOf = database.prepare<[string], number>('SELECT zone FROM radon WHERE county = ?').pluck();
  const readingsIn = database.prepare<[string, number, number, number, number], Reading>(
    `SELECT monitor, lat, lng, concentration, measured_at FROM reading_boxes
     WHERE pollutant = ? AND min_lng <= ? AND max_lng >= ? AND min_lat <= ? AND max_lat >= ?`,
  );

  function airQuality(county: string): AirQualityValue | null {
    const days = daysOf.get(county);
    if (days === undefined) return null;
    const additionalInfo: AirQualityValue['additionalInfo'] = JSON.parse(days);
    const median = additionalInfo.medianAqi!;
    const progressValue = Math.min(100, Math.round((median / TOP_OF_AQI) * 1_000) / 10);
    return { metric: categoryOfAqi(median), progressValue, additionalInfo };
  }

  function radon(county: string): RadonValue | null {
    const zone = zoneOf.get(county);
    if (zone === undefined) return null;
    return {
      title: 'EPA Radon Zone',
      value: `Zone ${zone}`,
      caption: RADON_CAPTIONS[zone]!,
      description: RADON_DESCRIPTION,
    };
  }

  function pollutant(topic: 'ozone' | 'pm25' | 'pm10', location: Location): PollutantValue | null {
    const readings = boxesAround(location, MONITOR_METERS).flatMap((box) =>
      readingsIn.all(topic, box.maxLng, box.minLng, box.maxLat, box.minLat),
    );
    const reading = nearestReading(location, readings);
    if (reading === null) return null;
    return {
      measurement: { value: reading.concentration, unit: CONCENTRATION_UNIT },
      rating: categoryOfConcentration(topic, reading.concentration),
      timestamp: new Date(reading.measured_at).toISOString(),
    };
  }

  return (topic, location, area) => {
    const value =
      topic === 'airQuality'
        ? airQuality(area.county)
        : topic === 'radon'
          ? radon(area.county)
          : pollutant(topic, location);
    return value === null ? null : { value: JSON.stringify(value), details: ['null'] };
  };
}

function nearestReading(location: Location, readings: readonly Reading[]): Reading | null {
  const measured = readings
    .map((reading) => ({ reading, meters: distanceMeters(location, reading) }))
    .filter(({ meters }) => meters <= MONITOR_METERS);
  measured.sort(
    (a, b) =>
      a.meters - b.meters ||
      b.reading.measured_at - a.reading.measured_at ||
      (a.reading.monitor < b.reading.monitor ? -1 : 1),
  );
  return measured[0]?.reading ?? null;
}
