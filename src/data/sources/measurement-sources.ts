import { POLLUTANTS } from '../../contract/topics.ts';
import { MB, type SourceRow } from './source.ts';

const AIRNOW = 'https://files.airnowtech.org/airnow/today';
const AIRNOW_DATES = 'https://files.airnowtech.org/airnow/{year}/{date}';
const RADON = { kind: 'layer', as: 'csv', fields: '^(CountyFIPS|CountyName|StateName|RadonZone)$' } as const;

export const MEASUREMENT_SOURCES: readonly SourceRow[] = [
  {
    name: 'air-quality',
    title: 'EPA Air Quality System, annual AQI by county',
    topics: ['airQuality'],
    // The current year is published too but is incomplete.
    download: {
      kind: 'file',
      files: [{ url: 'https://aqs.epa.gov/aqsweb/airdata/annual_aqi_by_county_{year}.zip' }],
      years: { newest: 1, oldest: 2015 },
      // The last year is published too before it is complete, in summer. Loaded when needed: a plan reads this table too.
      isWholeYear: async (file) => await (await import('../loaders/county-loaders.ts')).isWholeYear(file),
    },
    bytes: 0.03 * MB,
    rows: 1_000,
    staleAfterDays: 180,
    oldAfterDays: 420,
    cadence: 'twice a year',
  },
  {
    name: 'airnow',
    title: 'EPA AirNow, ozone, PM2.5 and PM10 of the last hour',
    topics: POLLUTANTS,
    download: {
      kind: 'file',
      files: [
        { url: `${AIRNOW}/HourlyData_{hour}.dat` },
        { url: `${AIRNOW}/Monitoring_Site_Locations_V2.dat`, as: 'sites' },
      ],
      hours: 4,
    },
    else: [
      {
        from: 'the folder of the date',
        download: {
          kind: 'file',
          files: [
            { url: `${AIRNOW_DATES}/HourlyData_{hour}.dat` },
            { url: `${AIRNOW_DATES}/Monitoring_Site_Locations_V2.dat`, as: 'sites' },
          ],
          hours: 4,
        },
      },
    ],
    least: 1_200,
    bytes: 5.5 * MB,
    rows: 10_000,
    staleAfterDays: 0,
    oldAfterDays: 1,
    cadence: 'hourly',
    isNearRealTime: true,
  },
  {
    name: 'radon',
    title: 'EPA Map of Radon Zones, counties',
    topics: ['radon'],
    // The .xls of the same table cannot be read.
    download: { ...RADON, layer: 'https://gispub.epa.gov/arcgis/rest/services/ORD/ROE_Radon/MapServer/0' },
    else: [
      {
        from: 'geodata.epa.gov',
        download: { ...RADON, layer: 'https://geodata.epa.gov/arcgis/rest/services/ORD/ROE_Radon/MapServer/0' },
      },
    ],
    columns: [['CountyFIPS'], ['RadonZone']],
    bytes: 0.2 * MB,
    rows: 3_144,
    staleAfterDays: 3650,
    cadence: 'never: drawn in 1993',
  },
];
