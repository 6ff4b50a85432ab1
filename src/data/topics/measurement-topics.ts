import { memo } from '../../base/memo.ts';
import type { PolygonLayer } from '../../contract/layers/layer-description.ts';
import {
  type AirQualityValue,
  CONCENTRATION_UNIT,
  type MeasurementValue,
  type PollutantValue,
  type RadonValue,
} from '../../contract/topic-values.ts';
import {
  type LayerSlug,
  type MeasurementSlug,
  ofPollutants,
  type PollutantSlug,
  type TopicSlug,
  topicOf,
} from '../../contract/topics.ts';
import { type Box, boxesAround, boxOfLocation } from '../../geo/bounding-boxes.ts';
import { distanceMeters, type Location } from '../../geo/coordinates.ts';
import { createBoxSearch } from '../../geo/outline-index.ts';
import type { Area } from '../tables/area-finder.ts';
import { type DataDatabase, type DataVersion, oncePerVersion } from '../tables/data-database.ts';
import type { ReadingRecord } from '../tables/records.ts';
import { stateOf } from '../tables/states.ts';
import { createAreaValues } from '../zones/area-values.ts';
import { createZoneFinder } from '../zones/zone-finder.ts';
import { categoryOfAqi, categoryOfConcentration } from './air-quality-index.ts';
import { MONITOR_METERS } from './coverage.ts';
import { TopicValue } from './result-text.ts';

/** Older readings are not "current" (docs/developer/service-api.md, 4.7). AirNow publishes an hour 30 minutes after its end and
 * then the next one: readings are up to 3 hours old even if every load succeeds. */
const READING_MS = 4 * 3_600_000;

/** The top of the index; `progressValue` is the median as a share of it. */
const TOP_OF_AQI = 500;

/** EPA Map of Radon Zones: the predicted average indoor screening level of a county. */
const RADON_CAPTIONS: Readonly<Record<number, string>> = {
  1: 'High potential: predicted average indoor level above 4 pCi/L',
  2: 'Moderate potential: predicted average indoor level from 2 to 4 pCi/L',
  3: 'Low potential: predicted average indoor level below 2 pCi/L',
};

/** Identical in every response (docs/developer/service-api.md, 4.8). */
const RADON_DESCRIPTION =
  'Radon is a radioactive gas that comes from the ground and cannot be seen or smelled. Homes with high levels have ' +
  'been found in all three zones, so every home should be tested, whatever its zone.';

type MonitorReading = Omit<ReadingRecord, 'pollutant'>;

/** Makes the rule of the measurement topics. There is no data when the county has no row, or no monitor within 80 km reported in the last
 * hours; when no monitor anywhere reported, the readings are too old. `airQuality`: `metric` is the category of the year's median index
 * value, `progressValue` that median as a percentage of 500, at most 100; `additionalInfo.year` is our extension. Pollutants: the newest
 * reading of the nearest monitor that reported. Zones: zone-finder.ts. The topic's dataset must be loaded. */
export function createMeasurementRule(
  database: DataDatabase,
  versionOf: DataVersion,
): (
  topic: MeasurementSlug | LayerSlug,
  location: Location,
  area: Area,
  now: number,
) => TopicValue | MissingMeasurement {
  const daysOf = database.prepare<[string], { year: number; days: string }>(
    'SELECT year, days FROM air_quality WHERE geoid = ?',
  );
  const zoneOf = database
    .prepare<[string], number>('SELECT zone FROM radon WHERE geoid = ?')
    .pluck();
  // SQLite takes the other columns from the row of the maximum.
  const newestOf = database.prepare<[PollutantSlug], MonitorReading>(
    `SELECT monitor, lat, lng, concentration, max(measured_at) AS measuredAt FROM reading_boxes
     WHERE pollutant = ? GROUP BY monitor, lat, lng`,
  );
  const isSample = database
    .prepare<[], 0 | 1>("SELECT sample FROM datasets WHERE name = 'readings'")
    .pluck();
  /** Read once per load: three searches of SQLite's R*Tree took longer than all other topics of a place. */
  const reported = oncePerVersion(versionOf, () => {
    const of = (pollutant: PollutantSlug) => {
      const readings = newestOf.all(pollutant);
      const touching = createBoxSearch(readings.map(boxOfLocation));
      const newest = readings.reduce(
        (last, reading) => Math.max(last, reading.measuredAt),
        Number.NEGATIVE_INFINITY,
      );
      // Of each monitor within a box the newest reading.
      return { within: (box: Box) => touching(box).map((index) => readings[index]!), newest };
    };
    return { isSample: isSample.get() === 1, ...ofPollutants(of) };
  });

  function airQuality(county: string): AirQualityValue | 'no_data' {
    const stored = daysOf.get(county);
    if (stored === undefined) return 'no_data';
    const additionalInfo = {
      ...JSON.parse(stored.days),
      year: stored.year,
    } as AirQualityValue['additionalInfo'];
    const median = additionalInfo.medianAqi!;
    const progressValue = Math.min(100, Math.round((median / TOP_OF_AQI) * 1_000) / 10);
    return { metric: categoryOfAqi(median), progressValue, additionalInfo };
  }

  function radon(county: string): RadonValue | 'no_data' {
    const zone = zoneOf.get(county);
    if (zone === undefined) return 'no_data';
    const [value, caption] = [`Zone ${zone}`, RADON_CAPTIONS[zone]!];
    return { title: 'EPA Radon Zone', value, caption, description: RADON_DESCRIPTION };
  }

  function pollutant(
    topic: PollutantSlug,
    location: Location,
    now: number,
  ): PollutantValue | 'no_data' | 'too_old' {
    const { isSample, [topic]: monitors } = reported();
    // Sample readings never grow old.
    const since = isSample && monitors.newest > 0 ? 0 : now - READING_MS;
    if (monitors.newest < since) return 'too_old';
    const near = boxesAround(location, MONITOR_METERS).flatMap(monitors.within);
    const current = near.filter(({ measuredAt }) => measuredAt >= since);
    const reading = nearestReading(location, current);
    if (reading === null) return 'no_data';
    return {
      measurement: { value: reading.concentration, unit: CONCENTRATION_UNIT },
      rating: categoryOfConcentration(topic, reading.concentration),
      timestamp: new Date(reading.measuredAt).toISOString(),
    };
  }

  const findZones = memo((layer: PolygonLayer) => createZoneFinder(database, versionOf, layer));
  const valuesOf = memo((layer: PolygonLayer) => createAreaValues(database, versionOf, layer));
  const inLayer = (layer: PolygonLayer, location: Location, area: Area) =>
    layer.area === undefined
      ? findZones(layer)(location, stateOf(area.county))
      : valuesOf(layer)(area);

  const rules: Readonly<Record<MeasurementSlug, MeasurementRule>> = {
    airQuality: (_, area) => airQuality(area.county),
    ...ofPollutants((topic) => (location, _, now) => pollutant(topic, location, now)),
    radon: (_, area) => radon(area.county),
  };
  return (topic, location, area, now) => {
    const { layer } = topicOf(topic);
    const value =
      layer === null
        ? rules[topic as MeasurementSlug](location, area, now)
        : // Where the layer says nothing there is no zone.
          (inLayer(layer as PolygonLayer, location, area) ?? 'no_data');
    return typeof value === 'string' ? value : new TopicValue(value);
  };
}

/** Why there is no value: the publisher has none, its readings are too old, this part of the state is not loaded, or the place has no
 * tract here. */
type MissingMeasurement = 'no_data' | 'too_old' | 'not_loaded' | 'no_tracts';

type MeasurementRule = (
  location: Location,
  area: Area,
  now: number,
) => MeasurementValue | MissingMeasurement;

function nearestReading(
  location: Location,
  readings: readonly MonitorReading[],
): MonitorReading | null {
  const measured = readings
    .map((reading) => ({ reading, meters: distanceMeters(location, reading) }))
    .filter(({ meters }) => meters <= MONITOR_METERS);
  measured.sort(
    (a, b) =>
      a.meters - b.meters ||
      b.reading.measuredAt - a.reading.measuredAt ||
      (a.reading.monitor < b.reading.monitor ? -1 : 1),
  );
  return measured[0]?.reading ?? null;
}

/** The topic whose counties may be of different years. */
export const TOPIC_OF_YEARS: TopicSlug = 'airQuality';

/** Whether counties have air quality of different years: the dataset's vintage then does not give a county's year. */
export function hasAirQualityYears(database: DataDatabase): boolean {
  return (
    database.prepare<[], 0 | 1>('SELECT min(year) < max(year) FROM air_quality').pluck().get() === 1
  );
}

/** The year of each county's air quality, by its code. */
export function airQualityYears(database: DataDatabase): ReadonlyMap<string, number> {
  return new Map(
    database.prepare<[], [string, number]>('SELECT geoid, year FROM air_quality').raw().all(),
  );
}
