import { MB, type Source } from './source.ts';

const SERVICES = 'https://services3.arcgis.com/T4QMspbfLg3qTGWY/arcgis/rest/services';
/** Without prescribed fires (RX). */
const WILDFIRES = "IncidentTypeCategory='WF'";
const LICENCE =
  'National Interagency Fire Center, WFIGS (NIFC/WFIGS): a work of the US government, in the public domain, without any warranty.';
const COMMON = {
  topics: ['wildfire'],
  isMeasured: false,
  licence: LICENCE,
} as const satisfies Partial<Source>;

export const NIFC_WILDFIRES: readonly Source[] = [
  {
    name: 'wildfire-incidents',
    loader: 'wildfire-incidents',
    title: 'NIFC WFIGS, fires that burn now',
    ...COMMON,
    download: {
      kind: 'layer',
      layer: `${SERVICES}/WFIGS_Incident_Locations_Current/FeatureServer/0`,
      where: WILDFIRES,
      // Not by state: most states have no fire at a given time.
      as: 'geojson',
    },
    bytes: 2 * MB,
    rows: 650,
    staleAfterDays: 0,
    oldAfterDays: 2,
    cadence: 'every 5 minutes',
    isNearRealTime: true,
  },
  {
    name: 'wildfire-history',
    loader: 'wildfire-history',
    title: 'NIFC WFIGS, fires of past years since 2014, of 10 acres and more',
    ...COMMON,
    download: {
      kind: 'layer',
      layer: `${SERVICES}/WFIGS_Incident_Locations/FeatureServer/0`,
      // NIFC asks for fixed dates instead of CURRENT_TIMESTAMP.
      where: `${WILDFIRES} AND IncidentSize>=10 AND FireDiscoveryDateTime < TIMESTAMP '{thisYear} 00:00:00'`,
      stateWhere: "POOState='{postalState}'",
      as: 'geojson',
    },
    bytes: 200 * MB,
    staleAfterDays: 30,
    oldAfterDays: 30,
    cadence: 'daily',
  },
  {
    name: 'wildfire-perimeters',
    loader: 'wildfire-perimeters',
    title: 'NIFC WFIGS, outlines of fires since 2021',
    ...COMMON,
    download: {
      kind: 'layer',
      layer: `${SERVICES}/WFIGS_Interagency_Perimeters/FeatureServer/0`,
      where: "attr_IncidentTypeCategory='WF'",
      stateWhere: "attr_POOState='{postalState}'",
      as: 'geojson',
      // About 50 m.
      simplifiedBy: 0.0005,
      pageRows: 500,
    },
    bytes: 100 * MB,
    mostBytes: 2_000 * MB,
    staleAfterDays: 1,
    oldAfterDays: 30,
    cadence: 'daily',
  },
];
