import { NATURAL_SLUGS } from '../../contract/topics.ts';
import { FEMA_SENTENCE, NRI_PREFIXES } from '../loaders/nri.ts';
import { MB, type Source } from './source.ts';

const SERVICES = 'https://services.arcgis.com/XG15cJAlne2vxtgt/arcgis/rest/services';
/** 58 of 469 fields: codes, version, and of each of the 18 hazards its rating, score and frequency. */
const FIELDS = '^(TRACTFIPS|STCOFIPS|STATEFIPS|STATEABBRV|NRI_VER|[A-Z]{4}_(RISKR|RISKS|AFREQ))$';
const BY_HAND =
  'FEMA refuses its files (fema.gov/about/openfema/data-sets/national-risk-index-data) to scripts: download them in a browser and load them with: perilbook data load nri FILE';

const HAZARD_COLUMNS = NRI_PREFIXES.flatMap(([, ...prefixes]) =>
  ['RISKR', 'RISKS', 'AFREQ'].map((suffix) => prefixes.map((prefix) => `${prefix}_${suffix}`)),
);

const COMMON = {
  loader: 'nri',
  topics: NATURAL_SLUGS,
  isMeasured: false,
  staleAfterDays: 365,
  oldAfterDays: 1_200,
  cadence: 'every one to three years',
  licence: FEMA_SENTENCE,
  saysAccess: true,
  note: BY_HAND,
} as const;

/** FEMA's ArcGIS service holds the same table; fema.gov answers 403 to scripts. */
export const FEMA_RISK_INDEX: readonly Source[] = [
  {
    name: 'nri-tracts',
    title: 'FEMA National Risk Index, census tracts',
    ...COMMON,
    download: {
      kind: 'layer',
      layer: `${SERVICES}/National_Risk_Index_Census_Tracts/FeatureServer/0`,
      stateWhere: "STATEABBRV='{state}'",
      as: 'csv',
      fields: FIELDS,
    },
    columns: [['TRACTFIPS'], ...HAZARD_COLUMNS],
    bytes: 60 * MB,
    rows: 85_154,
  },
  {
    name: 'nri-counties',
    title: 'FEMA National Risk Index, counties',
    ...COMMON,
    download: {
      kind: 'layer',
      layer: `${SERVICES}/National_Risk_Index_Counties/FeatureServer/0`,
      stateWhere: "STATEABBRV='{state}'",
      as: 'csv',
      fields: FIELDS,
    },
    columns: [['STCOFIPS'], ...HAZARD_COLUMNS],
    bytes: 2.5 * MB,
    rows: 3_232,
  },
];
