import { MB, type Source } from './source.ts';

/** By state only: all parks are gigabytes, and there is no national list of wells. */
export const PARKS_AND_WELLS: readonly Source[] = [
  {
    name: 'parks',
    loader: 'parks',
    title: 'USGS PAD-US 4.1, protected areas with public access',
    topics: ['park'],
    when: 'states',
    download: {
      kind: 'layer',
      layer: 'https://services.arcgis.com/v01gqwM5QqNysAAi/ArcGIS/rest/services/Fee_Managers_PADUS/FeatureServer/0',
      where: "Pub_Access IN ('OA','RA')",
      stateWhere: "State_Nm='{state}'",
      as: 'geojson',
      simplifiedBy: 0.0005,
      pageRows: 600,
    },
    bytes: 3_000 * MB,
    isMeasured: false,
    vintage: 'PAD-US 4.1 (2024)',
    licence:
      'U.S. Geological Survey (USGS) Gap Analysis Project (GAP), 2024, PAD-US 4.1, https://doi.org/10.5066/P96WBCHS',
    staleAfterDays: 365,
    oldAfterDays: 1100,
    cadence: 'every two years',
  },
  {
    name: 'wells',
    loader: 'wells',
    title: "Oil and gas wells, each state's own agency (CA, CO, ND, NM, OH, TX, UT)",
    topics: ['oilGasWell'],
    when: 'states',
    download: {
      kind: 'layer',
      layer: {
        CA: 'https://gis.conservation.ca.gov/server/rest/services/WellSTAR/Wells/MapServer/0',
        CO: 'https://gisdnr.state.co.us/arcgis/rest/services/ECMC_Public/ECMC_Wells/MapServer/0',
        ND: 'https://gis.dmr.nd.gov/dmrpublicservices/rest/services/OilGasPublicMapDataVectorTiles/Wells/FeatureServer/0',
        NM: 'https://gis.emnrd.nm.gov/arcgis/rest/services/OCDView/Wells_Public/FeatureServer/0',
        OH: 'https://gis.ohiodnr.gov/arcgis/rest/services/DOG_Services/Oilgas_Wells_public/MapServer/0',
        TX: 'https://gis.rrc.texas.gov/server/rest/services/rrc_public/RRC_Public_Viewer_Srvs/MapServer/1',
        UT: 'https://gis.trustlands.utah.gov/mapping/rest/services/Energy_Wells_DOGM/FeatureServer/4',
      },
      as: 'geojson',
    },
    bytes: 600 * MB,
    isMeasured: false,
    licence:
      "Oil and gas wells: the terms of each state's agency apply. Texas (RRC) allows non-commercial use, unaltered.",
    staleAfterDays: 30,
    cadence: 'daily to monthly, by state',
    note: 'Other states: download the list of the state agency and load it with: perilbook data load wells FILE --states OK',
  },
];
