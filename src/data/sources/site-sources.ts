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

const EPA = 'https://services.arcgis.com/cJ9YHowT8TU7DUyn/arcgis/rest/services';
const UST_FINDER = `${EPA}/UST_Finder_Feature_Layer_2/FeatureServer`;
const FRS = 'https://ordsext.epa.gov/FLA/www3/state_files';
const TRI = 'https://data.epa.gov/efservice/downloads/tri/mv_tri_basic_download';
const TRI_FILE = { name: 'tri_{year}_{slice}.csv' };
const TRI_YEARS = { years: { newest: 1, oldest: 2020 } };
const TRI_COPY = { ...fileAt(`${NEWEST_COPY}${TRI}/{year}_US/csv`, TRI_FILE), ...TRI_YEARS };
const LMOP_PAGE = 'https://www.epa.gov/lmop/landfill-technical-data';
const LMOP_FILE = 'https://www.epa.gov/system/files/documents/2024-09/landfilllmopdata.xlsx';
const HIFLD = 'https://services2.arcgis.com/FiaPA4ga0iQKduv3/arcgis/rest/services';
const POWER_PLANTS = `${HIFLD}/Power_Plants_in_the_US/FeatureServer/0`;
const FEMA_PARTNERS = 'https://gis.fema.gov/arcgis/rest/services/Partner';
const EF_POINTS = 'https://geopub.epa.gov/arcgis/rest/services/EMEF/efpoints/MapServer';
/** The National Energy Technology Laboratory keeps copies of what EIA and HIFLD no longer publish. */
const NETL = 'https://arcgis.netl.doe.gov/server/rest/services/Hosted';
const PARKS = {
  where: "Pub_Access IN ('OA','RA')",
  stateWhere: "State_Nm='{state}'",
  simplifiedBy: 0.0005,
  pageRows: 600,
} as const;
const PADUS = 'https://services.arcgis.com/v01gqwM5QqNysAAi/ArcGIS/rest/services';
const PARKS_OF_2024 = layerAt(
  'https://gis1.usgs.gov/arcgis/rest/services/padus4_0/Fee/MapServer/0',
  PARKS,
);
const LINES = { stateWhere: 'box', pageRows: 1_000 } as const;
const LINES_OF_NETL = layerAt(`${NETL}/Energy_Transition_Atlas_493d6/FeatureServer/18`, LINES);
const PIPELINES = layerAt(
  `${HIFLD}/Natural_Gas_Interstate_and_Intrastate_Pipelines_1/FeatureServer/0`,
  LINES,
);
const EIA_860M = 'https://www.eia.gov/electricity/data/eia860m/';
const EIA_FILES = 'https://www.eia.gov/maps/map_data';
const EIA =
  'Source: U.S. Energy Information Administration: a work of the US government, in the public domain.';
const AFDC =
  'US Department of Energy, Alternative Fuels Data Center: a work of the US government, in the public domain.';
const STATIONS =
  'https://developer.nlr.gov/api/alt-fuel-stations/v1.csv?country=US&status=E&limit=all';
const AFDC_KEY = 'PERILBOOK_AFDC_KEY';
const STATIONS_OF_AFDC = {
  kind: 'file',
  // In a header, so that no address contains the key.
  keyHeader: 'X-Api-Key',
  files: [
    { url: STATIONS, stateUrl: `${STATIONS}&state={state}`, name: 'alt_fuel_stations_{slice}.csv' },
  ],
} as const;
const STATIONS_OF_BTS = layerAt(
  'https://services.arcgis.com/xOi1kZaI0eWDREZv/arcgis/rest/services/Alternative_Fueling_Stations/FeatureServer/0',
  // Planned stations and those of Canada are listed too.
  { where: "status_code='E' AND country='US'", stateWhere: "state='{state}'" },
);
const MONTHLY = published('monthly', 30, 120);
const UST = {
  vintage: 'edited',
  staleAfterDays: 180,
  cadence: 'irregular: last in December 2024',
} as const;
const ARCHIVED = published('never: HIFLD was closed in August 2025', 3650);

/** Sites. Parks and wells come by state only: all parks are gigabytes, and there is no national list of wells. */
export const SITE_SOURCES: readonly SourceRow[] = [
  {
    name: 'brownfield',
    territories: ALL_TERRITORIES,
    title: 'EPA brownfields (ACRES, from the Facility Registry Service)',
    topics: ['brownfield'],
    download: layerAt(`${EPA}/FRS_INTERESTS_ACRES/FeatureServer/0`, {
      stateWhere: "STATE_CODE='{state}'",
    }),
    else: [
      {
        from: 'geopub.epa.gov',
        download: layerAt(`${EF_POINTS}/5`, { stateWhere: "state_code='{state}'" }),
      },
    ],
    least: 10_000,
    bytes: 40 * MB,
    vintage: 'edited',
    ...MONTHLY,
  },
  {
    name: 'frs',
    territories: ALL_TERRITORIES,
    title:
      'EPA Facility Registry Service, all facilities: the brownfields in them (in place of brownfield)',
    topics: ['brownfield'],
    when: 'named',
    replaces: 'brownfield',
    download: fileAt(`${FRS}/national_combined.zip`, {
      stateUrl: `${FRS}/state_combined_{st}.zip`,
    }),
    least: 10_000,
    bytes: 1_260 * MB,
    ...MONTHLY,
    note: 'The server often breaks off: the download continues where it stopped. It replaces brownfield.',
  },
  {
    name: 'superfund',
    territories: ALL_TERRITORIES,
    title: 'EPA Superfund National Priorities List, sites with status',
    topics: ['superfund'],
    download: layerAt(
      `${EPA}/Superfund_National_Priorities_List_(NPL)_Sites_with_Status_Information/FeatureServer/0`,
    ),
    else: [{ from: 'geopub.epa.gov', download: layerAt(`${EF_POINTS}/0`) }],
    bytes: 2 * MB,
    rows: 1_816,
    vintage: 'edited',
    ...MONTHLY,
  },
  {
    name: 'tri',
    territories: ALL_TERRITORIES,
    title: 'EPA Toxics Release Inventory, basic data file',
    topics: ['toxicReleaseInventory'],
    // The address ends in /csv.
    download: {
      ...fileAt(`${TRI}/{year}_US/csv`, { stateUrl: `${TRI}/{year}_{state}/csv`, ...TRI_FILE }),
      ...TRI_YEARS,
    },
    else: [{ from: 'the Internet Archive', download: TRI_COPY }],
    bytes: 60.6 * MB,
    isMeasured: true,
    rows: 77_295,
    firstLine: 'TRI',
    ...published('yearly: preliminary in summer, complete in autumn', 120, 600),
  },
  {
    name: 'lmop',
    territories: [],
    title: 'EPA Landfill Methane Outreach Program, landfills and projects',
    topics: ['solidWasteLandfill'],
    // Other files on the page end in lmopdata.xlsx too.
    download: linkedAt(LMOP_PAGE, '[^"\']*/(\\d{4})-(\\d{2})/landfilllmopdata\\.xlsx'),
    else: [
      {
        from: 'the file of September 2024',
        vintage: 'September 2024',
        download: fileAt(LMOP_FILE),
      },
    ],
    bytes: 1 * MB,
    rows: 2_600,
    ...published('once or twice a year', 120, 600),
  },
  {
    name: 'ust-facilities',
    territories: [],
    title: 'EPA UST Finder, underground storage tanks (most data of 2018 to 2019)',
    topics: ['ustFacility'],
    download: layerAt(`${UST_FINDER}/0`, { stateWhere: "State='{name}'" }),
    bytes: 500 * MB,
    rows: 800_000,
    ...UST,
  },
  {
    name: 'ust-releases',
    territories: [],
    title: 'EPA UST Finder, releases of underground storage tanks',
    topics: ['ustRelease'],
    download: layerAt(`${UST_FINDER}/1`, { stateWhere: "State='{name}'" }),
    bytes: 350 * MB,
    rows: 562_217,
    ...UST,
  },
  // HIFLD Open was closed on 2025-08-26: lines and towers are copies of its last state, plants and pipelines are EIA's.
  {
    name: 'power-plants',
    // Puerto Rico has a sheet of its own since 2018: its rows tell. No other territory has one.
    territories: [],
    title: 'US Energy Information Administration, power plants of 1 MW and more (EIA-860M)',
    topics: ['powerPlant'],
    // The page links the months of a year; those before the newest are in the archive.
    download: linkedAt(EIA_860M, '(?<!archive/)xls/(?!layout)[a-z]+_generator(\\d{4})\\.xlsx'),
    else: [
      // The spelling of the states in this layer is not documented, so it is filtered by box.
      { from: 'the archive of HIFLD', download: layerAt(POWER_PLANTS, { stateWhere: 'box' }) },
      { from: 'eia.gov', download: fileAt(`${EIA_FILES}/PowerPlants_US_EIA.zip`) },
    ],
    bytes: 12 * MB,
    rows: 13_446,
    licence: EIA,
    ...published('monthly, of two months before', 30, 180),
  },
  {
    name: 'nuclear-reactors',
    // All reactors of the US are known, and no territory has one.
    territories: ALL_TERRITORIES,
    title: 'US Energy Information Administration, nuclear power plants',
    topics: ['nuclearReactors'],
    download: layerAt(POWER_PLANTS, { where: "PrimSource='nuclear'" }),
    else: [
      {
        from: 'FEMA, operating plants',
        licence:
          'Federal Emergency Management Agency: a work of the US government, in the public domain.',
        download: layerAt(`${FEMA_PARTNERS}/Operating_Nuclear_Power_Plant_Sites/FeatureServer/0`),
      },
    ],
    bytes: 0.1 * MB,
    rows: 55,
    licence: EIA,
    ...published('irregular: data of February 2025', 90),
  },
  {
    name: 'transmission-lines',
    territories: [],
    title: 'HIFLD electric power transmission lines, archived',
    topics: ['highVoltageLine'],
    download: layerAt(`${HIFLD}/US_Electric_Power_Transmission_Lines/FeatureServer/0`, LINES),
    else: [{ from: 'NETL (60,937 lines)', vintage: undefined, download: LINES_OF_NETL }],
    bytes: 161 * MB,
    isMeasured: true,
    rows: 94_619,
    vintage: '2024-09-30 (archived)',
    ...ARCHIVED,
  },
  {
    name: 'cell-towers',
    territories: ALL_TERRITORIES,
    title:
      'FCC Antenna Structure Registration: constructed structures above 200 feet or near airports',
    topics: ['cellTower'],
    download: fileAt('https://data.fcc.gov/download/pub/uls/complete/r_tower.zip'),
    bytes: 38 * MB,
    isMeasured: true,
    // Of 152,205 registrations in all states of construction.
    least: 50_000,
    ...published('weekly, on Sunday', 7, 60),
    note: 'Cellular or not. Lower structures need no registration.',
  },
  {
    name: 'gas-pipelines',
    territories: [],
    title: 'US Energy Information Administration, natural gas pipelines (copy of NETL)',
    topics: ['naturalGasPipeline'],
    download: layerAt(`${NETL}/EIA_pipeline_data/FeatureServer/3`, LINES),
    else: [
      { from: 'the copy beside the archive of HIFLD', download: PIPELINES },
      {
        from: 'eia.gov',
        download: fileAt(`${EIA_FILES}/NaturalGas_InterIntrastate_Pipelines_US_EIA.zip`),
      },
    ],
    bytes: 14.8 * MB,
    isMeasured: true,
    rows: 32_961,
    // Both copies are of EIA's last publication, under later edit dates.
    vintage: 'January 2020',
    licence: EIA,
    ...published('irregular: data of January 2020', 365),
  },
  {
    name: 'alternative-fuels',
    territories: ['PR'],
    title:
      'Alternative Fuels Data Center, stations (copy of the Bureau of Transportation Statistics)',
    topics: ['alternativeFuels'],
    download: STATIONS_OF_BTS,
    else: [{ from: 'AFDC', keyVariable: AFDC_KEY, download: STATIONS_OF_AFDC }],
    least: 30_000,
    bytes: 120 * MB,
    licence: AFDC,
    ...published('irregular', 30),
  },
  {
    name: 'alternative-fuels-afdc',
    territories: ['PR'],
    loader: 'alternative-fuels',
    title: 'Alternative Fuels Data Center, stations of today (in place of alternative-fuels)',
    topics: ['alternativeFuels'],
    when: 'named',
    replaces: 'alternative-fuels',
    keyVariable: AFDC_KEY,
    download: STATIONS_OF_AFDC,
    else: [{ from: 'the copy of BTS', download: STATIONS_OF_BTS }],
    least: 30_000,
    bytes: 50 * MB,
    licence: AFDC,
    firstLine: 'Fuel Type Code',
    ...published('daily', 1, 14),
    note: 'Needs a free key from https://developer.nlr.gov/signup/.',
  },
  {
    name: 'parks',
    territories: ALL_TERRITORIES,
    title: 'USGS PAD-US 4.1, protected areas with public access',
    topics: ['park'],
    when: 'states',
    download: layerAt(`${PADUS}/Fee_Managers_PADUS/FeatureServer/0`, PARKS),
    else: [{ from: 'gis1.usgs.gov', vintage: 'PAD-US 4.0 (2024)', download: PARKS_OF_2024 }],
    bytes: 3_000 * MB,
    vintage: 'PAD-US 4.1 (2024)',
    licence:
      'U.S. Geological Survey (USGS) Gap Analysis Project (GAP), 2024, PAD-US 4.1, https://doi.org/10.5066/P96WBCHS',
    ...published('every two years', 365, 1100),
  },
  {
    name: 'wells',
    territories: [],
    title: "Oil and gas wells, each state's own agency (CA, CO, ND, NM, OH, OK, TX, UT, WV, WY)",
    topics: ['oilGasWell'],
    when: 'states',
    download: layerAt({
      CA: 'https://gis.conservation.ca.gov/server/rest/services/WellSTAR/Wells/MapServer/0',
      CO: 'https://gisdnr.state.co.us/arcgis/rest/services/ECMC_Public/ECMC_Wells/MapServer/0',
      ND: 'https://gis.dmr.nd.gov/dmrpublicservices/rest/services/OilGasPublicMapDataVectorTiles/Wells/FeatureServer/0',
      NM: 'https://gis.emnrd.nm.gov/arcgis/rest/services/OCDView/Wells_Public/FeatureServer/0',
      OH: 'https://gis.ohiodnr.gov/arcgis/rest/services/DOG_Services/Oilgas_Wells_public/MapServer/0',
      OK: 'https://gis.occ.ok.gov/server/rest/services/Hosted/RBDMS_WELLS/FeatureServer/220',
      TX: 'https://gis.rrc.texas.gov/server/rest/services/rrc_public/RRC_Public_Viewer_Srvs/MapServer/1',
      UT: 'https://gis.trustlands.utah.gov/mapping/rest/services/Energy_Wells_DOGM/FeatureServer/4',
      WV: 'https://tagis.dep.wv.gov/arcgis/rest/services/WVDEP_enterprise/oil_gas/MapServer/7',
      WY: 'https://gis.deq.wyoming.gov/arcgis_443/rest/services/WOGCC_WELLS/MapServer/0',
    }),
    else: [
      {
        from: 'its other map server',
        download: layerAt({
          CO: 'https://data.dnrgis.state.co.us/arcgis/rest/services/DNR_Public/OGCC_Wells/FeatureServer/0',
          ND: 'https://gis.dmr.nd.gov/dmrpublicservices/rest/services/OilGasPublicMapDataVectorTiles/Wells/MapServer/0',
        }),
      },
    ],
    bytes: 600 * MB,
    licence:
      "Oil and gas wells: the terms of each state's agency apply. Texas (RRC) allows non-commercial use, unaltered.",
    ...published('daily to monthly, by state', 30),
    note: 'Other states: download the list of the state agency and load it with: perilbook data load wells FILE --states PA',
  },
];
