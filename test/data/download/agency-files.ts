import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'csv-stringify/sync';
import type { Point } from 'geojson';
import type { ProximitySlug } from '../../../src/contract/topics.ts';
import { SITE_FORMATS } from '../../../src/data/loaders/site-formats.ts';
import { readLand } from '../../../src/data/sample/land.ts';
import type {
  AirQualityRecord,
  Dataset,
  RadonRecord,
  ReadingRecord,
  SiteRecord,
} from '../../../src/data/tables/records.ts';

/** A written file, and the loader that reads it. */
export interface AgencyFile {
  readonly loader: string;
  readonly file: string;
  /** The loader's second file, if it has one. */
  readonly sites?: string;
}

/** Topics whose sites are not all points, published as GeoJSON. */
const SHAPES: readonly ProximitySlug[] = ['naturalGasPipeline', 'highVoltageLine', 'park'];

/** The agencies' names for the coordinates, where they are not Latitude and Longitude. */
const COORDINATES: Readonly<Partial<Record<ProximitySlug, readonly [lat: string, lng: string]>>> = {
  toxicReleaseInventory: ['12. LATITUDE', '13. LONGITUDE'],
  cellTower: ['latdec', 'londec'],
};

const AQI_COLUMNS = [
  ...['State', 'County', 'Year', 'Days with AQI', 'Good Days', 'Moderate Days'],
  ...['Unhealthy for Sensitive Groups Days', 'Unhealthy Days', 'Very Unhealthy Days', 'Hazardous Days'],
  ...['Max AQI', 'Median AQI'],
];

/** Writes sites or measurements in the format of their agency's file. */
export function writeAgencyFile(dataset: Dataset, folder: string): AgencyFile {
  const write = (loader: string, extension: string, text: string) => {
    const file = join(folder, `${loader}.${extension}`);
    writeFileSync(file, text);
    return { loader, file };
  };
  switch (dataset.kind) {
    case 'sites': {
      const { topic } = dataset;
      const loader = Object.entries(SITE_FORMATS).find(([, format]) => format.topic === topic)![0];
      const records = [...dataset.records];
      if (!SHAPES.includes(topic)) return write(loader, 'csv', pointTable(records, COORDINATES[topic]));
      const features = records.map(({ properties, geometry }) => ({ type: 'Feature', properties, geometry }));
      return write(loader, 'geojson', JSON.stringify({ type: 'FeatureCollection', features }));
    }
    case 'airQuality':
      return write('air-quality', 'csv', stringify([AQI_COLUMNS, ...airQualityRows(dataset.records)]));
    case 'radon':
      return write('radon', 'csv', stringify([['CountyFIPS', 'RadonZone'], ...radonRows(dataset.records)]));
    case 'readings': {
      const { hourly, sites } = readingRows([...dataset.records]);
      const written = write('airnow', 'dat', stringify(hourly, { delimiter: '|' }));
      return { ...written, sites: write('airnow-sites', 'dat', stringify(sites, { delimiter: '|' })).file };
    }
    default:
      throw new Error(`No file of ${dataset.kind} is needed`);
  }
}

function pointTable(
  sites: readonly SiteRecord[],
  coordinates: readonly [string, string] = ['Latitude', 'Longitude'],
): string {
  const names = Object.keys(sites[0]!.properties);
  const rows = sites.map(({ geometry, properties }) => {
    const [lng, lat] = (geometry as Point).coordinates;
    return [...names.map((name) => String(properties[name] ?? '')), lat, lng];
  });
  return stringify([[...names, ...coordinates], ...rows]);
}

function airQualityRows(years: Iterable<AirQualityRecord>): unknown[][] {
  const counties = new Map(readLand().counties.map(({ geoid, state, name }) => [geoid, [state, name]]));
  return [...years].map(({ countyGeoid, year, ...days }) => {
    const { daysWithAqi, goodDays, moderateDays, unhealthyForSensitiveGroupsDays, ...others } = days;
    const { unhealthyDays, veryUnhealthyDays, hazardousDays, maxAqi, medianAqi } = others;
    const first = [...counties.get(countyGeoid)!, year, daysWithAqi, goodDays, moderateDays];
    return [
      ...first,
      ...[unhealthyForSensitiveGroupsDays, unhealthyDays, veryUnhealthyDays, hazardousDays, maxAqi, medianAqi],
    ];
  });
}

function radonRows(zones: Iterable<RadonRecord>): unknown[][] {
  return [...zones].map(({ countyGeoid, zone }) => [countyGeoid, zone]);
}

/** AirNow's hourly file, in which ozone is in ppb, and the file of its monitors. */
function readingRows(readings: readonly ReadingRecord[]): { hourly: unknown[][]; sites: unknown[][] } {
  const hourly = readings.map(({ pollutant, monitor, concentration, measuredAt }) => {
    const iso = new Date(measuredAt).toISOString();
    const date = `${iso.slice(5, 7)}/${iso.slice(8, 10)}/${iso.slice(2, 4)}`;
    const measured = {
      ozone: ['OZONE', 'PPB', (concentration * 24.45) / 48],
      pm25: ['PM2.5', 'UG/M3', concentration],
      pm10: ['PM10', 'UG/M3', concentration],
    }[pollutant];
    return [date, iso.slice(11, 16), monitor, monitor, 0, ...measured, 'Sample agency'];
  });
  const monitors = readings.map(({ monitor, lat, lng }) => [monitor, monitor, '', monitor, lat, lng, '']);
  const header = ['StationID', 'AQSID', 'Parameter', 'SiteName', 'Latitude', 'Longitude', 'AgencyName'];
  return { hourly, sites: [header, ...monitors] };
}
