import { NATURAL_SLUGS } from '../../contract/topics.ts';
import { FEMA_SENTENCE, NRI_PREFIXES } from '../loaders/nri.ts';
import {
  ALL_TERRITORIES,
  fileAt,
  layerAt,
  linkedAt,
  MB,
  NEWEST_COPY,
  published,
  type SourceRow,
} from './source.ts';

/** Files before 2022 have Connecticut's eight counties, which the National Risk Index no longer has. */
const BOUNDARY_YEARS = { years: { newest: 0, oldest: 2022 } };
const BOUNDARIES = 'https://www2.census.gov/geo/tiger/GENZ{year}/shp/cb_{year}';
const BASE = {
  topics: [],
  when: 'base',
  isMeasured: true,
  ...published('yearly, in spring', 365, 640),
} as const;
/** The same tracts and counties as a map service, which takes 1,000 outlines at a time; simplified to 10 m, a tenth of what the files are. */
const TIGERWEB = 'https://tigerweb.geo.census.gov/arcgis/rest/services/TIGERweb';
const OUTLINES = { simplifiedBy: 0.0001, pageRows: 1_000 } as const;
const TRACT_OUTLINES = layerAt(`${TIGERWEB}/Tracts_Blocks/MapServer/0`, {
  ...OUTLINES,
  stateWhere: "STATE='{fips}'",
});
const COUNTY_OUTLINES = layerAt(`${TIGERWEB}/State_County/MapServer/1`, OUTLINES);
const FEMA = 'https://services.arcgis.com/XG15cJAlne2vxtgt/arcgis/rest/services';
/** 76 of 469 fields: codes, version, of each of the 18 hazards its rating, score, frequency and loss rate, and their composite. */
const NRI_FIELDS =
  '^(TRACTFIPS|STCOFIPS|STATEFIPS|STATEABBRV|NRI_VER|ALR_VALB|[A-Z]{4}_(RISKR|RISKS|AFREQ|ALRB))$';
const NRI_LAYER = { stateWhere: "STATEABBRV='{state}'", as: 'csv', fields: NRI_FIELDS } as const;
const BY_HAND =
  "Taken from FEMA's map service. If that fails: download the files of fema.gov/about/openfema/data-sets/national-risk-index-data in a browser, then: perilbook data load nri FILE";

const HAZARD_COLUMNS = NRI_PREFIXES.flatMap(([, ...prefixes]) =>
  ['RISKR', 'RISKS', 'AFREQ'].map((suffix) => prefixes.map((prefix) => `${prefix}_${suffix}`)),
);

/** It refuses most programs, not all. */
const OPENFEMA = 'https://www.fema.gov/about/reports-and-data/openfema/nri/v120';

const NRI = {
  loader: 'nri',
  topics: NATURAL_SLUGS,
  ...published('every one to three years', 365, 1_200),
  licence: FEMA_SENTENCE,
  saysAccess: true,
  note: BY_HAND,
  isNoteOfServer: true,
} as const;
const SPC = 'https://www.spc.noaa.gov/wcm/';
const SPC_YEARS = { years: { newest: 1, oldest: 2024 } };
const TORNADO_FILE = { ...fileAt(`${SPC}data/1950-{year}_actual_tornadoes.csv`), ...SPC_YEARS };
const YEARLY = published('yearly, in March or April', 180, 600);
const IBTRACS =
  'https://www.ncei.noaa.gov/data/international-best-track-archive-for-climate-stewardship-ibtracs/v04r01/access/csv/ibtracs.since1980.list.v04r01.csv';
const HURDAT = 'https://www.nhc.noaa.gov/data/hurdat/';
const HURDAT_DATES = '-(\\d{4})-(\\d{6,8})\\.txt';
const HURDAT_FILES = ['1851-2025-091226', 'nepac-1949-2025-091426'].map((name) => ({
  url: `${HURDAT}hurdat2-${name}.txt`,
}));
const QUAKE_QUERY =
  'eventtype=earthquake&minmagnitude=2.5&starttime={from}&endtime={to}' +
  '&minlatitude={minlat}&maxlatitude={maxlat}&minlongitude={minlng}&maxlongitude={maxlng}';
const USGS = 'https://earthquake.usgs.gov/fdsnws/event/1';
const NIFC = 'https://services3.arcgis.com/T4QMspbfLg3qTGWY/arcgis/rest/services';
/** Without prescribed fires (RX). */
const WILDFIRES = "IncidentTypeCategory='WF'";
const ESRI = 'https://services9.arcgis.com/RHVPKKiFTONKtxq3/arcgis/rest/services';
const FIRES_OF_ESRI = layerAt(`${ESRI}/USA_Wildfires_v1/FeatureServer/0`, { where: WILDFIRES });
const NIFC_LICENCE =
  'National Interagency Fire Center, WFIGS (NIFC/WFIGS): a work of the US government, in the public domain, without any warranty.';
const FIRES = { topics: ['wildfire'], licence: NIFC_LICENCE } as const satisfies Partial<SourceRow>;

export const NATURAL_SOURCES: readonly SourceRow[] = [
  {
    name: 'areas',
    territories: ALL_TERRITORIES,
    ...BASE,
    title: 'US Census Bureau, cartographic boundaries of census tracts',
    download: {
      ...fileAt(`${BOUNDARIES}_us_tract_500k.zip`, {
        stateUrl: `${BOUNDARIES}_{fips}_tract_500k.zip`,
      }),
      ...BOUNDARY_YEARS,
    },
    else: [{ from: 'TIGERweb', download: TRACT_OUTLINES, mostBytes: 2_000 * MB }],
    bytes: 57.8 * MB,
    stateBytes: { CA: 4.28 * MB, PA: 1.68 * MB },
    rows: 85_185,
  },
  {
    name: 'counties',
    territories: ALL_TERRITORIES,
    ...BASE,
    title: 'US Census Bureau, cartographic boundaries of counties',
    download: { ...fileAt(`${BOUNDARIES}_us_county_500k.zip`), ...BOUNDARY_YEARS },
    else: [{ from: 'TIGERweb', download: COUNTY_OUTLINES, mostBytes: 500 * MB }],
    bytes: 11.8 * MB,
    rows: 3_235,
  },
  // FEMA's ArcGIS service holds the same table; fema.gov answers 403 to scripts.
  {
    name: 'nri-tracts',
    territories: ALL_TERRITORIES,
    title: 'FEMA National Risk Index, census tracts',
    ...NRI,
    download: layerAt(`${FEMA}/National_Risk_Index_Census_Tracts/FeatureServer/0`, NRI_LAYER),
    columns: [['TRACTFIPS'], ...HAZARD_COLUMNS],
    else: [
      {
        from: 'fema.gov',
        download: fileAt(`${OPENFEMA}/NRI_Table_CensusTracts.zip`),
        mostBytes: 1_000 * MB,
      },
    ],
    bytes: 60 * MB,
    rows: 85_154,
  },
  {
    name: 'nri-counties',
    territories: ALL_TERRITORIES,
    title: 'FEMA National Risk Index, counties',
    ...NRI,
    download: layerAt(`${FEMA}/National_Risk_Index_Counties/FeatureServer/0`, NRI_LAYER),
    columns: [['STCOFIPS'], ...HAZARD_COLUMNS],
    else: [{ from: 'fema.gov', download: fileAt(`${OPENFEMA}/NRI_Table_Counties.zip`) }],
    bytes: 2.5 * MB,
    rows: 3_232,
  },
  // Storm reports and tracks. The file names contain years and days, so the linking page is read first.
  {
    name: 'tornado',
    territories: ['PR'],
    title: 'NOAA Storm Prediction Center, tornadoes since 1950',
    topics: ['tornado'],
    // The file of all years is closed before its last year ends (2025: on September 9); that year has a file of its own.
    download: {
      ...linkedAt(SPC, '1950-(\\d{4})_actual_tornadoes\\.csv'),
      more: ['(\\d{4})_torn\\.csv'],
    },
    else: [
      { from: 'its usual address, without the file of the last year', download: TORNADO_FILE },
    ],
    bytes: 9 * MB,
    isMeasured: true,
    rows: 73_458,
    ...YEARLY,
  },
  {
    name: 'hail',
    territories: ['PR'],
    title: 'NOAA Storm Prediction Center, hail since 1955',
    topics: ['hail'],
    // The same file without .zip is 404.
    download: linkedAt(SPC, '1955-(\\d{4})_hail\\.csv\\.zip'),
    else: [
      {
        from: 'its usual address',
        download: { ...fileAt(`${SPC}data/1955-{year}_hail.csv.zip`), ...SPC_YEARS },
      },
    ],
    bytes: 8.3 * MB,
    isMeasured: true,
    rows: 414_481,
    ...YEARLY,
  },
  {
    name: 'hurdat2',
    // The basins are the Atlantic and the eastern and central Pacific.
    territories: ['PR', 'VI'],
    title: 'NOAA National Hurricane Center, HURDAT2: tracks of Atlantic and eastern Pacific storms',
    topics: ['hurricane'],
    download: linkedAt(HURDAT, `hurdat2-1851${HURDAT_DATES}`, `hurdat2-nepac-1949${HURDAT_DATES}`),
    else: [
      { from: 'the files of September 2026', download: { kind: 'file', files: HURDAT_FILES } },
    ],
    bytes: 11.2 * MB,
    isMeasured: true,
    rows: 95_000,
    firstLine: '^(AL|EP|CP)\\d{6},',
    ...published('once or twice a year', 90, 600),
  },
  {
    name: 'ibtracs',
    territories: ALL_TERRITORIES,
    title: 'NOAA NCEI, IBTrACS: storm tracks of all basins since 1980 (in place of hurdat2)',
    topics: ['hurricane'],
    when: 'named',
    replaces: 'hurdat2',
    // One file for all basins: a storm that crosses basins is in the files of both.
    download: fileAt(IBTRACS),
    else: [{ from: 'the Internet Archive', download: fileAt(`${NEWEST_COPY}${IBTRACS}`) }],
    least: 100_000,
    bytes: 144 * MB,
    isMeasured: true,
    firstLine: '^"?SID',
    ...published('about weekly', 7, 60),
    note: 'Cite: Knapp et al. 2010, doi:10.25921/82ty-9e16. It replaces hurdat2; get hurdat2 to go back.',
  },
  {
    name: 'earthquakes',
    territories: ALL_TERRITORIES,
    title: 'USGS ANSS Comprehensive Earthquake Catalog, magnitude 2.5 and more since 1900',
    topics: ['earthquake'],
    download: {
      kind: 'spans',
      url: `${USGS}/query?format=csv&${QUAKE_QUERY}&orderby=time-asc`,
      countUrl: `${USGS}/count?format=text&${QUAKE_QUERY}`,
      // The catalog rejects larger queries.
      mostRows: 20_000,
      // The search radius of 100 km around every US location, which may be 25 km off the drawn coast (source-requests.test.ts).
      boxes: {
        states: { minLat: 23.3, maxLat: 50.6, minLng: -126.6, maxLng: -65.2 },
        alaska: { minLat: 50, maxLat: 72.6, minLng: -180, maxLng: -127.8 },
        // The Aleutian Islands beyond the 180th meridian.
        aleutians: { minLat: 50, maxLat: 54.2, minLng: 170.4, maxLng: 180 },
        // As far as Kure Atoll.
        hawaii: { minLat: 17.7, maxLat: 29.6, minLng: -179.8, maxLng: -153.5 },
        caribbean: { minLat: 16.5, maxLat: 19.7, minLng: -69.2, maxLng: -63.3 },
        marianas: { minLat: 12, maxLat: 21.8, minLng: 143.4, maxLng: 147.4 },
        samoa: { minLat: -15.7, maxLat: -9.9, minLng: -172.4, maxLng: -166.9 },
      },
    },
    least: 50_000,
    bytes: 50 * MB,
    firstLine: '^time,latitude,longitude,depth,mag',
    ...published('by the minute', 1),
    isNearRealTime: true,
  },
  {
    name: 'wildfire-incidents',
    territories: [],
    title: 'NIFC WFIGS, fires that burn now',
    ...FIRES,
    // Not by state: most states have no fire at a given time.
    download: layerAt(`${NIFC}/WFIGS_Incident_Locations_Current/FeatureServer/0`, {
      where: WILDFIRES,
    }),
    else: [{ from: "Esri's copy", download: FIRES_OF_ESRI }],
    bytes: 2 * MB,
    rows: 650,
    ...published('every 5 minutes', 0, 2),
    isNearRealTime: true,
  },
  {
    name: 'wildfire-history',
    territories: [],
    title: 'NIFC WFIGS, fires of past years since 2014, of 10 acres and more',
    ...FIRES,
    download: layerAt(`${NIFC}/WFIGS_Incident_Locations/FeatureServer/0`, {
      // NIFC asks for fixed dates instead of CURRENT_TIMESTAMP.
      where: `${WILDFIRES} AND IncidentSize>=10 AND FireDiscoveryDateTime < TIMESTAMP '{thisYear} 00:00:00'`,
      stateWhere: "POOState='{postalState}'",
    }),
    least: 5_000,
    bytes: 200 * MB,
    ...published('daily', 30, 30),
  },
  {
    name: 'wildfire-perimeters',
    territories: [],
    title: 'NIFC WFIGS, outlines of fires since 2021',
    ...FIRES,
    download: layerAt(`${NIFC}/WFIGS_Interagency_Perimeters/FeatureServer/0`, {
      where: "attr_IncidentTypeCategory='WF'",
      stateWhere: "attr_POOState='{postalState}'",
      // About 50 m.
      simplifiedBy: 0.0005,
      pageRows: 500,
    }),
    least: 5_000,
    bytes: 100 * MB,
    mostBytes: 2_000 * MB,
    ...published('daily', 1, 30),
  },
];
