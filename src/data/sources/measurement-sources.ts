import { FLOOD_ZONES } from '../../contract/layers/flood-zones.ts';
import { POLLUTANTS } from '../../contract/topics.ts';
import { fieldsOf } from '../zones/zone-layer.ts';
import {
  ALL_TERRITORIES,
  type FileDownload,
  layerAt,
  MB,
  NEWEST_COPY,
  published,
  type SourceRow,
} from './source.ts';

const AQI = 'https://aqs.epa.gov/aqsweb/airdata/annual_aqi_by_county_{year}.zip';
const AQI_YEARS = {
  kind: 'file',
  years: { newest: 1, oldest: 2015 },
  // The last year is published too before it is complete, in summer. Loaded when needed: a plan reads this table too.
  isWholeYear: async (file: string) =>
    await (await import('../loaders/county-loaders.ts')).isWholeYear(file),
} as const;
const AIRNOW = 'files.airnowtech.org/airnow';
/** The readings of the last hours and the monitors, in a folder. */
const hourly = (folder: string): FileDownload => ({
  kind: 'file',
  files: [
    { url: `${folder}/HourlyData_{hour}.dat` },
    { url: `${folder}/Monitoring_Site_Locations_V2.dat`, as: 'sites' },
  ],
  hours: 4,
});
const RADON = { as: 'csv', fields: '^(CountyFIPS|CountyName|StateName|RadonZone)$' } as const;
const RADON_LAYER = 'arcgis/rest/services/ORD/ROE_Radon/MapServer/0';

const NFHL = 'https://hazards.fema.gov/arcgis/rest/services/public/NFHL/MapServer';
const FLOOD_FIELDS = fieldsOf(FLOOD_ZONES);
const only = (names: readonly string[]) => `^(${names.join('|')})$`;
/** About a metre: the maps are drawn to some 12. */
const FLOOD_LINES = { simplifiedBy: 0.00001, pageRows: 500 } as const;

export const MEASUREMENT_SOURCES: readonly SourceRow[] = [
  {
    name: 'air-quality',
    territories: ['PR', 'VI'],
    title: 'EPA Air Quality System, annual AQI by county',
    topics: ['airQuality'],
    // The current year is published too but is incomplete.
    download: { ...AQI_YEARS, files: [{ url: AQI }] },
    else: [
      {
        from: 'the Internet Archive',
        download: { ...AQI_YEARS, files: [{ url: `${NEWEST_COPY}${AQI}` }] },
      },
    ],
    bytes: 0.03 * MB,
    rows: 1_000,
    ...published('twice a year', 180, 420),
  },
  {
    name: 'airnow',
    territories: ['PR'],
    title: 'EPA AirNow, ozone, PM2.5 and PM10 of the last hour',
    topics: POLLUTANTS,
    download: hourly(`https://${AIRNOW}/today`),
    else: [
      { from: 'the folder of the date', download: hourly(`https://${AIRNOW}/{year}/{date}`) },
      {
        from: 'its storage',
        download: hourly(`https://s3-us-west-1.amazonaws.com/${AIRNOW}/{year}/{date}`),
      },
    ],
    least: 1_200,
    bytes: 5.5 * MB,
    rows: 10_000,
    ...published('hourly', 0, 1),
    isNearRealTime: true,
  },
  {
    name: 'radon',
    territories: [],
    title: 'EPA Map of Radon Zones, counties',
    topics: ['radon'],
    // The .xls of the same table cannot be read.
    download: layerAt(`https://gispub.epa.gov/${RADON_LAYER}`, RADON),
    else: [
      {
        from: 'geodata.epa.gov',
        download: layerAt(`https://geodata.epa.gov/${RADON_LAYER}`, RADON),
      },
    ],
    columns: [['CountyFIPS'], ['RadonZone']],
    bytes: 0.2 * MB,
    rows: 3_144,
    ...published('never: drawn in 1993', 3650),
  },
  {
    name: 'flood-zones',
    territories: ALL_TERRITORIES,
    title: 'FEMA National Flood Hazard Layer, zones and panels of the flood insurance rate maps',
    topics: ['floodZone'],
    // All zones are gigabytes.
    when: 'states',
    download: layerAt(`${NFHL}/28`, {
      fields: only(FLOOD_FIELDS.zones),
      more: [{ layer: `${NFHL}/3`, fields: only(FLOOD_FIELDS.sheets), ...FLOOD_LINES }],
      stateWhere: "DFIRM_ID LIKE '{fips}%'",
      unit: 'DFIRM_ID',
      aroundPlaces: FLOOD_ZONES.distance_m,
      ...FLOOD_LINES,
    }),
    columns: [['DFIRM_ID'], ['FLD_ZONE'], ['ZONE_SUBTY'], ['SFHA_TF']],
    bytes: 8_000 * MB,
    ...published('by the day, a county at a time', 30),
    note: 'A zone of the map in force, not a determination for a lender, not the depth of a flood, and nothing of a future climate. Letters that take single buildings out of a zone (LOMA) are not in it.',
  },
];
