import { MB, type Source } from './source.ts';

/** Files before 2022 have Connecticut's eight counties, which the National Risk Index no longer has. */
const YEARS = { newest: 0, oldest: 2022 };
const FOLDER = 'https://www2.census.gov/geo/tiger/GENZ{year}/shp';
const CADENCE = 'yearly, in spring';

export const CENSUS_BOUNDARIES: readonly Source[] = [
  {
    name: 'areas',
    loader: 'areas',
    title: 'US Census Bureau, cartographic boundaries of census tracts',
    topics: [],
    when: 'base',
    download: {
      kind: 'file',
      files: [{ url: `${FOLDER}/cb_{year}_us_tract_500k.zip`, stateUrl: `${FOLDER}/cb_{year}_{fips}_tract_500k.zip` }],
      years: YEARS,
    },
    bytes: 57.8 * MB,
    stateBytes: { CA: 4.28 * MB, PA: 1.68 * MB },
    isMeasured: true,
    rows: 85_185,
    staleAfterDays: 365,
    oldAfterDays: 640,
    cadence: CADENCE,
  },
  {
    name: 'counties',
    loader: 'counties',
    title: 'US Census Bureau, cartographic boundaries of counties',
    topics: [],
    when: 'base',
    download: { kind: 'file', files: [{ url: `${FOLDER}/cb_{year}_us_county_500k.zip` }], years: YEARS },
    bytes: 11.8 * MB,
    isMeasured: true,
    rows: 3_235,
    staleAfterDays: 365,
    oldAfterDays: 640,
    cadence: CADENCE,
  },
];
