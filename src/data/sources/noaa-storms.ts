import { MB, type Source } from './source.ts';

const SPC = 'https://www.spc.noaa.gov/wcm/';
const YEARLY = { staleAfterDays: 180, oldAfterDays: 600, cadence: 'yearly, in March or April' } as const;

/** Storm reports and tracks. The file names contain years and days, so the linking page is read first. */
export const NOAA_STORMS: readonly Source[] = [
  {
    name: 'tornado',
    loader: 'tornado',
    title: 'NOAA Storm Prediction Center, tornadoes since 1950',
    topics: ['tornado'],
    download: { kind: 'linked', page: SPC, links: ['1950-(\\d{4})_actual_tornadoes\\.csv'] },
    bytes: 9 * MB,
    isMeasured: true,
    rows: 73_458,
    ...YEARLY,
  },
  {
    name: 'hail',
    loader: 'hail',
    title: 'NOAA Storm Prediction Center, hail since 1955',
    topics: ['hail'],
    // The same file without .zip is 404.
    download: { kind: 'linked', page: SPC, links: ['1955-(\\d{4})_hail\\.csv\\.zip'] },
    bytes: 8.3 * MB,
    isMeasured: true,
    rows: 414_481,
    ...YEARLY,
  },
  {
    name: 'hurdat2',
    loader: 'hurdat2',
    title: 'NOAA National Hurricane Center, HURDAT2: tracks of Atlantic and eastern Pacific storms',
    topics: ['hurricane'],
    download: {
      kind: 'linked',
      page: 'https://www.nhc.noaa.gov/data/hurdat/',
      links: ['hurdat2-1851-(\\d{4})-(\\d{6,8})\\.txt', 'hurdat2-nepac-1949-(\\d{4})-(\\d{6,8})\\.txt'],
    },
    bytes: 11.2 * MB,
    isMeasured: true,
    rows: 95_000,
    firstLine: '^(AL|EP|CP)\\d{6},',
    staleAfterDays: 90,
    oldAfterDays: 600,
    cadence: 'once or twice a year',
  },
  {
    name: 'ibtracs',
    loader: 'ibtracs',
    title: 'NOAA NCEI, IBTrACS: storm tracks of all basins since 1980 (in place of hurdat2)',
    topics: ['hurricane'],
    when: 'named',
    replaces: 'hurdat2',
    // One file for all basins: a storm that crosses basins is in the files of both.
    download: {
      kind: 'file',
      files: [
        {
          url: 'https://www.ncei.noaa.gov/data/international-best-track-archive-for-climate-stewardship-ibtracs/v04r01/access/csv/ibtracs.since1980.list.v04r01.csv',
        },
      ],
    },
    bytes: 144 * MB,
    isMeasured: true,
    firstLine: '^"?SID',
    staleAfterDays: 7,
    oldAfterDays: 60,
    cadence: 'about weekly',
    note: 'Cite: Knapp et al. 2010, doi:10.25921/82ty-9e16. It replaces hurdat2; get hurdat2 to go back.',
  },
];
