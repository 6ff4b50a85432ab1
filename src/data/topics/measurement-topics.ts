import {
  type AirQualityValue,
  CONCENTRATION_UNIT,
  type PollutantValue,
  type RadonValue,
} from '../../contract/topic-values.ts';
import type { MeasurementSlug } from '../../contract/topics.ts';
import type { Location } from '../../geo/coordinates.ts';
import { distanceMeters } from '../../geo/distance.ts';
import type { Area } from '../tables/area-finder.ts';
import { boxesAround } from '../tables/bounding-boxes.ts';
import type { DataDatabase } from '../tables/data-database.ts';
import { type DataVersion, oncePerVersion } from '../tables/data-version.ts';
import { categoryOfAqi, categoryOfConcentration } from './air-quality-index.ts';
import type { MissingReason, ResultText } from './result-text.ts';

/** Older readings are not "current" (docs/service-api.md, 4.7). AirNow publishes an hour 30 minutes after its end and
 * then the next one: readings are up to 3 hours old even if every load succeeds. */
const READING_MS = 4 * 3_600_000;

/** A monitor farther away says nothing about the air at a location. */
const MONITOR_METERS = 80_000;

/** The top of the index; `progressValue` is the median as a share of it. */
const TOP_OF_AQI = 500;

/** EPA Map of Radon Zones: the predicted average indoor screening level of a county. */
const RADON_CAPTIONS: Readonly<Record<number, string>> = {
  1: 'High potential: predicted average indoor level above 4 pCi/L',
  2: 'Moderate potential: predicted average indoor level from 2 to 4 pCi/L',
  3: 'Low potential: predicted average indoor level below 2 pCi/L',
};

/** Identical in every response (docs/service-api.md, 4.8). */
const RADON_DESCRIPTION =
  'Radon is a radioactive gas that comes from the ground and cannot be seen or smelled. Homes with high levels have ' +
  'been found in all three zones, so every home should be tested, whatever its zone.';

type Pollutant = 'ozone' | 'pm25' | 'pm10';

interface MonitorReading {
  readonly monitor: string;
  readonly lat: number;
  readonly lng: number;
  readonly concentration: number;
  readonly measured_at: number;
}

/**
 * Makes the function that answers a measurement topic. There is no data when the county has no row, or no monitor
 * within 80 km reported in the last hours; when no monitor anywhere reported, the readings are too old and the topic is
 * unavailable. `airQuality`: `metric` is the category of the year's median index value, `progressValue` that median as
 * a percentage of 500, at most 100; `additionalInfo.year` is our extension. Pollutants: the newest reading of the
 * nearest monitor that reported. `details` is always null. The topic's dataset must be loaded.
 */
export function createMeasurementAnswers(
  database: DataDatabase,
  versionOf: DataVersion,
): (topic: MeasurementSlug, location: Location, area: Area, now: number) => ResultText | MissingReason {
  const daysOf = database.prepare<[string], { year: number; days: string }>(
    'SELECT year, days FROM air_quality WHERE county = ?',
  );
  const zoneOf = database.prepare<[string], number>('SELECT zone FROM radon WHERE county = ?').pluck();
  const readingsIn = database.prepare<[Pollutant, number, number, number, number, number], MonitorReading>(
    `SELECT monitor, lat, lng, concentration, measured_at FROM reading_boxes
     WHERE pollutant = ? AND measured_at >= ? AND min_lng <= ? AND max_lng >= ? AND min_lat <= ? AND max_lat >= ?`,
  );

  const newestOf = database
    .prepare<[Pollutant], number | null>('SELECT max(measured_at) FROM reading_boxes WHERE pollutant = ?')
    .pluck();
  const isSample = database.prepare<[], 0 | 1>("SELECT sample FROM datasets WHERE name = 'readings'").pluck();
  /** When each pollutant was last measured anywhere; computed once per load, because it reads all readings. */
  const newestReadings = oncePerVersion(versionOf, () => {
    const isSampleData = isSample.get() === 1;
    const at = (pollutant: Pollutant) => {
      const measuredAt = newestOf.get(pollutant) ?? Number.NEGATIVE_INFINITY;
      // Sample readings never grow old.
      return isSampleData && measuredAt > 0 ? Number.POSITIVE_INFINITY : measuredAt;
    };
    return { ozone: at('ozone'), pm25: at('pm25'), pm10: at('pm10') };
  });

  function airQuality(county: string): AirQualityValue | MissingReason {
    const found = daysOf.get(county);
    if (found === undefined) return 'no_data';
    const additionalInfo = { ...JSON.parse(found.days), year: found.year } as AirQualityValue['additionalInfo'];
    const median = additionalInfo.medianAqi!;
    const progressValue = Math.min(100, Math.round((median / TOP_OF_AQI) * 1_000) / 10);
    return { metric: categoryOfAqi(median), progressValue, additionalInfo };
  }

  function radon(county: string): RadonValue | MissingReason {
    const zone = zoneOf.get(county);
    if (zone === undefined) return 'no_data';
    return {
      title: 'EPA Radon Zone',
      value: `Zone ${zone}`,
      caption: RADON_CAPTIONS[zone]!,
      description: RADON_DESCRIPTION,
    };
  }

  function pollutant(topic: Pollutant, location: Location, now: number): PollutantValue | MissingReason {
    const newestAnywhere = newestReadings()[topic];
    if (newestAnywhere < now - READING_MS) return 'unavailable';
    const since = Number.isFinite(newestAnywhere) ? now - READING_MS : 0;
    const readings = boxesAround(location, MONITOR_METERS).flatMap((box) =>
      readingsIn.all(topic, since, box.maxLng, box.minLng, box.maxLat, box.minLat),
    );
    const reading = nearestReading(location, readings);
    if (reading === null) return 'no_data';
    return {
      measurement: { value: reading.concentration, unit: CONCENTRATION_UNIT },
      rating: categoryOfConcentration(topic, reading.concentration),
      timestamp: new Date(reading.measured_at).toISOString(),
    };
  }

  return (topic, location, area, now) => {
    const value =
      topic === 'airQuality'
        ? airQuality(area.county)
        : topic === 'radon'
          ? radon(area.county)
          : pollutant(topic, location, now);
    return typeof value === 'string' ? value : { value: JSON.stringify(value), details: ['null'] };
  };
}

function nearestReading(location: Location, readings: readonly MonitorReading[]): MonitorReading | null {
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
